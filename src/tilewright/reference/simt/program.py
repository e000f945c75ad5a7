"""From instructions to functions on a machine: every instruction is decoded once.

A decoder of an instruction family looks at opcode and operands and returns a function that executes the instruction
for the active threads:

```python
@decodes("neg")
def negate(instruction: Instruction, decoder: Decoder) -> Step:
    source, target = decoder.source(...), decoder.target(...)
    return lambda machine: target(machine, -source(machine))
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.reference.simt.errors import Fault, MemoryAccessError, UnknownInstruction, error_at
from tilewright.reference.simt.layout import PASSED_SIZE_BITS, PASSED_WINDOW, Image
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.product_registers import watched
from tilewright.reference.simt.types import Values, resized, storage_of
from tilewright.reference.simt.vocabulary import find_unknown
from tilewright.support.ptx.syntax import (
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Symbol,
)
from tilewright.support.ptx.types import Type, immediate_bits, types_in

Step = Callable[[Machine], None]
Source = Callable[[Machine], Values]
Target = Callable[[Machine, Values], None]
Decode = Callable[[Instruction, "Decoder"], Step]

DECODERS: dict[str, Decode] = {}
"""By the longest prefix of an opcode."""

AXES = ("x", "y", "z")
BY_AXIS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
SPECIAL = (
    *(f"{name}.{axis}" for name in BY_AXIS for axis in AXES),
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "cluster_ctarank",
    "cluster_nctarank",
    "is_explicit_cluster",
    *(f"lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")),
    "dynamic_smem_size",
    "total_smem_size",
)
"""Special registers that keep their value; each is a register of the machine."""

READING_NS = 1000
"""How far each reading of a clock moves it, about what simulating an instruction takes: who waits gets there."""

COUNTERS = ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi")
"""Special registers that count."""

HINTS = ("fence", "membar", "prefetch", "prefetchu", "discard", "applypriority", "setmaxnreg", "pmevent")
"""Instructions that do nothing here, whatever their modifiers."""

PASSED_STEP = 4
"""Bytes between the parts of parameters that are found by their address."""

WIDE = ("gridid", "globaltimer", "clock64")


def decodes(*opcodes: str) -> Callable[[Decode], Decode]:
    """Register the decoder of opcodes that begin with these parts."""

    def register(decode: Decode) -> Decode:
        for opcode in opcodes:
            if opcode in DECODERS:
                raise ValueError(f"'{opcode}' has a decoder already")
            DECODERS[opcode] = decode
        return decode

    return register


def find_decoder(opcode: str) -> Decode | None:
    """The decoder of the longest prefix of an opcode."""
    prefix = opcode
    while prefix:
        found = DECODERS.get(prefix)
        if found is not None:
            return found
        prefix = prefix.rpartition(".")[0]
    return None


Names = list[tuple[str, str]]
"""Pairs of parameters, the caller's and the callee's."""


class Decoder:
    """Operands as functions, and registers for what is not one in PTX: constants, special registers, parameters."""

    def __init__(self, module: Module, image: Image) -> None:
        self.module = module
        self.image = image
        self.registers: list[Any] = [storage_of(bits).type(0) for bits in module.registers]
        self._constants: dict[tuple[int, int], int] = {}
        self.special = {name: self.new_register(64 if name in WIDE else 32) for name in SPECIAL}
        self.carry = self.new_register(32)
        """The condition code of add.cc and its like."""
        self.function: Function
        self.parameters: dict[tuple[str, str, int], int] = {}
        """Registers of parameters of calls: function, name, offset."""
        self.addressed: list[tuple[str, str]] = []
        """Parameters of functions whose address is taken: function, name."""
        self.starts: dict[str, int] = {}
        self.returns: dict[str, int] = {}
        """Where functions return to: a register each, as none calls itself."""
        self.product_registers: dict[int, int] = {}
        """Registers that asynchronous products use, and their rows in `Machine.product_registers`."""
        self.links: list[tuple[str, str, Names, Names]] = []
        """Calls: caller, callee, the parameters that are passed, those that are given back."""

    def new_register(self, bits: int, value: int = 0) -> int:
        """The index of a further register."""
        self.registers.append(storage_of(bits).type(value))
        return len(self.registers) - 1

    def constant(self, value: int, bits: int) -> int:
        """A register that holds a constant."""
        key = (value & ((1 << bits) - 1), bits)
        if key not in self._constants:
            self._constants[key] = self.new_register(bits, key[0])
        return self._constants[key]

    def parameter(self, function: str, name: str, offset: int) -> int:
        """The register of a parameter that calls pass. It holds any number: parameters of several calls in a function
        may have one name, and types of their own."""
        key = (function, name, offset)
        if key not in self.parameters:
            self.parameters[key] = self.new_register(64)
        return self.parameters[key]

    def parameter_address(self, name: str) -> int | None:
        """The address of a parameter of the function that is decoded; None where it has none of that name."""
        size = next((p.size for p in self.function.parameters if p.name == name), None)
        if size is None or self.function.is_kernel:
            return None
        for offset in range(0, size, PASSED_STEP):
            self.parameter(self.function.name, name, offset)
        key = self.function.name, name
        if key not in self.addressed:
            self.addressed.append(key)
        return PASSED_WINDOW + (self.addressed.index(key) << PASSED_SIZE_BITS)

    def parameter_at(self, address: int) -> int:
        """The register of a parameter of a function at an address. Raises Fault."""
        index, offset = divmod(address - PASSED_WINDOW, 1 << PASSED_SIZE_BITS)
        known = 0 <= index < len(self.addressed)
        found = self.parameters.get((*self.addressed[index], offset)) if known else None
        if found is None:
            raise Fault(MemoryAccessError, f"there is no parameter of a function at {address:#x}", 0)
        return found

    def copies_in(self, link: int) -> list[tuple[int, int]]:
        """The registers that a call copies into its callee's."""
        caller, callee, passed, _ = self.links[link]
        return self._copies(caller, callee, passed)

    def copies_out(self, link: int) -> list[tuple[int, int]]:
        """The registers that a return copies into its caller's."""
        caller, callee, _, given = self.links[link]
        return self._copies(callee, caller, [(theirs, ours) for ours, theirs in given])

    def _copies(self, source: str, target: str, names: Names) -> list[tuple[int, int]]:
        """Known once all functions are decoded: the slots that both sides use."""
        pairs = dict(names)
        return [
            (register, self.parameters[target, pairs[name], offset])
            for (function, name, offset), register in self.parameters.items()
            if function == source and name in pairs and (target, pairs[name], offset) in self.parameters
        ]

    def register_of(self, operand: Operand, bits: int, instruction: Instruction) -> tuple[int, int]:
        """The index and width of the register that holds an operand."""
        match operand:
            case Register(number=register, bits=width):
                return register, width
            case Immediate():
                return self.constant(immediate_bits(operand, bits), bits), bits
            case Symbol(name=name, offset=offset):
                if name.startswith("%") and name[1:] in self.special:
                    return self.special[name[1:]], 64 if name[1:] in WIDE else 32
                address = self.image.find_address(self.function.name, name)
                if address is None:
                    address = self.parameter_address(name)
                if address is not None:
                    return self.constant(address + offset, bits), bits
                raise error_at(instruction, f"'{name}' is neither a register nor a variable", UnknownInstruction)
            case _:
                raise error_at(instruction, f"operand {operand} is not supported here", UnknownInstruction)

    def source(self, operand: Operand, type_: Type, instruction: Instruction) -> Source:
        """An operand as values of a type."""
        if isinstance(operand, Negated):
            inner = self.source(operand.predicate, type_, instruction)
            return lambda machine: ~inner(machine)
        if isinstance(operand, Symbol) and operand.name[1:] in COUNTERS:
            return _counter(type_)
        register, bits = self.register_of(operand, type_.total_bits, instruction)
        dtype = type_.dtype if type_.lanes == 1 else storage_of(type_.total_bits)
        if bits == type_.total_bits and storage_of(bits) == dtype:

            def plain(machine: Machine) -> Values:
                values = machine.registers[register]
                return values if machine.active is None or values.ndim == 0 else values[machine.active]

            return plain
        if storage_of(bits).itemsize == dtype.itemsize:
            return lambda machine: machine.get(register).view(dtype)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        return lambda machine: machine.get(register).astype(unsigned).view(dtype)

    def sources(self, operands: Sequence[Operand], type_: Type, instruction: Instruction) -> list[Source]:
        """Several operands of one type."""
        return [self.source(operand, type_, instruction) for operand in operands]

    def target(self, operand: Operand, type_: Type, instruction: Instruction) -> Target:
        """A register that takes values of a type; `_` takes anything."""
        if isinstance(operand, Symbol) and operand.name == "_":
            return lambda machine, values: None
        if not isinstance(operand, Register):
            raise error_at(instruction, f"{operand} cannot be written", UnknownInstruction)
        register, bits = operand.number, operand.bits
        storage = storage_of(bits)
        if bits == 1:
            return lambda machine, values: machine.put(register, values)
        if type_.total_bits == bits and storage.itemsize * 8 == bits:

            def plain(machine: Machine, values: Values) -> None:
                machine.put(register, values.view(storage))

            return plain
        if type_.is_float:
            unsigned = np.dtype(f"u{type_.bits // 8}")
            return lambda machine, values: machine.put(register, values.view(unsigned).astype(storage))
        return lambda machine, values: machine.put(register, resized(values, type_, bits))

    def type_of(self, instruction: Instruction, position: int = -1) -> Type:
        """The type among the modifiers of an opcode; UnknownInstruction where it has none."""
        found = types_in(instruction.modifiers)
        if not found:
            raise unknown(instruction)
        return found[position]


def _counter(type_: Type) -> Source:
    def read(machine: Machine) -> Values:
        machine.clock += READING_NS
        return np.asarray(machine.clock).astype(type_.dtype)[()]

    return read


def unknown(instruction: Instruction, reason: str = "") -> UnknownInstruction:
    """The error about an instruction that is not known."""
    why = f": {reason}" if reason else ""
    error = error_at(instruction, f"the simulated GPU does not know '{instruction.opcode}'{why}", UnknownInstruction)
    assert isinstance(error, UnknownInstruction)
    return error


def guarded(instruction: Instruction, step: Step) -> Step:
    """An instruction under its guard: executed for those active threads whose predicate holds."""
    guard = instruction.guard
    if guard is None:
        return step
    register, negated = guard.number, instruction.guard_negated

    def run(machine: Machine) -> None:
        holds = machine.get(register)
        if negated:
            holds = ~holds
        if holds.ndim == 0:
            if holds:
                step(machine)
            return
        chosen = np.flatnonzero(holds)
        if chosen.size == holds.size:
            step(machine)
        elif chosen.size:
            active = machine.active
            machine.active = chosen if active is None else active[chosen]
            step(machine)
            machine.active = active

    return run


def decode(instruction: Instruction, decoder: Decoder) -> Step:
    """The function that executes an instruction that does not branch."""
    found = find_decoder(instruction.opcode)
    if found is None:
        raise unknown(instruction)
    strange = find_unknown(instruction.modifiers)
    if strange is not None and not (found is DECODERS.get(instruction.name) and instruction.name in HINTS):
        raise unknown(instruction, f"what is '.{strange}'?")
    return guarded(instruction, watched(instruction, found(instruction, decoder), decoder.product_registers))


def scalar_of(values: Values) -> Any:
    """The value of a scalar operand that has to be the same in all threads."""
    return values if values.ndim == 0 else values.reshape(-1)[0]

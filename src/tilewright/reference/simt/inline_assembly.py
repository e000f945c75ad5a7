"""Inline assembly: PTX between `$0`, `$1`, ..., read as a function, and run for many lanes at once.

Only instructions that treat every lane by itself have a meaning here: arithmetic, logic, conversions, moves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import PTX_FILE, PtxSyntaxError, UnknownInstruction
from tilewright.reference.simt.instructions import arithmetic, bits, conversions, floats, moves
from tilewright.reference.simt.layout import place
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.parser import parse_ptx
from tilewright.reference.simt.program import Decoder, decode, find_decoder
from tilewright.reference.simt.syntax import Function, Instruction, Module, Operand, Symbol, Vector
from tilewright.reference.simt.types import storage_of
from tilewright.support.spans import Span

REGISTER_BITS = {"h": 16, "r": 32, "l": 64, "f": 32, "d": 64, "b": 1}
"""By the letter of a constraint."""

LANE_WISE = frozenset(family.__name__ for family in (arithmetic, bits, conversions, floats, moves))
"""Modules of instructions that treat every lane by itself."""

OPERAND = re.compile(r"\$(?:\$|(\d+)|\{(\d+)(?::\w+)?\})")
NAME = "assembly"


@dataclass(frozen=True)
class InlineAssembly:
    """A function whose first registers are those of the operands: the results, then the arguments."""

    module: Module
    bits: tuple[int, ...]
    """Of the registers of operands."""
    num_results: int
    tied: dict[int, int]
    """Arguments that share the register of a result."""

    @property
    def function(self) -> Function:
        """The instructions."""
        return self.module.functions[NAME]

    def register_of(self, argument: int) -> int:
        """The number of the register that an argument comes in."""
        number = self.num_results + argument
        return self.tied.get(number, number)


def read_inline_assembly(asm: str, constraints: str) -> InlineAssembly:
    """The function that an inline assembly is. Raises PtxSyntaxError."""
    results, arguments = _split_constraints(constraints)
    widths = [_register_bits(each) for each in results]
    tied: dict[int, int] = {}
    for number, each in enumerate(arguments, len(results)):
        if each.isdigit() and int(each) < len(results):
            tied[number] = int(each)
            widths.append(widths[int(each)])
        else:
            widths.append(_register_bits(each))
    declared = "".join(f".reg .{'pred' if width == 1 else f'b{width}'} ${n};\n" for n, width in enumerate(widths))
    body = OPERAND.sub(lambda match: _operand_text(match, tied), asm)
    module = parse_ptx(f".func {NAME}\n{{\n{declared}{body}\n}}\n")
    if module.variables or module.functions[NAME].locals:
        _fail("it has variables in memory")
    return InlineAssembly(module, tuple(widths), len(results), tied)


def _fail(reason: str) -> NoReturn:
    raise PtxSyntaxError(reason, span=Span(PTX_FILE, 1))


def _operand_text(match: re.Match[str], tied: dict[int, int]) -> str:
    found = match.group(1) or match.group(2)
    if found is None:
        return "$"
    return f"${tied.get(int(found), int(found))}"


def _split_constraints(constraints: str) -> tuple[list[str], list[str]]:
    """The constraints of results and of arguments; clobbers are left out."""
    each = [part for part in constraints.replace(" ", "").split(",") if part and not part.startswith("~")]
    results = [part.lstrip("=&") for part in each if part.startswith("=")]
    return results, [part for part in each if not part.startswith("=")]


def _register_bits(constraint: str) -> int:
    if constraint not in REGISTER_BITS:
        _fail(f"the constraint '{constraint}' is not known")
    return REGISTER_BITS[constraint]


def run_lanes(assembly: InlineAssembly, arguments: Sequence[Array], lanes: int) -> list[Array]:
    """The registers of results as unsigned integers, from those of arguments; an element for each lane. Raises
    UnknownInstruction where an instruction does not treat every lane by itself."""
    function = assembly.function
    if len(arguments) + assembly.num_results != len(assembly.bits):
        _fail(f"it has constraints for {len(assembly.bits)} registers, of {assembly.num_results} results")
    decoder = Decoder(assembly.module, place(assembly.module, function))
    decoder.function = function
    steps = [decode(_checked(instruction), decoder) for instruction in function.body]
    machine = Machine(decoder.registers, lanes, 1)
    for number, argument in enumerate(arguments):
        register = assembly.register_of(number)
        machine.registers[register] = argument.astype(storage_of(assembly.bits[register]))
    with np.errstate(all="ignore"):
        for step in steps:
            step(machine)
    return [np.array(np.broadcast_to(machine.registers[number], (lanes,))) for number in range(assembly.num_results)]


def _checked(instruction: Instruction) -> Instruction:
    found = find_decoder(instruction.opcode)
    if found is None or found.__module__ not in LANE_WISE or any(map(_is_special, instruction.operands)):
        reason = f"'{instruction.opcode}' is no instruction that treats every lane by itself"
        raise UnknownInstruction(reason, span=Span(PTX_FILE, instruction.line))
    return instruction


def _is_special(operand: Operand) -> bool:
    """Whether an operand is a special register, or an address."""
    if isinstance(operand, Vector):
        return any(map(_is_special, operand.items))
    return isinstance(operand, Symbol) and operand.name != "_"


def words_of(values: Array, count: int, share: int) -> list[Array]:
    """The registers that hold rows of `count` elements, `share` of them in each, the first in the lowest bits. The last
    row is filled with the last element."""
    flat = np.ascontiguousarray(values).reshape(-1)
    flat = flat.view(f"u{flat.dtype.itemsize}")
    missing = -flat.size % count
    rows = np.concatenate([flat, np.repeat(flat[-1:], missing)]).reshape(-1, count)
    storage = np.dtype(f"u{share * rows.dtype.itemsize}")
    return [np.ascontiguousarray(rows[:, n : n + share]).view(storage)[:, 0] for n in range(0, count, share)]


def elements_of(words: Sequence[Array], dtype: np.dtype[Any], share: int, size: int) -> Array:
    """The first `size` elements of rows of registers: the inverse of `words_of`."""
    storage = np.dtype(f"u{share * dtype.itemsize}")
    rows = [np.ascontiguousarray(word.astype(storage)).reshape(-1, 1).view(f"u{dtype.itemsize}") for word in words]
    joined = np.ascontiguousarray(np.concatenate(rows, axis=1)).reshape(-1)[:size]
    return (joined & joined.dtype.type(1)).astype(np.bool_) if dtype == np.bool_ else joined.view(dtype)

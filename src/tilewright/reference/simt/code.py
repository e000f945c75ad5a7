"""A module that is ready to be executed: the steps of all functions in one row, and where control may leave it."""

from __future__ import annotations

from dataclasses import field

from tilewright.reference.simt.control import CONTROL, Control, decode_control
from tilewright.reference.simt.errors import SimulationError
from tilewright.reference.simt.layout import Image, lay_out
from tilewright.reference.simt.product_registers import find_tracked
from tilewright.reference.simt.program import Decoder, Step, decode
from tilewright.support.ptx.syntax import Function, Immediate, Instruction, Module, Symbol
from tilewright.support.ptx.types import types_in
from tilewright.support.records import dataclass
from tilewright.support.spans import Span

Segment = list[tuple[int, Step]]


@dataclass
class Code:
    """Instructions by number. Functions that are called come before those that call them: of threads that take
    different ways those behind go first, so that they wait for each other where the ways meet."""

    module: Module
    image: Image
    decoder: Decoder
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    steps: dict[int, Step] = field(default_factory=dict[int, Step])
    controls: dict[int, Control] = field(default_factory=dict[int, Control])
    leaders: set[int] = field(default_factory=set[int])
    """Numbers that are jumped to."""
    entry: int = 0
    granule: int = 16
    global_granule: int = 16
    """The bytes of the smallest access to shared memory."""
    _segments: dict[int, Segment] = field(default_factory=dict[int, Segment])

    def segment(self, start: int) -> Segment:
        """The steps from a number on, up to where control may leave or others may join."""
        found = self._segments.get(start)
        if found is None:
            found = self._segments[start] = []
            pc = start
            while pc in self.steps and (pc == start or pc not in self.leaders):
                found.append((pc, self.steps[pc]))
                pc += 1
        return found


def assemble(module: Module, kernel: str) -> Code:
    """Decode a kernel and everything that it calls. Raises UnknownInstruction."""
    function = module.functions.get(kernel)
    if function is None or not function.is_kernel or function.is_declaration:
        known = ", ".join(sorted(name for name, f in module.functions.items() if f.is_kernel)) or "none"
        raise SimulationError(f"the module has no kernel '{kernel}'; it has {known}")
    image = lay_out(module, function)
    code = Code(module, image, Decoder(module, image))
    order = _called_first(module, function)
    for each in order:
        code.decoder.starts[each.name] = len(code.instructions)
        code.decoder.returns[each.name] = code.decoder.new_register(64)
        code.instructions += each.body
    code.entry = code.decoder.starts[kernel]
    code.decoder.product_registers = find_tracked(code.instructions)
    for each in order:
        _decode_function(code, each)
    code.granule = min([code.granule, *map(_shared_access_bytes, code.instructions)])
    code.global_granule = min([code.global_granule, *map(_global_access_bytes, code.instructions)])
    return code


def _called_first(module: Module, function: Function) -> list[Function]:
    order: list[Function] = []
    open_calls: list[str] = []

    def visit(current: Function) -> None:
        if current in order:
            return
        if current.name in open_calls:
            raise SimulationError(f"function '{current.name}' calls itself, which the simulated GPU does not support")
        open_calls.append(current.name)
        for name in _callees(current):
            callee = module.functions.get(name)
            if callee is not None and not callee.is_declaration:
                visit(callee)
        open_calls.pop()
        order.append(current)

    visit(function)
    return order


def _callees(function: Function) -> list[str]:
    return [
        operand.name
        for instruction in function.body
        if instruction.name == "call"
        for operand in instruction.operands
        if isinstance(operand, Symbol)
    ]


def _decode_function(code: Code, function: Function) -> None:
    decoder, start = code.decoder, code.decoder.starts[function.name]
    decoder.function = function
    for offset, instruction in enumerate(function.body):
        pc = start + offset
        jumps = (instruction.target, *instruction.targets)
        code.leaders.update(start + target for target in jumps if target is not None)
        if instruction.name in CONTROL:
            code.controls[pc] = decode_control(instruction, decoder, pc)
            code.leaders.add(pc + 1)
        else:
            code.steps[pc] = decode(instruction, decoder)
    end = start + len(function.body) - 1
    if not function.body or end not in code.controls:
        last = function.body[-1].line if function.body else 0
        raise SimulationError(f"function '{function.name}' does not end in a branch", span=Span("<ptx>", last))


def _global_access_bytes(instruction: Instruction) -> int:
    """Return how many bytes an instruction accesses in global memory; 16 for those that do not."""
    if instruction.opcode.startswith(("cp.async.ca", "cp.async.cg")):
        return 4
    if instruction.name not in ("ld", "ldu", "st", "atom", "red"):
        return 16
    modifiers = instruction.modifiers
    if any(part in modifiers for part in ("shared", "local", "param", "const")):
        return 16
    found = types_in(modifiers)
    return min(16, found[-1].total_bits // 8) if found else 1


def _shared_access_bytes(instruction: Instruction) -> int:
    """Return how many bytes an instruction accesses in shared memory; 16 for those that do not."""
    if instruction.opcode.startswith(("cp.async.ca", "cp.async.cg")):
        size = instruction.operands[2]
        return size.value if isinstance(size, Immediate) else 16
    if instruction.name not in ("ld", "st", "atom", "red"):
        return 16
    modifiers = instruction.modifiers
    if any(part in modifiers for part in ("global", "local", "param", "const")):
        return 16
    found = types_in(modifiers)
    lanes = next((int(part[1:]) for part in modifiers if part in ("v2", "v4", "v8")), 1)
    return min(16, found[-1].total_bits // 8 * lanes) if found else 16

"""Inline assembly: PTX between `$0`, `$1`, ..., read as a function whose first registers are its operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from tilewright.support.ptx.errors import PTX_FILE, PtxSyntaxError
from tilewright.support.ptx.parser import parse_ptx
from tilewright.support.ptx.syntax import Function, Instruction, Module
from tilewright.support.records import dataclass
from tilewright.support.spans import Span

REGISTER_BITS = {"h": 16, "r": 32, "l": 64, "f": 32, "d": 64, "b": 1}
"""By the letter of a constraint."""

IMMEDIATE = ("n", "i")
"""Constraints of arguments that are numbers in the text."""

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


def is_idle(instruction: Instruction) -> bool:
    """Return whether an instruction changes nothing where the lanes of a program take their steps together, and
    programs run one after another: barriers and fences among the threads of a program, hints, waiting.
    """
    match instruction.name:
        case "griddepcontrol" | "nanosleep" | "pmevent" | "prefetch" | "prefetchu":
            return True
        case "bar" | "barrier":
            return not {"red", "cluster"} & set(instruction.modifiers)
        case "fence" | "membar":
            return "cta" in instruction.modifiers
        case _:
            return False


def read_inline_assembly(asm: str, constraints: str, numbers: Sequence[int | None] = ()) -> InlineAssembly:
    """The function that an inline assembly is. `numbers` are the values of arguments that are known, as those with the
    constraint `n` have to be. Raises PtxSyntaxError."""
    results, arguments = _split_constraints(constraints)
    widths = [_register_bits(each) for each in results]
    tied: dict[int, int] = {}
    immediates: dict[int, int] = {}
    for index, each in enumerate(arguments, len(results)):
        if each in IMMEDIATE:
            immediates[index] = _known_number(numbers, index - len(results), each)
            widths.append(64)
        elif each.isdigit() and int(each) < len(results):
            tied[index] = int(each)
            widths.append(widths[int(each)])
        else:
            widths.append(_register_bits(each))
    declared = "".join(f".reg .{'pred' if width == 1 else f'b{width}'} ${n};\n" for n, width in enumerate(widths))
    body = OPERAND.sub(lambda match: _operand_text(match, tied, immediates), asm)
    module = parse_ptx(f".func {NAME}\n{{\n{declared}{body}\n}}\n")
    if module.variables or module.functions[NAME].locals:
        _fail("it has variables in memory")
    return InlineAssembly(module, tuple(widths), len(results), tied)


def _fail(reason: str) -> NoReturn:
    raise PtxSyntaxError(reason, span=Span(PTX_FILE, 1))


def _known_number(numbers: Sequence[int | None], argument: int, constraint: str) -> int:
    found = numbers[argument] if argument < len(numbers) else None
    return _fail(f"the constraint '{constraint}' needs an argument that is known") if found is None else found


def _operand_text(match: re.Match[str], tied: dict[int, int], immediates: dict[int, int]) -> str:
    found = match.group(1) or match.group(2)
    if found is None:
        return "$"
    if int(found) in immediates:
        return str(immediates[int(found)])
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

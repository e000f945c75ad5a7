"""The elements that one instance of inline assembly works on, and the registers that hold them.

With `packed_element = 4` an instance takes four elements of each argument, its columns. Elements of less than 32 bits
share registers: an argument of `i8` has one register of four, one of `f16` two of two, one of `f32` four.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.support.records import dataclass
from tilewright.transforms.inline_ptx.forms import NotLaneWise
from tilewright.transforms.inline_ptx.numbers import Numbers
from tilewright.transforms.inline_ptx.program import read_program, run_program
from tilewright.transforms.inline_ptx.terms import Term, bits_of, columns_of

WORD_BITS = 32


Argument = tuple[str, int | None]
"""The type of the elements of an argument, and their bits if all are one number that is known."""


@dataclass(frozen=True)
class Plan:
    """The elements of each result, by column, as terms; only the first column if all of them are alike."""

    terms: Numbers
    results: tuple[tuple[Term, ...], ...]
    is_map: bool
    """Whether every element of a result is the same function of the elements of its own column."""


def plan_assembly(
    asm: str,
    constraints: str,
    arguments: Sequence[Argument],
    results: Sequence[str],
    packed: int,
    available: int,
) -> Plan:
    """Return what inline assembly computes, from the types of elements; `available` is how many elements there are, of
    which the last is repeated if that is less than `packed`. Raises NotLaneWise.
    """
    terms = Numbers()
    registers: list[Term] = []
    for operand, (type_, bits) in enumerate(arguments):
        if bits is None:
            elements = [terms.bits(terms.input(type_, operand, min(c, available - 1))) for c in range(packed)]
        else:
            elements = [terms.constant(bits, bits_of(type_))] * packed
        share = _sharing(type_, packed)
        registers += [terms.word(elements[first : first + share]) for first in range(0, packed, share)]
    program = read_program(asm, constraints, registers)
    counts = [packed // _sharing(type_, packed) for type_ in results]
    _check_counts(program.num_results, len(program.bits), sum(counts), len(registers))
    found = run_program(terms, program, registers)
    columns: list[tuple[Term, ...]] = []
    for type_, count in zip(results, counts, strict=True):
        mine, found = found[:count], found[count:]
        columns.append(tuple(_elements(terms, mine, type_, packed)))
    if all(_is_map(terms, each) for each in columns):
        return Plan(terms, tuple(each[:1] for each in columns), is_map=True)
    return Plan(terms, tuple(columns), is_map=False)


def _sharing(type_: str, packed: int) -> int:
    """Return how many elements of a type share a register."""
    width = bits_of(type_)
    if width == 1 and packed > 1:
        raise NotLaneWise("several truth values share no register")
    share = max(1, min(packed, WORD_BITS // width))
    if packed % share:
        raise NotLaneWise(f"{packed} elements of {width} bits do not fill registers of {WORD_BITS} bits")
    return share


def _check_counts(num_results: int, num_operands: int, results: int, arguments: int) -> None:
    if (num_results, num_operands) != (results, results + arguments):
        raise NotLaneWise(
            f"the constraints are of {num_results} results and {num_operands - num_results} arguments, "
            f"for {results} and {arguments} registers"
        )


def _elements(terms: Numbers, registers: Sequence[Term], type_: str, packed: int) -> list[Term]:
    """The elements in registers, the lowest bits first."""
    width, share = bits_of(type_), _sharing(type_, packed)
    if any(bits_of(register.type) < share * width for register in registers):
        raise NotLaneWise(f"a result of {share * width} bits has a smaller register")
    return [
        terms.bitcast(terms.field(register, place * width, width), type_)
        for register in registers
        for place in range(share)
    ]


def _is_map(terms: Numbers, columns: Sequence[Term]) -> bool:
    return all(
        columns_of(term) <= {column} and terms.renamed(term, column, {}) is columns[0]
        for column, term in enumerate(columns)
    )

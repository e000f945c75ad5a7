"""Integers that are made of index bits, bit by bit: what compare-and-swap steps derive their directions from.

Each bit of such an integer is a parity: the exclusive or of some bits of the indices, inverted or not.

    %d = linalg.index 0                     bits  d0, d1, d2, ...
    %s = arith.shrsi %d, 2                  bits  d2, d3, ...
    %b = arith.andi %s, 1                   bits  d2, 0, 0, ...
    %m = arith.cmpi ne, %b, %other_bit      d2 ^ other bit

So the direction of a step is known lane by lane, but for what the loops around it contribute: a number each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from tilewright.dialects import arith
from tilewright.dialects.types import bit_width
from tilewright.support.records import dataclass

EQUAL, UNEQUAL = 0, 1


@dataclass(frozen=True, slots=True)
class Parity:
    """The exclusive or of the index bits in the set `bits`, inverted or not."""

    bits: int = 0
    inverted: bool = False

    def __xor__(self, other: Parity) -> Parity:
        return Parity(self.bits ^ other.bits, self.inverted != other.inverted)

    @property
    def is_known(self) -> bool:
        """True if the parity is the same at all indices."""
        return not self.bits

    def at(self, ones: int) -> bool:
        """Its value where just the index bits in the set `ones` are set."""
        return self.inverted != bool((self.bits & ones).bit_count() & 1)


ZERO, ONE = Parity(), Parity(inverted=True)

BitNumber: TypeAlias = "tuple[Parity, ...]"
"""The bits of an integer, the lowest first."""


def width_of(type_: Attribute) -> int:
    """Bits of an integer or index type."""
    return 64 if isinstance(type_, IndexType) else bit_width(type_)


def constant_number(value: int, width: int) -> BitNumber:
    """An integer that is the same at all indices."""
    return tuple(ONE if value >> position & 1 else ZERO for position in range(width))


def index_number(bits: Sequence[int], width: int) -> BitNumber:
    """The index that consists of these index bits, the lowest first."""
    return tuple(Parity(1 << bits[position]) if position < len(bits) else ZERO for position in range(width))


def value_at(number: BitNumber, ones: int) -> int:
    """Its value where just the index bits in the set `ones` are set, as an unsigned integer."""
    return sum(parity.at(ones) << position for position, parity in enumerate(number))


def known_value(number: BitNumber) -> int | None:
    """Its value as an unsigned integer, if it is the same at all indices."""
    return value_at(number, 0) if all(parity.is_known for parity in number) else None


def evaluate(op: Operation, operands: Sequence[BitNumber]) -> BitNumber | None:
    """Return what an op makes of such integers; None where that is no such integer."""
    first = operands[0] if operands else ()
    width = width_of(op.results[0].type)
    match op:
        case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
            return constant_number(op.value.value.data, width)
        case arith.IndexCastOp() | arith.ExtSIOp() | arith.TruncIOp():
            return tuple(first[min(position, len(first) - 1)] for position in range(width))
        case arith.ExtUIOp():
            return (*first, *[ZERO] * (width - len(first)))
        case arith.XOrIOp():
            return tuple(a ^ b for a, b in zip(*operands, strict=True))
        case arith.AndIOp():
            return _bitwise(_and, *operands)
        case arith.OrIOp() | arith.AddiOp():
            # A sum of numbers that have no bit in common carries nothing.
            shares = isinstance(op, arith.AddiOp) and any(a != ZERO != b for a, b in zip(*operands, strict=True))
            return None if shares else _bitwise(_or, *operands)
        case arith.SubiOp():
            # Where all bits that may be set are taken from set bits, nothing is borrowed.
            borrows = any(b != ZERO and a != ONE for a, b in zip(*operands, strict=True))
            return None if borrows else tuple(a ^ b for a, b in zip(*operands, strict=True))
        case arith.MuliOp():
            factor = known_value(operands[1])
            return None if factor is None or factor.bit_count() != 1 else _shift(first, factor.bit_length() - 1, ZERO)
        case arith.ShLIOp() | arith.ShRSIOp() | arith.ShRUIOp():
            return _shifted(op, first, known_value(operands[1]))
        case arith.CmpiOp():
            return _compare(op.predicate.value.data, *operands)
        case _:
            return None


def _and(a: Parity, b: Parity) -> Parity | None:
    if ZERO in (a, b):
        return ZERO
    return b if a in (ONE, b) else a if b == ONE else None


def _or(a: Parity, b: Parity) -> Parity | None:
    if ONE in (a, b):
        return ONE
    return b if a in (ZERO, b) else a if b == ZERO else None


def _bitwise(combine: Callable[[Parity, Parity], Parity | None], left: BitNumber, right: BitNumber) -> BitNumber | None:
    found: list[Parity] = []
    for a, b in zip(left, right, strict=True):
        if (bit := combine(a, b)) is None:
            return None
        found.append(bit)
    return tuple(found)


def _shifted(op: Operation, number: BitNumber, distance: int | None) -> BitNumber | None:
    if distance is None or distance >= len(number):
        return None
    if isinstance(op, arith.ShLIOp):
        return _shift(number, distance, ZERO)
    return _shift(number, -distance, number[-1] if isinstance(op, arith.ShRSIOp) else ZERO)


def _shift(number: BitNumber, distance: int, fill: Parity) -> BitNumber:
    moved = range(-distance, len(number) - distance)
    own = range(len(number))
    return tuple(number[source] if source in own else (ZERO if source < 0 else fill) for source in moved)


def _compare(predicate: int, left: BitNumber, right: BitNumber) -> BitNumber | None:
    """Equality of integers that differ in one bit at most, unless they differ anyway."""
    if predicate not in (EQUAL, UNEQUAL):
        return None
    differ = [a ^ b for a, b in zip(left, right, strict=True)]
    unknown = [bit for bit in differ if not bit.is_known]
    if ONE in differ:
        unequal = ONE
    elif len(unknown) < 2:
        unequal = unknown[0] if unknown else ZERO
    else:
        return None
    return (unequal ^ ONE if predicate == EQUAL else unequal,)


__all__ = [
    "EQUAL",
    "UNEQUAL",
    "BitNumber",
    "Parity",
    "constant_number",
    "evaluate",
    "index_number",
    "known_value",
    "value_at",
    "width_of",
]

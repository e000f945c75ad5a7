"""The lattice of axis info: what is known about the values in a tensor along each of its dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd

from xdsl.ir import Attribute

from tilewright.dialects.tt.types import PointerType, is_block_pointer
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.support.records import dataclass

LARGEST = 1 << 62
"""Divisibility of zero, and where products stop growing."""


@dataclass(frozen=True, slots=True)
class AxisInfo:
    """Facts per dimension d of a tensor x; a scalar counts as a tensor of one element.

    - contiguity[d] = c: along d, each of the groups 0..c-1, c..2c-1, ... holds consecutive numbers (for pointers,
      addresses of consecutive elements).
    - divisibility[d] = v: v, a power of two, divides every element whose index along d is a multiple of contiguity[d],
      whatever its other indices. Of a pointer it divides the address, in bytes.
    - constancy[d] = k: along d, each of the groups 0..k-1, k..2k-1, ... holds one number.
    - constant_value: the number that all elements are, signed; of bools 0 or 1.
    """

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    constant_value: int | None = None

    @property
    def rank(self) -> int:
        """Number of dimensions, 1 of a scalar."""
        return len(self.contiguity)

    def __str__(self) -> str:
        value = "<none>" if self.constant_value is None else self.constant_value
        return (
            f"contiguity = {list(self.contiguity)}, divisibility = {list(self.divisibility)}, "
            f"constancy = {list(self.constancy)}, constant_value = {value}"
        )

    def divisibility_at(self, dim: int, step: int, unit: int = 1) -> int:
        """Return what divides every element whose index along `dim` is a multiple of `step`, where neighbours of a
        group differ by `unit`.

        Inside a group that starts at s such an element is s + i * unit, i a multiple of gcd(step, contiguity).
        """
        group = self.contiguity[dim]
        known = self.divisibility[dim]
        return known if step % group == 0 else gcd(known, gcd(step, group) * unit)

    def divisibility_of_all(self, unit: int = 1) -> int:
        """Return what divides every element: the best of what the dimensions say."""
        return max(self.divisibility_at(dim, 1, unit) for dim in range(self.rank))

    def is_uniform(self, shape: Sequence[int]) -> bool:
        """Return whether all elements of a tensor of `shape` are one number."""
        return all(constant >= extent for constant, extent in zip(self.constancy, shape, strict=True))

    def join(self, other: AxisInfo, unit: int = 1) -> AxisInfo:
        """Return what holds of a value that is one or the other; `unit` as in `divisibility_at`."""
        if self == other:
            return self
        contiguity = tuple(map(gcd, self.contiguity, other.contiguity))
        value = self.constant_value if self.constant_value == other.constant_value else None
        return AxisInfo(
            contiguity,
            tuple(
                gcd(self.divisibility_at(dim, step, unit), other.divisibility_at(dim, step, unit))
                for dim, step in enumerate(contiguity)
            ),
            tuple(map(gcd, self.constancy, other.constancy)),
            value,
        )


def power_of_two_in(number: int) -> int:
    """The largest power of two that divides a number; `LARGEST` for zero."""
    return min(number & -number, LARGEST) if number else LARGEST


def shape_of(type: Attribute) -> tuple[int, ...]:
    """The shape that facts about a value of a type are about; `(1,)` for scalars."""
    if is_tensor(type):
        return type.get_shape() or (1,)
    if is_block_pointer(type):
        assert isinstance(type, PointerType) and is_tensor(type.pointee_type)
        return type.pointee_type.get_shape()
    return (1,)


def unknown(type: Attribute) -> AxisInfo:
    """Nothing is known."""
    ones = (1,) * len(shape_of(type))
    return AxisInfo(ones, ones, ones)


def constant(value: int, shape: Sequence[int]) -> AxisInfo:
    """All elements are `value`."""
    rank = len(shape)
    return AxisInfo((1,) * rank, (power_of_two_in(value),) * rank, tuple(shape), value)


def constancy_only(constancy: Iterable[int]) -> AxisInfo:
    """Groups of equal numbers, of which nothing is known."""
    groups = tuple(constancy)
    ones = (1,) * len(groups)
    return AxisInfo(ones, ones, groups)


def anything(type: Attribute) -> AxisInfo:
    """Facts of a value that nobody may look at: all claims hold."""
    shape = shape_of(type)
    return AxisInfo(tuple(shape), (LARGEST,) * len(shape), tuple(shape))


def pointee_bytes(type: Attribute) -> int:
    """Bytes from one element to the next at a pointer or tensor of pointers; 1 for anything else."""
    element = element_type(type)
    if not isinstance(element, PointerType):
        return 1
    pointee = element_type(element.pointee_type)
    return 8 if isinstance(pointee, PointerType) else max(1, bit_width(pointee) // 8)


def per_dimension(rank: int, of: Callable[[int], int]) -> tuple[int, ...]:
    """`(of(0), .., of(rank - 1))`."""
    return tuple(of(dim) for dim in range(rank))

"""Tensor maps that a launch computes from its arguments, by the recipe that `triton-promote-loads-to-tma` left.

For each number of a recipe the range over all programs and iterations is computed. A launch has its maps if no block
begins before the tensor or ends beyond what 32 bits count, no sum or product overflows, every bound is positive, and
the base and the strides are multiples of 16 bytes; otherwise it has none, and runs the kernel in another form. Rows
that are stored are multiples of 16 bytes long, too: TMA writes whole pieces of 16 bytes, past the end of a row (seen on
an H100), though it reads no further than that.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tilewright.support.records import dataclass

Range = tuple[int, int]
Number = tuple[Any, ...]

ALIGNMENT = 16
MOST_BYTES = 1 << 40
"""What the hardware takes as a stride."""
MOST_ELEMENTS = 1 << 31
NONE = -1
LEAST, MOST = 1e-30, 1e30
"""What counts as positive: products with ordinary constants stay so."""


@dataclass(frozen=True)
class MapDim:
    """Numbers of the recipe: where blocks begin, how many elements there are (-1: as far as blocks reach), how far
    apart they lie (-1: next to each other).
    """

    start: int
    extent: int
    stride: int


@dataclass(frozen=True)
class ComputedMapParameter:
    """A tensor map made by a recipe; dimensions of `dims` outermost first, of `box` innermost first."""

    base: int
    numbers: tuple[Number, ...]
    checks: tuple[int, ...]
    positive: tuple[int, ...]
    """Slots of f32 arguments that the kernel takes to be positive, far from the smallest and the largest numbers."""
    is_stored: bool
    """Whether blocks are written."""
    dims: tuple[MapDim, ...]
    block: tuple[int, ...]
    element: int
    element_bytes: int
    box: tuple[int, ...]
    swizzle: int

    def resolve(self, slots: Sequence[int], grid: Sequence[int]) -> ResolvedMap | None:
        """The map of a launch; None where it has none."""
        ranges = ranges_of(self.numbers, slots, grid)
        if ranges is None or not all(LEAST <= float_of(slots[slot]) <= MOST for slot in self.positive):
            return None
        extents: list[int] = []
        strides: list[int] = []
        for dim, size in zip(self.dims, self.block, strict=True):
            start = ranges[dim.start]
            if start is None or start[0] < 0 or start[1] + size > MOST_ELEMENTS:
                return None
            extent = start[1] + size if dim.extent == NONE else exact(ranges[dim.extent])
            if extent is None or not 0 < extent <= MOST_ELEMENTS:
                return None
            extents.append(extent)
            if dim.stride != NONE:
                stride = exact(ranges[dim.stride])
                if stride is None or not _fits(stride * self.element_bytes):
                    return None
                strides.append(stride * self.element_bytes)
        if self.is_stored and extents[-1] * self.element_bytes % ALIGNMENT:
            return None
        address = slots[self.base]
        if address % ALIGNMENT or any(ranges[check] is None for check in self.checks):
            return None
        return ResolvedMap(address, tuple(extents[::-1]), tuple(strides[::-1]))


@dataclass(frozen=True)
class ResolvedMap:
    """What a tensor map says of memory: dimensions innermost first, strides in bytes of all but the innermost."""

    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]


def _fits(stride: int) -> bool:
    return 0 < stride < MOST_BYTES and stride % ALIGNMENT == 0


def exact(range_: Range | None) -> int | None:
    """The number that a range has for sure."""
    return range_[0] if range_ is not None and range_[0] == range_[1] else None


def ranges_of(numbers: Sequence[Number], slots: Sequence[int], grid: Sequence[int]) -> list[Range | None] | None:
    """The range of each number of a recipe; None for one that may overflow or is not defined. A loop that does not run
    has no range: then the whole recipe has none.
    """
    ranges: list[Range | None] = []
    kind: str
    parts: list[int]
    for kind, *parts in numbers:
        match kind:
            case "constant":
                ranges.append((parts[0], parts[0]))
            case "argument":
                value = signed(slots[parts[0]], parts[1])
                ranges.append((value, value))
            case "program":
                ranges.append((0, grid[parts[0]] - 1))
            case "programs":
                ranges.append((grid[parts[0]], grid[parts[0]]))
            case "counter":
                low, high = ranges[parts[0]], ranges[parts[1]]
                if low is None or high is None or low[0] >= high[1]:
                    return None
                ranges.append((low[0], high[1] - 1))
            case "either":
                first, second = ranges[parts[0]], ranges[parts[1]]
                both = None if first is None or second is None else (min(first[0], second[0]), max(first[1], second[1]))
                ranges.append(both)
            case _:
                ranges.append(_combined(kind, ranges[parts[0]], ranges[parts[1]], parts[2]))
    return ranges


def _combined(kind: str, left: Range | None, right: Range | None, bits: int) -> Range | None:
    return None if left is None or right is None else within(combine(kind, left, right), bits)


def signed(value: int, bits: int) -> int:
    """A slot's number of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def float_of(value: float) -> float:
    """A slot's f32: the number, or its bits."""
    return value if isinstance(value, float) else struct.unpack("<f", struct.pack("<I", value & 0xFFFFFFFF))[0]


def within(range_: Range | None, bits: int) -> Range | None:
    """A range, if numbers of so many bits hold all of it."""
    limit = 1 << (bits - 1)
    return range_ if range_ is not None and -limit <= range_[0] and range_[1] < limit else None


def combine(kind: str, left: Range, right: Range) -> Range | None:
    """The range of what an operation makes of two ranges; None where a division may be by a number that is not
    positive, or of one that is negative.
    """
    (a, b), (c, d) = left, right
    match kind:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "mul":
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
        case "div" if a >= 0 and c > 0:
            return a // d, b // c
        case "rem" if a >= 0 and c > 0:
            return (a, b) if b < c else (0, min(b, d - 1))
        case _:
            return None


def computed_map_from_json(item: dict[str, Any]) -> ComputedMapParameter:
    """The inverse of `dataclasses.asdict`, by way of JSON."""
    values: dict[str, Any] = {
        **item,
        "numbers": tuple(tuple(number) for number in item["numbers"]),
        "checks": tuple(item["checks"]),
        "positive": tuple(item["positive"]),
        "dims": tuple(MapDim(**dim) for dim in item["dims"]),
        "block": tuple(item["block"]),
        "box": tuple(item["box"]),
    }
    return ComputedMapParameter(**values)

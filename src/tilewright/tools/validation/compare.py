"""Comparing memory: bit for bit for integers, and up to a slack for floats whose rounding may differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.support.records import dataclass
from tilewright.tools.validation.launches import Array, Launch


@dataclass(frozen=True)
class Difference:
    """The first element that differs, and how many do."""

    argument: str
    index: int
    expected: Any
    actual: Any
    count: int
    size: int

    def __str__(self) -> str:
        return (
            f"argument '{self.argument}' element {self.index}: expected {self.expected!s}, got {self.actual!s} "
            f"({self.count} of {self.size} elements differ)"
        )


@dataclass(frozen=True)
class Tolerance:
    """How far floats may be apart: `relative` of the larger one, plus `absolute` for each argument by name, plus
    `of_largest` of the largest finite one of the argument."""

    relative: float = 0.0
    absolute: dict[str, float] | None = None
    default: float = 0.0
    of_largest: float = 0.0

    def of(self, argument: str) -> float:
        return self.default if self.absolute is None else self.absolute.get(argument, self.default)


EXACT = Tolerance()


def find_difference(
    launch: Launch, expected: list[Array], actual: list[Array], tolerance: Tolerance = EXACT
) -> Difference | None:
    """The first difference in what pointer arguments see, or anywhere else in their memory."""
    left, right = launch.views(expected), launch.views(actual)
    for name, reference in left.items():
        wrong = _wrong_elements(reference, right[name], tolerance, name)
        if np.any(wrong):
            index = int(np.flatnonzero(wrong)[0])
            return Difference(
                name, index, reference[index], right[name][index], int(np.count_nonzero(wrong)), reference.size
            )
    for position, (region, other) in enumerate(zip(expected, actual, strict=True)):
        seen = min(
            (slot.offset for slot in launch.slots if slot.dtype is not None and slot.region == position), default=0
        )
        wrong = region[:seen] != other[:seen]
        if np.any(wrong):
            index = int(np.flatnonzero(wrong)[0])
            return Difference(
                f"memory {position}", index - seen, region[index], other[index], int(np.count_nonzero(wrong)), seen
            )
    return None


def _wrong_elements(expected: Array, actual: Array, tolerance: Tolerance, name: str) -> Array:
    if expected.dtype.kind in "iub":
        return expected != actual
    same_bits = _bits(expected) == _bits(actual)
    if np.all(same_bits):
        return ~same_bits
    left, right = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(all="ignore"):
        limit = tolerance.relative * np.maximum(np.abs(left), np.abs(right)) + tolerance.of(name)
        if tolerance.of_largest:
            limit += tolerance.of_largest * np.max(np.abs(left), where=np.isfinite(left), initial=0.0)
        close = np.abs(left - right) <= limit
    both_nan = np.isnan(left) & np.isnan(right)
    return ~(same_bits | (left == right) | both_nan | close)


def _bits(values: Array) -> Array:
    return values.view(np.dtype(f"u{values.dtype.itemsize}"))

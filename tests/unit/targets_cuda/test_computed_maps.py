"""Tensor maps that a launch computes: ranges of numbers over all programs, and the launches that have no map."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.targets.cuda.computed_maps import ComputedMapParameter, MapDim, combine, ranges_of, signed

OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "min": min,
    "max": max,
    "div": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
    "rem": lambda x, y: x - y * (abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)),
}
ranges = st.tuples(st.integers(-20, 20), st.integers(0, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.sampled_from(sorted(OPERATIONS)), ranges, ranges)
def test_a_range_holds_every_result(kind: str, left: tuple[int, int], right: tuple[int, int]) -> None:
    found = combine(kind, left, right)
    if found is None:
        assert kind in ("div", "rem")
        return
    for x, y in product(range(left[0], left[1] + 1), range(right[0], right[1] + 1)):
        assert found[0] <= OPERATIONS[kind](x, y) <= found[1]


def test_numbers_of_slots_have_signs() -> None:
    assert [signed(value, 32) for value in (5, (1 << 32) - 5, (1 << 64) - 5, -5)] == [5, -5, -5, -5]
    assert signed((1 << 64) - 1, 64) == -1


def test_programs_counters_and_choices() -> None:
    numbers = (
        ("program", 0), ("constant", 128), ("mul", 0, 1, 32), ("argument", 1, 32), ("counter", 2, 3),
        ("programs", 1), ("either", 0, 5),
    )  # fmt: skip
    found = ranges_of(numbers, [0, 1000], (4, 7, 1))
    assert found == [(0, 3), (128, 128), (0, 384), (1000, 1000), (0, 999), (7, 7), (0, 7)]


def test_a_number_that_may_overflow_has_no_range() -> None:
    numbers = (("program", 0), ("argument", 0, 32), ("mul", 0, 1, 32), ("mul", 0, 1, 64))
    assert ranges_of(numbers, [1 << 30], (2, 1, 1)) == [(0, 1), (1 << 30, 1 << 30), (0, 1 << 30), (0, 1 << 30)]
    assert ranges_of(numbers, [1 << 30], (3, 1, 1)) == [(0, 2), (1 << 30, 1 << 30), None, (0, 1 << 31)]


NUMBERS = (
    ("program", 0), ("constant", 64), ("mul", 0, 1, 32),  # rows begin at 64 * program
    ("constant", 0), ("argument", 1, 32), ("counter", 3, 4),  # columns at the counter, up to an argument
    ("argument", 2, 32), ("argument", 3, 32), ("add", 2, 7, 32),
)  # fmt: skip


def parameter(**changed: Any) -> ComputedMapParameter:
    values: dict[str, Any] = {
        "base": 0,
        "numbers": NUMBERS,
        "checks": (),
        "positive": (),
        "is_stored": False,
        "dims": (MapDim(8, -1, 6), MapDim(5, 4, -1)),
        "block": (64, 32),
        "element": 6,
        "element_bytes": 2,
        "box": (32, 64),
        "swizzle": 2,
    }
    return ComputedMapParameter(**{**values, **changed})


SLOTS = [4096, 100, 104, 0]
"""Address, columns, distance of rows, first row."""


def test_bounds_come_from_arguments_or_from_how_far_blocks_reach() -> None:
    found = parameter().resolve(SLOTS, (3, 1, 1))
    assert found is not None
    assert (found.address, found.extents, found.strides) == (4096, (100, 192), (208,))


@pytest.mark.parametrize(
    "slots",
    [
        [4104, 100, 104, 0],  # begins at no multiple of 16 bytes
        [4096, 100, 100, 0],  # rows do not lie at multiples of 16 bytes
        [4096, 100, -104, 0],  # rows in reverse order
        [4096, 100, 0, 0],  # one row, again and again
        [4096, 0, 104, 0],  # the loop does not run
        [4096, -5, 104, 0],
        [4096, 100, 104, -1],  # the first block begins before the tensor
        [4096, 100, 104, (1 << 31) - 191],  # the last one ends too far out
    ],
)
def test_launches_without_maps(slots: list[int]) -> None:
    assert parameter().resolve(slots, (3, 1, 1)) is None


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
def test_rows_that_are_stored_end_with_a_piece_of_16_bytes(element_bytes: int) -> None:
    for columns in range(88, 105):
        slots = [4096, columns, 112, 0]
        assert parameter(element_bytes=element_bytes).resolve(slots, (3, 1, 1)) is not None
        found = parameter(element_bytes=element_bytes, is_stored=True).resolve(slots, (3, 1, 1))
        assert (found is not None) == (columns * element_bytes % 16 == 0)


def test_promises_about_numbers() -> None:
    asking = parameter(positive=(4,))
    one, least, infinite, negative, none = 0x3F800000, 1, 0x7F800000, 0xBF800000, 0
    for value in (one, 0.125):
        assert asking.resolve([*SLOTS, value], (3, 1, 1)) is not None
    for value in (least, infinite, negative, none, 0x7FC00000, -1.0, 0.0, float("nan")):
        assert asking.resolve([*SLOTS, value], (3, 1, 1)) is None


def test_what_was_looked_through_is_checked() -> None:
    numbers = (*NUMBERS, ("mul", 4, 4, 32))
    slots = [4096, 100_000, 104, 0]
    assert parameter(numbers=numbers).resolve(slots, (3, 1, 1)) is not None
    assert parameter(numbers=numbers, checks=(9,)).resolve(slots, (3, 1, 1)) is None

"""A tensor compared with one wider number, which it may be too narrow for."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

NUMBERS = (
    0,
    1,
    -1,
    127,
    128,
    200,
    255,
    256,
    -128,
    -129,
    2**31 - 1,
    2**31,
    2**32,
    2**32 + 1,
    2**32 - 1,
    -(2**31),
    -(2**63),
)


@triton.jit
def find(x_ptr, numbers_ptr, equal_ptr, different_ptr, BLOCK: tl.constexpr):
    number = tl.load(numbers_ptr + tl.program_id(0))
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    places = tl.program_id(0) * BLOCK + lanes
    tl.store(equal_ptr + places, tl.where(x == number, 1, 0))
    tl.store(different_ptr + places, tl.where(number != x, 1, 0))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_numbers_beyond_the_lanes_equal_none(kind: type[np.integer]) -> None:
    values = [value for value in NUMBERS if np.iinfo(kind).min <= value <= np.iinfo(kind).max]
    x = np.resize(np.array(values, kind), 16)
    numbers = np.array(NUMBERS, np.int64)
    equal, different = np.zeros((2, len(numbers), 16), np.int32)
    compiled = find[(len(numbers),)](x, numbers, equal, different, BLOCK=16)
    expected = x.astype(np.int64)[None, :] == numbers[:, None]
    np.testing.assert_array_equal(equal, expected)
    np.testing.assert_array_equal(different, ~expected)
    assert "tensor<16xi64>" not in compiled.asm["structured"]


@triton.jit
def count(ids_ptr, out_ptr, ROWS: tl.constexpr, BINS: tl.constexpr):
    ids = tl.load(ids_ptr + tl.arange(0, ROWS))
    bins = tl.arange(0, BINS)
    tl.store(out_ptr + bins, tl.sum(tl.where(ids[:, None] == bins[None, :], 1, 0), axis=0))


def test_a_column_of_numbers() -> None:
    ids, out = np.resize(np.array(NUMBERS, np.int64), 64), np.zeros(16, np.int32)
    compiled = count[(1,)](ids, out, ROWS=64, BINS=16)
    np.testing.assert_array_equal(out, [(ids == value).sum() for value in range(16)])
    assert "tensor<64x16xi64>" not in compiled.asm["structured"]


@triton.jit
def order(x_ptr, out_ptr, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes).to(tl.int64)
    number = tl.full([BLOCK], NUMBER, tl.int64)
    tl.store(out_ptr + lanes, tl.where(x < number, 1, 0) + tl.where(x <= number, 2, 0) + tl.where(x != number, 4, 0))
    tl.store(out_ptr + BLOCK + lanes, tl.where(number < x, 1, 0) + tl.where(number <= x, 2, 0))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32])
def test_order_of_lanes_and_constants(kind: type[np.integer]) -> None:
    values = [value for value in NUMBERS if np.iinfo(kind).min <= value <= np.iinfo(kind).max]
    x = np.resize(np.array(values, kind), 16)
    wide = x.astype(np.int64)
    for number in NUMBERS:
        out = np.zeros((2, 16), np.int32)
        compiled = order[(1,)](x, out, NUMBER=number, BLOCK=16)
        np.testing.assert_array_equal(out[0], (wide < number) + 2 * (wide <= number) + 4 * (wide != number))
        np.testing.assert_array_equal(out[1], 1 * (number < wide) + 2 * (number <= wide))
        assert "tensor<16xi64>" not in compiled.asm["structured"]

"""Shifts of numbers, random numbers of narrow offsets, and sorts: what official Triton makes of operands of small types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def shifts(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, 16)
    tl.store(o_ptr + i, (N >> tl.load(x_ptr + i)).to(tl.uint64))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("number", [9, 0x80000000, 0xFFFFFFF0])
def test_a_number_that_fills_its_word_is_shifted_as_unsigned_as_the_amount(dtype: Any, number: int) -> None:
    x, out = np.arange(16).astype(dtype), np.zeros(16, np.uint64)
    shifts[(1,)](x, out, number)
    np.testing.assert_array_equal(out, [number >> k for k in range(16)])


@triton.jit
def draws(x_ptr, o_ptr):
    i = tl.arange(0, 16)
    tl.store(o_ptr + i, tl.randint(5, tl.load(x_ptr + i)))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.float16])
def test_random_numbers_of_narrow_offsets_are_those_of_32_bits(dtype: Any) -> None:
    x = (np.arange(16) % 2).astype(dtype)
    out, wide = np.zeros(16, np.uint32), np.zeros(16, np.uint32)
    draws[(1,)](x, out)
    draws[(1,)](x.astype(np.int32), wide)
    np.testing.assert_array_equal(out, wide)
    assert len(set(out.tolist())) == 2


@triton.jit
def best(x_ptr, o_ptr, N: tl.constexpr, K: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, K), tl.topk(tl.load(x_ptr + tl.arange(0, N)), K) * 1.001)


@pytest.mark.parametrize(("k", "wide"), [(4, True), (32, False)])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_the_best_elements_have_the_type_of_a_maximum(dtype: Any, k: int, wide: bool) -> None:
    """What `tl.max` promotes goes on in float32 where some are left out; a whole sort stays in its own type."""
    x = np.random.default_rng(3).standard_normal(32).astype(dtype)
    out = np.zeros(k, np.float32)
    best[(1,)](x, out, 32, k)
    largest = np.sort(x.astype(np.float32))[::-1][:k]
    if wide:
        np.testing.assert_allclose(out, largest * np.float32(1.001), rtol=1e-6)
    else:
        np.testing.assert_array_equal(out, (largest.astype(dtype) * dtype(1.001)).astype(np.float32))


@triton.jit
def sort_bits(x_ptr, o_ptr):
    i = tl.arange(0, 32)
    tl.store(o_ptr + i, tl.sort(tl.load(x_ptr + i) != 0).to(tl.int32))
    tl.store(o_ptr + 32 + tl.arange(0, 4), tl.topk(tl.load(x_ptr + i) != 0, 4).to(tl.int32))


def test_truth_values_are_sorted() -> None:
    x = np.random.default_rng(4).integers(0, 2, 32).astype(np.int32)
    out = np.full(36, -1, np.int32)
    sort_bits[(1,)](x, out)
    np.testing.assert_array_equal(out, [*np.sort(x), *np.sort(x)[::-1][:4]])

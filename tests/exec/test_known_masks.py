"""Masks that ranges of numbers decide: rows cut into equal tiles, tiles that are not full, and numbers that overflow."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def rows_in_tiles(x, o, sums, L: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for start in range(0, L, B):
        total += tl.load(x + start + r, mask=start + r < L, other=1)
    for i in range((L + B - 1) // B):
        y = tl.load(x + i * B + r, mask=r < L - i * B, other=7)
        tl.store(o + i * B + r, y + 1, mask=(i * B + r < L) & (i * B + r >= 0))
    tl.store(sums, tl.sum(total))


@pytest.mark.parametrize("length", [128, 96, 97, 95, 31, 1])
def test_rows_in_tiles(length: int) -> None:
    x = np.arange(256, dtype=np.int32) * 5 + 3
    out, sums = np.zeros(256, np.int32), np.zeros(1, np.int32)
    rows_in_tiles[(1,)](x, out, sums, L=length, B=32)
    np.testing.assert_array_equal(out[:length], x[:length] + 1)
    assert not out[length:].any()
    assert sums[0] == x[:length].sum() + -length % 32


@triton.jit
def wrapped_numbers(o, B: tl.constexpr):
    r = tl.arange(0, B)
    for i in range(0, 8):
        x = i * 0x20000000 + r
        tl.store(o + i * B + r, (x >= 0).to(tl.int32))
        tl.store(o + 8 * B + i * B + r, (x.to(tl.uint32, bitcast=True) < 0x80000000).to(tl.int32))
        tl.store(o + 16 * B + i * B + r, ((x.to(tl.int8) >= 0) & (r.to(tl.int8) < 100)).to(tl.int32))


def test_numbers_that_overflow_are_compared() -> None:
    out = np.zeros((3, 8, 128), np.int32)
    wrapped_numbers[(1,)](out, B=128)
    x = (np.arange(8)[:, None] * 0x20000000 + np.arange(128)).astype(np.uint32).view(np.int32)
    np.testing.assert_array_equal(out[0], x >= 0)
    np.testing.assert_array_equal(out[1], x >= 0)
    np.testing.assert_array_equal(out[2], (x.astype(np.int8) >= 0) & (np.arange(128) < 100))

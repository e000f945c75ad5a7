"""Quotients and remainders of tiles that cross no multiple of the divisor, and sums of what is read there by columns."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl


@triton.jit
def column_sums(X, O, rows, outer, C: tl.constexpr, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = x < C * outer
    r_base = tl.arange(0, RBLOCK)[None, :]
    part, column = x // C, x % C
    total = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    for start in range(0, rows, RBLOCK):
        r = start + r_base
        mask = (r < rows) & xmask
        tile = tl.load(X + column + C * r + C * rows * part, mask, other=0.0)
        total = tl.where(mask, total + tile, total)
    tl.store(O + x, tl.sum(total, 1)[:, None], xmask)


@pytest.mark.parametrize(("columns", "block"), [(64, 8), (24, 8), (12, 8), (8, 16), (7, 4)])
@pytest.mark.parametrize("rows", [64, 50])
def test_sums_of_parts_of_columns(columns, block, rows):
    outer = 3
    x = np.random.default_rng(0).integers(-8, 8, (outer, rows, columns)).astype(np.float32)
    out = np.full((outer, columns), np.nan, np.float32)
    column_sums[triton.cdiv(outer * columns, block),](x, out, rows, outer, C=columns, XBLOCK=block, RBLOCK=16)
    np.testing.assert_array_equal(out, x.sum(1))


@triton.jit
def divided(Q, R, first, d: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = first * N + i
    tl.store(Q + i, x // d)
    tl.store(R + i, x % d)


@pytest.mark.parametrize("first", [0, 1, 5, -1, -4, -8])
def test_tiles_of_any_sign(first):
    q, r = np.zeros(8, np.int32), np.zeros(8, np.int32)
    divided[1,](q, r, first, d=64, N=8)
    x = first * 8 + np.arange(8)
    np.testing.assert_array_equal(q, np.trunc(x / 64).astype(np.int32))
    np.testing.assert_array_equal(r, np.fmod(x, 64))

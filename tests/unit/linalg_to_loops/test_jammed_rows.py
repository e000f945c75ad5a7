"""Reductions that rows share: every count of rows, masks, several results, results that start from memory."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl


@triton.jit
def rows_times(x_ptr, w_ptr, out_ptr, n, k, V: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr):
    v, c, j = tl.arange(0, V)[:, None, None], tl.arange(0, N)[None, None, :], tl.arange(0, K)[None, :, None]
    w = tl.load(w_ptr + j * N + c, (j < k) & (c < n), other=1).to(tl.float32)
    x = tl.load(x_ptr + v * K + j)
    at = out_ptr + tl.arange(0, V)[:, None] * N + tl.arange(0, N)[None, :]
    if KIND == "sum":
        found = tl.sum(x * w, 1)
    elif KIND == "max":
        found = tl.max(x - w, 1)
    elif KIND == "both":
        found = tl.sum(x * w, 1) + tl.max(x * w, 1)
    else:
        found = tl.load(at) + tl.sum(x * w, 1)
    tl.store(at, found)


@pytest.mark.parametrize("kind", ["sum", "max", "both", "more"])
@pytest.mark.parametrize(("rows", "columns", "depth"), [(2, 8, 16), (4, 32, 8), (8, 16, 64), (16, 8, 4), (32, 64, 16)])
def test_rows_that_share_a_reduction(kind: str, rows: int, columns: int, depth: int) -> None:
    rng = np.random.default_rng(rows)
    x = rng.integers(-8, 8, (rows, depth)).astype(np.float32)
    w = rng.integers(-8, 8, (depth, columns), np.int8)
    for n, k in ((columns, depth), (columns - 3, depth - 1)):
        out = rng.integers(-8, 8, (rows, columns)).astype(np.float32)
        known = (np.arange(depth)[:, None] < k) & (np.arange(columns) < n)
        wide = np.where(known, w, 1).astype(np.float32)[None]
        sums, start = (x[:, :, None] * wide).sum(1), out.copy()
        expected = {
            "sum": sums,
            "max": (x[:, :, None] - wide).max(1),
            "both": sums + (x[:, :, None] * wide).max(1),
            "more": start + sums,
        }[kind]
        rows_times[(1,)](x, w, out, n, k, rows, columns, depth, kind)
        np.testing.assert_array_equal(out, expected)


@triton.jit
def words_times(x_ptr, w_ptr, out_ptr, V: tl.constexpr, R: tl.constexpr, W: tl.constexpr):
    v, word = tl.arange(0, V)[:, None, None, None], tl.arange(0, W)[None, :, None, None]
    row, byte = tl.arange(0, R)[None, None, :, None], tl.arange(0, 4)[None, None, None, :]
    w = tl.load(w_ptr + (word * R + row) * 4 + byte) & 15
    x = tl.load(x_ptr + v * (4 * W) + word * 4 + byte)
    found = tl.sum(tl.sum(w.to(tl.int32) * x.to(tl.int32), 3), 1)
    tl.store(out_ptr + tl.arange(0, V)[:, None] * R + tl.arange(0, R)[None, :], found)


@pytest.mark.parametrize(("rows", "words"), [(2, 4), (4, 8), (8, 2), (16, 16), (32, 8)])
def test_words_that_rows_share(rows: int, words: int) -> None:
    rng = np.random.default_rng(rows)
    w = rng.integers(0, 256, (words, 8, 4), np.uint8)
    x = rng.choice(np.array([-128, 127, -1, 5], np.int8), (rows, words, 4))
    out = np.zeros((rows, 8), np.int32)
    words_times[(1,)](x, w, out, rows, 8, words)
    np.testing.assert_array_equal(out, np.einsum("vwb,wrb->vr", x.astype(np.int64), (w & 15).astype(np.int64)))

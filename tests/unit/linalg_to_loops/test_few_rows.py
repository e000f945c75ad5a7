"""Products of few rows, as where a model makes one token after the other: the other operand stays where it is."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

rng = np.random.default_rng(0)
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "i8": np.int8}


@triton.jit
def linear(x, w, y, M, N, K, sxm, sxk, swk, swn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), y.dtype.element_ty)
    for k in range(0, K, BK):
        live = k + ks < K
        a = tl.load(
            x + rows[:, None] * sxm + (k + ks)[None, :] * sxk, mask=(rows < M)[:, None] & live[None, :], other=0
        )
        b = tl.load(w + (k + ks)[:, None] * swk + columns * swn, mask=live[:, None] & (columns < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=y.dtype.element_ty)
    tl.store(y + rows[:, None] * N + columns, acc, mask=(rows < M)[:, None] & (columns < N))


def numbers(rows: int, columns: int, kind: str, layout: str) -> Any:
    """Whole numbers: sums are exact. In memory, rows or columns are contiguous, or one of them runs backwards."""
    value = rng.integers(-8, 9, (rows, columns)).astype(DTYPES[kind])
    match layout:
        case "columns":
            return np.asfortranarray(value)
        case "backwards":
            return value[::-1].copy()[::-1]
        case "same":
            return np.broadcast_to(value[:1], value.shape) if rows else value
        case _:
            return value


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "backwards", "same"])
@pytest.mark.parametrize("bm", [1, 2, 4, 16])
def test_few_rows(kind: str, layout: str, bm: int) -> None:
    for m, n, k in ((1, 64, 64), (3, 100, 130), (bm, 33, 1), (2, 20, 0), (bm + 1, 70, 37), (5 * bm, 40, 50)):
        x, w = numbers(m, k, kind, "rows" if layout != "columns" else "columns"), numbers(k, n, kind, layout)
        out = np.full((m, n), 7, np.int32 if kind == "i8" else np.float32)
        strides = [stride // array.itemsize for array in (x, w) for stride in array.strides]
        kernel = linear[triton.cdiv(m, bm), triton.cdiv(n, 32)](x, w, out, m, n, k, *strides, bm, 32, 16)
        np.testing.assert_array_equal(out, x.astype(np.float64) @ w.astype(np.float64))
        if kind == "f32" and bm <= 4 and layout in ("rows", "columns"):
            assert "_few" in kernel.asm["loops"], "by a kernel that leaves W where it is"


@pytest.mark.parametrize("bm", [1, 4, 16])
def test_one_block_has_one_kernel(bm: int) -> None:
    """The loop that is there in case rows do not follow one another multiplies by the same kernel."""
    x, w, out = np.ones((1, 64), np.float32), np.ones((64, 64), np.float32), np.zeros((1, 64), np.float32)
    kernel = linear[1, 2](x, w, out, 1, 64, 64, 64, 1, 64, 1, bm, 32, 16)
    declared = set(re.findall(r"private @(tw_mk_\w+)\(", kernel.asm["loops"]))
    unpacked = {name for name in declared if not re.search("_panels|_keep_|_reserve_", name)}
    assert unpacked == {f"tw_mk_f32_f32_{bm}x1024{'_few' * (bm <= 4)}"}


@triton.jit
def chained(q, k, out, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Two products of few rows, whose sums start from something else."""
    rows, dims, keys = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    x = tl.load(q + rows[:, None] * D + dims[None, :])
    acc = tl.full((M, D), 3.0, tl.float32)
    for start in range(0, n, N):
        y = tl.load(k + (start + keys)[:, None] * D + dims[None, :], mask=(start + keys)[:, None] < n, other=0.0)
        scores = tl.dot(x, tl.trans(y))
        acc = tl.dot(scores.to(y.dtype), y, acc)
    tl.store(out + rows[:, None] * D + dims[None, :], acc)


@pytest.mark.parametrize("m", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [0, 1, 64, 70])
def test_products_of_products(m: int, n: int) -> None:
    q, k = (rng.integers(-2, 3, shape).astype(np.float32) for shape in ((m, 32), (n, 32)))
    out = np.zeros((m, 32), np.float32)
    chained[(1,)](q, k, out, n, 32, m, 16)
    np.testing.assert_array_equal(out, q @ k.T @ k + 3)

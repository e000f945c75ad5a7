"""Six small kernels that between them use what the seeded faults break."""

from __future__ import annotations

from typing import Any

import numpy as np

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array


@triton.jit
def scaled_add(x_ptr, y_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=2.0)
    total = tl.sum(x * y, 0)
    tl.store(out_ptr + offsets, x + alpha * y + total * 0.5, mask=mask)


@triton.jit
def softmax(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + cols, mask=cols < n_cols, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * stride + cols, numerator / tl.sum(numerator, 0), mask=cols < n_cols)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rows % M)[:, None] * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + (cols % N)[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def integers(x_ptr, index_ptr, out_ptr, wide_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + lanes)
    x = tl.load(x_ptr + index, mask=index < n, other=-3)
    mixed = tl.where(x > 2, x * 3 - n, (x // 5) ^ (lanes << 2))
    mixed = tl.minimum(mixed, 40) + (x % 7) + (x & 6)
    tl.store(out_ptr + index, mixed, mask=lanes < BLOCK - 3)
    tl.store(wide_ptr + lanes, x.to(tl.int64) * 3 + tl.abs(mixed))


@triton.jit
def blocks(x_ptr, out_ptr, flag, steps, ROWS: tl.constexpr, COLS: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (7, 30), (30, 1), (1, 2), (ROWS, COLS), (1, 0))
    total = tl.zeros((ROWS, COLS), tl.float32)
    for _ in range(steps):
        total += tl.load(source, boundary_check=(0, 1), padding_option="zero") + 0.25
        source = tl.advance(source, (0, COLS))
    for _ in tl.static_range(2):
        total = total * 1.5 + 1.0
    if flag > 3:  # noqa: SIM108 (a branch, not a select, is what is tested)
        total = total - 5.0
    else:
        total = total * 2.0
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    tl.store(out_ptr + cols[None, :] * ROWS + rows[:, None], total)


@triton.jit
def combined(x_ptr, sums_ptr, best_ptr, scan_ptr, count_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    tl.store(sums_ptr + rows, tl.sum(x, 1))
    tl.store(best_ptr + cols, tl.argmax(x, 0))
    tl.store(scan_ptr + rows[:, None] + cols[None, :] * ROWS, tl.cumsum(x, 1))
    tl.atomic_add(count_ptr + (x & 7), 1)


def _floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _numbers(*shape: int, seed: int = 0, high: int = 50) -> Array:
    return np.random.default_rng(seed).integers(-high, high, shape).astype(np.int32)


def tilewright_inputs() -> list[tuple[Any, tuple[int, ...], dict[str, Any]]]:
    """Each kernel with sizes that leave tiles half full."""
    return [
        (
            scaled_add,
            (3,),
            {
                "x_ptr": _floats(85),
                "y_ptr": _floats(85, seed=1),
                "out_ptr": np.full(100, 7.0, np.float32),
                "n": 85,
                "alpha": 0.25,
                "BLOCK": 32,
            },
        ),
        (
            integers,
            (1,),
            {
                "x_ptr": _numbers(64),
                "index_ptr": np.random.default_rng(3).permutation(32).astype(np.int32),
                "out_ptr": np.full(40, 99, np.int32),
                "wide_ptr": np.zeros(32, np.int64),
                "n": 21,
                "BLOCK": 32,
            },
        ),
        (
            softmax,
            (2,),
            {
                "out_ptr": np.full((2, 30), 7.0, np.float32),
                "in_ptr": _floats(2, 30),
                "stride": 30,
                "n_cols": 27,
                "BLOCK": 32,
            },
        ),
        (
            blocks,
            (1,),
            {
                "x_ptr": _floats(7, 30),
                "out_ptr": np.full((16, 8), 7.0, np.float32),
                "flag": 5,
                "steps": 2,
                "ROWS": 8,
                "COLS": 16,
            },
        ),
        (
            combined,
            (1,),
            {
                "x_ptr": _numbers(8, 16),
                "sums_ptr": np.zeros(8, np.int32),
                "best_ptr": np.zeros(16, np.int32),
                "scan_ptr": np.zeros(128, np.int32),
                "count_ptr": np.zeros(8, np.int32),
                "ROWS": 8,
                "COLS": 16,
            },
        ),
        (
            matmul,
            (2, 2),
            {
                "a_ptr": _floats(24, 20),
                "b_ptr": _floats(20, 28, seed=1),
                "c_ptr": np.full((24, 28), 7.0, np.float32),
                "M": 24,
                "N": 28,
                "K": 20,
                "BLOCK": 16,
                "BLOCK_K": 16,
            },
        ),
    ]

"""Reductions of many rows at a time: all lanes of sixteen rows are combined into one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.targets.cpu.facts import host_facts


@triton.jit
def rows_of_softmax(x, out, best, n, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    cols = tl.arange(0, C)
    v = tl.load(x + rows[:, None] * C + cols[None, :])
    v = tl.where(cols[None, :] < n, v * 2.0, -float("inf"))
    largest = tl.max(v, 1)
    e = tl.exp(v - largest[:, None])
    tl.store(best + rows, largest)
    tl.store(out + rows[:, None] * C + cols[None, :], e / tl.sum(e, 1)[:, None])


def combines_rows(kernel: Any) -> bool:
    return "vector.shuffle" in kernel.asm["loops"]


@pytest.mark.parametrize(("rows", "cols", "n"), [(16, 16, 16), (32, 64, 50), (64, 32, 32), (16, 256, 200), (4, 64, 60)])
def test_rows(rows: int, cols: int, n: int) -> None:
    x = np.random.default_rng(0).standard_normal((rows, cols)).astype(np.float32)
    x[1], x[2, 3], x[3, :n] = np.nan, np.nan, -np.inf
    out, best = np.zeros_like(x), np.zeros(rows, np.float32)
    kernel = rows_of_softmax[(1,)](x, out, best, n, rows, cols)
    assert combines_rows(kernel) == (rows >= 16 and host_facts().vector_bits >= 256)
    with np.errstate(invalid="ignore"):
        v = np.where(np.arange(cols) < n, x * 2.0, -np.inf)
        largest = np.fmax.reduce(v, 1)
        e = np.exp(v - largest[:, None])
        expected = e / e.sum(1)[:, None]
    np.testing.assert_allclose(best, largest, rtol=1e-6)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-7)


@triton.jit
def sums_onto(x, start, out, R: tl.constexpr, C: tl.constexpr):
    """A second reduction goes on from other numbers than its neutral ones."""
    rows = tl.arange(0, R)
    cols = tl.arange(0, C)
    total = tl.load(start + rows)
    for step in range(3):
        v = tl.load(x + step * R * C + rows[:, None] * C + cols[None, :])
        total += tl.sum(v * v, 1)
    tl.store(out + rows, total)


@pytest.mark.parametrize(("rows", "cols"), [(16, 32), (64, 64), (8, 16), (2, 32)])
def test_sums_of_several_steps(rows: int, cols: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, rows, cols)).astype(np.float32)
    start, out = rng.standard_normal(rows).astype(np.float32), np.zeros(rows, np.float32)
    sums_onto[(1,)](x, start, out, rows, cols)
    np.testing.assert_allclose(out, start + (x.astype(np.float64) ** 2).sum((0, 2)), rtol=1e-5)


@triton.jit
def largest_of_rows(x, out, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    cols = tl.arange(0, C)
    tl.store(out + rows, tl.max(tl.load(x + rows[:, None] * C + cols[None, :]), 1))


def test_maxima_of_few_vectors_start_from_the_first(wide_loops: Callable[..., str]) -> None:
    x = np.random.default_rng(1).standard_normal((16, 64)).astype(np.float32)
    x[3], x[4, ::2], x[5] = np.nan, np.nan, -np.inf
    out = np.zeros(16, np.float32)
    largest_of_rows[(1,)](x, out, 16, 64)
    np.testing.assert_array_equal(out, np.fmax.reduce(x, 1))
    assert "0x7FC00000" not in wide_loops(largest_of_rows, x, out, 16, 64)

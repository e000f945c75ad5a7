"""Lanes that take two registers, where f32 is rounded to bfloat16: one instruction of AVX-512 rounds both."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.targets.cpu.facts import host_facts

PAIR = "vector<32xf32>"
has_pairs = host_facts().vector_bits >= 512


@triton.jit
def exponential(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.exp2(tl.load(x + i, mask=i < n)).to(tl.bfloat16), mask=i < n)


@pytest.mark.parametrize("n", [1, 16, 31, 32, 33, 100, 128])
def test_every_length_and_subnormal_numbers(n: int) -> None:
    x = np.linspace(-6, 6, 128, dtype=np.float32)
    x[::5], x[7], x[20], x[21] = -130, np.nan, np.inf, -np.inf
    out = np.full(130, 3, ml_dtypes.bfloat16)
    kernel = exponential[(1,)](x, out, n, 128)
    assert (PAIR in kernel.asm["loops"]) == has_pairs
    with np.errstate(over="ignore"):
        exact = np.exp2(x[:n].astype(np.float64)).astype(np.float32)
    got, expected = out[:n].astype(np.float32), exact.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=2.0**-8, atol=2.0**-133)
    assert np.all(got[exact > 0] > 0), "subnormal numbers became zeros"
    assert np.all(out[n:] == 3)


@triton.jit
def row_weights(x, out, sums, n, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    place = rows[:, None] * N + columns[None, :]
    p = tl.exp2(tl.where(columns[None, :] < n, tl.load(x + place), -float("inf")))
    total = tl.sum(p, 1)
    tl.store(out + place, p.to(tl.bfloat16))
    tl.store(sums + rows, total * 2)


@pytest.mark.parametrize("n", [64, 48, 37, 5, 0])
@pytest.mark.parametrize("rows", [8, 16, 32])
def test_rows_that_are_summed_beside(rows: int, n: int) -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-6, 0, (rows, 64)).astype(np.float32)
    out, sums = np.zeros((rows, 64), ml_dtypes.bfloat16), np.zeros(rows, np.float32)
    kernel = row_weights[(1,)](x, out, sums, n, rows, 64)
    assert (PAIR in kernel.asm["loops"]) == has_pairs
    p = np.where(np.arange(64) < n, np.exp2(x.astype(np.float64)), 0)
    np.testing.assert_allclose(out.astype(np.float64), p, rtol=2.0**-8)
    np.testing.assert_allclose(sums, 2 * p.sum(1), rtol=1e-5)


@triton.jit
def doubled(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, (tl.load(x + i) * 2).to(tl.bfloat16))


def test_little_work_waits_for_memory_and_has_no_pairs() -> None:
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, ml_dtypes.bfloat16)
    kernel = doubled[(1,)](x, out, 128)
    assert PAIR not in kernel.asm["loops"]
    np.testing.assert_array_equal(out.astype(np.float32), 2 * x)

"""Accumulator tiles that a loop updates under a mask, several at once, as running variances do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * weight_1 * share, weight


@triton.jit
def variances(
    x_ptr,
    mean_ptr,
    m2_ptr,
    rows: tl.constexpr,
    n: tl.constexpr,
    W: tl.constexpr,
    XBLOCK: tl.constexpr,
    RBLOCK: tl.constexpr,
):
    """Of the n elements of each row, which lie in pieces of W."""
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    mean = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    m2 = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    weight = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    for start in range(0, n, RBLOCK):
        r = start + tl.arange(0, RBLOCK)[None, :]
        live = (r < n) & (x < rows)
        value = tl.load(x_ptr + (r % W + W * x + W * rows * (r // W)), live, other=0.0)
        if start == 0:
            new_weight = tl.full(weight.shape, 1, weight.dtype)
            new_mean = value
            new_m2 = tl.zeros_like(m2)
        else:
            delta = value - mean
            new_weight = weight + 1
            new_mean = mean + delta / new_weight
            new_m2 = m2 + delta * (value - new_mean)
        mean = tl.where(live, new_mean, mean)
        m2 = tl.where(live, new_m2, m2)
        weight = tl.where(live, new_weight, weight)
    mean_of_all, m2_of_all, _ = tl.reduce((mean, m2, weight), 1, combine)
    tl.store(mean_ptr + x, mean_of_all[:, None], x < rows)
    tl.store(m2_ptr + x, m2_of_all[:, None], x < rows)


@pytest.mark.pairwise
@pytest.mark.parametrize(("pieces", "width"), [(4, 49), (3, 64), (1, 100), (7, 4)])
@pytest.mark.parametrize(("xblock", "rblock"), [(1, 64), (1, 256), (4, 32)])
def test_running_variances(pieces: int, width: int, xblock: int, rblock: int) -> None:
    rows, rng = 5, np.random.default_rng(pieces)
    x = (rng.standard_normal((pieces, rows, width)) + 3).astype(np.float32)
    mean, m2 = np.empty(rows, np.float32), np.empty(rows, np.float32)
    n = pieces * width
    variances[(triton.cdiv(rows, xblock),)](x, mean, m2, rows=rows, n=n, W=width, XBLOCK=xblock, RBLOCK=rblock)
    np.testing.assert_allclose(mean, x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(m2, x.var((0, 2)) * n, rtol=1e-4)


@triton.jit
def last_seen(x_ptr, first_ptr, last_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Of each lane: the first and the last element, and how many there were; lanes without any keep what they had."""
    i = tl.arange(0, BLOCK)
    first, last, count = tl.load(first_ptr + i), tl.load(last_ptr + i), tl.full([BLOCK], 0, tl.int32)
    for start in range(0, n, BLOCK):
        live = start + i < n
        value = tl.load(x_ptr + start + i, live, other=-1.0)
        first = tl.where(live & (count == 0), value, first)
        last = tl.where(live, value, last)
        count = tl.where(live, count + 1, count)
    tl.store(first_ptr + i, first)
    tl.store(last_ptr + i, last)
    tl.store(count_ptr + i, count)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 20, 64, 65, 100, 130])
def test_lanes_without_elements_keep_what_they_had(n: int) -> None:
    x: Any = np.arange(n, dtype=np.float32)
    first, last, count = np.full(64, 7, np.float32), np.full(64, 8, np.float32), np.empty(64, np.int32)
    last_seen[(1,)](x, first, last, count, n, BLOCK=64)
    seen = [x[lane::64] for lane in range(64)]
    np.testing.assert_array_equal(count, [part.size for part in seen])
    np.testing.assert_array_equal(first, [part[0] if part.size else 7 for part in seen])
    np.testing.assert_array_equal(last, [part[-1] if part.size else 8 for part in seen])


def test_lanes_past_the_bound_are_not_visited(every_target: str) -> None:
    if every_target != "cpu":
        pytest.skip("how CPUs do it")
    x, mean, m2 = np.ones((2, 5, 100), np.float32), np.empty(5, np.float32), np.empty(5, np.float32)
    kernel = variances[(5,)](x, mean, m2, rows=5, n=200, W=100, XBLOCK=1, RBLOCK=128)
    inside = kernel.asm["loops"].partition("step %c128_i32")[2]
    body = inside[: inside.index("\n    }\n")]
    assert "to %c128 step" not in body

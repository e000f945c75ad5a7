"""Reductions and scans with functions of their own, over the lanes of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def merge_moments(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta, n = mean_b - mean_a, n_a + n_b
    share = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def larger_of(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def row_moments(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    live = (cols < n).to(tl.float32)
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), live), 0, merge_moments)
    tl.store(out_ptr + row * 2, mean)
    tl.store(out_ptr + row * 2 + 1, m2 / count)


@triton.jit
def tile_positions(x_ptr, best_ptr, place_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    best, place = tl.max(x, AXIS, return_indices=True)  # pyright: ignore[reportGeneralTypeIssues]
    kept = tl.arange(0, M if AXIS == 1 else N)
    tl.store(best_ptr + kept, best)
    tl.store(place_ptr + kept, place)


@triton.jit
def tile_scans(
    x_ptr, sum_ptr, top_ptr, state_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REV: tl.constexpr
):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(sum_ptr + at, tl.cumsum(x, AXIS, reverse=REV))
    tl.store(top_ptr + at, tl.associative_scan(x, AXIS, larger_of, reverse=REV))
    _, state = tl.associative_scan((x * 0.5, x), AXIS, first_order, reverse=REV)
    tl.store(state_ptr + at, state)


@triton.jit
def row_cumsum(x_ptr, out_ptr, n, BLOCK: tl.constexpr, REV: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0)
    tl.store(out_ptr + row * n + cols, tl.cumsum(x, 0, reverse=REV), mask=cols < n)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def loops_of(kernel: Any) -> str:
    (compiled,) = list(kernel.cache.values())[-1:]
    return compiled.asm["loops"]


@pytest.mark.parametrize("n", [1, 15, 16, 17, 250, 256])
def test_a_reduction_of_several_values_folds_lanes(n: int) -> None:
    x = normal(3, n) + 10
    out = np.empty((3, 2), np.float32)
    row_moments[(3,)](x, out, n, BLOCK=256)
    np.testing.assert_allclose(out, np.stack([x.mean(1), x.var(1)], 1), rtol=1e-4, atol=1e-5)
    assert "vector.shuffle" in loops_of(row_moments)


@triton.jit
def sum_and_larger(sum_a, top_a, sum_b, top_b):
    return sum_a + sum_b, tl.maximum(top_a, top_b)


@triton.jit
def row_sum_of_pair(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0)
    total, _ = tl.reduce((x, x), 0, sum_and_larger)
    tl.store(out_ptr, total)


@pytest.mark.parametrize("n", [0, 1, 17, 33, 48, 49, 63, 64])
def test_a_reduction_behind_the_first_element_of_a_row_that_is_cut_off(n: int) -> None:
    """The other 63 elements are three vectors and a rest: no number that a mask of bits rounds down to."""
    x, out = np.random.default_rng(2).integers(-1000, 1000, 64).astype(np.int32), np.zeros(1, np.int32)
    row_sum_of_pair[(1,)](x, out, n, BLOCK=64)
    assert out[0] == x[:n].sum()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(4, 64), (64, 4), (16, 2), (2, 512)])
def test_positions_of_maxima_are_the_first_ones(shape: tuple[int, int], axis: int) -> None:
    x = np.random.default_rng(1).integers(0, 5, shape).astype(np.float32)
    best, place = np.empty(shape[1 - axis], np.float32), np.empty(shape[1 - axis], np.int32)
    tile_positions[(1,)](x, best, place, M=shape[0], N=shape[1], AXIS=axis)
    np.testing.assert_array_equal(best, x.max(axis))
    np.testing.assert_array_equal(place, x.argmax(axis))


@pytest.mark.parametrize(("block", "vectors"), [(1024, 4), (64, 1)])
def test_long_rows_have_several_accumulators(block: int, vectors: int, wide_loops: Callable[..., str]) -> None:
    """Of which each holds a maximum and where it is."""
    for first in (0, 1, 17, block // 2, block - 1):
        x = np.zeros((1, block), np.float32)
        x[0, first:] = 1
        best, place = np.empty(1, np.float32), np.empty(1, np.int32)
        tile_positions[(1,)](x, best, place, M=1, N=block, AXIS=1)
        assert (best[0], place[0]) == (1, first)
    loops = wide_loops(tile_positions, x, best, place, M=1, N=block, AXIS=1).splitlines()
    carried = [line for line in loops if "scf.for" in line and "iter_args" in line]
    assert carried[0].count("vector<") == 2 * vectors


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((4, 64), 1), ((4, 64), 0), ((8, 8), 1), ((2, 2), 1), ((1, 128), 1)])
def test_scans_of_tiles(shape: tuple[int, int], axis: int, reverse: bool) -> None:
    x = normal(*shape, seed=2)
    sums, tops, states = (np.empty_like(x) for _ in range(3))
    tile_scans[(1,)](x, sums, tops, states, M=shape[0], N=shape[1], AXIS=axis, REV=reverse)
    walked = np.flip(x, axis) if reverse else x
    state, carry = np.empty(shape), 0.0
    for place in range(shape[axis]):
        here = np.take(walked, place, axis).astype(np.float64)
        carry = here if place == 0 else carry * here * 0.5 + here
        state[(slice(None), place) if axis == 1 else place] = carry
    expected = [np.cumsum(walked, axis, dtype=np.float64), np.maximum.accumulate(walked, axis), state]
    for got, wanted in zip((sums, tops, states), expected, strict=True):
        np.testing.assert_allclose(got, np.flip(wanted, axis) if reverse else wanted, rtol=1e-4, atol=1e-4)
    if axis == 1 and shape[1] > 2:
        assert "vector.shuffle" in loops_of(tile_scans)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float16, np.float64])
def test_masked_scans_of_rows(dtype: Any, reverse: bool) -> None:
    for n in (1, 40, 63, 64):
        x = np.random.default_rng(n).integers(-3, 4, (3, n)).astype(dtype)
        out = np.zeros_like(x)
        row_cumsum[(3,)](x, out, n, BLOCK=64, REV=reverse)
        walked = x[:, ::-1] if reverse else x
        wanted = np.cumsum(walked, 1, dtype=np.int64).astype(dtype)
        np.testing.assert_array_equal(out, wanted[:, ::-1] if reverse else wanted)


@triton.jit
def larger_by_sum(a, b):
    return tl.where(a > b, a, b) + tl.where(a > b, b, a) * 0


@triton.jit
def largest(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, BLOCK)), 0, larger_by_sum))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_lane_reaches_the_result(dtype: Any) -> None:
    for block in (2, 4, 64):
        for place in range(block):
            x, out = np.zeros(block, dtype), np.zeros(1, dtype)
            x[place] = 1
            largest[(1,)](x, out, BLOCK=block)
            assert out[0] == 1, (block, place)


def test_a_scan_in_place() -> None:
    x = normal(2, 128, seed=3)
    wanted = np.cumsum(x, 1, dtype=np.float64)
    row_cumsum[(2,)](x, x, 128, BLOCK=128, REV=False)
    np.testing.assert_allclose(x, wanted, rtol=1e-4, atol=1e-4)


@triton.jit
def recurrence(a, b, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, first_order, reverse=REVERSE)
    tl.store(out + i, h)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reverse", [False, True])
def test_lanes_that_a_scan_leaves_as_they_are_are_computed_from_numbers(dtype: Any, reverse: bool) -> None:
    """Else they would be what registers hold: subnormal numbers, which take 150 cycles."""
    n, rng = 128, np.random.default_rng(0)
    a, b = (rng.uniform(0.5, 1.5, n).astype(dtype) for _ in range(2))
    out = np.zeros(n, dtype)
    kernel = recurrence[(1,)](a, b, out, n, reverse)
    expected, carried = np.zeros(n), 0.0
    for place in reversed(range(n)) if reverse else range(n):
        carried = expected[place] = carried * a[place] + b[place]
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    assert "llvm.arithmetic.fence" in kernel.asm["llir"]

"""Reductions that choose between elements: argmax, argmin, and functions of users like them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

rng = np.random.default_rng(7)


@triton.jit
def places_in_rows(x, best, place, n, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + cols, mask=cols < n, other=-float("inf"))
    top, index = tl.max(v, 0, return_indices=True)  # pyright: ignore[reportGeneralTypeIssues]
    tl.store(best + row, top)
    tl.store(place + row, index)


@triton.jit
def lowest_in_tiles(x, place, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    index = tl.argmin(tl.load(x + (a * B + b) * C + c) * 2, AXIS)
    kept = tl.arange(0, A * B * C // (A if AXIS == 0 else B if AXIS == 1 else C))
    tl.store(place + kept, tl.ravel(index))


def loops_of(kernel: Any) -> str:
    (compiled,) = list(kernel.cache.values())[-1:]
    return compiled.asm["loops"]


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200, 255, 256])
def test_the_first_of_equal_elements_in_rows_of_any_length(n: int) -> None:
    x = rng.integers(0, 4, (20, n)).astype(np.float32)
    x[0] = -np.inf
    x[1] = 0
    best, place = np.empty(20, np.float32), np.empty(20, np.int32)
    places_in_rows[(20,)](x, best, place, n, BLOCK=256)
    np.testing.assert_array_equal(best, x.max(1))
    np.testing.assert_array_equal(place, x.argmax(1))


@pytest.mark.parametrize("first", range(0, 256, 5))
def test_every_place_is_found(first: int) -> None:
    x = np.full((1, 256), 2.0, np.float32)
    x[0, :first] = 1
    best, place = np.empty(1, np.float32), np.empty(1, np.int32)
    places_in_rows[(1,)](x, best, place, 256, BLOCK=256)
    assert (best[0], place[0]) == (2, first)


def test_rows_of_nan_give_what_the_function_gives() -> None:
    """A comparison with NaN chooses the later element."""
    x = np.full((2, 128), np.nan, np.float32)
    x[1, 127] = 3
    best, place = np.empty(2, np.float32), np.empty(2, np.int32)
    places_in_rows[(2,)](x, best, place, 128, BLOCK=128)
    assert np.isnan(best[0]) and best[1] == 3
    np.testing.assert_array_equal(place, [127, 127])


@pytest.mark.pairwise
@pytest.mark.parametrize("shape", [(4, 8, 64), (64, 4, 8), (2, 128, 2), (1, 4, 256)])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float64, np.float16, np.int8])
def test_tiles_along_any_axis(shape: tuple[int, int, int], axis: int, dtype: Any) -> None:
    x = rng.integers(-3, 4, shape).astype(dtype)
    place = np.empty(x.size // shape[axis], np.int32)
    lowest_in_tiles[(1,)](x, place, *shape, AXIS=axis)
    np.testing.assert_array_equal(place, x.argmin(axis).ravel())


def test_loops_read_whole_vectors_where_they_are_and_look_no_index_up() -> None:
    x, best, place = rng.standard_normal((2, 4096)).astype(np.float32), np.empty(2, np.float32), np.empty(2, np.int32)
    kernel = triton.jit(places_in_rows.fn)  # pyright: ignore[reportFunctionMemberAccess]
    kernel[(2,)](x, best, place, 4096, BLOCK=4096)
    loops = loops_of(kernel)
    assert "memref.alloca" not in loops
    (body,) = re.findall(r"scf.for [^\n]*step %c(?:16|32|64) iter_args.*?scf.yield", loops, re.DOTALL)[:1]
    assert "maskedload" not in body and "arith.cmpi" not in body


@triton.jit
def heavier(value_a, index_a, weight_a, value_b, index_b, weight_b):
    first = (value_a > value_b) | ((value_a == value_b) & (index_a < index_b))
    return tl.where(first, value_a, value_b), tl.where(first, index_a, index_b), tl.where(first, weight_a, weight_b)


@triton.jit
def best_with_weight(x, w, out, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols, mask=cols < n, other=-float("inf"))
    weights = tl.load(w + cols, mask=cols < n, other=0.0)
    value, index, weight = tl.reduce((v, cols * 3 + 5, weights), 0, heavier)
    tl.store(out, value)
    tl.store(out + 1, index.to(tl.float32))
    tl.store(out + 2, weight)


@pytest.mark.parametrize("n", [3, 64, 100, 512])
def test_a_choice_of_three_values(n: int) -> None:
    x, w = rng.integers(0, 9, n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    out = np.empty(3, np.float32)
    best_with_weight[(1,)](x, w, out, n, BLOCK=512)
    place = x.argmax()
    np.testing.assert_array_equal(out, np.array([x[place], 3 * place + 5, w[place]], np.float32))


@triton.jit
def extremes(low_a, high_a, first_a, low_b, high_b, first_b):
    return tl.minimum(low_a, low_b), tl.maximum(high_a, high_b), tl.minimum(first_a, first_b)


@triton.jit
def range_of_row(x, out, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols)
    low, high, first = tl.reduce((v, v, tl.where(v > 1, cols, BLOCK)), 0, extremes)
    tl.store(out, low)
    tl.store(out + 1, high)
    tl.store(out + 2, first.to(tl.float32))


def test_extrema_choose_too() -> None:
    """Here two values that are chosen from are one element."""
    x, out = rng.standard_normal(256).astype(np.float32), np.empty(3, np.float32)
    range_of_row[(1,)](x, out, BLOCK=256)
    np.testing.assert_array_equal(out, np.array([x.min(), x.max(), (x > 1).argmax()], np.float32))
    assert "vector.shuffle" in loops_of(range_of_row)


@triton.jit
def two_best(x, out, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols, mask=cols < n, other=-float("inf"))
    first = tl.argmax(v, 0)
    tl.store(out, first)
    tl.store(out + 1, tl.argmax(tl.where(cols == first, -float("inf"), v), 0))


@pytest.mark.parametrize("n", [2, 65, 256])
def test_what_is_chosen_from_may_be_a_choice_itself(n: int) -> None:
    x, out = rng.permutation(n).astype(np.float32), np.empty(2, np.int32)
    two_best[(1,)](x, out, n, BLOCK=256)
    np.testing.assert_array_equal(out, np.argsort(-x)[:2])
    loops = loops_of(two_best)
    assert "memref.alloca" not in loops and loops.count("vector.shuffle") > 10


@triton.jit
def place_of_dear(x, y, place, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.exp(tl.load(x + cols, mask=cols < n, other=-float("inf")))
    tl.store(place, tl.argmax(v, 0))
    tl.store(y + cols, v, mask=cols < n)


@triton.jit
def place_among_constants(out, BLOCK: tl.constexpr):
    tl.store(out, tl.argmax(tl.zeros((BLOCK,), tl.float32), 0))


@triton.jit
def place_of_picked(table, x, place, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(table + tl.load(x + cols), mask=cols % 3 == n, other=-1.0)
    tl.store(place, tl.argmax(v, 0))


def test_elements_that_are_computed() -> None:
    x, y, place = rng.standard_normal(200).astype(np.float32), np.empty(200, np.float32), np.empty(1, np.int32)
    place_of_dear[(1,)](x, y, place, 200, BLOCK=256)
    assert place[0] == x.argmax()
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
    place_among_constants[(1,)](place, BLOCK=64)
    assert place[0] == 0
    rows = rng.integers(0, 200, 256).astype(np.int32)
    for turn in range(4):
        place_of_picked[(1,)](np.abs(x), rows, place, turn, BLOCK=256)
        assert place[0] == np.where(np.arange(256) % 3 == turn, np.abs(x)[rows], -1).argmax()


@triton.jit
def larger(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def rows_of_known_length(x, best, place, rows, N: tl.constexpr, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)[None, :]
    mask = (cols < N) & (row < rows)
    v = tl.where(mask, tl.load(x + row * N + cols, mask, other=0.0), -float("inf"))
    to = row + tl.arange(0, 1)
    tl.store(best + to, tl.reduce(v, 1, larger))
    tl.store(place + to, tl.argmax(v, 1))


@pytest.mark.parametrize("block", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("part", [0, 1, 3, 7, 8, 13, 21, 24, 31])
def test_every_place_is_found_in_rows_of_known_length(block: int, part: int) -> None:
    """Rows of 32 to 63 elements in blocks of 64 left out 8 to 31: their unrolled loop has no iteration, and its
    accumulators, which start as the first elements, were dropped with it."""
    n = block - part * block // 64
    x = np.eye(n, dtype=np.float32) - 1000
    best, place = np.empty(n, np.float32), np.empty(n, np.int32)
    kernel = triton.jit(rows_of_known_length.fn)  # pyright: ignore[reportFunctionMemberAccess]
    kernel[(n,)](x, best, place, n, N=n, BLOCK=block)
    np.testing.assert_array_equal(best, np.full(n, -999))
    np.testing.assert_array_equal(place, np.arange(n))

"""Chains of exchanges between elements whose indices differ in one bit: what they compute, and that registers do it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.language.standard import bitonic_merge

rng = np.random.default_rng(0)


def gathers_and_loops(text: str) -> tuple[int, int]:
    return text.count("vector.gather") + text.count("vector.scatter"), text.count("scf.for")


@triton.jit
def sort_kernel(x, y, N: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.sort(tl.load(x + i), descending=DESCENDING))


def numbers(dtype: str, *shape: int) -> Any:
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize(
    ("dtype", "n", "descending"),
    [("float32", 2, False), ("float32", 4, True), ("float32", 16, False), ("float32", 16, True),
     ("float32", 256, True), ("float64", 64, False), ("float16", 128, True), ("int8", 256, False),
     ("uint8", 64, False), ("int32", 32, True), ("uint32", 128, True), ("int64", 64, False), ("uint64", 8, True)],
)  # fmt: skip
def test_rows_are_sorted_in_registers(dtype: str, n: int, *, descending: bool) -> None:
    """The order turns comparisons round, whatever the extent: each kind of number has both orders, few extents do."""
    x = numbers(dtype, 3, n)
    y = np.zeros_like(x)
    kernel = sort_kernel[(3,)](x, y, N=n, DESCENDING=descending)
    expected = np.sort(x, axis=1)
    np.testing.assert_array_equal(y, expected[:, ::-1] if descending else expected)
    # A network of s stages has s * (s + 1) / 2 steps: far fewer loops than that.
    found, loops = gathers_and_loops(kernel.asm["loops"])
    assert found == 0
    assert loops <= 2 * n.bit_length()


@triton.jit
def sort_backwards(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.sort(tl.load(x + (N - 1 - i))))


def test_a_row_that_is_read_backwards() -> None:
    x, y = numbers("int32", 16), np.zeros(16, np.int32)
    sort_backwards[(1,)](x, y, N=16)
    np.testing.assert_array_equal(y, np.sort(x))


@triton.jit
def sort_tile(x, y, rows, cols, stride, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    mask = (m[:, None] < rows) & (n[None, :] < cols)
    tile = tl.load(x + m[:, None] * stride + n[None, :], mask, other=float("inf"))
    tl.store(y + m[:, None] * stride + n[None, :], tl.sort(tile * 2), mask)


@pytest.mark.parametrize(("rows", "cols", "m", "n"), [(5, 50, 8, 64), (16, 8, 16, 8), (3, 3, 4, 4), (1, 200, 1, 256)])
def test_tiles_with_masks_and_strides_of_arguments(rows: int, cols: int, m: int, n: int) -> None:
    x = numbers("float32", rows, cols + 3)
    y = np.zeros_like(x)
    sort_tile[(1,)](x, y, rows, cols, cols + 3, M=m, N=n)
    np.testing.assert_array_equal(y[:, :cols], np.sort(x[:, :cols] * 2, axis=1))
    assert not y[:, cols:].any()


@triton.jit
def largest(x, y, N: tl.constexpr, K: tl.constexpr):
    m, n = tl.arange(0, 4)[:, None], tl.arange(0, N)[None, :]
    best = tl.topk(tl.load(x + m * N + n), K)
    tl.store(y + m * K + tl.arange(0, K)[None, :], best)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("dtype", "n", "k"),
    [("float32", 256, 8), ("float32", 64, 1), ("float32", 128, 64), ("int64", 128, 4), ("int16", 512, 16)],
)
def test_topk_leaves_no_lanes_idle(dtype: str, n: int, k: int) -> None:
    x = numbers(dtype, 4, n)
    y = np.zeros((4, k), dtype)
    kernel = largest[(1,)](x, y, N=n, K=k)
    np.testing.assert_array_equal(y, np.sort(x, axis=1)[:, ::-1][:, :k])
    assert gathers_and_loops(kernel.asm["loops"])[0] == 0


@triton.jit
def bit_of_index(j: tl.constexpr, LOG: tl.constexpr):
    shape: tl.constexpr = [1] * (LOG - 1 - j) + [2] + [1] * j
    return tl.reshape(tl.arange(0, 2), shape)


@triton.jit
def exchange_pairs(h, flip, j: tl.constexpr, LOG: tl.constexpr):
    bits = h.to(tl.int32, bitcast=True)
    other = (bits ^ tl.xor_sum(bits, LOG - 1 - j, True)).to(h.dtype, bitcast=True)
    return tl.where((h > other) != (flip ^ bit_of_index(j, LOG)), other, h)


@triton.jit
def sort_on_a_hypercube(x, y, LOG: tl.constexpr):
    """As official Triton's library sorts: a dimension for each bit of the index, conditions as integers."""
    N: tl.constexpr = 1 << LOG
    shape: tl.constexpr = [2] * LOG
    i = tl.program_id(0) * N + tl.arange(0, N)
    h = tl.reshape(tl.load(x + i), shape)
    for stage in tl.static_range(1, LOG + 1):
        flip = bit_of_index(stage, LOG) if stage < LOG else 0
        for step in tl.static_range(stage):
            h = exchange_pairs(h, flip, stage - 1 - step, LOG)
    tl.store(y + i, tl.reshape(h, [N]))


@pytest.mark.costly
@pytest.mark.parametrize(("dtype", "log"), [("float32", 3), ("float32", 8), ("int32", 6)])
def test_steps_without_reshapes_between_them(dtype: str, log: int, wide_loops: Callable[..., str]) -> None:
    x = numbers(dtype, 3, 1 << log)
    y = np.zeros_like(x)
    sort_on_a_hypercube[(3,)](x, y, LOG=log)
    np.testing.assert_array_equal(y, np.sort(x, axis=1))
    text = wide_loops(sort_on_a_hypercube, x, y, LOG=log)
    found, loops = gathers_and_loops(text)
    assert found == 0
    assert loops <= 2 * log
    # Minima and maxima: no condition of the index is computed.
    assert text.count("vector.broadcast") <= 2 * log


@triton.jit
def running_topk(x, y, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    best = tl.full([N], -float("inf"), tl.float32)
    for step in range(steps):
        fresh = tl.sort(tl.load(x + step * N + i))
        best = bitonic_merge(tl.maximum(best, fresh), descending=True)
    tl.store(y + i, best)


def test_networks_in_loops_that_carry_what_they_merge() -> None:
    x = numbers("float32", 9, 32)
    y = np.zeros(32, np.float32)
    running_topk[(1,)](x, y, 9, N=32)
    np.testing.assert_array_equal(y, np.sort(x.ravel())[::-1][:32])


@triton.jit
def two_sorts(x, y, a, b, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, M)
    first, second = tl.sort(tl.load(x + i)), tl.sort(tl.load(y + j), descending=True)
    tl.store(a + i, first + tl.sum(second))
    tl.store(b + j, second * tl.max(first))


@pytest.mark.costly
def test_independent_networks_in_one_kernel() -> None:
    x, y = (numbers("float32", n).round() for n in (64, 256))
    a, b = np.zeros_like(x), np.zeros_like(y)
    two_sorts[(1,)](x, y, a, b, N=64, M=256)
    np.testing.assert_array_equal(a, np.sort(x) + y.sum())
    np.testing.assert_array_equal(b, np.sort(y)[::-1] * x.max())


@triton.jit
def side(pairs, is_right, RIGHT: tl.constexpr):
    """Of each pair the left or the right one, in both places; written as a sum over the pair."""
    chosen = is_right if RIGHT else 1 - is_right
    return tl.broadcast_to(tl.sum(pairs * chosen, 1)[:, None, :], pairs.shape)


@triton.jit
def exchanged(x, ids, flip, bit: tl.constexpr):
    """Keys whose places differ in one bit, put in order, in the other one where `flip` says so; `ids` go with them."""
    STEP: tl.constexpr = 1 << bit
    pairs: tl.constexpr = [x.numel // (2 * STEP), 2, STEP]
    keys, names = tl.reshape(x, pairs), tl.reshape(ids, pairs)
    is_right = tl.arange(0, 2)[None, :, None]
    low, high = side(keys, is_right, False), side(keys, is_right, True)
    changes = (tl.reshape(flip, pairs) != 0) ^ (high < low)
    change = side(names, is_right, False) ^ side(names, is_right, True)
    names ^= tl.where(changes, change, tl.zeros_like(change))
    keys = tl.where(changes, tl.where(is_right != 0, low, high), keys)
    return tl.reshape(keys, x.shape), tl.reshape(names, x.shape)


@triton.jit
def argsort_kernel(x, values, order, N: tl.constexpr, LOG: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.program_id(0) * N
    v, ids = tl.load(x + row + i), i
    for stage in tl.static_range(1, LOG + 1):
        flip = (i >> stage) & 1
        for step in tl.static_range(stage):
            v, ids = exchanged(v, ids, flip, stage - 1 - step)
    tl.store(values + row + i, v)
    tl.store(order + row + i, ids)


@pytest.mark.costly
def test_users_sorts_of_keys_with_their_places() -> None:
    n = 64
    x = np.stack([rng.permutation(n) for _ in range(3)]).astype(np.float32)
    values, order = np.zeros_like(x), np.zeros(x.shape, np.int32)
    kernel = argsort_kernel[(3,)](x, values, order, N=n, LOG=6)
    np.testing.assert_array_equal(values, np.sort(x, axis=1))
    np.testing.assert_array_equal(order, np.argsort(x, axis=1))
    assert gathers_and_loops(kernel.asm["loops"])[0] == 0


@triton.jit
def hadamard_kernel(x, y, N: tl.constexpr, LOG: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    for bit in tl.static_range(LOG):
        pairs = tl.reshape(v, [N >> (bit + 1), 2, 1 << bit])
        is_lower = tl.arange(0, 2)[None, :, None] == 0
        total = tl.sum(pairs, 1)[:, None, :]
        difference = tl.sum(tl.where(is_lower, pairs, -pairs), 1)[:, None, :]
        v = tl.reshape(tl.where(is_lower, total, difference), [N])
    tl.store(y + i, v)


def test_butterflies_stay_in_registers(wide_loops: Callable[..., str]) -> None:
    n = 128
    x = rng.integers(-50, 50, (2, n)).astype(np.float32)
    y = np.zeros_like(x)
    hadamard_kernel[(2,)](x, y, N=n, LOG=7)
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < n:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    np.testing.assert_array_equal(y, x @ matrix)
    found, loops = gathers_and_loops(wide_loops(hadamard_kernel, x, y, N=n, LOG=7))
    assert found == 0
    assert loops <= 4


@triton.jit
def keep_second(a, b):
    return b


@triton.jit
def pairs_in_order(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    v = tl.reduce(tl.reshape(v, [N // 2, 2]), 1, keep_second)
    v = tl.reduce(tl.reshape(v, [N // 8, 2, 2]), 1, keep_second)
    tl.store(y + tl.arange(0, N // 4), tl.reshape(v, [N // 4]))


def test_pairs_are_combined_in_the_order_of_their_indices() -> None:
    x, y = numbers("float32", 64), np.zeros(16, np.float32)
    pairs_in_order[(1,)](x, y, N=64)
    np.testing.assert_array_equal(y, x.reshape(32, 2)[:, 1].reshape(8, 2, 2)[:, 1].ravel())


@triton.jit
def flip_bits(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.flip(tl.load(x + i) > 0))


def test_flips_of_conditions() -> None:
    x, y = numbers("float32", 64), np.zeros(64, np.bool_)
    flip_bits[(1,)](x, y, N=64)
    np.testing.assert_array_equal(y, (x > 0)[::-1])


@pytest.mark.costly
def test_code_does_not_grow_with_the_square_of_the_extent() -> None:
    x = numbers("float32", 1, 1024)
    kernel = sort_kernel[(1,)](x, np.zeros_like(x), N=1024, DESCENDING=False)
    # 55 steps; eight vectors of each at most are written out.
    assert len(re.findall("arith.cmpf", kernel.asm["loops"])) < 55 * 8


@triton.jit
def side_of(DIMS: tl.constexpr, dim: tl.constexpr):
    return tl.reshape(tl.arange(0, 2), [1] * (DIMS - dim - 1) + [2] + [1] * dim)


@triton.jit
def exchange_in_hypercube(x, flip, dim: tl.constexpr, DIMS: tl.constexpr):
    bits = x.to(tl.int32, bitcast=True)
    other = (tl.xor_sum(bits, DIMS - 1 - dim, True) ^ bits).to(tl.float32, bitcast=True)
    return tl.where((x > other) != (flip ^ side_of(DIMS, dim)), other, x)


@triton.jit
def sort_in_hypercube(x_ptr, out_ptr, DIMS: tl.constexpr):
    i = tl.arange(0, 1 << DIMS)
    x = tl.reshape(tl.load(x_ptr + i), [2] * DIMS)
    for stage in tl.static_range(1, DIMS + 1):
        flip = side_of(DIMS, stage) if stage < DIMS else 0
        for step in tl.static_range(stage):
            x = exchange_in_hypercube(x, flip, stage - 1 - step, DIMS)
    tl.store(out_ptr + i, tl.reshape(x, [1 << DIMS]))


def test_what_was_merged_with_a_reduction_and_reduces_nothing_is_no_step() -> None:
    """As official Triton's own sort comes to us: a pair's reduction and the exchanged elements are one op."""
    x = numbers("float32", 16)
    y = np.zeros_like(x)
    sort_in_hypercube[(1,)](x, y, DIMS=4)
    np.testing.assert_array_equal(y, np.sort(x))

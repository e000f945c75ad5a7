"""Arguments that break what compilers like to assume: misaligned data, overlapping arrays, tiles that fit nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from suite.arrays import Array
from tilewright import compat
from tilewright.support.errors import CompilationError

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def scaled_sum(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(
        out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2 + tl.load(y_ptr + offsets, mask=mask), mask=mask
    )


@triton.jit
def row_share(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + cols, x - tl.sum(x, 0) / n, mask=cols < n)
    tl.store(out_ptr + n, tl.max(x, 0))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    acc = tl.zeros((N, N), tl.float32)
    for k in range(0, N, 16):
        kk = k + tl.arange(0, 16)
        acc = tl.dot(tl.load(a_ptr + i * N + kk[None, :]), tl.load(b_ptr + kk[:, None] * N + j), acc)
    tl.store(c_ptr + i * N + j, acc)


@triton.jit
def bump(x_ptr, index_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(x_ptr + tl.load(index_ptr + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def shifted_twice(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * 2, mask=at < n)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + x, mask=at < n)


def placed(values: Array, distance: int) -> Array:
    """A copy of an array that starts `distance` bytes behind a multiple of 64."""
    data = np.zeros(values.nbytes + 128, np.uint8)
    start = -data.ctypes.data % 64 + distance
    view = data[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("distance", [1, 2, 3, 6, 8, 20])
def test_data_that_is_not_aligned(distance: int) -> None:
    x, y, out = (placed(normal(1000, seed=seed), distance) for seed in range(3))
    for block in (64, 1024):
        scaled_sum[(triton.cdiv(1000, block),)](x, y, out, 1000, BLOCK=block)
        np.testing.assert_allclose(out, x * 2 + y, rtol=1e-6)
    row = placed(np.zeros(301, np.float32), distance)
    row_share[(1,)](x, row, 300, BLOCK=512)
    np.testing.assert_allclose(row, [*(x[:300] - x[:300].mean()), max(x[:300].max(), 0)], rtol=1e-4, atol=1e-5)
    a, b, c = (placed(normal(64, 64, seed=seed), distance) for seed in range(3))
    product[(1,)](a, b, c, N=64)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    counts, index = placed(np.zeros(8, np.int32), distance), placed(np.arange(100) % 7, distance)
    bump[(2,)](counts, index, 100, BLOCK=128)
    np.testing.assert_array_equal(counts, 2 * np.bincount(index, minlength=8))


@pytest.mark.parametrize("distance", [-40, -16, -1, 0, 1, 7, 16, 33])
def test_arrays_that_overlap(distance: int) -> None:
    """Within a program, loads see what is there before the stores that follow them, and after those in front."""
    data = normal(1200)
    x, out = data[100:1000], data[100 + distance : 1000 + distance]
    before = data.copy()
    scaled_sum[(1,)](x, x, out, 900, BLOCK=1024)
    wanted = before.copy()
    wanted[100 + distance : 1000 + distance] = before[100:1000] * 3
    np.testing.assert_allclose(data, wanted, rtol=1e-6)
    before = data.copy()
    shifted_twice[(1,)](x, out, 900, BLOCK=1024)
    wanted = before.copy()
    wanted[100 + distance : 1000 + distance] = before[100:1000] * 2
    wanted[100 + distance : 1000 + distance] = wanted[100:1000] + before[100:1000]
    np.testing.assert_allclose(data, wanted, rtol=1e-6)


def test_a_kernel_that_was_compiled_for_separate_arrays_is_not_used_for_overlapping_ones() -> None:
    data = normal(1200)
    x, apart = data[:900], np.zeros(900, np.float32)
    scaled_sum[(1,)](x, x, apart, 900, BLOCK=1024)
    np.testing.assert_allclose(apart, x * 3, rtol=1e-6)
    wanted = x * 3
    scaled_sum[(1,)](x, x, data[5:905], 900, BLOCK=1024)
    np.testing.assert_allclose(data[5:905], wanted, rtol=1e-6)


@pytest.mark.parametrize("distance", [1, 64])
def test_a_reduction_beside_its_own_input(distance: int) -> None:
    data = normal(700)
    x = data[:300].copy()
    row_share[(1,)](data[:300], data[distance : distance + 301], 300, BLOCK=512)
    wanted = [*(x - x.mean()), max(x.max(), 0)]
    np.testing.assert_allclose(data[distance : distance + 301], wanted, rtol=1e-4, atol=1e-5)


def test_a_product_over_its_own_operand() -> None:
    a, b = normal(64, 64), normal(64, 64, seed=1)
    wanted = a.astype(np.float64) @ b
    product[(1,)](a, b, a, N=64)
    np.testing.assert_allclose(a, wanted, rtol=1e-4, atol=1e-4)


@triton.jit
def reversed_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.flip(x, 0) + tl.sort(x))


@triton.jit
def three_dimensions(out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j, k = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    x = (i * B + j) * C + k
    tl.store(out_ptr + tl.arange(0, A), tl.sum(tl.sum(tl.flip(tl.sort(x), 2), 2), 1))


@pytest.mark.costly
def test_tiles_larger_than_any_stack() -> None:
    x = normal(256, 512)
    out = np.empty_like(x)
    reversed_rows[(1,)](x, out, M=256, N=512)
    np.testing.assert_allclose(out, x[::-1] + np.sort(x, 1), rtol=1e-6)


def test_tiles_larger_than_triton_allows_are_an_error_that_says_so() -> None:
    with pytest.raises(CompilationError, match="exceeds triton maximum tensor numel"):
        three_dimensions[(1,)](np.zeros(1024, np.int64), A=1024, B=1024, C=1024)

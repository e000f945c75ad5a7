"""Loops over segments of lanes that have one quotient: what they compute, and that they are written."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support.errors import DeviceAssertionError

rng = np.random.default_rng(0)
MIDDLE = 40_000
"""Where the pointers of these tests point to in their arrays: indices may be negative."""


def middle(dtype: Any = np.float32) -> Any:
    return rng.standard_normal(2 * MIDDLE).astype(dtype)[MIDDLE:]


def whole(x: Any) -> Any:
    """The array that `x` is the end of."""
    return x.base


def divide(x: Any, n: Any) -> tuple[Any, Any]:
    """Quotient and remainder as Triton has them: towards zero."""
    quotient = np.sign(x) * (np.abs(x) // n)
    return quotient, x - quotient * n


@triton.jit
def take_apart(x, y, first, limit, C, D, stride, BLOCK: tl.constexpr):
    i = first + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, col = i // C, i % C
    value = tl.load(x + col + stride * (row % D) + row // D, i < limit, other=7.0)
    tl.store(y + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value + row)


def check_take_apart(first: int, count: int, c: int, d: int, stride: int, block: int, *, dtype: Any = None) -> None:
    x, limit = middle(), first + count
    programs = -(-count // block)
    y = np.zeros(programs * block, np.float32)
    take_apart[(programs,)](x, y, *((dtype or int)(v) for v in (first, limit, c, d, stride)), BLOCK=block)
    i = first + np.arange(programs * block)
    row, col = divide(i, c)
    outer, inner = divide(row, d)
    at = col + stride * inner + outer
    expected = np.where(i < limit, whole(x)[MIDDLE + at], np.float32(7)) + row.astype(np.float32)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("block", [16, 64, 512])
def test_indices_are_taken_apart_by_any_numbers(block: int) -> None:
    for _ in range(12):
        c, d = int(rng.choice([1, 2, 5, 7, 8, 9, 16, 31, 56, 100, 999])), int(rng.integers(1, 40))
        check_take_apart(int(rng.integers(-900, 900)), int(rng.integers(1, 3 * block)), c, d, 17, block)
    check_take_apart(-70, 200, 64, 3, 64, block)


def test_64_bit_indices_are_taken_apart() -> None:
    for c in (3, 13, 48):
        check_take_apart(-100, 300, c, 5, 11, 64, dtype=lambda v: np.int64(v))


@triton.jit
def take_apart_known(x, y, first, C: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = first + tl.arange(0, BLOCK)
    row, col = i // C, i % C
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + (row // D) * 100 + (row % D) * 10 + col) + (col // 3))


@pytest.mark.parametrize(("c", "d"), [(48, 5), (7, 9), (33, 1), (64, 16), (8, 8), (2, 60)])
def test_indices_are_taken_apart_by_known_numbers(c: int, d: int) -> None:
    for first in (0, 5, -37, -200, 1000):
        x, y = middle(), np.zeros(128, np.float32)
        loops = take_apart_known[(1,)](x, y, first, C=c, D=d, BLOCK=128).asm["loops"]
        row, col = divide(first + np.arange(128), c)
        outer, inner = divide(row, d)
        thirds = divide(col, 3)[0].astype(np.float32)
        np.testing.assert_array_equal(y, whole(x)[MIDDLE + outer * 100 + inner * 10 + col] + thirds)
        assert ("scf.while" in loops) == (c >= 8)
        assert ("vector.gather" in loops) == (c < 8)


@triton.jit
def take_apart_twice(x, y, first, C: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = first + tl.arange(0, BLOCK)
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + i % C + 2 * (i // C % D) + 70 * (i // (C * D)) + 4000))


@pytest.mark.parametrize("first", [-5000, -96, -95, -1, 0, 1, 95, 96, 2687, 2688, 5000])
@pytest.mark.parametrize(("c", "d"), [(96, 28), (64, 4), (20, 7)])
def test_quotients_by_multiples_of_a_divisor(first: int, c: int, d: int) -> None:
    x, y = np.arange(12000, dtype=np.float32), np.zeros(1024, np.float32)
    take_apart_twice[(1,)](x, y, first, C=c, D=d, BLOCK=1024)
    i = first + np.arange(1024)
    (row, column), (image, _) = divide(i, c), divide(i, c * d)
    np.testing.assert_array_equal(y, x[column + 2 * divide(row, d)[1] + 70 * image + 4000])


@triton.jit
def shift_and_mask(x, y, first, BLOCK: tl.constexpr):
    i = first + tl.arange(0, BLOCK)
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + (i >> 5) * 100 + (i & 31)))


def test_shifts_and_masks_divide_downwards() -> None:
    for first in (0, 9, -33, -64, -100):
        x, y = middle(), np.zeros(128, np.float32)
        loops = shift_and_mask[(1,)](x, y, first, BLOCK=128).asm["loops"]
        i = first + np.arange(128)
        np.testing.assert_array_equal(y, whole(x)[MIDDLE + (i >> 5) * 100 + (i & 31)])
        assert "vector.gather" not in loops


@triton.jit
def unsigned(x, y, first, C, BLOCK: tl.constexpr):
    i, n = (first + tl.arange(0, BLOCK)).to(tl.uint32), C.to(tl.uint32)
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + ((i // n) * 50 + i % n).to(tl.int32)))


def test_unsigned_indices_are_taken_apart() -> None:
    for first, c in ((0, 12), (77, 33), (500, 16), (3, 5)):
        x, y = middle(), np.zeros(64, np.float32)
        unsigned[(1,)](x, y, first, c, BLOCK=64)
        i = first + np.arange(64)
        np.testing.assert_array_equal(y, x[i // c * 50 + i % c])


@triton.jit
def sums_of_columns(x, y, C, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Lanes side by side, a reduction inside of each segment."""
    rows, i = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    value = tl.load(x + rows[:, None] * 7 + ((i // C) * 100 + i % C)[None, :])
    tl.store(y + i, tl.sum(value, axis=0))


@triton.jit
def sums_of_rows(x, y, C, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A reduction along the segments."""
    rows, i = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    value = tl.load(x + rows[:, None] * 7 + ((i // C) * 100 + i % C)[None, :], i[None, :] < 90, other=0.0)
    tl.store(y + rows, tl.sum(value, axis=1))


@triton.jit
def sum_of_all(x, y, C, limit, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(x + (i // C) * 100 + i % C, i < limit, other=0.0)))


@pytest.mark.parametrize("c", [3, 8, 24, 100])
def test_reductions_run_along_segments(c: int) -> None:
    x = middle()
    rows, i = np.arange(4), np.arange(128)
    values = x[rows[:, None] * 7 + i // c * 100 + i % c]
    columns, sums, total = np.zeros(128, np.float32), np.zeros(4, np.float32), np.zeros(1, np.float32)
    sums_of_columns[(1,)](x, columns, c, ROWS=4, BLOCK=128)
    np.testing.assert_allclose(columns, values.sum(0), rtol=1e-5, atol=1e-5)
    sums_of_rows[(1,)](x, sums, c, ROWS=4, BLOCK=128)
    np.testing.assert_allclose(sums, values[:, :90].sum(1), rtol=1e-5, atol=1e-5)
    for limit in (0, 1, 50, 128):
        sum_of_all[(1,)](x, total, c, limit, BLOCK=128)
        np.testing.assert_allclose(total[0], values[0, :limit].sum(), rtol=1e-5, atol=1e-5)


@triton.jit
def spread(x, y, keep, C, stride, BLOCK: tl.constexpr):
    """A store to a computed place, under a mask that is loaded."""
    i = tl.arange(0, BLOCK)
    tl.store(y + (i // C) * stride + i % C, tl.load(x + i), tl.load(keep + i) != 0)


@pytest.mark.parametrize("c", [4, 9, 20, 64])
def test_elements_are_stored_along_segments(c: int) -> None:
    x, keep = middle(), rng.integers(0, 2, 128).astype(np.int8)
    y, expected, i = np.zeros(4096, np.float32), np.zeros(4096, np.float32), np.arange(128)
    spread[(1,)](x, y, keep, c, c + 5, BLOCK=128)
    expected[(i // c * (c + 5) + i % c)[keep != 0]] = x[:128][keep != 0]
    np.testing.assert_array_equal(y, expected)


@triton.jit
def uniform_in_places(ids, x, y, C, n, BLOCK: tl.constexpr):
    """An element that is loaded once for each segment says where the next one is."""
    i = tl.arange(0, BLOCK)
    row = tl.load(ids + i // C, i < n, other=0)
    scale = tl.exp(tl.load(x + row, i < n, other=0.0))
    tl.store(y + i, scale * tl.load(x + row * C + i % C, i < n, other=0.0), i < n)


@pytest.mark.parametrize("n", [0, 1, 100, 128])
def test_elements_loaded_for_a_segment_are_places_themselves(n: int) -> None:
    x, ids, i = middle(), rng.integers(0, 50, 128).astype(np.int64), np.arange(128)
    for c in (5, 11, 40):
        y, expected = np.zeros(128, np.float32), np.zeros(128, np.float32)
        uniform_in_places[(1,)](ids, x, y, c, n, BLOCK=128)
        row = ids[i // c]
        expected[:n] = (np.exp(x[row]) * x[row * c + i % c])[:n]
        np.testing.assert_allclose(y, expected, rtol=1e-5)


def before_a_hole(count: int) -> Any:
    """An array whose end is the end of mapped memory."""
    page = mmap.PAGESIZE
    array = np.frombuffer(mmap.mmap(-1, 2 * page), np.uint8)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(array.ctypes.data + page), ctypes.c_size_t(page), 0) == 0
    return array[page - 4 * count : page].view(np.float32)


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page by Linux's mprotect")
@pytest.mark.parametrize("n", [1, 5, 30, 59])
def test_no_lane_behind_a_mask_is_touched(n: int) -> None:
    # Rows of 12 and 100 elements between them: the last row ends where memory does.
    last, c, i = n - 1, 12, np.arange(n)
    x, y = before_a_hole(last // c * 100 + last % c + 1), before_a_hole(n)
    x[...] = rng.standard_normal(x.size)
    take_some[(1,)](x, y, n, c, BLOCK=64)
    np.testing.assert_array_equal(y, x[i // c * 100 + i % c])


@triton.jit
def take_some(x, y, n, C, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + (i // C) * 100 + i % C, i < n), i < n)


@triton.jit
def causal(x, y, limit, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, i = tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    at = rows * BLOCK + i
    tl.store(y + at, tl.load(x + at, i <= rows + limit, other=-1.0))


def test_neighbours_under_a_mask_of_lanes_are_no_gather() -> None:
    x, y = middle(), np.zeros((32, 32), np.float32)
    loops = causal[(1,)](x, y, -3, ROWS=32, BLOCK=32).asm["loops"]
    rows, i = np.arange(32)[:, None], np.arange(32)[None, :]
    np.testing.assert_array_equal(y, np.where(i <= rows - 3, x[:1024].reshape(32, 32), np.float32(-1)))
    assert "vector.gather" not in loops
    assert "vector.maskedload" in loops


@triton.jit
def paged(pages, x, y, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    page, column = i // 16, tl.arange(0, 4)[None, :]
    first = tl.load(pages + page + tl.program_id(1) * stride, (i < n) & (page < stride)) * 16
    rows = tl.load(x + (first + i % 16)[:, None] + column, (i < n)[:, None], other=0.0)
    tl.store(y + i[:, None] * 4 + column, rows, (i < n)[:, None])


@pytest.mark.parametrize("block", [16, 64])
def test_all_lanes_of_a_segment_are_at_one_place(block: int) -> None:
    # The mask alone differs from lane to lane.
    pages, x = rng.permutation(10).astype(np.int32), rng.standard_normal(200).astype(np.float32)
    for n in (37, 100, 150):
        y, i = np.zeros((256, 4), np.float32), np.arange(n)
        loops = paged[(-(-n // block), 1)](pages, x, y, n, 7, BLOCK=block).asm["loops"]
        first = np.where(i // 16 < 7, pages[i // 16], 0) * 16
        np.testing.assert_array_equal(y[:n], x[(first + i % 16)[:, None] + np.arange(4)])
        assert not y[n:].any()
        assert ("scf.while" in loops) == (block != 16), "a tile within one page divides once"


@triton.jit
def rows_to_rows(x, y, z, x_stride, y_stride, z_stride, n, D, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // D, i % D
    a = tl.load(x + row * x_stride + column, i < n, other=0.0).to(tl.float32)
    b = tl.load(y + row * y_stride + column, i < n, other=0.0).to(tl.float32)
    tl.store(z + row * z_stride + column, (a * tl.sigmoid(a) + b).to(z.dtype.element_ty), i < n)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize(("rows", "d"), [(3, 100), (5, 49), (40, 8), (9, 5), (2, 512)])
def test_rows_pass_from_memory_to_memory_in_one_loop(
    rows: int, d: int, dtype: Any, wide_loops: Callable[..., str]
) -> None:
    x, y, z = (rng.standard_normal((rows, d + pad)).astype(dtype) for pad in (3, 0, 8))
    n, kept = rows * d - 2, z.copy()
    arguments = (x, y, z, x.shape[1], y.shape[1], z.shape[1], n, d)
    rows_to_rows[(triton.cdiv(n, 256),)](*arguments, BLOCK=256)
    loops = wide_loops(rows_to_rows, *arguments, BLOCK=256)
    a, b = x[:, :d].astype(np.float64).ravel()[:n], y[:, :d].astype(np.float64).ravel()[:n]
    expected = kept.copy()
    values = np.concatenate([a / (1 + np.exp(-a)) + b, kept[:, :d].ravel()[n:]])
    expected[:, :d] = values.reshape(rows, d).astype(dtype)
    np.testing.assert_allclose(z, expected, rtol=2e-3 if dtype is np.float16 else 2e-6, atol=1e-6)
    assert "memref.alloca" not in loops
    if dtype is np.float16:
        # Places of 64 bits do not make the vectors short.
        assert "vector<16xf16>" in loops


@triton.jit
def turn_around(x, z, n, D, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z + i // D * D + i % D + 1, tl.load(x + (n - 1 - i), i < n), i < n)


def test_what_is_read_may_be_what_is_written() -> None:
    for shared in (False, True):
        x = rng.standard_normal(201).astype(np.float32)
        z = x if shared else rng.standard_normal(201).astype(np.float32)
        expected = z.copy()
        expected[1:] = x[199::-1]
        turn_around[(1,)](x, z, 200, 40, BLOCK=256)
        np.testing.assert_array_equal(z, expected)


@triton.jit
def move_along(x, n, D, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i // D * D + i % D + 1, tl.load(x + i // D * D + i % D, i < n), i < n)


def test_elements_move_within_one_array() -> None:
    x = rng.standard_normal(257).astype(np.float32)
    expected = np.concatenate([x[:1], x[:200], x[201:]])
    move_along[(1,)](x, 200, 40, BLOCK=256)
    np.testing.assert_array_equal(x, expected)


@triton.jit
def rows_at(x, places, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(places + i // 256)
    at = tl.where(at < 0, at + 64, at)
    tl.device_assert((at >= 0) & (at < 64), "index out of bounds")
    tl.store(y + i, tl.load(x + i % 256 + 256 * at) * 2)


@triton.jit
def add_rows_at(x, places, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(places + i // 256)
    at = tl.where(at < 0, at + 64, at)
    tl.device_assert((at >= 0) & (at < 64), "index out of bounds")
    tl.atomic_add(x + i % 256 + 256 * at, tl.load(y + i), sem="relaxed")


def test_rows_at_loaded_places_pass_by_vectors() -> None:
    x, places = rng.standard_normal((64, 256)).astype(np.float32), rng.integers(-64, 64, 32)
    y = np.empty((32, 256), np.float32)
    kernel = rows_at[(16,)](x, places, y, BLOCK=512, debug=True)
    np.testing.assert_array_equal(y, x[places] * 2)
    assert "vector.gather" not in kernel.asm["loops"]
    assert "memref.alloca" not in kernel.asm["loops"]


def test_rows_are_added_at_loaded_places_by_vectors() -> None:
    x, places = rng.standard_normal((64, 256)).astype(np.float32), rng.integers(-64, 64, 32)
    y, expected = rng.standard_normal((32, 256)).astype(np.float32), x.copy()
    np.add.at(expected, places, y)
    kernel = add_rows_at[(8,)](x, places, y, BLOCK=1024, debug=True)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-5)
    assert "_row(" in kernel.asm["loops"] and "_at_" not in kernel.asm["loops"]


@pytest.mark.parametrize("kernel", [rows_at, add_rows_at])
def test_one_place_out_of_bounds_among_many_is_seen(kernel: Any) -> None:
    x, y = np.zeros((64, 256), np.float32), np.zeros((32, 256), np.float32)
    places = np.arange(32)
    places[21] = 64
    with pytest.raises(DeviceAssertionError, match="index out of bounds"):
        kernel[(16,)](x, places, y, BLOCK=512, debug=True)

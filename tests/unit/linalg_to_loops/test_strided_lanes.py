"""Lanes a few elements apart: vectors of their neighbourhood, without touching what lies between."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

rng = np.random.default_rng(0)


@triton.jit
def strided_copy(x, y, n, first, XS: tl.constexpr, YS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i * YS, tl.load(x + first + i * XS, i < n, other=0.0), i < n)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8"])
@pytest.mark.parametrize(
    ("xs", "ys"), [(2, 1), (3, 1), (4, 1), (-1, 1), (1, 2), (1, 3), (1, -1), (3, 2), (4, 4), (5, 1)]
)
def test_strides_of_loads_and_stores(dtype: str, xs: int, ys: int) -> None:
    n = 333
    x = (rng.standard_normal(2 * 5 * n) * 100).astype(dtype)
    y = np.full(2 * 5 * n, 7, dtype)
    middle = 5 * n
    strided_copy[(3,)](x[middle:], y[middle:], n, 3, XS=xs, YS=ys, BLOCK=128)
    expected = np.full_like(y, 7)
    i = np.arange(n)
    expected[middle + i * ys] = x[middle + 3 + i * xs]
    np.testing.assert_array_equal(y, expected)


@triton.jit
def whole(x, y, XS: tl.constexpr, YS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i * YS, tl.load(x + i * XS))


def test_no_gather_is_left_where_all_lanes_are_there() -> None:
    x, y = rng.standard_normal(1024).astype(np.float32), np.zeros(1024, np.float32)
    kernel = whole[(1,)](x, y, XS=2, YS=3, BLOCK=256)
    np.testing.assert_array_equal(y[: 3 * 256 : 3], x[: 2 * 256 : 2])
    assert "vector.gather" not in kernel.asm["loops"]
    assert "vector.scatter" not in kernel.asm["loops"]


@pytest.mark.skipif(sys.platform != "linux", reason="takes away the right to read pages, with Linux' numbers")
@pytest.mark.parametrize("stride", [2, 3, 4])
def test_nothing_behind_the_last_lane_is_touched(stride: int) -> None:
    page, count = mmap.PAGESIZE, 64
    memory = mmap.mmap(-1, 2 * page)
    pages = np.frombuffer(memory, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    behind = ctypes.c_void_p(pages.ctypes.data + page)
    assert libc.mprotect(behind, page, 0) == 0
    try:
        # The last element that a lane has is the last one that exists.
        x = np.frombuffer(
            memory, np.float32, count=(count - 1) * stride + 1, offset=page - 4 * ((count - 1) * stride + 1)
        )
        y = np.zeros(count, np.float32)
        whole[(1,)](x, y, XS=stride, YS=1, BLOCK=count)
        np.testing.assert_array_equal(y, x[::stride])
    finally:
        libc.mprotect(behind, page, 3)


@triton.jit
def complex_product(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    ar, ai = tl.load(a + 2 * i, mask), tl.load(a + 2 * i + 1, mask)
    br, bi = tl.load(b + 2 * i, mask), tl.load(b + 2 * i + 1, mask)
    tl.store(out + 2 * i, ar * br - ai * bi, mask)
    tl.store(out + 2 * i + 1, ar * bi + ai * br, mask)


@triton.jit
def complex_product_of_pairs(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place, mask = i[:, None] * 2 + tl.arange(0, 2)[None, :], i[:, None] < n
    ar, ai = tl.split(tl.load(a + place, mask))
    br, bi = tl.split(tl.load(b + place, mask))
    tl.store(out + place, tl.join(ar * br - ai * bi, ar * bi + ai * br), mask)


@pytest.mark.parametrize("kernel", [complex_product, complex_product_of_pairs])
@pytest.mark.parametrize("n", [1, 64, 100, 256])
def test_parts_that_take_turns(kernel: Any, n: int) -> None:
    a, b = (rng.integers(-9, 9, (2, 300, 2)).astype(np.float32) for _ in range(2))
    a, b = a[0], b[0]
    out = np.full((300, 2), 7, np.float32)
    kernel[(2,)](a, b, out, n, BLOCK=128)
    expected = a.view(np.complex64)[:, 0] * b.view(np.complex64)[:, 0]
    np.testing.assert_array_equal(out[:n], expected[:n, None].view(np.float32))
    assert (out[n:] == 7).all()


def test_parts_are_loaded_once_and_stored_whole() -> None:
    a, b, out = (rng.standard_normal((256, 2)).astype(np.float32) for _ in range(3))
    text = complex_product[(2,)](a, b, out, 256, BLOCK=128).asm["loops"]
    assert text.count("vector.store") == 2
    assert text.count("vector.maskedstore") == 0


@triton.jit
def colours(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    red, green, blue = tl.load(x + 3 * i, mask), tl.load(x + 3 * i + 1, mask), tl.load(x + 3 * i + 2, mask)
    tl.store(y + 3 * i + 2, red, mask)
    tl.store(y + 3 * i, green + 1, mask)
    tl.store(y + 3 * i + 1, blue * 2, mask)


@pytest.mark.parametrize("n", [5, 128, 200])
def test_three_parts(n: int) -> None:
    x, y = rng.standard_normal((200, 3)).astype(np.float32), np.full((200, 3), 7, np.float32)
    colours[(2,)](x, y, n, BLOCK=128)
    np.testing.assert_array_equal(y[:n], np.stack([x[:n, 1] + 1, x[:n, 2] * 2, x[:n, 0]], axis=1))
    assert (y[n:] == 7).all()


@triton.jit
def rows_joined(x, y, rows, M: tl.constexpr, N: tl.constexpr):
    m, n, p = tl.arange(0, M)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, 2)[None, None, :]
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(y + (m * N + n) * 2 + p, tl.join(v, -v), m < rows)


@pytest.mark.parametrize("rows", [0, 1, 3, 4])
def test_copies_of_whole_rows_are_one_stretch(rows: int) -> None:
    x, y = rng.standard_normal((4, 8)).astype(np.float32), np.full((4, 8, 2), 7, np.float32)
    rows_joined[(1,)](x, y, rows, M=4, N=8)
    np.testing.assert_array_equal(y[:rows], np.stack([x, -x], axis=2)[:rows])
    assert (y[rows:] == 7).all()

"""Stores of tiles whose rows lie where a table says: row by row, from where the tile is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

rng = np.random.default_rng(0)


@triton.jit
def product(
    a, b, out, M, N, K, W, s_image, s_line, s_pixel, s_column, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Rows of the result are pixels of lines of images, as those of a convolution are."""
    m, n, ks = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + k + ks, mask=(m < M)[:, None] & (k + ks < K), other=0.0)
        y = tl.load(b + (k + ks)[:, None] * N + n, mask=(k + ks < K)[:, None] & (n < N), other=0.0)
        acc = tl.dot(x, y, acc)
    image, line, pixel = m // (W * W), m % (W * W) // W, m % W
    place = (image * s_image + line * s_line + pixel * s_pixel)[:, None] + n[None, :] * s_column
    tl.store(out + place, acc, mask=(m < M)[:, None] & (n < N)[None, :])


@pytest.mark.parametrize("layout", ["pixels of all columns", "columns of all pixels", "backwards", "apart"])
@pytest.mark.parametrize(("n", "k", "width"), [(32, 24, 4), (50, 1, 3), (1, 9, 5), (33, 0, 2)])
def test_results_lie_where_a_table_says(layout: str, n: int, k: int, width: int) -> None:
    m = 3 * width * width
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    out: Any = np.full((3, width, width, n), 7, np.float32)
    match layout:
        case "columns of all pixels":
            out = out.transpose(0, 3, 1, 2).copy().transpose(0, 2, 3, 1)
        case "backwards":
            out = out[:, ::-1].copy()[:, ::-1]
        case "apart":
            out = np.full((3, width, 2 * width, 3 * n), 7, np.float32)[:, :, ::2, ::3]
        case _:
            pass
    strides = [stride // 4 for stride in out.strides]
    kernel = product[triton.cdiv(m, 16), triton.cdiv(n, 32)](a, b, out, m, n, k, width, *strides, 16, 32, 8)
    np.testing.assert_array_equal(out.reshape(m, n), a @ b)
    tiles = re.findall(r"memref\.alloca\(\).* memref<(?:512|16x32)xf32>", kernel.asm["loops"])
    assert len(tiles) <= 1, "the sums, and no copy of them"


@triton.jit
def moved(x, table, N, BM: tl.constexpr, BN: tl.constexpr):
    """Rows change places: what is stored lies over what was loaded."""
    rows, n = tl.arange(0, BM), tl.arange(0, BN)
    tile = tl.load(x + rows[:, None] * N + n, mask=n < N)
    to = tl.load(table + rows)
    tl.store(x + to[:, None] * N + n, tile, mask=n < N)
    tl.store(x + (rows // 4 * 4 + 3 - rows % 4)[:, None] * N + n, tile + 1, mask=(n < N) & (rows < 8)[:, None])


@pytest.mark.parametrize("n", [1, 20, 32])
def test_rows_change_places(n: int) -> None:
    x, table = rng.standard_normal((16, n)).astype(np.float32), rng.permutation(16).astype(np.int32)
    expected = np.empty_like(x)
    expected[table] = x
    expected[np.arange(8) // 4 * 4 + 3 - np.arange(8) % 4] = x[:8] + 1
    moved[(1,)](x, table, n, 16, 32)
    np.testing.assert_array_equal(x, expected)

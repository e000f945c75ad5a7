"""Rows that are gathered by one list of indices and added to the rows that another list names, as message passing does,
in kernels that count rows and columns in one index, and in such with tiles of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def add_to_rows(source_ptr, target_ptr, x_ptr, out_ptr, n, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // W, i % W
    source, target = tl.load(source_ptr + row, i < n, other=0), tl.load(target_ptr + row, i < n, other=0)
    tl.atomic_add(out_ptr + column + W * target, tl.load(x_ptr + column + W * source, i < n), i < n, sem="relaxed")


@triton.jit
def add_to_all_rows(source_ptr, target_ptr, x_ptr, out_ptr, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source, target = tl.load(source_ptr + i // W), tl.load(target_ptr + i // W)
    tl.atomic_add(out_ptr + i % W + W * target, tl.load(x_ptr + i % W + W * source), sem="relaxed")


@triton.jit
def add_tiles_to_rows(source_ptr, target_ptr, x_ptr, out_ptr, W: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, W)[None, :]
    source, target = tl.load(source_ptr + row), tl.load(target_ptr + row)
    tl.atomic_add(out_ptr + column + W * target, tl.load(x_ptr + column + W * source), sem="relaxed")


@triton.jit
def same_element(x_ptr, out_ptr, n, m):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + (i - i) // n, mask=(i != n) & (n < m), other=3)
    tl.store(out_ptr + i, x)


def _graph(width: int, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(width)
    edges = rng.integers(0, 40, (2, 100))
    x = rng.integers(-8, 9, (40, width)).astype(dtype)
    expected = np.zeros_like(x)
    np.add.at(expected, edges[1], x[edges[0]])
    return edges, x, expected


@pytest.mark.pairwise
@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize("width", [16, 21, 64, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_sums_over_edges(width: int, block: int, dtype: Any) -> None:
    edges, x, expected = _graph(width, dtype)
    lists = [(edges[0], edges[1]), (edges[0].copy(), edges[1].copy())]  # of one allocation, and of two
    for source, target in lists * 2:
        out, n = np.zeros_like(x), 100 * width
        add_to_rows[(triton.cdiv(n, block),)](source, target, x, out, n, W=width, BLOCK=block)
        np.testing.assert_array_equal(out, expected)


def test_indices_that_the_sums_overwrite() -> None:
    """Indices are read before anything is written, also where they lie in the output."""
    out = np.zeros(64, np.int64)
    out[:4] = [3, 2, 1, 0]
    expected = out.copy()
    np.add.at(expected.reshape(4, 16), [3, 2, 1, 0], np.ones((4, 16), np.int64))
    x = np.ones((4, 16), np.int64)
    add_to_rows[(1,)](np.arange(4), out, x, out, 64, W=16, BLOCK=64)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [8, 16, 64])
def test_sums_of_tiles_over_edges(width: int) -> None:
    edges, x, expected = _graph(width, np.float32)
    out = np.zeros_like(x)
    add_tiles_to_rows[(25,)](edges[0].copy(), edges[1].copy(), x, out, W=width, ROWS=4)
    np.testing.assert_array_equal(out, expected)


def test_rows_that_the_sums_overwrite() -> None:
    """All rows of a tile are gathered before one of them is added to, also where they lie in the output."""
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    source, target = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])
    expected = x.copy()
    np.add.at(expected, target, x[source])
    add_tiles_to_rows[(1,)](source, target, x, x, W=16, ROWS=4)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("kernel_of", [add_to_all_rows, add_tiles_to_rows], ids=["flat", "tiles"])
def test_rows_go_by_vectors_in_one_loop(every_target: str, kernel_of: Any) -> None:
    if every_target != "cpu":
        pytest.skip("how CPUs do it")
    edges, x, expected = _graph(64, np.float32)
    source, target, out = edges[0].copy(), edges[1].copy(), np.zeros_like(x)
    size = {"BLOCK": 256} if kernel_of is add_to_all_rows else {"ROWS": 4}
    kernel = kernel_of[(25,)](source, target, x, out, W=64, **size)
    np.testing.assert_array_equal(out, expected)
    text = kernel.asm["loops"]
    assert "_row" in text
    assert "_at_" not in text
    assert "memref.alloca" not in text
    assert "call void @tilewright_leave_alone" not in kernel.asm["llir"]
    assert "tilewright_wait" not in kernel.asm["llir"]


def test_lanes_that_read_one_element() -> None:
    """An address that all lanes share is computed outside of the loop over them."""
    out = np.zeros(8, np.int32)
    same_element[(1,)](np.array([7], np.int32), out, 5, 9)
    np.testing.assert_array_equal(out, [7, 7, 7, 7, 7, 3, 7, 7])

"""Arithmetic on operands that are contiguous along the other axis than the result."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def turned_and_straight(x_ptr, y_ptr, b_ptr, o_ptr, M, N, x_stride, o_stride, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    j = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (i < M) & (j < N)
    x = tl.load(x_ptr + i + j * x_stride, mask=mask)
    y = tl.load(y_ptr + i * o_stride + j, mask=mask)
    row = tl.load(b_ptr + i, mask=i < M)
    tl.store(o_ptr + i * o_stride + j, x * 2 + y - row, mask=mask)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int8])
@pytest.mark.parametrize("shape", [(64, 64), (37, 45), (5, 70), (70, 3), (1, 1)])
@pytest.mark.parametrize("block", [(32, 32), (8, 64)])
def test_one_operand_is_transposed(dtype: type, shape: tuple[int, int], block: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    m, n = shape
    x = rng.integers(-20, 20, (n, m + 3)).astype(dtype)
    y, out = (rng.integers(-20, 20, (m, n + 5)).astype(dtype) for _ in range(2))
    b, expected = rng.integers(-20, 20, m).astype(dtype), out.copy()
    expected[:, :n] = x[:, :m].T * 2 + y[:, :n] - b[:, None]
    grid = (-(-m // block[0]), -(-n // block[1]))
    turned_and_straight[grid](x, y, b, out, m, n, m + 3, n + 5, *block)
    np.testing.assert_array_equal(out, expected)


@triton.jit
def filled_past_the_end(x_ptr, o_ptr, M, N, B: tl.constexpr):
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + i + j * B, mask=(i < M) & (j < N), other=7.0)
    tl.store(o_ptr + i * B + j, x + 1.0)


@pytest.mark.parametrize("inside", [(32, 32), (32, 19), (19, 32), (9, 17), (0, 5), (5, 0)])
def test_elements_past_the_end_are_filled(inside: tuple[int, int]) -> None:
    m, n = inside
    x, out = np.random.default_rng(1).standard_normal((32, 32), np.float32), np.zeros((32, 32), np.float32)
    expected = np.full((32, 32), 8.0, np.float32)
    expected[:m, :n] = x.T[:m, :n] + 1
    filled_past_the_end[(1,)](x, out, m, n, 32)
    np.testing.assert_array_equal(out, expected)


@triton.jit
def add_transposed(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    tl.store(o_ptr + i * B + j, tl.load(x_ptr + i + j * B) + tl.load(o_ptr + i * B + j))


@pytest.mark.parametrize("shift", [0, 1, 16, 33])
def test_a_transposed_operand_may_be_what_is_written(shift: int) -> None:
    memory = np.random.default_rng(2).standard_normal(32 * 32 + shift, np.float32)
    x, out = memory[: 32 * 32], memory[shift:]
    expected = x.reshape(32, 32).T + out.reshape(32, 32)
    add_transposed[(1,)](x, out, 32)
    np.testing.assert_array_equal(out.reshape(32, 32), expected)


@triton.jit
def sums_of_scaled_columns(
    x_ptr, scale_ptr, out_ptr, columns, rows, GROUP: tl.constexpr, WIDTH: tl.constexpr, STEP: tl.constexpr
):
    column = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)[:, None]
    total = tl.full([WIDTH, STEP], 0, tl.float32)
    for start in range(0, rows, STEP):
        row = start + tl.arange(0, STEP)[None, :]
        mask = (row < rows) & (column < columns)
        scale = tl.load(scale_ptr + column + columns * (row // GROUP), mask, other=1.0)
        total += tl.load(x_ptr + column + columns * row, mask, other=0.0) * scale
    tl.store(out_ptr + column, tl.sum(total, 1)[:, None], column < columns)


@pytest.mark.parametrize("group", [4, 7, 12])
@pytest.mark.parametrize(("columns", "rows"), [(32, 24), (40, 31)])
def test_rows_of_groups_in_transposed_tiles(columns: int, rows: int, group: int) -> None:
    """Rows from computed places, in tiles whose first dimension is the contiguous one."""
    rng = np.random.default_rng(group)
    x = rng.integers(-8, 9, (rows, columns)).astype(np.float32)
    scale = rng.integers(-8, 9, (triton.cdiv(rows, group), columns)).astype(np.float32)
    out = np.zeros(columns, np.float32)
    sums_of_scaled_columns[(triton.cdiv(columns, 16),)](x, scale, out, columns, rows, GROUP=group, WIDTH=16, STEP=8)
    np.testing.assert_array_equal(out, (x * scale[np.arange(rows) // group]).sum(0))


@triton.jit
def turned(x_ptr, o_ptr, M, N, LOADED, x_stride, o_stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + i + j * x_stride, mask=(i < M) & (j < LOADED), other=7.0)
    tl.store(o_ptr + i * o_stride + j, x, mask=(i < M) & (j < N))


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("shape", [(64, 32), (37, 45), (40, 14), (5, 70), (70, 3), (33, 33), (1, 1)])
@pytest.mark.parametrize("short", [0, 2, 40])
def test_copies_that_end_inside_of_blocks(dtype: type, shape: tuple[int, int], short: int) -> None:
    """`short` columns fewer are loaded than stored; what lies behind the bounds stays."""
    m, n = shape
    loaded = max(0, n - short)
    rng = np.random.default_rng(3)
    x, out = rng.integers(-20, 20, (n, m + 3)).astype(dtype), rng.integers(-20, 20, (m, n + 5)).astype(dtype)
    expected = out.copy()
    expected[:, :n] = 7
    expected[:, :loaded] = x[:loaded, :m].T
    turned[(-(-m // 32), -(-n // 32))](x, out, m, n, loaded, m + 3, n + 5, 32)
    np.testing.assert_array_equal(out, expected)


def test_a_copy_within_one_array_reads_before_it_stores() -> None:
    x = np.random.default_rng(4).standard_normal((32, 32), np.float32)
    for size in (32, 27):
        out = x.copy()
        turned[(1, 1)](out, out, size, size, size, 32, 32, 32)
        expected = x.copy()
        expected[:size, :size] = x[:size, :size].T
        np.testing.assert_array_equal(out, expected)

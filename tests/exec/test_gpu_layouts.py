"""Kernels whose layouts were got wrong once, on the simulated GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def reordered_rows(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.reshape(tl.load(x_ptr + rows), (M,), can_reorder=True)
    y = tl.load(y_ptr + columns)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], x[:, None] + y[None, :])


@triton.jit
def sum_of_sums(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr, tl.sum(tl.reshape(tl.sum(x, axis=1), (M,), can_reorder=True)))


@triton.jit
def joined_rows(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns, both = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 2 * M)
    x = tl.cat(tl.load(x_ptr + rows), tl.load(x_ptr + M + rows), can_reorder=True)
    y = tl.load(y_ptr + columns)
    tl.store(out_ptr + both[:, None] * N + columns[None, :], x[:, None] + y[None, :])


@pytest.mark.parametrize("warps", [1, 4])
def test_elements_in_any_order_stay_all_there(warps: int) -> None:
    """Lanes that hold copies of a short vector are not those that hold copies of the rows of a matrix."""
    x, y = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
    out, total = np.zeros((16, 8), np.float32), np.zeros(1, np.float32)
    matrix = np.arange(128, dtype=np.float32)
    with knobs.scope(target="cuda_sim", override_arch="sm80"):
        reordered_rows[(1,)](x, y, out, M=16, N=8, num_warps=warps)
        assert sorted(out[:, 0]) == sorted(x)
        assert (out == out[:, :1]).all()
        joined_rows[(1,)](x, y, out, M=8, N=8, num_warps=warps)
        assert sorted(out[:, 0]) == sorted(x)
        assert (out == out[:, :1]).all()
        sum_of_sums[(1,)](matrix, total, M=16, N=8, num_warps=warps)
    assert total[0] == matrix.sum()

"""Layouts: a tile is read along rows and written along columns, and exchanged between threads in between.

Whoever reads neighbours in memory is fast. Rows of x are neighbours in x, columns of it are neighbours in y, so the two
accesses want two layouts; `convert_layout` moves each element to the thread that writes it.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

BY_ROWS = gl.BlockedLayout(size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0])
BY_COLUMNS = gl.BlockedLayout(size_per_thread=[4, 1], threads_per_warp=[8, 4], warps_per_cta=[1, 4], order=[0, 1])


@gluon.jit
def tile_places(row_stride, column_stride, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    """Where the elements of the program's tile lie, in a layout: rows are a slice along dimension 1 of it."""
    rows = gl.program_id(0) * M + gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.program_id(1) * N + gl.arange(0, N, gl.SliceLayout(0, layout))
    return rows[:, None] * row_stride + columns[None, :] * column_stride


@gluon.jit
def transpose_kernel(
    x_ptr, y_ptr, rows, columns, M: gl.constexpr, N: gl.constexpr, read: gl.constexpr, write: gl.constexpr
):
    x = gl.load(x_ptr + tile_places(columns, 1, M, N, read))
    gl.store(y_ptr + tile_places(1, rows, M, N, write), gl.convert_layout(x, write))


def transpose(x, y, tile=32):
    """y = x^T for float32 matrices whose extents are multiples of the tile's."""
    rows, columns = x.shape
    transpose_kernel[(rows // tile, columns // tile)](x, y, rows, columns, tile, tile, BY_ROWS, BY_COLUMNS)
    return y


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/transpose.py
    import numpy as np

    print(BY_ROWS.format_tensor_view([4, 32]))
    x = np.random.default_rng(0).standard_normal((96, 64), dtype=np.float32)
    error = np.abs(transpose(x, np.empty((64, 96), np.float32)) - x.T).max()
    print(f"transpose of {x.shape[0]} x {x.shape[1]}: largest error {error:.1e}")

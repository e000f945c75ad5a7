"""Asynchronous copies of Ampere: rows come into shared memory while those before are added up.

Each copy is a group; `wait_group(n)` waits until at most n groups are on their way, so the row that is read is there.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy

LAYOUT = gl.BlockedLayout([4], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])


@gluon.jit
def start_copy(x_ptr, row, rows, buffers, offsets, columns):
    """A row into its buffer; past the last one an empty group, so that groups can be counted."""
    target = buffers.index(row % buffers.shape[0])
    async_copy.async_load(target, x_ptr + row * columns + offsets, mask=(offsets < columns) & (row < rows))
    async_copy.commit_group()


@gluon.jit
def column_sums_kernel(x_ptr, out_ptr, rows, columns, BLOCK: gl.constexpr, AHEAD: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    buffers = gl.allocate_shared_memory(gl.float32, [AHEAD + 1, BLOCK], PLAIN)
    for row in gl.static_range(AHEAD):
        start_copy(x_ptr, row, rows, buffers, offsets, columns)
    total = gl.zeros([BLOCK], gl.float32, LAYOUT)
    for row in range(rows):
        start_copy(x_ptr, row + AHEAD, rows, buffers, offsets, columns)
        async_copy.wait_group(AHEAD)
        total += buffers.index(row % (AHEAD + 1)).load(LAYOUT)
    async_copy.wait_group(0)
    gl.store(out_ptr + offsets, total, mask=offsets < columns)


def column_sums(x, out, block=512, ahead=2):
    """out[j] = sum over i of x[i, j], for a matrix of float32 with a multiple of 4 columns."""
    rows, columns = x.shape
    column_sums_kernel[(-(-columns // block),)](x, out, rows, columns, block, ahead)
    return out


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/column_sums.py
    import numpy as np

    x = np.random.default_rng(0).standard_normal((13, 700), dtype=np.float32)
    error = np.abs(column_sums(x, np.empty(700, np.float32)) - x.sum(0, dtype=np.float64)).max()
    print(f"column sums of {x.shape[0]} x {x.shape[1]}: largest error {error:.1e}")

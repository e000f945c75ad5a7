"""Boxes by TMA: one thread starts the copy of a whole tile, an mbarrier counts its bytes.

A barrier's phase is over when all bytes that it expects have come; threads wait for the phase by its parity. What
threads have written, TMA sees behind `fence_async_shared`.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

TILE = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])


@gluon.jit
def halve_kernel(x, y, tiles):
    buffer = gl.allocate_shared_memory(x.dtype, x.block_type.shape, x.layout)
    arrived = mbarrier.allocate_mbarrier()
    mbarrier.init(arrived, count=1)
    column = gl.program_id(0) * x.block_type.shape[1]
    for tile in range(tiles):
        row = tile * x.block_type.shape[0]
        mbarrier.expect(arrived, x.nbytes_per_cta)
        tma.async_load(x, [row, column], arrived, buffer)
        mbarrier.wait(arrived, tile & 1)
        buffer.store(buffer.load(TILE) * 0.5)
        fence_async_shared()
        tma.async_store(y, [row, column], buffer)
        tma.store_wait(0)  # the buffer is read: the next box may come


def halve(x, y, block=(32, 64)):
    """y = x / 2 for matrices of float32; parts of boxes that lie outside are left out by the hardware."""
    layout = gl.NVMMASharedLayout.get_default_for(list(block), gl.float32)
    boxes = [TensorDescriptor.from_tensor(array, list(block), layout) for array in (x, y)]
    halve_kernel[(-(-x.shape[1] // block[1]),)](*boxes, -(-x.shape[0] // block[0]))
    return y


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/halve.py
    import numpy as np

    x = np.random.default_rng(0).standard_normal((70, 100), dtype=np.float32)
    print(f"half of {x.shape[0]} x {x.shape[1]}: largest error {np.abs(halve(x, np.empty_like(x)) - x / 2).max():.1e}")

"""Different work for different warps: one warp brings tiles, a warp group multiplies, the kernel's own warps store.

Each buffer has two barriers. `full` counts bytes: the tile is there. `empty` counts readers: it may be overwritten. The
one who brings starts with empty buffers, so it waits for the parity that a new barrier has already passed.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def bring(a, b, full, empty, a_tiles, b_tiles, row, column, K):
    BUFFERS: gl.constexpr = a_tiles.shape[0]
    for k in range(0, K, a_tiles.shape[2]):
        step = k // a_tiles.shape[2]
        slot = step % BUFFERS
        mbarrier.wait(empty.index(slot), (step // BUFFERS & 1) ^ 1)
        mbarrier.expect(full.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, k], full.index(slot), a_tiles.index(slot))
        tma.async_load(b, [k, column], full.index(slot), b_tiles.index(slot))


@gluon.jit
def multiply(full, empty, done, a_tiles, b_tiles, result, K):
    BUFFERS: gl.constexpr = a_tiles.shape[0]
    BM: gl.constexpr = a_tiles.shape[1]
    BN: gl.constexpr = b_tiles.shape[2]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, mma))
    for k in range(0, K, a_tiles.shape[2]):
        step = k // a_tiles.shape[2]
        slot = step % BUFFERS
        mbarrier.wait(full.index(slot), step // BUFFERS & 1)
        acc = warpgroup_mma(a_tiles.index(slot), b_tiles.index(slot), acc, is_async=True)
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[acc]))
        mbarrier.arrive(empty.index(slot), count=1)
    result.store(warpgroup_mma_wait(0, deps=[acc]).to(result.dtype))
    fence_async_shared()
    mbarrier.arrive(done, count=1)


@gluon.jit
def store(c, done, result, row, column):
    mbarrier.wait(done, 0)
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def matmul_kernel(a, b, c, K, BUFFERS: gl.constexpr):
    a_tiles = gl.allocate_shared_memory(a.dtype, [BUFFERS, a.block_type.shape[0], a.block_type.shape[1]], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [BUFFERS, b.block_type.shape[0], b.block_type.shape[1]], b.layout)
    result = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    full = mbarrier.allocate_mbarrier(batch=BUFFERS)
    empty = mbarrier.allocate_mbarrier(batch=BUFFERS)
    done = mbarrier.allocate_mbarrier()
    for slot in gl.static_range(BUFFERS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    mbarrier.init(done, count=1)
    row = gl.program_id(0) * c.block_type.shape[0]
    column = gl.program_id(1) * c.block_type.shape[1]
    gl.warp_specialize(
        [
            (store, (c, done, result, row, column)),
            (bring, (a, b, full, empty, a_tiles, b_tiles, row, column, K)),
            (multiply, (full, empty, done, a_tiles, b_tiles, result, K)),
        ],
        [1, 4],
        [24, 232],
    )


def described(array, *block):
    """A float16 matrix by boxes."""
    return TensorDescriptor.from_tensor(
        array, list(block), gl.NVMMASharedLayout.get_default_for(list(block), gl.float16)
    )


def matmul(a, b, c):
    """c = a b for matrices of float16, by tiles of 64 x 64."""
    (m, k), n = a.shape, b.shape[1]
    operands = described(a, 64, 64), described(b, 64, 64), described(c, 64, 64)
    matmul_kernel[(-(-m // 64), -(-n // 64))](*operands, k, BUFFERS=3)
    return c


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/specialised_matmul.py
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((128, 264), (264, 72)))
    error = np.abs(matmul(a, b, np.empty((128, 72), np.float16)) - a.astype(np.float32) @ b).max()
    print(f"{a.shape} @ {b.shape}: largest error {error:.1e}")

"""A matmul by `wgmma` in which few programs compute all tiles, one after the other.

Operands come by TMA, a step ahead of the products; `warpgroup_mma` only starts a product. Steps are counted through
all tiles, so that buffers and parities of barriers go on where the tile before left them.
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
def bring(a, b, row, column, k, step, ready, a_tiles, b_tiles):
    """Start copying what a step multiplies."""
    slot = step % a_tiles.shape[0]
    mbarrier.expect(ready.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [row, k], ready.index(slot), a_tiles.index(slot))
    tma.async_load(b, [k, column], ready.index(slot), b_tiles.index(slot))


@gluon.jit
def matmul_kernel(a, b, c, tiles, tile_columns, K):
    BM: gl.constexpr = a.block_type.shape[0]
    BK: gl.constexpr = a.block_type.shape[1]
    BN: gl.constexpr = b.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    a_tiles = gl.allocate_shared_memory(a.dtype, [2, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [2, BK, BN], b.layout)
    result = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    ready = mbarrier.allocate_mbarrier(batch=2)
    for slot in gl.static_range(2):
        mbarrier.init(ready.index(slot), count=1)
    step = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        row = tile // tile_columns * BM
        column = tile % tile_columns * BN
        bring(a, b, row, column, 0, step, ready, a_tiles, b_tiles)
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, mma))
        for k in range(0, K, BK):
            acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[acc]))
            if k + BK < K:
                bring(a, b, row, column, k + BK, step + 1, ready, a_tiles, b_tiles)
            mbarrier.wait(ready.index(step % 2), step // 2 & 1)
            acc = warpgroup_mma(a_tiles.index(step % 2), b_tiles.index(step % 2), acc, is_async=True)
            step += 1
        tma.store_wait(0)  # the tile before has left the buffer
        result.store(warpgroup_mma_wait(0, deps=[acc]).to(c.dtype))
        fence_async_shared()
        tma.async_store(c, [row, column], result)
    tma.store_wait(0)


def described(array, *block):
    """A float16 matrix by boxes."""
    return TensorDescriptor.from_tensor(
        array, list(block), gl.NVMMASharedLayout.get_default_for(list(block), gl.float16)
    )


def matmul(a, b, c, programs=4):
    """c = a b for matrices of float16, by tiles of 64 x 64."""
    (m, k), n = a.shape, b.shape[1]
    operands = described(a, 64, 64), described(b, 64, 64), described(c, 64, 64)
    tile_rows, tile_columns = -(-m // 64), -(-n // 64)
    matmul_kernel[(min(programs, tile_rows * tile_columns),)](*operands, tile_rows * tile_columns, tile_columns, k)
    return c


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/persistent_matmul.py
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((128, 200), (200, 192)))
    error = np.abs(matmul(a, b, np.empty((128, 192), np.float16)) - a.astype(np.float32) @ b).max()
    print(f"{a.shape} @ {b.shape}: largest error {error:.1e}")

"""Matrix multiplication by a fixed number of programs, each of which takes tile after tile until none is left."""

import triton
import triton.language as tl


@triton.jit
def tile_position(tile, tiles_m, tiles_n, GROUP_M: tl.constexpr):
    """Row and column of a tile, in groups of rows so that neighbours in time share operands."""
    in_group = GROUP_M * tiles_n
    first = (tile // in_group) * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % height, (tile % in_group) // height


@triton.jit
def persistent_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        tile_m, tile_n = tile_position(tile, tiles_m, tiles_n, GROUP_M)
        rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        row_in = tl.max_contiguous(tl.multiple_of(tl.where(rows < M, rows, 0), BLOCK_M), BLOCK_M)
        col_in = tl.max_contiguous(tl.multiple_of(tl.where(cols < N, cols, 0), BLOCK_N), BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            kk = k * BLOCK_K + ks
            a = tl.load(a_ptr + row_in[:, None] * stride_am + kk[None, :] * stride_ak, mask=kk[None, :] < K, other=0.0)
            b = tl.load(b_ptr + kk[:, None] * stride_bk + col_in[None, :] * stride_bn, mask=kk[:, None] < K, other=0.0)
            acc = tl.dot(a, b, acc)
        c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def descriptor_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """The same over tensor descriptors made in the kernel: row-major A [M, K], B transposed [N, K], C [M, N]."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS):
        tile_m, tile_n = tile_position(tile, tiles_m, tiles_n, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            a = a_desc.load([tile_m * BLOCK_M, k * BLOCK_K])
            b = b_desc.load([tile_n * BLOCK_N, k * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(c_ptr.dtype.element_ty))


if __name__ == "__main__":  # tilewright run examples/persistent_matmul.py
    import numpy as np

    m, n, k = 300, 500, 200
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    blocks = {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 4, "PROGRAMS": 8}
    c, d = np.empty((2, m, n), np.float32)
    persistent_matmul_kernel[(8,)](a, b, c, m, n, k, k, 1, n, 1, n, 1, **blocks)
    descriptor_matmul_kernel[(8,)](a, np.ascontiguousarray(b.T), d, m, n, k, **blocks)
    exact = a.astype(np.float64) @ b
    error = max(np.abs(c - exact).max(), np.abs(d - exact).max())
    print(f"product of {a.shape} and {b.shape}, twice: largest error {error:.1e}")

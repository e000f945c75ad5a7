"""Several matrix products of different sizes in one launch; addresses and sizes come from tables in memory."""

import triton
import triton.language as tl


@triton.jit
def grouped_gemm_kernel(
    a_addresses, b_addresses, c_addresses, sizes_ptr, strides_ptr, groups,
    DTYPE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """`sizes` holds M, N, K of each group, `strides` the row strides of its A, B and C."""
    tile = tl.program_id(0)
    done = 0
    for group in range(groups):
        m = tl.load(sizes_ptr + group * 3)
        n = tl.load(sizes_ptr + group * 3 + 1)
        k = tl.load(sizes_ptr + group * 3 + 2)
        tiles_n = tl.cdiv(n, BLOCK_N)
        tiles = tl.cdiv(m, BLOCK_M) * tiles_n
        while tile >= done and tile < done + tiles:
            stride_a = tl.load(strides_ptr + group * 3)
            stride_b = tl.load(strides_ptr + group * 3 + 1)
            stride_c = tl.load(strides_ptr + group * 3 + 2)
            a_ptr = tl.load(a_addresses + group).to(tl.pointer_type(DTYPE))
            b_ptr = tl.load(b_addresses + group).to(tl.pointer_type(DTYPE))
            c_ptr = tl.load(c_addresses + group).to(tl.pointer_type(DTYPE))
            rows = (tile - done) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = (tile - done) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            ks = tl.arange(0, BLOCK_K)
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for start in range(0, k, BLOCK_K):
                kk = start + ks
                a_mask = (rows[:, None] < m) & (kk[None, :] < k)
                b_mask = (kk[:, None] < k) & (cols[None, :] < n)
                a = tl.load(a_ptr + rows[:, None] * stride_a + kk[None, :], mask=a_mask, other=0.0)
                b = tl.load(b_ptr + kk[:, None] * stride_b + cols[None, :], mask=b_mask, other=0.0)
                acc = tl.dot(a, b, acc)
            c_mask = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(c_ptr + rows[:, None] * stride_c + cols[None, :], acc.to(DTYPE), mask=c_mask)
            tile += PROGRAMS
        done += tiles

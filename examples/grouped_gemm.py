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


if __name__ == "__main__":  # tilewright run examples/grouped_gemm.py
    import numpy as np

    rng = np.random.default_rng(0)
    sizes = [(40, 30, 50), (64, 20, 33), (170, 65, 160)]  # M, N, K
    a = [rng.standard_normal((m, k), dtype=np.float32) for m, _, k in sizes]
    b = [rng.standard_normal((k, n), dtype=np.float32) for _, n, k in sizes]
    c = [np.empty((m, n), np.float32) for m, n, _ in sizes]
    addresses = [np.array([array.ctypes.data for array in group]) for group in (a, b, c)]
    row_strides = np.array([[k, n, n] for _, n, k in sizes], np.int32)
    grouped_gemm_kernel[(4,)](
        *addresses, np.array(sizes, np.int32), row_strides, len(sizes),
        DTYPE=tl.float32, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, PROGRAMS=4,
    )  # fmt: skip
    error = max(np.abs(z - x.astype(np.float64) @ y).max() for x, y, z in zip(a, b, c, strict=True))
    print(f"{len(sizes)} products of different sizes: largest error {error:.1e}")

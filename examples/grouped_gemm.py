"""Several matmuls of different sizes in one launch; addresses and sizes come from tables in memory."""

import triton
import triton.language as tl


@triton.jit
def product_block(a_ptr, b_ptr, rows, columns, m, n, k, a_row, b_row, BLOCK_K: tl.constexpr):
    """The product of some rows of A (m x k) and columns of B (k x n)."""
    total = tl.zeros((rows.shape[0], columns.shape[0]), dtype=tl.float32)
    has_row, has_column = (rows < m)[:, None], (columns < n)[None, :]
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        left = a_ptr + (rows[:, None] * a_row + depth[None, :])
        right = b_ptr + (columns[None, :] + depth[:, None] * b_row)
        x = tl.load(left, mask=has_row & (depth < k)[None, :], other=0.0)
        y = tl.load(right, mask=has_column & (depth < k)[:, None], other=0.0)
        total = tl.dot(x, y, total)
    return total


@triton.jit
def grouped_gemm_kernel(
    a_addresses, b_addresses, c_addresses, sizes_ptr, strides_ptr, groups,
    DTYPE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """`sizes` holds M, N, K of each group, `strides` the row strides of its A, B and C. Blocks of all groups are dealt
    out in turn; `turn` counts from the group's first block to the program's next one."""
    turn = tl.program_id(0)
    for group in range(groups):
        size, stride = sizes_ptr + 3 * group, strides_ptr + 3 * group
        m, n, k = tl.load(size), tl.load(size + 1), tl.load(size + 2)
        wide = tl.cdiv(n, BLOCK_N)
        blocks = wide * tl.cdiv(m, BLOCK_M)
        while turn < blocks:
            rows = turn // wide * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = turn % wide * BLOCK_N + tl.arange(0, BLOCK_N)
            a_ptr = tl.load(a_addresses + group).to(tl.pointer_type(DTYPE))
            b_ptr = tl.load(b_addresses + group).to(tl.pointer_type(DTYPE))
            c_ptr = tl.load(c_addresses + group).to(tl.pointer_type(DTYPE))
            target = c_ptr + (rows[:, None] * tl.load(stride + 2) + columns[None, :])
            total = product_block(a_ptr, b_ptr, rows, columns, m, n, k, tl.load(stride), tl.load(stride + 1), BLOCK_K)
            tl.store(target, total.to(DTYPE), mask=(columns < n)[None, :] & (rows < m)[:, None])
            turn += PROGRAMS
        turn -= blocks


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

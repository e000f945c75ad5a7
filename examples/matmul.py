"""Blocked matrix multiplication; programs are grouped so that neighbours share blocks of A and B in the cache."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """A program makes one block of C; `a_row` is the step in A from one row to the next, and so on."""
    high, wide = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    place = tl.program_id(axis=0)
    block_row, block_column = tl.swizzle2d(place // wide, place % wide, high, wide, GROUP_M)
    rows = block_row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # Past the last row and column the first ones are read again; what comes of them is not stored.
    left = a_ptr + ((rows % M)[:, None] * a_row + depth[None, :] * a_column)
    right = b_ptr + ((columns % N)[None, :] * b_column + depth[:, None] * b_row)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        live = depth < K - start
        total = tl.dot(
            tl.load(left, mask=live[None, :], other=0.0), tl.load(right, mask=live[:, None], other=0.0), total
        )
        left += a_column * BLOCK_K
        right += b_row * BLOCK_K
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    result = total.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + (rows[:, None] * c_row + columns[None, :] * c_column), result, mask=inside)


def strides(array):
    """Strides in elements, of a NumPy array or a tensor."""
    return array.stride() if hasattr(array, "stride") else tuple(step // array.itemsize for step in array.strides)


def matmul(a, b, c, block_m=64, block_n=64, block_k=64, group_m=8):
    """c = a @ b for 2-D arrays or tensors of any strides."""
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    matmul_kernel[grid](
        a, b, c, m, n, k, *strides(a), *strides(b), *strides(c),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=group_m,
    )  # fmt: skip
    return c


if __name__ == "__main__":  # tilewright run examples/matmul.py
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((300, 200), dtype=np.float32), rng.standard_normal((200, 500), dtype=np.float32)
    error = np.abs(matmul(a, b, np.empty((300, 500), np.float32)) - a.astype(np.float64) @ b).max()
    print(f"product of {a.shape} and {b.shape}: largest error {error:.1e}")

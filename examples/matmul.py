"""Blocked matrix multiplication; programs are grouped so that neighbours share blocks of A and B in the cache."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_bk, stride_bn,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    blocks_in_group = GROUP_M * blocks_n
    first_m = (pid // blocks_in_group) * GROUP_M
    group_size = min(blocks_m - first_m, GROUP_M)
    pid_m = first_m + (pid % blocks_in_group) % group_size
    pid_n = (pid % blocks_in_group) // group_size

    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k_range = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + k_range[None, :] * stride_ak
    b_ptrs = b_ptr + k_range[:, None] * stride_bk + cols[None, :] * stride_bn

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k_range[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k_range[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    out_rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * out_rows[:, None] + stride_cn * out_cols[None, :]
    mask = (out_rows[:, None] < M) & (out_cols[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


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

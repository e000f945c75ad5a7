"""Kernels of matrix products with weights of four bits, as users write them; loaded for tilewright and for Triton."""

import triton
import triton.language as tl


@triton.jit
def int4_matmul_kernel(
    a_ptr, w_ptr, scale_ptr, c_ptr, M, N, K, a_row, w_row, scale_row, c_row,
    GROUP_K: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """C = A W^T: rows of W have K weights of four bits from 0 to 15, two in a byte, the even one low; eight is zero.
    GROUP_K neighbours share a scale, in a row of scales for each group."""
    high, wide = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    place = tl.program_id(axis=0)
    block_row, block_column = tl.swizzle2d(place // wide, place % wide, high, wide, GROUP_M)
    rows = block_row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth, pairs = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_K // 2)
    left = a_ptr + ((rows % M)[:, None] * a_row + depth[None, :])
    right = w_ptr + ((columns % N)[:, None] * w_row + pairs[None, :])
    scales = scale_ptr + columns % N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(left)
        packed = tl.load(right)
        scale = tl.load(scales + start // GROUP_K * scale_row)
        weights = tl.interleave(packed & 15, packed >> 4).to(x.dtype)
        weights = (weights - 8.0) * scale[:, None]
        total = tl.dot(x, tl.trans(weights), total)
        left += BLOCK_K
        right += BLOCK_K // 2
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + (rows[:, None] * c_row + columns[None, :]), total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def int8_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """C = scale A B, A of 8-bit integers, widened for the tensor cores."""
    high, wide = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    place = tl.program_id(axis=0)
    block_row, block_column = tl.swizzle2d(place // wide, place % wide, high, wide, GROUP_M)
    rows = block_row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    left = a_ptr + ((rows % M)[:, None] * a_row + depth[None, :])
    right = b_ptr + (depth[:, None] * b_row + (columns % N)[None, :])
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        b = tl.load(right)
        total = tl.dot(tl.load(left).to(b.dtype), b, total)
        left += BLOCK_K
        right += BLOCK_K * b_row
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    total = (total * scale).to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + (rows[:, None] * c_row + columns[None, :]), total, mask=inside)

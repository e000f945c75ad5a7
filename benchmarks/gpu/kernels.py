"""Kernels of the GPU benchmarks, as users write them; loaded for tilewright and for Triton."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    tl.store(out_ptr + row * out_stride + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    y = centred * rstd * w + b
    tl.store(y_ptr + row * stride + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gather_kernel(table_ptr, index_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.load(index_ptr + row)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    values = tl.load(table_ptr + source * n_cols + cols, mask=mask)
    tl.store(out_ptr + row * n_cols + cols, values, mask=mask)


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * n_cols + cols, tl.cumsum(x, axis=0), mask=mask)


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    counts = tl.histogram(x, BINS, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    high, wide = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    place = tl.program_id(axis=0)
    block_row, block_column = tl.swizzle2d(place // wide, place % wide, high, wide, GROUP_M)
    rows = block_row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    left = a_ptr + ((rows % M)[:, None] * a_row + depth[None, :] * a_column)
    right = b_ptr + ((columns % N)[None, :] * b_column + depth[:, None] * b_row)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        live = depth < K - start
        x, y = tl.load(left, live[None, :], other=0.0), tl.load(right, live[:, None], other=0.0)
        total = tl.dot(x, y, total)
        left += a_column * BLOCK_K
        right += b_row * BLOCK_K
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    result = total.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + (rows[:, None] * c_row + columns[None, :] * c_column), result, mask=inside)


@triton.jit
def matmul_descriptors_kernel(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    high, wide = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    place = tl.program_id(axis=0)
    block_row, block_column = tl.swizzle2d(place // wide, place % wide, high, wide, GROUP_M)
    row, column = block_row * BLOCK_M, block_column * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for depth in range(0, K, BLOCK_K):
        total = tl.dot(a_desc.load([row, depth]), b_desc.load([depth, column]), total)
    c_desc.store([row, column], total.to(tl.float16))


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * length * HEAD
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    keys = tl.arange(0, BLOCK_N)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
    k_ptrs = k_ptr + base + keys[None, :] * HEAD + dims[:, None]
    v_ptrs = v_ptr + base + keys[:, None] * HEAD + dims[None, :]
    row_max = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    scale2 = scale * 1.44269504
    end = length
    if CAUSAL:
        end = block * BLOCK_M
    for start in range(0, end, BLOCK_N):
        k = tl.load(k_ptrs + start * HEAD)
        scores = tl.dot(q, k) * scale2
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_max[:, None])
        alpha = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + start * HEAD)
        acc = tl.dot(p.to(v.dtype), v, acc)
        row_max = new_max
    if CAUSAL:
        for start in range(block * BLOCK_M, (block + 1) * BLOCK_M, BLOCK_N):
            k = tl.load(k_ptrs + start * HEAD)
            scores = tl.dot(q, k) * scale2
            scores = tl.where(rows[:, None] >= (start + keys)[None, :], scores, -1.0e6)
            new_max = tl.maximum(row_max, tl.max(scores, 1))
            p = tl.math.exp2(scores - new_max[:, None])
            alpha = tl.math.exp2(row_max - new_max)
            row_sum = row_sum * alpha + tl.sum(p, 1)
            acc = acc * alpha[:, None]
            v = tl.load(v_ptrs + start * HEAD)
            acc = tl.dot(p.to(v.dtype), v, acc)
            row_max = new_max
    acc = acc / row_sum[:, None]
    tl.store(out_ptr + base + rows[:, None] * HEAD + dims[None, :], acc.to(out_ptr.dtype.element_ty))


@triton.jit
def empty_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass

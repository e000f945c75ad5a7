"""Kernels of the benchmark table beyond the examples, written as a Triton user writes them."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tanh = 1 - 2 / (tl.exp(2 * inner) + 1)
    tl.store(out_ptr + offsets, 0.5 * x * (1 + tanh), mask=mask)


@triton.jit
def layer_norm_kernel(x_ptr, out_ptr, w_ptr, b_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(out_ptr + row * stride + cols, centred * rstd * w + b, mask=mask)


@triton.jit
def gather_kernel(index_ptr, table_ptr, out_ptr, width, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + rows, mask=rows < n, other=0)
    mask = (rows[:, None] < n) & (cols[None, :] < width)
    values = tl.load(table_ptr + index[:, None] * width + cols[None, :], mask=mask)
    tl.store(out_ptr + rows[:, None] * width + cols[None, :], values, mask=mask)


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(0, rows, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        x = tl.load(x_ptr + m[:, None] * cols + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < cols), other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + n, total, mask=n < cols)


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * cols + offsets, tl.cumsum(x, axis=0), mask=mask)


@triton.jit
def matmul_nt_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """C = A B^T with both operands row major."""
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * stride_am + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + cols[:, None] * stride_bn + ks[None, :], mask=(cols[:, None] < N) & (ks[None, :] < K), other=0.0
        )
        acc = tl.dot(a, tl.trans(b), acc)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + m[:, None] * cols + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < cols))
    tl.store(out_ptr + n[:, None] * rows + m[None, :], x.T, mask=(n[:, None] < cols) & (m[None, :] < rows))


@triton.jit
def sort_rows_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.sort(tl.load(x_ptr + offsets)))


@triton.jit
def topk_rows_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    best = tl.topk(tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK)), K)
    tl.store(out_ptr + row * K + tl.arange(0, K), best)


@triton.jit
def complex_product_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a_re, a_im = tl.load(a_ptr + 2 * offsets, mask=mask), tl.load(a_ptr + 2 * offsets + 1, mask=mask)
    b_re, b_im = tl.load(b_ptr + 2 * offsets, mask=mask), tl.load(b_ptr + 2 * offsets + 1, mask=mask)
    tl.store(out_ptr + 2 * offsets, a_re * b_re - a_im * b_im, mask=mask)
    tl.store(out_ptr + 2 * offsets + 1, a_re * b_im + a_im * b_re, mask=mask)


@triton.jit
def sum_difference_product_kernel(x_ptr, y_ptr, sum_ptr, difference_ptr, product_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
    tl.store(sum_ptr + offsets, x + y, mask=mask)
    tl.store(difference_ptr + offsets, x - y, mask=mask)
    tl.store(product_ptr + offsets, x * y, mask=mask)


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, libdevice.tanh(x), mask=offsets < n)


@triton.jit
def argmax_rows_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offsets, mask=offsets < cols, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0).to(tl.int64))


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x_ptr + offsets, mask=offsets < n, other=0), BINS, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, n, rate, beta1, beta2, eps, decay, step, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p, g = tl.load(p_ptr + offsets, mask=mask), tl.load(g_ptr + offsets, mask=mask)
    m = beta1 * tl.load(m_ptr + offsets, mask=mask) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + offsets, mask=mask) + (1 - beta2) * g * g
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)
    corrected = (m / (1 - tl.exp2(step * tl.log2(beta1)))) / (tl.sqrt(v / (1 - tl.exp2(step * tl.log2(beta2)))) + eps)
    tl.store(p_ptr + offsets, p - rate * (corrected + decay * p), mask=mask)

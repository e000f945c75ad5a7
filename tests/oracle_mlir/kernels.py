"""Kernels as users write them, for the tests of this folder: from vector add to attention, one for each kind of
access."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a_ptr + ((i % M)[:, None] * a_row + depth[None, :] * a_column)
    right = b_ptr + ((j % N)[None, :] * b_column + depth[:, None] * b_row)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        live = depth < K - start
        y, x = tl.load(right, live[:, None], other=0.0), tl.load(left, live[None, :], other=0.0)
        total = tl.dot(x, y, total)
        right += b_row * BK
        left += a_column * BK
    target = c_ptr + (i[:, None] * c_row + j[None, :] * c_column)
    tl.store(target, total, mask=(j < N)[None, :] & (i < M)[:, None])


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, stride, n, eps, BLOCK: tl.constexpr):
    """y = w (x - mean) / sqrt(var + eps) + b; lanes keep sums of their own until the row ends."""
    lanes, at_row = tl.arange(0, BLOCK), tl.program_id(0) * stride
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        sums += tl.load(x_ptr + at_row + start + lanes, mask=start + lanes < n, other=0.0)
    mean = tl.sum(sums, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        live = start + lanes < n
        apart = tl.load(x_ptr + at_row + start + lanes, mask=live, other=0.0) - mean
        squares += tl.where(live, apart * apart, 0.0)
    rstd = tl.rsqrt(eps + tl.sum(squares, axis=0) / n)
    for start in range(0, n, BLOCK):
        column = start + lanes
        gain = tl.load(w_ptr + column, mask=column < n) * rstd
        apart = tl.load(x_ptr + at_row + column, mask=column < n) - mean
        tl.store(y_ptr + at_row + column, gain * apart + tl.load(b_ptr + column, mask=column < n), mask=column < n)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, n, stride, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows[:, None] * stride + dims[None, :], mask=rows[:, None] < n, other=0.0)
    row_max = tl.full([BM], -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, HEAD], dtype=tl.float32)
    for start in range(0, n, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(k_ptr + keys[None, :] * stride + dims[:, None], mask=keys[None, :] < n, other=0.0)
        scores = tl.dot(q, k) * scale
        scores = tl.where((rows[:, None] >= keys[None, :]) & (keys[None, :] < n), scores, -1.0e30)
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.exp(scores - new_max[:, None])
        alpha = tl.exp(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + keys[:, None] * stride + dims[None, :], mask=keys[:, None] < n, other=0.0)
        acc = tl.dot(p, v, acc)
        row_max = new_max
    tl.store(out_ptr + rows[:, None] * stride + dims[None, :], acc / row_sum[:, None], mask=rows[:, None] < n)


@triton.jit
def row_statistics(x_ptr, arg_ptr, cum_ptr, min_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    tl.store(arg_ptr + row, tl.argmax(x, axis=0))
    kept = tl.where(cols < n, x, 0.0)
    tl.store(cum_ptr + row * n + cols, tl.cumsum(kept, axis=0), mask=cols < n)
    tl.store(min_ptr + row, tl.min(tl.where(cols < n, x, float("inf")), axis=0))


@triton.jit
def histogram(x_ptr, bins_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    counts = tl.histogram(x, BINS, mask=offsets < n)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts)


@triton.jit
def embedding(table_ptr, index_ptr, out_ptr, n, width, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, WIDTH)
    index = tl.load(index_ptr + rows, mask=rows < n, other=0)
    mask = (rows[:, None] < n) & (cols[None, :] < width)
    values = tl.load(table_ptr + index[:, None] * width + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * width + cols[None, :], values, mask=mask)


@triton.jit
def transpose(x_ptr, y_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n))
    tl.store(y_ptr + cols[:, None] * m + rows[None, :], tl.trans(x), mask=(cols[:, None] < n) & (rows[None, :] < m))


@triton.jit
def causal_copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK)
    places = rows[:, None] * n + cols[None, :]
    lower = (rows[:, None] >= cols[None, :]) & (rows[:, None] < n)
    tl.store(
        y_ptr + places, tl.load(x_ptr + places, mask=lower, other=7.0), mask=(rows[:, None] < n) & (cols[None, :] < n)
    )


@triton.jit
def early_return(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


@triton.jit
def reversed_copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + (n - 1 - offsets), mask=offsets < n), mask=offsets < n)


@triton.jit
def chosen_input(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    source = x_ptr
    if tl.program_id(0) % 2 == 1:
        source = y_ptr
    values = tl.load(source + offsets, mask=offsets < n)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, values, mask=offsets < n)


@triton.jit
def halving_loop(x_ptr, out_ptr):
    value = tl.load(x_ptr + tl.program_id(0))
    steps = 0
    while value > 1:
        value = value // 2
        steps += 1
    tl.store(out_ptr + tl.program_id(0), steps)


@triton.jit(noinline=True)
def scaled(x, factor):
    return x * factor + tl.program_id(0)


@triton.jit
def calling(x_ptr, out_ptr):
    value = tl.load(x_ptr + tl.program_id(0))
    tl.store(out_ptr + tl.program_id(0), scaled(value, 3))


@triton.jit
def chosen_address(pointers, out_ptr, n, BLOCK: tl.constexpr):
    source = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, tl.load(source + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def bits_and_values(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    bits = tl.load(x_ptr.to(tl.pointer_type(tl.int32)) + offsets, mask=offsets < BLOCK - 1, other=1)
    tl.store(out_ptr.to(tl.pointer_type(tl.int32)) + offsets, bits ^ 7)
    tl.store(out_ptr + BLOCK + offsets, tl.load(x_ptr + offsets))


@triton.jit
def largest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(out_ptr + offsets * 0, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def sum_and_maximum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """One argument as floats and, in the atomic maximum, as integers."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(out_ptr, tl.max(tl.load(x_ptr + offsets, mask=offsets < n, other=-float("inf")), 0))
    tl.atomic_add(out_ptr + 1, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), 0))


@triton.jit
def halves_of_words(x_ptr, out_ptr, which, n, BLOCK: tl.constexpr):
    """One argument at three widths, one of them chosen by a branch."""
    offsets = tl.arange(0, BLOCK)
    halves = x_ptr.to(tl.pointer_type(tl.int16))
    if which > 0:  # noqa: SIM108
        start = halves
    else:
        start = out_ptr.to(tl.pointer_type(tl.int16))
    low = tl.load(halves + 2 * offsets, mask=offsets < n, other=0)
    high = tl.load(start + 2 * offsets + 1, mask=offsets < n, other=0)
    byte = tl.load(x_ptr.to(tl.pointer_type(tl.int8)) + 4 * offsets + 3, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + low + high + byte, mask=offsets < n)


@triton.jit
def products_of_rows(a_ptrs, b_ptrs, out_ptrs, sizes, BLOCK: tl.constexpr):
    """Addresses of matrices in memory, as in a grouped matrix product."""
    group = tl.program_id(0)
    n = tl.load(sizes + group)
    a = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float32))
    b = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float32))
    out = tl.load(out_ptrs + group).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    for row in range(n):
        mask = offsets < n
        product = tl.load(a + row * n + offsets, mask=mask) * tl.load(b + row * n + offsets, mask=mask)
        tl.store(out + row * n + offsets, product, mask=mask)

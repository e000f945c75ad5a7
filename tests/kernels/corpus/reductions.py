"""Reductions, scans, sorting."""

# pyright: basic

import triton
import triton.language as tl


@triton.jit
def load2d(x_ptr, N: tl.constexpr, M: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])


@triton.jit
def sums(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, 0))
    tl.store(out_ptr + tl.arange(0, N), tl.sum(x, axis=1))
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + tl.arange(0, N)[:, None], tl.sum(x, 1, keep_dims=True))
    tl.store(out_ptr + tl.arange(0, 1)[:, None], tl.sum(x, keep_dims=True))
    tl.store(out_ptr, x.sum().to(tl.float32))
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, 0, dtype=tl.float32))


@triton.jit
def extrema(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    tl.store(out_ptr + tl.arange(0, M), tl.max(x, 0))
    tl.store(out_ptr + tl.arange(0, N), tl.min(x, axis=-1))
    tl.store(out_ptr, tl.max(x))
    tl.store(out_ptr + tl.arange(0, M)[None, :], x.max(0, keep_dims=True))
    values, indices = tl.max(x, 1, return_indices=True)
    tl.store(out_ptr + tl.arange(0, N), values + indices)
    lows, where = tl.min(x, 0, return_indices=True, return_indices_tie_break_left=False)
    tl.store(out_ptr + tl.arange(0, M), lows + where)


@triton.jit
def positions(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    tl.store(out_ptr + tl.arange(0, N), tl.argmax(x, 1))
    tl.store(out_ptr + tl.arange(0, M), x.argmin(0))
    tl.store(out_ptr + tl.arange(0, M), tl.argmax(x, 0, tie_break_left=False))
    tl.store(out_ptr + tl.arange(0, N)[:, None], tl.argmin(x, 1, keep_dims=True))


@triton.jit
def bit_reductions(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    tl.store(out_ptr + tl.arange(0, M), tl.xor_sum(x, 0))
    tl.store(out_ptr + tl.arange(0, N), x.reduce_or(1))
    tl.store(out_ptr, tl.xor_sum(x))


@triton.jit
def welford(mean_a, m2_a, w_a, mean_b, m2_b, w_b):
    delta = mean_b - mean_a
    w = w_a + w_b
    ratio = tl.where(w == 0.0, 0.0, w_b / w)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * w_a * ratio, w


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def custom_reductions(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    mean, m2, weight = tl.reduce((x, tl.zeros_like(x), tl.full([N, M], 1.0, tl.float32)), 1, welford)
    tl.store(out_ptr + tl.arange(0, N), mean + m2 / weight)
    tl.store(out_ptr + tl.arange(0, M), tl.reduce(x, 0, product))
    tl.store(out_ptr, tl.reduce(x, None, product))
    tl.store(out_ptr + tl.arange(0, M)[None, :], x.reduce(0, product, keep_dims=True))


@triton.jit
def running(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    at = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out_ptr + at, tl.cumsum(x, 0))
    tl.store(out_ptr + at, tl.cumsum(x, axis=1, reverse=True))
    tl.store(out_ptr + at, x.cumprod(1))
    tl.store(out_ptr + at, tl.cumsum(x, 0, dtype=tl.float32))


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + N + i)
    a, b = tl.associative_scan((a, b), 0, first_order)
    c = tl.associative_scan(a, 0, product, reverse=True)
    tl.store(out_ptr + i, b + c)


@triton.jit
def sorting(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.sort(x))
    tl.store(out_ptr + i, tl.sort(x, descending=True))
    tl.store(out_ptr + tl.arange(0, 4), tl.topk(x, 4))
    tl.store(out_ptr + i, tl.flip(x, 0))


@triton.jit
def sorting2d(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    at = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out_ptr + at, tl.sort(x))
    tl.store(out_ptr + at, tl.bitonic_merge(x))
    tl.store(out_ptr + at, tl.flip(x, 0))


@triton.jit
def normalised(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = load2d(x_ptr, N, M)
    at = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out_ptr + at, tl.softmax(x))
    tl.store(out_ptr + at, tl.sigmoid(x))
    line = tl.load(x_ptr + tl.arange(0, M))
    tl.store(out_ptr + tl.arange(0, M), tl.softmax(line, 0))


@triton.jit
def collatz_steps(n, limit):
    steps = 0
    while n > 1 and steps < limit:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@triton.jit
def swap(a, b):
    return b, a


@triton.jit
def mapped(x_ptr, out_ptr, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.map_elementwise(collatz_steps, x, limit))
    a, b = tl.map_elementwise(swap, x, i)
    tl.store(out_ptr + i, a - b)


CASES = [
    *[(sums, f"*{t} *{t} =8 =16") for t in ("fp32", "fp16", "bf16", "i32", "i8", "u8", "i64", "fp64")],
    *[(extrema, f"*{t} *fp32 =8 =16") for t in ("fp32", "fp16", "bf16", "i32", "i8", "u8", "i64", "u32")],
    *[(positions, f"*{t} *i32 =8 =16") for t in ("fp32", "bf16", "i16")],
    (bit_reductions, "*i32 *i32 =8 =16"),
    (bit_reductions, "*u8 *u8 =8 =16"),
    (custom_reductions, "*fp32 *fp32 =8 =16"),
    *[(running, f"*{t} *fp32 =8 =16") for t in ("fp32", "bf16", "i32")],
    (running, "*i8 *i32 =8 =16"),
    (linear_recurrence, "*fp32 *fp32 =32"),
    (sorting, "*fp32 *fp32 =16"),
    (sorting, "*i16 *i32 =16"),
    (sorting2d, "*fp32 *fp32 =4 =8"),
    (normalised, "*fp32 *fp32 =8 =16"),
    (mapped, "*i32 *i32 i32 =64"),
]

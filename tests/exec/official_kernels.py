"""Kernels of official Triton's own `@triton.jit`, of different kinds. Needs the official package."""

# Parameters are annotated with types of kernels, which are values to a type checker.
# pyright: reportInvalidTypeForm=false

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def shift(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Each program reads what it then writes one further on: with `out` = `x`, all loads come before the stores."""
    offsets = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + offsets)
        tl.store(out_ptr + start + BLOCK + offsets, x + 1)


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + column, e / tl.sum(e, axis=0), mask=column < columns)


@triton.autotune(
    configs=[triton.Config({"BM": 16, "BN": 16}), triton.Config({"BM": 32, "BN": 32}, num_warps=8, num_stages=2)],
    key=["M", "N"],
)
@triton.heuristics({"EVEN": lambda arguments: arguments["K"] % arguments["BK"] == 0})
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, EVEN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        a_mask, b_mask = (m < M)[:, None], (n < N)[None, :]
        if not EVEN:
            a_mask = a_mask & (inner < K)[None, :]
            b_mask = b_mask & (inner < K)[:, None]
        a = tl.load(a_ptr + m[:, None] * K + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * N + n[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def count(x_ptr, counts_ptr, last_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=offsets < n)
    tl.atomic_max(last_ptr + x, offsets, mask=offsets < n)


@triton.jit(noinline=True)
def polynomial(x, a, b):
    return a * x * x + b


@triton.jit
def twice(f, x):
    return f(f(x))


@triton.jit
def plus_one(x):
    return x + 1


@triton.jit
def functions(out_ptr, x, pair, STEPS: tl.constexpr, NAME: tl.constexpr):
    tl.static_assert(NAME == "calls")
    value = polynomial(x, pair[0], pair[1])
    for step in tl.static_range(STEPS):
        value = twice(plus_one, value) + step
    tl.store(out_ptr, value)


@triton.jit
def copy_blocks(source, target, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    target.store([row, column], source.load([row, column]) * 2)


@triton.jit
def block_pointers(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    out = tl.make_block_ptr(out_ptr, (columns, rows), (rows, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    tl.store(out, tl.trans(tl.load(x, boundary_check=(0, 1))), boundary_check=(0, 1))


@triton.jit
def larger(left, right):
    return tl.maximum(left, right)


@triton.jit
def scans(x_ptr, sums_ptr, peaks_ptr, sorted_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(sums_ptr + offsets, tl.cumsum(x, axis=0))
    tl.store(peaks_ptr + offsets, tl.associative_scan(x, 0, larger, reverse=True))
    tl.store(sorted_ptr + offsets, tl.sort(x, descending=True))


@triton.jit
def collatz(n_ptr, steps_ptr):
    n, steps = tl.load(n_ptr + tl.program_id(0)), 0
    while n != 1:
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    tl.store(steps_ptr + tl.program_id(0), steps)


@triton.jit
def mathematics(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, libdevice.tgamma(x) + libdevice.hypot(x, 2.0) + tl.erf(x))


@triton.jit
def scalars(out_ptr, a, b: tl.float64, c, flag, bias_ptr, n, INCLUDED: tl.constexpr):
    value = a * b + c
    if flag:
        value = -value
    if bias_ptr is not None:
        value += tl.load(bias_ptr)
    if INCLUDED:
        value += n
    tl.store(out_ptr, value)


@triton.jit
def narrow(x_ptr, eight_ptr, sixteen_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(eight_ptr + offsets, x.to(tl.float8e5))
    tl.store(sixteen_ptr + offsets, x.to(tl.bfloat16) * 2)


@triton.jit
def dropout(x_ptr, out_ptr, seed, p, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, tl.load(x_ptr + offsets) / (1 - p), 0.0))


@triton.jit
def checked(x_ptr, n):
    tl.device_assert(n < 10, "too many")
    tl.store(x_ptr, n)


@triton.jit
def lane_wise_assembly(x_ptr, out_ptr, back_ptr, BLOCK: tl.constexpr):
    """Through fp8e4b15, which the official package converts by assembly, four elements at a time."""
    i = tl.arange(0, BLOCK)
    codes = tl.load(x_ptr + i).to(tl.float8e4b15, bitcast=True)
    half = tl.extra.cuda.convert_custom_float8_sm80(codes, tl.float16)
    tl.extra.cuda.gdc_wait()
    tl.store(out_ptr + i, half)
    again = tl.extra.cuda.convert_custom_float8_sm70(half, tl.float8e4b15)
    tl.store(back_ptr + i, again.to(tl.uint8, bitcast=True))


@triton.jit
def assembly(x_ptr):
    x = tl.load(x_ptr)
    y = tl.inline_asm_elementwise("shfl.sync.down.b32 $0, $1, 1, 31, -1;", "=r,r", [x], tl.int32, True, pack=1)
    tl.store(x_ptr, y)

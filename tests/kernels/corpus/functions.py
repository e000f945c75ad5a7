"""Mathematics, random numbers, matrix products, hints, debugging."""

# ruff: noqa: E501
# pyright: basic

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mathematics(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.exp(x) + tl.exp2(x) + tl.log(x) + tl.log2(x) + tl.cos(x) + tl.sin(x) + tl.sqrt(x)
    y += tl.rsqrt(x) + tl.erf(x) + tl.floor(x) + tl.ceil(x) + tl.abs(x) + tl.fma(x, y, 2.0)
    y += x.exp().log().abs() + tl.math.sqrt(x) + tl.math.fma(x, x, x)
    y += tl.fdiv(x, y) + tl.fdiv(x, y, ieee_rounding=True)
    tl.store(out_ptr + i, y)


@triton.jit
def precise(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.sqrt_rn(x) + tl.div_rn(x, 3.0))


@triton.jit
def limits(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.maximum(x, y))
    tl.store(out_ptr + i, tl.minimum(x, 3))
    tl.store(out_ptr + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + i, tl.minimum(0, x, tl.PropagateNan.ALL))
    tl.store(out_ptr + i, tl.abs(x))


@triton.jit
def clamps(x_ptr, out_ptr, low, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.clamp(x, low, 3.0))
    tl.store(out_ptr + i, tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def high_products(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.umulhi(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def scalar_limits(out_ptr, n, m, N: tl.constexpr):
    a = min(n, m)
    b = max(n, 3)
    c: tl.constexpr = max(N, 3)
    tl.store(out_ptr, a + b + c + min(N, 2, 5))


@triton.jit
def random_numbers(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.rand(seed, i))
    tl.store(out_ptr + i, tl.randn(seed, i))
    tl.store(out_ptr + i, tl.randint(seed, i))
    a, b, c, d = tl.rand4x(seed, i, n_rounds=7)
    tl.store(out_ptr + i, a + b + c + d)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(out_ptr + i, a + b + c + d)
    a, b, c, d = tl.randn4x(seed, i)
    tl.store(out_ptr + i, a + b + c + d)


@triton.jit
def random_numbers_wide(out_ptr, seed, start, N: tl.constexpr):
    i = start + tl.arange(0, N)
    tl.store(out_ptr + i, tl.rand(seed, i))
    tl.store(out_ptr + i, tl.randint(1234, i))


@triton.jit
def random_numbers_of_offsets(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.rand(5, x))
    tl.store(out_ptr + i, tl.randint(5, x))


@triton.jit
def philox_wide(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N).to(tl.int64)
    a, b, c, d = tl.philox(seed, i, i, i, i)
    tl.store(out_ptr + i, (a ^ b ^ c ^ d).to(tl.int64, bitcast=True))
    tl.store(out_ptr + i, tl.random.uint_to_uniform_float(a).to(tl.int64))


@triton.jit
def products(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    c = tl.dot(a, b)
    c = tl.dot(a, b, c)
    c = tl.dot(a, b, acc=c, input_precision="ieee")
    c += tl.dot(a, b, allow_tf32=False)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@triton.jit
def integer_product(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    c = tl.dot(a, b, out_dtype=tl.int32)
    c = tl.dot(a, b, c, out_dtype=tl.int32)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@triton.jit
def half_product(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    c = tl.dot(a, b, out_dtype=tl.float16)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@triton.jit
def batched_product(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    at = tl.arange(0, B)[:, None, None]
    a = tl.load(a_ptr + at * M * K + tl.arange(0, M)[None, :, None] * K + tl.arange(0, K)[None, None, :])
    b = tl.load(b_ptr + at * K * N + tl.arange(0, K)[None, :, None] * N + tl.arange(0, N)[None, None, :])
    c = tl.dot(a, b)
    tl.store(out_ptr + at * M * N + tl.arange(0, M)[None, :, None] * N + tl.arange(0, N)[None, None, :], c)


@triton.jit
def scaled_product(a_ptr, sa_ptr, b_ptr, sb_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K // 2)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    sa = tl.load(sa_ptr + tl.arange(0, M)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    sb = tl.load(sb_ptr + tl.arange(0, N)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    c = tl.dot_scaled(a, sa, "e2m1", b, sb, "e4m3")
    c = tl.dot_scaled(a, sa, "e2m1", b, None, "e4m3", acc=c)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@triton.jit
def hints(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    start = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(x_ptr + i)
    rows = tl.max_constancy(x[:, None] + tl.zeros([1, 2], tl.float32), [1, 2])
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.sum(rows, 1))


@triton.jit
def debugging(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.device_print("x", x, n, hex=True)
    tl.device_print("only text")
    print("n", n)
    tl.device_assert(x > 0, "positive")
    assert n > 0, "n"
    tl.static_assert(BLOCK > 1, f"BLOCK is {BLOCK}")
    tl.store(out_ptr + i, x)


@triton.jit
def device_library(x_ptr, n_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    n = tl.load(n_ptr + i)
    y = libdevice.tanh(x) + libdevice.pow(x, 2.0) + libdevice.pow(x, n) + libdevice.atan2(x, x)
    y += tl.extra.libdevice.erfinv(x) + tl.extra.cuda.libdevice.log1p(x) + libdevice.rint(x)
    y += libdevice.fma(x, x, x) + libdevice.popc(n) + libdevice.abs(n) + libdevice.float2int_rn(x)
    y = tl.where(libdevice.isnan(x), 0.0, y)
    tl.store(out_ptr + i, y)


@triton.jit
def assembly(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    a, b = tl.inline_asm_elementwise("mov.b32 $0, $2; mov.b32 $1, $3;", "=r,=r,r,r", [x, y], dtype=(tl.int32, tl.int32), is_pure=False, pack=1)  # fmt: skip
    tl.store(out_ptr + i, a + b)


@triton.jit
def selections(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.where(x > y, x, y))
    tl.store(out_ptr + i, tl.where(x > 0, x, 0))
    tl.store(out_ptr + i, tl.where(n > 0, 1.0, y))
    tl.store(out_ptr + i, tl.where(i < n, 1, 0))
    tl.store(out_ptr + i, tl.where((i < n)[:, None], x[None, :], 2.0).sum(0))
    p = tl.where(i < n, x_ptr + i, y_ptr + i)
    tl.store(out_ptr + i, tl.load(p))


CASES = [
    (mathematics, "*fp32 *fp32 =64"),
    (mathematics, "*fp64 *fp64 =64"),
    (precise, "*fp32 *fp32 =64"),
    *[(limits, f"*{t} *{t} *fp32 =64") for t in ("fp32", "fp16", "bf16", "i32", "u32", "i8", "i64")],
    *[(clamps, f"*{t} *fp32 fp32 =64") for t in ("fp32", "fp16", "bf16")],
    *[(high_products, f"*{t} *{t} *{t} =64") for t in ("i32", "u32", "u64")],
    (scalar_limits, "*i32 i32 i32 =8"),
    (random_numbers, "*fp32 i32 =64"),
    (random_numbers, "*fp32 i64 =64"),
    (random_numbers_wide, "*fp32 i32 i64 =64"),
    (philox_wide, "*i64 i64 =64"),
    *[(products, f"*{t} *{t} *fp32 =32 =64 =32") for t in ("fp16", "bf16", "fp32", "fp8e5", "fp8e4nv")],
    (integer_product, "*i8 *i8 *i32 =32 =64 =32"),
    (half_product, "*fp16 *fp16 *fp16 =32 =64 =32"),
    (batched_product, "*fp16 *fp16 *fp32 =4 =32 =32 =32"),
    (scaled_product, "*u8 *u8 *fp8e4nv *u8 *fp32 =128 =128 =64"),
    (hints, "*fp32 *fp32 i32 =64"),
    (debugging, "*fp32 *fp32 i32 =64"),
    (device_library, "*fp32 *i32 *fp32 =64"),
    (assembly, "*i32 *i32 =64"),
    (selections, "*fp32 *fp32 *fp32 i32 =64"),
    (selections, "*bf16 *bf16 *fp32 i32 =64"),
    *[(random_numbers_of_offsets, f"*{t} *fp32 =64") for t in ("i1", "i8", "u16", "u32", "i64", "fp16")],
]

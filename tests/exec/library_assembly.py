"""Inline PTX as libraries write it: weights unpacked by byte permutes, eight-bit floats, fast exponentials, pairs of f32.

On the CPU it becomes ops; the simulated GPU runs it as it stands.
"""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import BF16, E4M3, E5M2, Checks, Library, integers, normal, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# ------------------------------------------------------------------------------------------------- weights of four bits


@triton.jit
def unpack_eight(words):
    """Eight 4-bit weights of a word as four registers of two f16 each: the nibbles become mantissas of 1024."""
    return tl.inline_asm_elementwise(
        """
        {
            .reg .b32 upper, t<4>, offset, sixteenth, minus_72;
            mov.b32         offset, 0x64086408;                 // 1032
            mov.b32         sixteenth, 0x2c002c00;
            mov.b32         minus_72, 0xd480d480;
            shr.u32         upper, $4, 8;
            lop3.b32        t0, $4,    0x000f000f, 0x64006400, 0xea;
            lop3.b32        t1, $4,    0x00f000f0, 0x64006400, 0xea;
            lop3.b32        t2, upper, 0x000f000f, 0x64006400, 0xea;
            lop3.b32        t3, upper, 0x00f000f0, 0x64006400, 0xea;
            sub.f16x2       $0, t0, offset;
            fma.rn.f16x2    $1, t1, sixteenth, minus_72;
            sub.f16x2       $2, t2, offset;
            fma.rn.f16x2    $3, t3, sixteenth, minus_72;
        }
        """,
        "=r,=r,=r,=r,r",
        [words],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )


@triton.jit
def halves(pair):
    low = (pair & 0xFFFF).to(tl.int16).to(tl.float16, bitcast=True)
    return low, (pair >> 16).to(tl.int16).to(tl.float16, bitcast=True)


@triton.jit
def matvec_int4(w_ptr, scale_ptr, x_ptr, out_ptr, WORDS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WORDS)
    words = tl.load(w_ptr + rows[:, None] * WORDS + columns[None, :])
    scale = tl.load(scale_ptr + rows)
    total = tl.zeros((ROWS,), tl.float32)
    pairs = unpack_eight(words)
    for place in tl.static_range(4):
        low, high = halves(pairs[place])
        x_low = tl.load(x_ptr + columns * 8 + place)
        x_high = tl.load(x_ptr + columns * 8 + place + 4)
        total += tl.sum(low.to(tl.float32) * x_low[None, :] + high.to(tl.float32) * x_high[None, :], 1)
    tl.store(out_ptr + rows, total * scale)


@LIBRARY.case
def weights_of_four_bits() -> Checks:
    """Nibble n of a word is weight n; the pairs of halves are nibbles n and n + 4."""
    rows, words = 16, 32
    weights = integers(-8, 8, rows, words * 8, seed=1)
    nibbles = (weights + 8).reshape(rows, words, 8).astype(np.uint32)
    packed = (nibbles << np.arange(0, 32, 4, dtype=np.uint32)).sum(2).astype(np.uint32).view(np.int32)
    x, scale, out = normal(words * 8, seed=2), uniform(rows, seed=3), np.zeros(rows, np.float32)
    matvec_int4[(2,)](packed, scale, x, out, WORDS=words, ROWS=8)
    return [(out, (weights @ wide(x)) * scale, 1e-4)]


@triton.jit
def upper_nibbles(words):
    """The numbers are arguments: those with the constraint `n` are written into the text."""
    table: tl.constexpr = (0xF0 & 0xCC) | 0xAA
    mask: tl.constexpr = 0x00F000F0
    magic: tl.constexpr = 0x64006400
    sixteenth: tl.constexpr = 0x2C002C00
    minus_64: tl.constexpr = 0xD400D400
    return tl.inline_asm_elementwise(
        """
        {
            .reg .b32 tmp;
            lop3.b32 tmp, $2, $3, $4, $5;
            fma.rn.f16x2 tmp, tmp, $6, $7;
            mov.b32 {$0, $1}, tmp;
        }
        """,
        "=h,=h,r,n,n,n,r,r",
        args=[words, mask, magic, table, sixteenth, minus_64],
        dtype=(tl.float16, tl.float16),
        is_pure=True,
        pack=1,
    )


@triton.jit
def unpack_upper(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    low, high = upper_nibbles(tl.load(x_ptr + i))
    tl.store(out_ptr + i, low)
    tl.store(out_ptr + N + i, high)


@LIBRARY.case
def numbers_as_arguments() -> Checks:
    x = integers(-(2**31), 2**31 - 1, 64, seed=4)
    out = np.zeros(128, np.float16)
    unpack_upper[(1,)](x, out, N=64)
    return [(out, np.concatenate([x >> 4 & 15, x >> 20 & 15]), 0)]


@triton.jit
def widen_int8(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    out = tl.inline_asm_elementwise(
        """
        {
            .reg .b32 t, offset;
            mov.b32   offset, 0x64806480;                   // 1152
            xor.b32   t, $2, 0x80808080;
            prmt.b32  $0, t, 0x64646464, 0x5150;
            prmt.b32  $1, t, 0x64646464, 0x5352;
            sub.f16x2 $0, $0, offset;
            sub.f16x2 $1, $1, offset;
        }
        """,
        "=&r,=&r,r",
        [tl.load(x_ptr + i)],
        dtype=tl.float16,
        is_pure=True,
        pack=4,
    )
    tl.store(out_ptr + i, out)


@LIBRARY.case
def bytes_as_halves() -> Checks:
    x = np.arange(-128, 128).astype(np.int8)
    out = np.zeros(256, np.float16)
    widen_int8[(1,)](x, out, N=256)
    return [(out, x, 0)]


# ----------------------------------------------------------------------------------------------------- eight-bit floats


@triton.jit
def from_e5m2(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    out = tl.inline_asm_elementwise(
        "prmt.b32 $0, 0, $2, 0x5040; prmt.b32 $1, 0, $2, 0x7060;",
        "=&r,=r,r",
        [tl.load(x_ptr + i)],
        dtype=tl.float16,
        is_pure=True,
        pack=4,
    )
    tl.store(out_ptr + i, out)


@triton.jit
def from_e4m3_by_bits(x_ptr, out_ptr, N: tl.constexpr):
    """Sign, exponent and mantissa put where bf16 has them; a product corrects the exponent's bias."""
    i = tl.arange(0, N)
    out = tl.inline_asm_elementwise(
        """
        {
            .reg .b32 a<2>, s<2>, b<2>;
            .reg .b32 scale;
            mov.b32  scale, 0x7b807b80;                 // 2^120
            prmt.b32 a0, 0, $2, 0x5040;
            prmt.b32 a1, 0, $2, 0x7060;
            and.b32  b0, a0, 0x7f007f00;
            and.b32  b1, a1, 0x7f007f00;
            shr.u32  b0, b0, 4;
            shr.u32  b1, b1, 4;
            and.b32  s0, a0, 0x80008000;
            and.b32  s1, a1, 0x80008000;
            or.b32   b0, b0, s0;
            lop3.b32 b1, b1, s1, 0, 0xfc;
            mul.rn.bf16x2 $0, b0, scale;
            mul.rn.bf16x2 $1, b1, scale;
        }
        """,
        "=r,=r,r",
        [tl.load(x_ptr + i)],
        dtype=tl.bfloat16,
        is_pure=True,
        pack=4,
    )
    tl.store(out_ptr + i, out)


@triton.jit
def quantise_e4m3(x_ptr, out_ptr, scale, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i) * scale
    out = tl.inline_asm_elementwise(
        "{ .reg .b16 lo, hi; cvt.rn.satfinite.e4m3x2.f32 lo, $2, $1; cvt.rn.satfinite.e4m3x2.f32 hi, $4, $3;"
        "mov.b32 $0, {lo, hi}; }",
        "=r,f,f,f,f",
        [x],
        dtype=tl.int8,
        is_pure=True,
        pack=4,
    )
    tl.store(out_ptr + i, out)


@LIBRARY.case
def floats_of_eight_bits() -> Checks:
    codes = np.arange(256).astype(np.uint8)
    finite = np.isfinite(codes.view(E5M2).astype(np.float32))
    halves_, shorts = np.zeros(256, np.float16), np.zeros(256, BF16)
    from_e5m2[(1,)](codes.view(np.int8), halves_, N=256)
    from_e4m3_by_bits[(1,)](codes.view(np.int8), shorts, N=256)
    number = (codes & 0x7F) != 0x7F
    x, out = normal(256, seed=5) * 200, np.zeros(256, np.int8)
    quantise_e4m3[(1,)](x, out, 1.0, N=256)
    expected = np.clip(x, -448, 448).astype(E4M3)
    return [
        (halves_[finite], codes.view(E5M2).astype(np.float32)[finite], 0),
        (shorts.astype(np.float32)[number], codes.view(E4M3).astype(np.float32)[number], 0),
        (out, expected.view(np.int8), 0),
    ]


# ---------------------------------------------------------------------------------------------------- fast exponentials


@triton.jit
def exp2_approximate(x):
    return tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def exp2_by_polynomial(x):
    """2^x on the units for products: the integer part goes into the exponent, a cubic gives the rest."""
    return tl.inline_asm_elementwise(
        """
        {
            .reg .f32 x0, whole, rest, p;
            .reg .b32 n, bits;
            max.ftz.f32     x0, $1, 0fC2FE0000;             // -127
            add.rm.ftz.f32  whole, x0, 0f4B400000;          // 2^23 + 2^22: rounds down to an integer
            sub.rn.ftz.f32  rest, whole, 0f4B400000;
            sub.rn.ftz.f32  rest, x0, rest;
            fma.rn.ftz.f32  p, rest, 0f3D9DF09D, 0f3E6906A4;
            fma.rn.ftz.f32  p, p, rest, 0f3F31F519;
            fma.rn.ftz.f32  p, p, rest, 0f3F800000;
            mov.b32         n, whole;
            mov.b32         bits, p;
            shl.b32         n, n, 23;
            add.s32         bits, n, bits;
            mov.b32         $0, bits;
        }
        """,
        "=f,f",
        [x],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )


@triton.jit
def softcap(x, cap):
    t = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x / cap], dtype=tl.float32, is_pure=True, pack=1)
    return t * cap


@triton.jit
def attention_row(q_ptr, k_ptr, v_ptr, out_ptr, cap, N: tl.constexpr, D: tl.constexpr, POLYNOMIAL: tl.constexpr):
    d, n = tl.arange(0, D), tl.arange(0, N)
    tl.extra.cuda.gdc_wait()
    q = tl.load(q_ptr + tl.program_id(0) * D + d)
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    scores = softcap(tl.sum(k * q[None, :], 1), cap) * 1.44269504
    scores -= tl.max(scores, 0)
    p = exp2_by_polynomial(scores) if POLYNOMIAL else exp2_approximate(scores)
    tl.extra.cuda.gdc_launch_dependents()
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    tl.store(out_ptr + tl.program_id(0) * D + d, tl.sum(p[:, None] * v, 0) / tl.sum(p, 0))


@LIBRARY.case
def attention_with_fast_exponentials() -> Checks:
    rows, n, depth, cap = 4, 64, 16, 5.0
    q, k, v = normal(rows, depth, seed=1), normal(n, depth, seed=2), normal(n, depth, seed=3)
    scores = cap * np.tanh(wide(q) @ wide(k).T / cap)
    p = np.exp(scores - scores.max(1, keepdims=True))
    expected = p @ wide(v) / p.sum(1, keepdims=True)
    found: Checks = []
    for polynomial in (False, True):
        out = np.zeros((rows, depth), np.float32)
        attention_row[(rows,)](q, k, v, out, cap, N=n, D=depth, POLYNOMIAL=polynomial)
        found.append((out, expected, 1e-3))
    return found


# --------------------------------------------------------------------------------------------------------- pairs of f32


@triton.jit
def axpy_in_pairs(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    out = tl.inline_asm_elementwise(
        """
        {
            .reg .b64 x, y, two;
            mov.b64 x, {$2, $3};
            mov.b64 y, {$4, $5};
            mov.b64 two, {0f40000000, 0f40000000};
            fma.rn.f32x2 x, x, two, y;
            add.rn.f32x2 x, x, y;
            mul.f32x2 x, x, two;
            mov.b64 {$0, $1}, x;
        }
        """,
        "=r,=r,r,r,r,r",
        [x, y],
        dtype=tl.float32,
        is_pure=True,
        pack=2,
    )
    tl.store(out_ptr + i, out, mask=i < n)


@LIBRARY.blackwell_case
def sums_in_pairs() -> Checks:
    n = 1000
    x, y, out = normal(n, seed=1), normal(n, seed=2), np.zeros(n, np.float32)
    axpy_in_pairs[(4,)](x, y, out, n, N=256)
    once = (2 * wide(x) + wide(y)).astype(np.float32)
    return [(out, (once + y) * np.float32(2), 0)]


# ------------------------------------------------------------------------------------------------------ bits and bytes


@triton.jit
def bit_reversed_gather(x_ptr, out_ptr, N: tl.constexpr):
    """The order of a fast Fourier transform: addresses come out of assembly."""
    i = tl.arange(0, N)
    j = tl.inline_asm_elementwise(
        "{ .reg .b32 t; brev.b32 t, $1; shr.u32 $0, t, 27; }", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, tl.load(x_ptr + j))


@triton.jit
def dot_of_bytes(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    zero = tl.zeros((N,), tl.int32)
    products = tl.inline_asm_elementwise(
        "dp4a.s32.u32 $0, $1, $2, $3;", "=r,r,r,r", [tl.load(a_ptr + i), tl.load(b_ptr + i), zero], tl.int32, True, 1
    )
    tl.store(out_ptr, tl.sum(products, 0))


@LIBRARY.case
def bits_and_bytes() -> Checks:
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    bit_reversed_gather[(1,)](x, out, N=32)
    reversed_ = np.array([int(f"{i:05b}"[::-1], 2) for i in range(32)])
    a, b = integers(-128, 128, 64, 4, seed=1, dtype=np.int8), integers(0, 256, 64, 4, seed=2, dtype=np.uint8)
    total = np.zeros(1, np.int32)
    dot_of_bytes[(1,)](a.reshape(-1).view(np.int32), b.reshape(-1).view(np.int32), total, N=64)
    return [
        (out, x[reversed_], 0),
        (total, (a.astype(np.int64) * b.astype(np.int64)).sum(keepdims=True).reshape(1), 0),
    ]

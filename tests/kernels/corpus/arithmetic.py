"""Operators and the promotion of their operands."""

import triton
import triton.language as tl


@triton.jit
def every_operator(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + i, x - y)
    tl.store(out_ptr + i, x * y)
    tl.store(out_ptr + i, x / y)
    tl.store(out_ptr + i, x % y)
    tl.store(out_ptr + i, -x)
    tl.store(out_ptr + i, x < y)
    tl.store(out_ptr + i, x <= y)
    tl.store(out_ptr + i, x > y)
    tl.store(out_ptr + i, x >= y)
    tl.store(out_ptr + i, x == y)
    tl.store(out_ptr + i, x != y)


@triton.jit
def integer_operators(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x & y)
    tl.store(out_ptr + i, x | y)
    tl.store(out_ptr + i, x ^ y)
    tl.store(out_ptr + i, x << y)
    tl.store(out_ptr + i, x >> y)
    tl.store(out_ptr + i, ~x)
    tl.store(out_ptr + i, x // 7)
    tl.store(out_ptr + i, x % 7)
    tl.store(out_ptr + i, 7 // y)


@triton.jit
def mixed(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + i, x * y)
    tl.store(out_ptr + i, tl.where(x > y, x, y))


@triton.jit
def numbers(x_ptr, out_ptr, n, f, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x + 1)
    tl.store(out_ptr + i, 2 * x)
    tl.store(out_ptr + i, x * 0.5)
    tl.store(out_ptr + i, x + n)
    tl.store(out_ptr + i, f - x)
    tl.store(out_ptr + i, x * BLOCK)
    tl.store(out_ptr + i, x / 3)
    tl.store(out_ptr + i, 1 < x)


@triton.jit
def bits_with_numbers(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x & 15)
    tl.store(out_ptr + i, x | 1)
    tl.store(out_ptr + i, 3 ^ x)
    tl.store(out_ptr + i, x << 2)
    tl.store(out_ptr + i, x >> 2)
    tl.store(out_ptr + i, 1 << x)


@triton.jit
def shifted_numbers(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, 9 >> x)
    tl.store(out_ptr + i, 2147483649 >> x)
    tl.store(out_ptr + i, 2147483649 << x)


@triton.jit
def logic(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    small = (n > 1) and (m > 1)
    large = (n > 100) or (m > 100)
    tl.store(out_ptr + i, tl.where(small, x, 0))
    tl.store(out_ptr + i, tl.where(not large, x, 1))
    tl.store(out_ptr + i, (x > 1).logical_and(x < 5))
    tl.store(out_ptr + i, (x > 1).logical_or(x < 5))


@triton.jit
def explicit_functions(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.add(x, y))
    tl.store(out_ptr + i, tl.sub(x, y, sanitize_overflow=False))
    tl.store(out_ptr + i, tl.mul(x, 3, sanitize_overflow=True))


@triton.jit
def pointer_arithmetic(x_ptr, out_ptr, n, u, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x_ptr + n
    q = 5 + p
    r = q - n
    r -= 2
    tl.store(out_ptr + i, tl.load(r + i))
    tl.store(out_ptr + u, tl.load(x_ptr + u))


@triton.jit
def large_constants(out_ptr):
    tl.store(out_ptr + 0, 2147483647)
    tl.store(out_ptr + 1, 2147483648)
    tl.store(out_ptr + 2, 4294967296)
    tl.store(out_ptr + 3, 9223372036854775808)
    tl.store(out_ptr + 4, 1e300)
    tl.store(out_ptr + 5, 1e-45)
    tl.store(out_ptr + 6, float("nan"))
    tl.store(out_ptr + 7, True)


@triton.jit
def broadcasting(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, N)
    j = tl.arange(0, M)
    row = tl.load(x_ptr + i)
    table = row[:, None] * j[None, :] + i[:, None]
    cube = table[None, :, :] + tl.full([2, 1, 1], 1.0, tl.float32)
    a, b = tl.broadcast(row[:, None], j[None, :])
    tl.store(out_ptr + i[:, None] * M + j[None, :], a + b + tl.sum(cube, 0) + row[:, None])


CASES = [
    *[
        (every_operator, f"*{t} *{t} *{t} =64")
        for t in ("fp16", "bf16", "fp32", "fp64", "i32", "i64", "i8", "u8", "u32")
    ],
    *[(integer_operators, f"*{t} *{t} *{t} =64") for t in ("i32", "i64", "i8", "u8", "u16", "u32", "u64")],
    *[
        (mixed, f"*{a} *{b} *fp32 =64")
        for a, b in [
            ("fp16", "fp32"),
            ("fp16", "bf16"),
            ("bf16", "fp32"),
            ("fp64", "fp16"),
            ("i32", "fp16"),
            ("fp32", "i64"),
            ("i8", "bf16"),
            ("i8", "i32"),
            ("u8", "i8"),
            ("u32", "i32"),
            ("u32", "i64"),
            ("i1", "i32"),
            ("i16", "u16"),
            ("fp8e5", "fp16"),
            ("fp8e5", "fp8e4nv"),
        ]
    ],
    *[(numbers, f"*{t} *fp32 i32 fp32 =64") for t in ("fp16", "bf16", "fp32", "fp64", "i32", "i64", "i8")],
    *[(bits_with_numbers, f"*{t} *i32 =64") for t in ("i32", "i64", "i16", "u8", "u32")],
    (logic, "*fp32 *fp32 i32 i32 =64"),
    (explicit_functions, "*i32 *i32 *i32 =64"),
    (explicit_functions, "*fp32 *fp32 *fp32 =64"),
    (pointer_arithmetic, "*fp32 *fp32 i32 u32 =64"),
    (large_constants, "*fp64"),
    (broadcasting, "*fp32 *fp32 =16 =32"),
    *[(shifted_numbers, f"*{t} *i64 =64") for t in ("u32", "i64", "u64")],
]

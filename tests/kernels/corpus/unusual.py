"""Rarer forms, each of which some real kernel uses."""

from dataclasses import dataclass

import triton
import triton.language as tl


@dataclass(frozen=True)
class Config:
    block: int
    name: str


CONFIG = Config(32, "fast")
LIMIT = tl.constexpr(4) * 2


@triton.jit
def bool_arguments(out_ptr, flag, n):
    if flag:
        tl.store(out_ptr, n)
    x = n if flag else -n
    tl.store(out_ptr + 1, x + flag)
    if not flag and n > 3:
        tl.store(out_ptr + 2, 1)


@triton.jit
def narrow_arguments(out_ptr, a, b, c, d):
    tl.store(out_ptr, a + b)
    tl.store(out_ptr + 1, a * 2)
    tl.store(out_ptr + 2, (c + d).to(tl.int32))
    tl.store(out_ptr + 3, b // 3)


@triton.jit
def tuple_with_constant(out_ptr, sizes, n):
    block: tl.constexpr = sizes[1]
    i = tl.arange(0, block)
    tl.store(out_ptr + i, i + sizes[0] + n)


@triton.jit
def constant_objects(out_ptr, n, config: tl.constexpr):
    i = tl.arange(0, config.block)
    if config.name == "fast":
        tl.store(out_ptr + i, n + LIMIT)


@triton.jit
def return_in_unrolled(out_ptr, n, STOP: tl.constexpr):
    for i in tl.static_range(4):
        if i == STOP:
            return
        tl.store(out_ptr + i, n)


@triton.jit
def conditional_return_in_unrolled(out_ptr, n):
    for i in tl.static_range(3):
        if n == i:
            return
        tl.store(out_ptr + i, n)


@triton.jit
def pair_or_swapped(a, b):
    if a > b:
        return b, a
    return a, b


@triton.jit
def three_way(n):
    if n > 10:
        if n > 100:
            return 3
        return 2
    elif n > 5:
        return 1
    return 0


@triton.jit
def returns_of_many_kinds(out_ptr, n, m):
    low, high = pair_or_swapped(n, m)
    tl.store(out_ptr, high - low)
    tl.store(out_ptr + 1, three_way(n))


@triton.jit
def work_after_return(out_ptr, n):
    x = n
    if n < 0:
        x = -n
        if n < -100:
            tl.store(out_ptr, 0)
            return
        x += 1
    elif n == 0:
        return
    for i in range(x):
        x += i
    tl.store(out_ptr, x)


@triton.jit
def unsigned_loops(out_ptr, n, m):
    total = n * 0
    for i in range(n):
        total += i
    for i in range(0, m, 2):
        total += i
    tl.store(out_ptr, total)


@triton.jit
def deep_nest(x_ptr, out_ptr, n, m):
    best = float("-inf")
    where = -1
    for i in range(n):
        for j in range(m):
            v = tl.load(x_ptr + i * m + j)
            if v > best:
                best = v
                where = i * m + j
            k = 0
            while k < 3 and v > 0:
                v -= 1.0
                k += 1
            best = tl.maximum(best, v)
    tl.store(out_ptr, best + where)


@triton.jit
def conditional_blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = x
    if n > 0:
        y = tl.exp(x)
        scale = 2.0
    elif n < -5:
        y = x * x
        scale = 3.0
    else:
        scale = 4.0
    tl.store(out_ptr + i, y * scale)


@triton.jit
def shape_comparisons(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    y = x[:]
    z = y[None, :, None]
    if z.shape == (1, N, 1):
        tl.store(out_ptr + tl.arange(0, N), x)
    tl.static_assert(x.shape == y.shape)


@triton.jit
def four_dimensional_dot(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i[:, None] * N + i[None, :])
    a = tl.broadcast_to(a[None, None, :, :], (2, 2, N, N))
    c = tl.dot(a, a)
    tl.store(out_ptr + i[:, None] * N + i[None, :], tl.sum(tl.sum(c, 0), 0))


@triton.jit
def combine_any(a, b):
    return a | b


@triton.jit
def predicates(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    some = tl.reduce((x > 0).to(tl.int32), 0, combine_any)
    if some != 0:
        tl.store(out_ptr, 1)
    flags = (x > 0) & (i < n) | (x == -1.0)
    tl.store(out_ptr + i, flags.to(tl.int8))
    inverted = ~flags
    tl.store(out_ptr + i, tl.where(inverted ^ flags, 1, 0))


@triton.jit
def strides_of_one(x_ptr, out_ptr, stride, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i * stride, tl.load(x_ptr + i * stride))


@triton.jit
def scalar_loads(x_ptr, n):
    a = tl.load(x_ptr)
    b = tl.load(x_ptr + 1).to(tl.float32)
    c = a + b * 2
    c = c if n == 0 else c * n
    tl.store(x_ptr + 2, c)
    tl.store(x_ptr + 3, tl.exp(b) + tl.maximum(a.to(tl.float32), 0))


@triton.jit
def annotated(x: "*fp32", n: "i32", scale: tl.float32, BLOCK: "tl.constexpr" = 8) -> None:  # noqa: F722, F821
    i: tl.int32 = tl.arange(0, BLOCK)
    tl.store(x + i, n * scale)


@triton.jit
def integer_powers_of_two(out_ptr, n, SHIFT: tl.constexpr):
    tl.store(out_ptr, n << SHIFT)
    tl.store(out_ptr + 1, n >> (SHIFT - 1))
    tl.store(out_ptr + 2, (n * 2**SHIFT) // 4)
    tl.store(out_ptr + 3, n & -4)
    tl.store(out_ptr + 4, -7 // 2 + n)


@triton.jit
def clipped(x, limit, from_below: tl.constexpr):
    if from_below:
        x = tl.maximum(x, limit)
    return x


@triton.jit
def value_for_constant(out_ptr, x, from_below):
    tl.store(out_ptr, clipped(x, 3, from_below))
    tl.store(out_ptr + 1, clipped(x, 3, True))
    twice: tl.constexpr = x * 2
    for i in range(0, twice, 4):
        tl.store(out_ptr + 2, i * twice)


@triton.jit
def dtype_identity(out_ptr, x_ptr):
    x = tl.load(x_ptr)
    wide = tl.float32 if x_ptr.dtype.element_ty is tl.bfloat16 else tl.float64
    if x.dtype is not tl.float16:
        x = x.to(wide) * 2
    if x.dtype is tl.float32:
        tl.store(out_ptr, x)


CASES = [
    (bool_arguments, "*i32 u1 i32"),
    (narrow_arguments, "*i32 i8 i16 fp16 bf16"),
    (tuple_with_constant, "*i32 (i32,=16) i32"),
    (constant_objects, "*i32 i32 =@CONFIG"),
    (return_in_unrolled, "*i32 i32 =2"),
    (conditional_return_in_unrolled, "*i32 i32"),
    (returns_of_many_kinds, "*i32 i32 i32"),
    (work_after_return, "*i32 i32"),
    (unsigned_loops, "*u32 u32 u32"),
    (deep_nest, "*fp32 *fp32 i32 i32"),
    (conditional_blocks, "*fp32 *fp32 i32 =64"),
    (shape_comparisons, "*fp32 *fp32 =16"),
    (four_dimensional_dot, "*fp16 *fp32 =16"),
    (predicates, "*fp32 *i8 i32 =64"),
    (strides_of_one, "*fp32 *fp32 =1 =64"),
    (scalar_loads, "*fp16 i32"),
    (annotated, "*fp32 i32 fp32 =16"),
    (integer_powers_of_two, "*i32 i32 =3"),
    (value_for_constant, "*i32 i32 u1"),
    (dtype_identity, "*fp64 *bf16"),
]

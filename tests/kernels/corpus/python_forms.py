"""Forms of Python: calls, defaults, tuples, closures, strings, comprehensions, assertions."""

from collections import namedtuple
from typing import NamedTuple

import triton
import triton.language as tl

SCALE = tl.constexpr(3)
NAMES = tl.constexpr(("relu", "gelu"))
DTYPE = tl.float16


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


Triple = namedtuple("Triple", ["a", "b", "c"])


@triton.constexpr_function
def next_multiple(x, m):
    return (x + m - 1) // m * m


@triton.constexpr_function
def pick(name):
    return {"relu": 1, "gelu": 2}[name]


@triton.jit
def with_default(x, y=2, z: tl.constexpr = 4):
    return x * y + z


@triton.jit
def two_results(x):
    return x + 1, x * 2


@triton.jit
def nothing(p, x):
    tl.store(p, x)


@triton.jit
def variadic(a, b, c):
    return a + b * c


@triton.jit
def calls(out_ptr, n):
    a = with_default(n)
    a += with_default(n, 5)
    a += with_default(n, z=7)
    a += with_default(y=n, x=3)
    b, c = two_results(a)
    both = two_results(n)
    nothing(out_ptr, a + b + c + both[0] + both[1])
    args = (a, b, c)
    tl.store(out_ptr + 1, variadic(*args))
    tl.store(out_ptr + 2, with_default(n))


@triton.jit
def tuples(out_ptr, pair, n):
    x, y = pair
    z = (x, (y, n), 3)
    a, (b, c), d = z
    tl.store(out_ptr, a + b + c + d)
    tl.store(out_ptr + 1, z[1][0] + z[-1])
    both = pair + (n, 4)
    tl.static_assert(len(both) == 4)
    e = both[2:]
    tl.store(out_ptr + 2, e[0])
    for i in tl.static_range(len(both)):
        tl.store(out_ptr + 3 + i, both[i])


@triton.jit
def make_pair(x):
    return Pair(x, x + 1)


@triton.jit
def named_tuples(out_ptr, n):
    p = make_pair(n)
    q = Triple(p.first, p.second, 5)
    tl.store(out_ptr, p.first + q.b + q.c)
    if n > 3:
        p = Pair(n * 2, n)
    for i in range(n):
        p = Pair(p.second, p.first + i)
    tl.store(out_ptr + 1, p.second)


@triton.jit
def constants(out_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr = "gelu"):
    half: tl.constexpr = BLOCK // 2
    padded: tl.constexpr = next_multiple(half, 16)
    power: tl.constexpr = triton.next_power_of_2(BLOCK + 1)
    tl.static_assert(padded == 16, f"padded is {padded}, half is {half:>4}")
    tl.static_assert(power == BLOCK * 2)
    tl.static_assert(NAMES[1] == KIND)
    tl.static_assert(isinstance(BLOCK, int))
    tl.static_assert(not isinstance(n, tl.constexpr))
    i = tl.arange(0, padded)
    x = n * SCALE + pick(KIND) + triton.cdiv(BLOCK, 3)
    kind: tl.constexpr = "sum" if BLOCK > 3 else "max"
    if kind == "sum":
        x += 1
    tl.static_print("compiling", BLOCK, half)
    tl.store(out_ptr + i, x.to(DTYPE))


@triton.jit
def comprehensions(out_ptr, n):
    values = [v * 2 for v in (n, n + 1, 3)]
    sizes = [4, 8]
    tl.store(out_ptr, values[0] + values[1] + values[2] + sizes[1])


@triton.jit
def apply(fn: tl.constexpr, x):
    return fn(x, x)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def functions_as_values(out_ptr, n, fn: tl.constexpr):
    tl.store(out_ptr, apply(plus, n) + fn(n, 3))


@triton.jit(noinline=True)
def out_of_line(x, y):
    if x > y:
        return x
    return y * 2


@triton.jit
def separate_functions(out_ptr, n):
    tl.store(out_ptr, out_of_line(n, 3) + out_of_line(n, n))


@triton.jit
def optional(out_ptr, bias, n):
    x = n
    if bias is not None:
        x += tl.load(bias)
    tl.store(out_ptr, x)


@triton.jit
def dtypes(x_ptr, out_ptr, n, OUT: tl.constexpr):
    x = tl.load(x_ptr)
    if x.dtype == tl.float16 and x.dtype.is_floating():
        x = x.to(tl.float32)
    width: tl.constexpr = x.dtype.primitive_bitwidth
    element: tl.constexpr = x_ptr.dtype.element_ty
    tl.static_assert(width == 32)
    y = x.to(element)
    tl.store(out_ptr, (x + y).to(OUT) * n)


@triton.jit
def builtin_functions(out_ptr, n, K: tl.constexpr):
    tl.static_assert(len((1, 2, 3)) == 3)
    tl.static_assert(hasattr(n, "dtype"))
    a = float(K) + int(3.7)
    m = min(max(n, 1), 10)
    tl.store(out_ptr, a + m + float("inf"))


@triton.jit
def docstring_and_pass(out_ptr, n):
    """A docstring is no statement."""
    tl.store(out_ptr, n)
    return


@triton.jit
def parenthesised(out_ptr, n):
    x = n + 1
    y = x * 2 if n > 0 else x
    tl.store(out_ptr, y)


def make_kernel(factor):
    constant = tl.constexpr(factor)

    @triton.jit
    def scaled_by_closure(out_ptr, n):
        tl.store(out_ptr, n * constant)

    return scaled_by_closure


CASES = [
    (calls, "*i32 i32"),
    (tuples, "*i32 (i32,i32) i32"),
    (named_tuples, "*i32 i32"),
    (constants, "*fp16 i32 =16 ='gelu'"),
    (comprehensions, "*i32 i32"),
    (functions_as_values, "*i32 i32 =@plus"),
    (separate_functions, "*i32 i32"),
    (optional, "*i32 *i32 i32"),
    (optional, "*i32 =None i32"),
    (dtypes, "*fp16 *fp32 i32 =@float32"),
    (builtin_functions, "*fp32 i32 =3"),
    (docstring_and_pass, "*i32 i32"),
    (parenthesised, "*i32 i32"),
    (make_kernel(7), "*i32 i32"),
]

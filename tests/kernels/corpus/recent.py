"""What came into the language after Triton 3.6: functions, forms of syntax, records."""

import triton
import triton.language as tl
from triton.language.core import aggregate_replace


# -- functions --------------------------------------------------------------------------------------------------------
@triton.jit
def atomic_reads_and_writes(p, q, f, h, b, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.atomic_load(p + i)
    tl.atomic_store(p + i, x + 1, mask=i < n)
    y = tl.atomic_load(q + i, mask=i < n, sem="relaxed", scope="sys")
    tl.atomic_store(q + i, y, mask=i < n, sem="relaxed", scope="cta")
    tl.atomic_store(h + i, tl.atomic_load(h + i, i < n), i < n)
    tl.atomic_store(b + i, tl.atomic_load(b + i))
    tl.atomic_store(f, tl.atomic_load(f) + 1)
    tl.atomic_store(f + 1 + tl.arange(0, 4)[:, None], 2)


@triton.jit
def polls(p, q, s, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out_ptr + i, tl.atomic_poll(p + i, n, timeout_ns=1000))
    tl.store(out_ptr + B + i, tl.atomic_poll(q + i, i, sem="relaxed", scope="cta", timeout_ns=n))
    tl.store(out_ptr + 2 * B, tl.atomic_poll(s, 3, timeout_ns=0))


@triton.jit
def divisions(x_ptr, y_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.fdiv(x, y, approx=True))
    tl.store(out_ptr + B + i, tl.fdiv(x, 3.0, ieee_rounding=True))
    tl.store(out_ptr + 2 * B + i, tl.fdiv(2, y))
    tl.store(out_ptr + 3 * B + i, tl.fdiv(x.to(tl.float16), y.to(tl.float16)))


@triton.jit
def squeezed(x_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.unsqueeze(tl.unsqueeze(tl.load(x_ptr + i), 0), -1)
    tl.static_assert(x.shape == (1, B, 1))
    tl.store(out_ptr + i, tl.squeeze(tl.squeeze(x, 0), -1))


@triton.jit
def concatenated(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    rows = tl.cat(x, y)
    tl.store(out_ptr + tl.arange(0, 2 * M)[:, None] * N + tl.arange(0, N)[None, :], rows)
    columns = tl.cat(x, y, dim=-1)
    at = tl.arange(0, M)[:, None] * (2 * N) + tl.arange(0, 2 * N)[None, :]
    tl.store(out_ptr + 2 * M * N + at, columns)


@triton.jit
def running(x_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, 0, dtype=tl.float32))
    tl.store(out_ptr + B + i, tl.cumprod(x, 0, dtype=tl.float32))
    tl.store(out_ptr + 2 * B + i, tl.cumsum(x, 0, reverse=True))


@triton.jit
def clamped(x_ptr, low_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    low = tl.load(low_ptr + i)
    tl.store(out_ptr + i, tl.clamp(x, low, 100))
    tl.store(out_ptr + B + i, tl.clamp(x, 1, 2))
    tl.store(out_ptr + 2 * B + i, tl.minimum(x, 3))
    tl.store(out_ptr + 3 * B + i, tl.maximum(5, x))


@triton.jit
def extrema_of_bf16(x_ptr, y_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.maximum(x, y))
    tl.store(out_ptr + B + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 2 * B + i, tl.clamp(x, -1, 1))
    value, index = tl.max(x, 0, return_indices=True)
    tl.store(out_ptr + 3 * B, value)
    tl.store(out_ptr + 3 * B + 1, index)
    tl.store(out_ptr + 3 * B + 2, tl.min(y, 0))


@triton.jit
def halves(x_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(tl.bfloat16))
    tl.store(out_ptr + B + i, x.to(tl.bfloat16).to(tl.float16))
    tl.store(out_ptr + 2 * B + i, tl.fma(x, 2, 0.5))
    tl.store(out_ptr + 3 * B + i, tl.where(x > 0.1, -x, x))


@triton.jit
def expecting_zero(x_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.expect_zero(x, x < -1000.0))


@triton.jit
def products(x_ptr, y_ptr, acc_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    acc = tl.load(acc_ptr + i)
    acc = tl.dot(tl.load(x_ptr + i), tl.load(y_ptr + i), acc)
    tl.store(out_ptr + i, acc)


@triton.jit
def softmaxes(x_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.softmax(x, 1))
    tl.store(out_ptr + B * B + i, tl.softmax(x, ieee_rounding=True))


@triton.jit
def numbers_in_comparisons(h_ptr, u_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    h = tl.load(h_ptr + i)
    u = tl.load(u_ptr + i)
    tl.store(out_ptr + i, h < 0.1)
    tl.store(out_ptr + B + i, u >= 200)
    tl.store(out_ptr + 2 * B + i, 3 < u)
    tl.store(out_ptr + 3 * B + i, tl.to_tensor(3) == u)


@triton.jit
def stored_as_booleans(x_ptr, flags_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(flags_ptr + i, x * 256, mask=i % 2 == 0)
    tl.store(flags_ptr + B + i, x - 1)


@triton.jit
def converted_by_bits(x_ptr, b_ptr, out_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    narrow = tl.load(x_ptr + i).to(tl.float8e4b15)
    tl.store(b_ptr + i, narrow.to(tl.uint8, bitcast=True))
    tl.store(out_ptr + i, narrow.to(tl.float32))
    tl.store(out_ptr + B + i, tl.full((B,), 0.8, tl.float8e4b15).to(tl.float32))


# -- syntax -----------------------------------------------------------------------------------------------------------
@triton.jit
def chains(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=0 <= i < n, other=0)
    tl.store(out_ptr + i, 1 < x <= 5 != n)
    if 0 < n < 100:
        tl.store(out_ptr + B, n)
    if 2 < B < 1:
        tl.store(out_ptr, 7)


@triton.jit
def named(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if (m := n * 2) > 3:
        tl.store(out_ptr + i, m)
    tl.store(out_ptr + B + i, (x := tl.load(x_ptr + i)) * x)


@triton.jit
def scaled(x, *, by, plus=1.0):
    return x * by + plus


@triton.jit
def by_keyword(x_ptr, out_ptr, n, *, B: tl.constexpr, SHIFT: tl.constexpr = 2):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, scaled(x, by=n))
    tl.store(out_ptr + B + i, scaled(x, plus=SHIFT, by=3))


@triton.jit
def in_comprehensions(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    sums = [a * b for a, b in ((n, 1), (n + 1, 2), (n + 2, 3)) if b != 2]
    tl.store(out_ptr + i, tl.load(x_ptr + i) + sums[0] + sums[1])


@triton.jit
def block_size(B: tl.constexpr):
    return B * 2


@triton.jit
def either(n, B: tl.constexpr):
    if n > 3:
        return 1, B
    return 2, B


@triton.jit
def constants_returned(out_ptr, n, B: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, block_size(B)), 1)
    tl.store(out_ptr + tl.arange(0, either(n, B)[1]), either(n, B)[0])


@triton.jit
def declared_before(out_ptr, B: tl.constexpr):
    size: tl.constexpr
    size = B * 2
    tl.store(out_ptr + tl.arange(0, size), 3)


# -- records ----------------------------------------------------------------------------------------------------------
@triton.aggregate
class Point:
    x: tl.tensor
    y: tl.tensor
    scale: tl.constexpr = 2

    @triton.jit
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y, self.scale)

    @triton.jit
    def __mul__(self, factor):
        return aggregate_replace(self, x=self.x * factor, y=self.y * factor)

    @triton.jit
    def __rmul__(self, factor):
        return self * factor

    @triton.jit
    def __lt__(self, other):
        return self.x < other.x

    @triton.jit
    def __neg__(self):
        return Point(-self.x, -self.y, scale=self.scale)

    @triton.jit
    def __getitem__(self, index: tl.constexpr):
        if index == "x":
            return self.x
        else:
            return self.y

    @triton.jit
    def length(self):
        return (self.x + self.y) * self.scale


@triton.aggregate
class Point3(Point):
    z: tl.tensor
    scale: tl.constexpr = 3

    @triton.jit
    def length(self):
        return (self.x + self.y + self.z) * self.scale


@triton.jit
def spread(pair):
    point, factor = pair
    return point * factor, factor + 1


@triton.jit
def operators_of_records(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    p = Point(x, x + 1.0)
    q = 2.0 * p + -p
    for k in range(n):
        q = q + p
    r = Point3(q.x, q.y, 5, x)
    tl.store(out_ptr + i, q.length() + r.length())
    tl.store(out_ptr + B + i, p < q)
    (s, more) = spread((q, 3.0))
    tl.store(out_ptr + 2 * B + i, s.length() + more)
    tl.store(out_ptr + 3 * B + i, s["x"] - s["y"])


@triton.jit
def descriptors_in_tuples(descs, out_ptr, B: tl.constexpr):
    source, factor, term = descs
    x = source.load([0, B])
    tl.store(out_ptr + tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :], x * factor + term)


CASES = [
    (atomic_reads_and_writes, "*i32 *i64 *fp32 *fp16 *u8 i32 =64"),
    (atomic_reads_and_writes, "*fp64 *u16 *i32 *bf16 *i1 i32 =64"),
    (polls, "*i32 *i64 *u32 *i1 i32 =64"),
    (polls, "*u16 *i32 *i64 *i1 i32 =64"),
    (divisions, "*fp32 *fp32 *fp32 =64"),
    (squeezed, "*fp32 *fp32 =64"),
    (concatenated, "*fp32 *fp32 *fp32 =8 =16"),
    (running, "*bf16 *bf16 =64"),
    (running, "*i8 *fp32 =64"),
    (clamped, "*i32 *i32 *i32 =64"),
    (clamped, "*u8 *u8 *i32 =64"),
    (clamped, "*fp32 *fp32 *fp32 =64"),
    (extrema_of_bf16, "*bf16 *bf16 *fp32 =64"),
    (halves, "*fp16 *fp32 =64"),
    (expecting_zero, "*fp32 *fp32 =64"),
    (products, "*fp16 *fp16 *fp16 *fp16 =32"),
    (products, "*fp16 *fp16 *fp32 *fp32 =32"),
    (softmaxes, "*fp32 *fp32 =16"),
    (numbers_in_comparisons, "*fp16 *u8 *i1 =64"),
    (stored_as_booleans, "*i32 *i1 =64"),
    (stored_as_booleans, "*fp32 *i1 =64"),
    (converted_by_bits, "*fp32 *u8 *fp32 =64"),
    (chains, "*i32 *i32 i32 =64"),
    (named, "*fp32 *fp32 i32 =64"),
    (by_keyword, "*fp32 *fp32 fp32 =64 =4"),
    (in_comprehensions, "*fp32 *fp32 i32 =64"),
    (constants_returned, "*i32 i32 =64"),
    (declared_before, "*i32 =64"),
    (operators_of_records, "*fp32 *fp32 i32 =64"),
    (descriptors_in_tuples, "(tensordesc<fp32[32;32]>,fp32,fp32) *fp32 =32"),
]

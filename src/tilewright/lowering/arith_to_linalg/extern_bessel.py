"""The Bessel functions of libdevice: J, Y and the modified I of orders 0 and 1, J and Y of any order.

All are computed in f64 and rounded once. Orders 0 and 1 of J and Y are Chebyshev expansions up to 8 and Hankel's
asymptotic form beyond, whose series are Chebyshev expansions too; I is its power series up to 8, whose terms are all
positive, and exp(x) / sqrt(x) times an expansion beyond. Measured for |x| < 1000, errors in units of the larger of 1
and the value: 1e-15 for orders 0 and 1, 1e-14 for any order; all f32 results are the nearest float or its neighbour.
Larger x are as exact as their sine. Near a zero the error of f64 is absolute, not relative to the value.

Other orders follow from the recurrence F(k + 1) = 2 k / x F(k) - F(k - 1): upwards for Y, and for J up to order x;
beyond it J is found by J. C. P. Miller's algorithm, downwards from an order where it vanishes, scaled by
J0 + 2 J2 + 2 J4 + ... = 1. That takes time in proportion to the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, inf, nan, pi

from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, math
from tilewright.lowering.arith_to_linalg import bessel_coefficients as coefficients
from tilewright.lowering.arith_to_linalg.extern_special import Real, rounded_once
from tilewright.lowering.arith_to_linalg.extern_symbols import Emit, ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import INDEX, ScalarBuilder
from tilewright.support.records import dataclass

BESSEL_SYMBOLS: SymbolTable = {}


def chebyshev(u: Real, terms: Sequence[float]) -> Real:
    """The sum of terms[k] T_k(u), |u| <= 1, by Clenshaw's recurrence."""
    twice, older, newer = u + u, u.of(0.0), u.of(terms[-1])
    for term in terms[-2:0:-1]:
        older, newer = newer, twice.apply(math.FmaOp, newer, term) - older
    return u.apply(math.FmaOp, newer, terms[0]) - older


# Orders 0 and 1


def _small(x: Real) -> Real:
    """The variable of the expansions for |x| <= 8."""
    return (x * x).apply(math.FmaOp, 1 / 32, -1.0)


@dataclass(frozen=True)
class Wave:
    """What J and Y of a large argument consist of: J + iY = amplitude (P + iQ) (cosine + i sine)."""

    p: Real
    q: Real
    cosine: Real
    sine: Real
    amplitude: Real

    def first_kind(self) -> Real:
        return self.amplitude * (self.p * self.cosine - self.q * self.sine)

    def second_kind(self) -> Real:
        return self.amplitude * (self.p * self.sine + self.q * self.cosine)


def _wave(order: int, x: Real) -> Wave:
    """Of x >= 8. The phase x - pi / 4 (- pi / 2) is taken from x by the addition theorem, so x is not rounded."""
    ratio = 8.0 / x
    u = (ratio * ratio).apply(math.FmaOp, 2.0, -1.0)
    sine, cosine = x.apply(math.SinOp), x.apply(math.CosOp)
    total, difference = sine + cosine, sine - cosine
    amplitude = ((1 / pi) / x).sqrt()
    if order == 0:
        p, q = coefficients.P0, coefficients.Q0
        return Wave(chebyshev(u, p), chebyshev(u, q) / x, total, difference, amplitude)
    p, q = coefficients.P1, coefficients.Q1
    return Wave(chebyshev(u, p), chebyshev(u, q) / x, difference, -total, amplitude)


def _j0(x: Real) -> Real:
    """Even; 0 at infinity."""
    x = x.abs()
    near = chebyshev(_small(x), coefficients.J0)
    value = x.where("ole", 8.0, near, _wave(0, x).first_kind())
    return x.where("oeq", inf, 0.0, value)


def _j1(x: Real) -> Real:
    """Odd; 0 at infinity."""
    size = x.abs()
    near = size * chebyshev(_small(size), coefficients.J1)
    value = size.where("ole", 8.0, near, _wave(1, size).first_kind())
    value = size.where("oeq", inf, 0.0, value)
    return x.where("olt", 0.0, -value, value)


def _second_kind(x: Real, near: Real, far: Real) -> Real:
    """-infinity at 0, NaN below, 0 at infinity."""
    value = x.where("ole", 8.0, near, far)
    value = x.where("oeq", inf, 0.0, value)
    return x.where("oeq", 0.0, -inf, x.where("olt", 0.0, nan, value))


def _y0(x: Real) -> Real:
    u = _small(x)
    near = x.log() * (2 / pi) * chebyshev(u, coefficients.J0) + chebyshev(u, coefficients.Y0)
    return _second_kind(x, near, _wave(0, x).second_kind())


def _y1(x: Real) -> Real:
    u = _small(x)
    logarithm = x.log() * (2 / pi) * chebyshev(u, coefficients.J1) + chebyshev(u, coefficients.Y1)
    near = x * logarithm - (2 / pi) / x
    return _second_kind(x, near, _wave(1, x).second_kind())


def _modified(order: int, x: Real, terms: Sequence[float]) -> Real:
    """I0, or I1 of |x|; the exponential is taken in two halves, which do not overflow before the result does."""
    size = x.abs()
    quarter = size * size * 0.25
    series = [1 / (factorial(k) * factorial(k + order)) for k in range(26, -1, -1)]
    near = quarter.polynomial(series)
    if order:
        near = near * size * 0.5
    half = (size * 0.5).exp()
    far = half * (chebyshev((16.0 / size) - 1.0, terms) / size.sqrt()) * half
    return size.where("oeq", inf, inf, size.where("ole", 8.0, near, far))


def _i0(x: Real) -> Real:
    return _modified(0, x, coefficients.I0)


def _i1(x: Real) -> Real:
    value = _modified(1, x, coefficients.I1)
    return x.where("olt", 0.0, -value, value)


for _name, _function in {
    "j0": _j0,
    "j1": _j1,
    "y0": _y0,
    "y1": _y1,
    "cyl_bessel_i0": _i0,
    "cyl_bessel_i1": _i1,
}.items():
    for _suffix, _type in (("", f64), ("f", f32)):
        BESSEL_SYMBOLS[f"__nv_{_name}{_suffix}"] = ExternSymbol((_type,), _type, rounded_once(_function))


# Any order


Step = Callable[[Real, Sequence[Real]], Sequence[Real]]
"""From the number of an iteration and the carried values to the next ones."""


@dataclass(frozen=True)
class Order:
    """The order n of a function, and the loops that its recurrences are."""

    b: ScalarBuilder
    n: SSAValue

    def number(self) -> Real:
        return Real(self.b, self.b.cast(arith.SIToFPOp, self.n, f64))

    def is_(self, predicate: str, bound: int) -> SSAValue:
        return self.b.cmpi(predicate, self.n, self.b.int(bound, i32))

    def choose(self, predicate: str, bound: int, if_true: Real | float, if_false: Real) -> Real:
        return Real(self.b, self.b.select(self.is_(predicate, bound), if_false.of(if_true).value, if_false.value))

    def repeat(self, count: Real, carried: Sequence[Real], step: Step) -> list[Real]:
        """`step` of 0, 1, ..., count - 1 (none for a count that is not positive) and the carried values."""
        b = self.b

        def body(arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
            number, *values = arguments
            index = Real(b, b.cast(arith.SIToFPOp, b.cast(arith.IndexCastOp, number, i64), f64))
            return [value.value for value in step(index, [Real(b, value) for value in values])]

        end = b.cast(arith.IndexCastOp, b.cast(arith.FPToSIOp, count.value, i64), INDEX)
        return [Real(b, value) for value in b.for_loop(0, end, [value.value for value in carried], body).results]


def _vanishes(n: Real, x: Real) -> Real:
    """Negative where J of order n > x > 0 underflows, and Y overflows: (e x / 2 n)**n is below exp(-800)."""
    return n * ((x / (n * 2.0)).log() + 1.0) + 800.0


def _upwards(order: Order, x: Real, count: Real, first: Real, second: Real) -> Real:
    """Order count + 1 from orders 0 and 1; once infinite it stays so."""

    def step(index: Real, values: Sequence[Real]) -> Sequence[Real]:
        older, newer = values
        following = newer * ((index + 1.0) * 2.0 / x) - older
        return newer, newer.abs().where("oeq", inf, newer, following)

    return order.repeat(count, (first, second), step)[1]


def _downwards(order: Order, x: Real, n: Real, count: Real) -> Real:
    """Miller's algorithm from order `count` down: J of order n < count. Values are scaled when they grow large."""

    def step(index: Real, values: Sequence[Real]) -> Sequence[Real]:
        above, here, wanted, total = values
        k = count - index
        below = here * (k * 2.0 / x) - above
        scale = below.abs().where("ogt", 1e10, 1.0 / below.abs(), x.of(1.0))
        here, below, wanted, total = here * scale, below * scale, wanted * scale, total * scale
        lower = k - 1.0
        odd = lower * 0.5 - (lower * 0.5).apply(math.FloorOp)
        share = lower.where("oeq", 0.0, below, below + below)
        total = odd.where("oeq", 0.0, total + share, total)
        wanted = (lower - n).where("oeq", 0.0, below, wanted)
        return here, below, wanted, total

    zero, seed = x.of(0.0), x.of(1e-30)
    _, _, wanted, total = order.repeat(count, (zero, seed, zero, zero), step)
    return wanted / total


def _jn(order: Order, x: Real) -> Real:
    """NaN for n < 0, as libdevice has it; 0 at infinity."""
    n, size = order.number(), x.abs()
    zeroth, first = _j0(size), _j1(size)
    count = (n - size).where("ole", 0.0, n - 1.0, x.of(0.0))
    count = size.where("oeq", inf, 0.0, count)
    upwards = _upwards(order, size, count, zeroth, first)
    start = n + 16.0 + (n.apply(math.CbrtOp) * 13.0).apply(math.FloorOp)
    start = (n - size).where("ogt", 0.0, start, x.of(0.0))
    start = _vanishes(n, size).where("olt", 0.0, 0.0, start)
    start = size.where("olt", 1e-90, 0.0, order.choose("sle", 1, 0.0, start))
    downwards = _downwards(order, size, n, start)
    value = (n - size).where("ole", 0.0, upwards, _vanishes(n, size).where("olt", 0.0, 0.0, downwards))
    square = size * size
    tiny = order.choose("eq", 2, square * 0.125, order.choose("eq", 3, square * size * (1 / 48), x.of(0.0)))
    value = size.where("olt", 1e-90, tiny, value)
    value = order.choose("eq", 0, zeroth, order.choose("eq", 1, first, value))
    odd = n * 0.5 - (n * 0.5).apply(math.FloorOp)
    value = x.where("olt", 0.0, odd.where("ogt", 0.0, -value, value), value)
    value = size.where("oeq", inf, 0.0, value)
    return order.choose("slt", 0, nan, x.where("uno", 0.0, nan, value))


def _yn(order: Order, x: Real) -> Real:
    """NaN for n < 0, as libdevice has it, and for x < 0; -infinity at 0, 0 at infinity."""
    n, zeroth = order.number(), _y0(x)
    overflows = (n - x).where("ogt", 0.0, _vanishes(n, x), x.of(0.0))
    count = x.where("ogt", 0.0, overflows.where("olt", 0.0, x.of(0.0), n - 1.0), x.of(0.0))
    count = x.where("oeq", inf, 0.0, count)
    value = _upwards(order, x, count, zeroth, _y1(x))
    value = overflows.where("olt", 0.0, -inf, value)
    value = order.choose("eq", 0, zeroth, value)
    value = x.where("oeq", 0.0, -inf, x.where("oeq", inf, 0.0, value))
    return order.choose("slt", 0, nan, x.where("olt", 0.0, nan, x.where("uno", 0.0, nan, value)))


def _of_order(function: Callable[[Order, Real], Real]) -> Emit:
    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        wide = Real(b, b.cast(arith.ExtFOp, x[1], f64))
        return b.cast(arith.TruncFOp, function(Order(b, x[0]), wide).value, result)

    return emit


for _name, _ordered in {"jn": _jn, "yn": _yn}.items():
    for _suffix, _type in (("", f64), ("f", f32)):
        BESSEL_SYMBOLS[f"__nv_{_name}{_suffix}"] = ExternSymbol((i32, _type), _type, _of_order(_ordered))

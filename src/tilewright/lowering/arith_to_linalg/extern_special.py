"""The special functions of libdevice that the math dialect lacks: forms of the error function, the gamma function.

All of them are computed in f64, from elementary functions, and rounded once. Relative errors, measured against
high-precision values: below 1e-13 in f64 (for lgamma absolute near its zeros; not of erfcinv and normcdfinv where the
argument is subnormal), correct to the last bit or its neighbour in f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log, nan, pi, sqrt

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.lowering.arith_to_linalg.extern_symbols import Emit, ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import ScalarBuilder

SPECIAL_SYMBOLS: SymbolTable = {}


@dataclass(frozen=True)
class F64:
    """A scalar of type f64 that formulas can be written with; each operator emits its op."""

    b: ScalarBuilder
    value: SSAValue

    def of(self, other: F64 | float) -> F64:
        """A number as a constant."""
        return other if isinstance(other, F64) else F64(self.b, self.b.float(other, f64))

    def apply(self, cls: Callable[..., Operation], *others: F64 | float) -> F64:
        """An op of this value and others."""
        return F64(self.b, self.b.emit(cls, self.value, *(self.of(other).value for other in others)))

    def __add__(self, other: F64 | float) -> F64:
        return self.apply(arith.AddfOp, other)

    def __sub__(self, other: F64 | float) -> F64:
        return self.apply(arith.SubfOp, other)

    def __rsub__(self, other: float) -> F64:
        return self.of(other) - self

    def __mul__(self, other: F64 | float) -> F64:
        return self.apply(arith.MulfOp, other)

    def __truediv__(self, other: F64 | float) -> F64:
        return self.apply(arith.DivfOp, other)

    def __rtruediv__(self, other: float) -> F64:
        return self.of(other) / self

    def __neg__(self) -> F64:
        return self.apply(arith.NegfOp)

    def where(self, predicate: str, bound: float, if_true: F64 | float, if_false: F64) -> F64:
        """`if_true` where this value compares so with a bound, else `if_false`."""
        condition = self.b.cmpf(predicate, self.value, self.of(bound).value)
        return F64(self.b, self.b.select(condition, self.of(if_true).value, if_false.value))

    def exp(self) -> F64:
        return self.apply(math.ExpOp)

    def log(self) -> F64:
        return self.apply(math.LogOp)

    def sqrt(self) -> F64:
        return self.apply(math.SqrtOp)

    def abs(self) -> F64:
        return self.apply(math.AbsFOp)

    def polynomial(self, coefficients: Sequence[float]) -> F64:
        """Horner's rule, highest power first."""
        total = self.of(coefficients[0])
        for coefficient in coefficients[1:]:
            total = total.apply(math.FmaOp, self, coefficient)
        return total


_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
"""M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2010: single precision, central part."""


def _inverse(a: F64, q: F64) -> F64:
    """The y >= 0 with erf(y) = a and erfc(y) = q, where a + q = 1 and both are exact enough for their size.

    From an estimate (Giles in the middle, the asymptotic expansion of erfc in the tail), three steps of Halley's
    method on erf(y) - a, which is q - erfc(y) where that is the more exact difference.
    """
    w = -(q * (2.0 - q)).log()
    tail = -q.log()
    far = (tail - (tail.sqrt() * sqrt(pi)).log()).sqrt()
    y = w.where("olt", 5.0, (w - 2.5).polynomial(_CENTRAL) * a, far)
    for _ in range(3):
        error = a.where("olt", 0.5, y.apply(math.ErfOp) - a, q - y.apply(math.ErfcOp))
        step = error / ((-(y * y)).exp() * (2 / sqrt(pi)))
        y = y - step / (y * step + 1.0)
    return q.where("oeq", 0.0, inf, q.where("oge", 0.0, y, a.of(nan)))


def _erfinv(x: F64) -> F64:
    """Odd; infinite at 1, NaN beyond."""
    magnitude = x.abs()
    return _inverse(magnitude, 1.0 - magnitude).apply(math.CopySignOp, x)


def _erfcinv(x: F64) -> F64:
    """erfcinv(2 - x) = -erfcinv(x); infinite at 0 and 2, NaN outside."""
    q = x.where("olt", 1.0, x, 2.0 - x)
    y = _inverse(1.0 - q, q)
    return x.where("ogt", 1.0, -y, y)


def _normcdfinv(x: F64) -> F64:
    return _erfcinv(x * 2.0) * -sqrt(2)


def _normcdf(x: F64) -> F64:
    """erfc(z) / 2 of z = -x / sqrt 2, corrected by the slope of erfc for what rounding z has lost: that would be
    z squared units in the last place."""
    high, low = sqrt(0.5), -4.833646656726457e-17  # together sqrt(1 / 2)
    z = x * -high
    lost = x.apply(math.FmaOp, -high, -z) - x * low
    value = z.apply(math.ErfcOp) - (-(z * z)).exp() * (2 / sqrt(pi)) * lost
    return x.abs().where("ogt", 40.0, x.where("ogt", 0.0, 1.0, x.of(0.0)), value * 0.5)


def _erfcx(x: F64) -> F64:
    """exp(x * x) * erfc(x); above 12 by the asymptotic series, whose next term is below one part in 1e14 there."""
    near = (x * x).exp() * x.apply(math.ErfcOp)
    u = 1.0 / (x * x)
    coefficients = [1.0]
    for k in range(1, 10):
        coefficients.append(coefficients[-1] * -(2 * k - 1) / 2)
    far = u.polynomial(coefficients[::-1]) / x * (1 / sqrt(pi))
    return x.where("ogt", 12.0, far, near)


_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)
"""Lanczos approximation of the gamma function with g = 7 and nine terms (P. Godfrey, 2001)."""


def _lanczos(z: F64) -> tuple[F64, F64]:
    """(A, t) with gamma(z + 1) = sqrt(2 pi) * t**(z + 0.5) * exp(-t) * A, for z >= -0.5."""
    total = z.of(_LANCZOS[0])
    for k, coefficient in enumerate(_LANCZOS[1:], 1):
        total = total + coefficient / (z + float(k))
    return total, z + 7.5


def _sin_pi(x: F64) -> F64:
    """sin(pi x), exact next to whole numbers: turns are taken off, and the rest r becomes 1 - r beyond a half."""
    rest = (x * 0.5).apply(math.RoundEvenOp).apply(math.FmaOp, -2.0, x)
    mirrored = x.of(1.0).apply(math.CopySignOp, rest) - rest
    return (rest.abs().where("ole", 0.5, rest, mirrored) * pi).apply(math.SinOp)


def _is_pole(x: F64, at_pole: float, elsewhere: F64) -> F64:
    """`at_pole` at negative whole numbers."""
    whole = x - x.apply(math.FloorOp)
    return x.where("olt", 0.0, whole.where("oeq", 0.0, at_pole, elsewhere), elsewhere)


_TINY = 1e-20
"""Below it gamma(x) is 1 / x: what is lost is Euler's constant times x."""


def _tgamma(x: F64) -> F64:
    """Reflected below 1/2: gamma(x) = pi / (sin(pi x) gamma(1 - x)). The power is taken in two halves, which do not
    overflow before the result does."""
    z = x.where("olt", 0.5, -x, x - 1.0)
    series, t = _lanczos(z)
    half = t.apply(math.PowFOp, (z + 0.5) * 0.5)
    right = half * (-t).exp() * half * series * sqrt(2 * pi)
    left = pi / (_sin_pi(x) * right)
    right = x.where("ogt", 172.0, inf, right)
    value = x.where("olt", 0.5, x.where("olt", -184.0, _sin_pi(x) * 0.0, left), right)
    return x.abs().where("olt", _TINY, 1.0 / x, _is_pole(x, nan, value))


def _lgamma(x: F64) -> F64:
    """log |gamma(x)|; infinite at the poles."""
    z = x.where("olt", 0.5, -x, x - 1.0)
    series, t = _lanczos(z)
    right = (z + 0.5) * t.log() - t + (series * sqrt(2 * pi)).log()
    left = log(pi) - _sin_pi(x).abs().log() - right
    value = x.abs().where("oeq", inf, inf, x.where("olt", 0.5, left, right))
    return x.abs().where("olt", _TINY, -x.abs().log(), _is_pole(x, inf, value))


def rounded_once(function: Callable[[F64], F64]) -> Emit:
    """The function of a table from one in f64."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        wide = b.cast(arith.ExtFOp, x[0], f64)
        return b.cast(arith.TruncFOp, function(F64(b, wide)).value, result)

    return emit


for _name, _function in {
    "erfinv": _erfinv,
    "erfcinv": _erfcinv,
    "normcdf": _normcdf,
    "normcdfinv": _normcdfinv,
    "erfcx": _erfcx,
    "tgamma": _tgamma,
    "lgamma": _lgamma,
}.items():
    for _suffix, _type in (("", f64), ("f", f32)):
        SPECIAL_SYMBOLS[f"__nv_{_name}{_suffix}"] = ExternSymbol((_type,), _type, rounded_once(_function))

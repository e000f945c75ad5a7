"""Forms of the error function of libdevice that the math dialect lacks, and what such formulas are written in.

All of them are computed in f64, from elementary functions, and rounded once. Relative errors, measured against
high-precision values: below 1e-13 in f64, correct to the last bit or its neighbour in f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.lowering.arith_to_linalg.extern_symbols import Emit, ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass

SPECIAL_SYMBOLS: SymbolTable = {}


@dataclass(frozen=True)
class Real:
    """A scalar, of type f64 if no other is named, that formulas can be written with; each operator emits its op."""

    b: ScalarBuilder
    value: SSAValue
    kind: Attribute = f64

    def of(self, other: Real | float) -> Real:
        """A number as a constant."""
        return other if isinstance(other, Real) else Real(self.b, self.b.float(other, self.kind), self.kind)

    def apply(self, cls: Callable[..., Operation], *others: Real | float) -> Real:
        """An op of this value and others."""
        return Real(self.b, self.b.emit(cls, self.value, *(self.of(other).value for other in others)), self.kind)

    def __add__(self, other: Real | float) -> Real:
        return self.apply(arith.AddfOp, other)

    def __sub__(self, other: Real | float) -> Real:
        return self.apply(arith.SubfOp, other)

    def __rsub__(self, other: float) -> Real:
        return self.of(other) - self

    def __mul__(self, other: Real | float) -> Real:
        return self.apply(arith.MulfOp, other)

    def __truediv__(self, other: Real | float) -> Real:
        return self.apply(arith.DivfOp, other)

    def __rtruediv__(self, other: float) -> Real:
        return self.of(other) / self

    def __neg__(self) -> Real:
        return self.apply(arith.NegfOp)

    def where(self, predicate: str, bound: float, if_true: Real | float, if_false: Real) -> Real:
        """`if_true` where this value compares so with a bound, else `if_false`."""
        condition = self.b.cmpf(predicate, self.value, self.of(bound).value)
        return Real(self.b, self.b.select(condition, self.of(if_true).value, if_false.value), self.kind)

    def exp(self) -> Real:
        return self.apply(math.ExpOp)

    def log(self) -> Real:
        return self.apply(math.LogOp)

    def sqrt(self) -> Real:
        return self.apply(math.SqrtOp)

    def abs(self) -> Real:
        return self.apply(math.AbsFOp)

    def polynomial(self, coefficients: Sequence[float]) -> Real:
        """Horner's rule, highest power first."""
        total = self.of(coefficients[0])
        for coefficient in coefficients[1:]:
            total = total.apply(math.FmaOp, self, coefficient)
        return total


def _normcdf(x: Real) -> Real:
    """erfc(z) / 2 of z = -x / sqrt 2, corrected by the slope of erfc for what rounding z has lost: that would be
    z squared units in the last place."""
    high, low = sqrt(0.5), -4.833646656726457e-17  # together sqrt(1 / 2)
    z = x * -high
    lost = x.apply(math.FmaOp, -high, -z) - x * low
    value = z.apply(math.ErfcOp) - (-(z * z)).exp() * (2 / sqrt(pi)) * lost
    return x.abs().where("ogt", 40.0, x.where("ogt", 0.0, 1.0, x.of(0.0)), value * 0.5)


def _short_normcdf(x: Real) -> Real:
    """For f32: the rounding of z costs 2e-14 at most, where f32 is not 0 yet."""
    return (x * -sqrt(0.5)).apply(math.ErfcOp) * 0.5


def _erfcx(x: Real) -> Real:
    """exp(x * x) * erfc(x); above 12 by the asymptotic series, whose next term is below one part in 1e14 there."""
    near = (x * x).exp() * x.apply(math.ErfcOp)
    u = 1.0 / (x * x)
    coefficients = [1.0]
    for k in range(1, 10):
        coefficients.append(coefficients[-1] * -(2 * k - 1) / 2)
    far = u.polynomial(coefficients[::-1]) / x * (1 / sqrt(pi))
    return x.where("ogt", 12.0, far, near)


def rounded_once(function: Callable[[Real], Real]) -> Emit:
    """The function of a table from one in f64."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        wide = b.cast(arith.ExtFOp, x[0], f64)
        return b.cast(arith.TruncFOp, function(Real(b, wide)).value, result)

    return emit


_FUNCTIONS = {
    "normcdf": (_normcdf, _short_normcdf),
    "erfcx": (_erfcx, _erfcx),
}
for _name, (_long, _short) in _FUNCTIONS.items():
    for _suffix, _type, _function in (("", f64, _long), ("f", f32, _short)):
        SPECIAL_SYMBOLS[f"__nv_{_name}{_suffix}"] = ExternSymbol((_type,), _type, rounded_once(_function))

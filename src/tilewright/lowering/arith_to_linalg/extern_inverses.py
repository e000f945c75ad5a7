"""The inverses of the error function and of the normal distribution's of libdevice.

All are polynomials over f64, of fewer terms where the result is rounded to f32; erfinv of f32 is one over f32.
Measured against values of forty digits: 3 units in the last place in f64 (of erfcinv and normcdfinv not where the
argument is subnormal), the nearest float or its neighbour in f32, of erfinv 2 units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan, sqrt

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import math
from tilewright.lowering.arith_to_linalg import inverse_error_coefficients as coefficients
from tilewright.lowering.arith_to_linalg.extern_special import Real, rounded_once
from tilewright.lowering.arith_to_linalg.extern_symbols import ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass

INVERSE_SYMBOLS: SymbolTable = {}


@dataclass(frozen=True)
class Piece:
    """A polynomial in sqrt w - `center` that holds up to `end`."""

    end: float
    center: float
    terms: tuple[float, ...]


@dataclass(frozen=True)
class Inverse:
    """How the inverse of erf is computed: y / a in w - 3.125 in the middle, y in pieces beyond."""

    middle: tuple[float, ...]
    pieces: tuple[Piece, ...]

    def up_to(self, end: float) -> Inverse:
        """The same for no larger sqrt w."""
        starts = (0.0, *(piece.end for piece in self.pieces))
        return Inverse(self.middle, tuple(p for p, start in zip(self.pieces, starts, strict=False) if start < end))

    def of(self, a: Real, product: Real) -> Real:
        """The y >= 0 with erf(y) = a; `product` is 1 - a^2, which is q (2 - q) with q = erfc(y)."""
        w = -product.log()
        root = w.sqrt()
        y = (root - self.pieces[-1].center).polynomial(self.pieces[-1].terms)
        for piece in reversed(self.pieces[:-1]):
            y = root.where("olt", piece.end, (root - piece.center).polynomial(piece.terms), y)
        y = w.where("olt", 6.25, (w - 3.125).polynomial(self.middle) * a, y)
        return product.where("oeq", 0.0, inf, product.where("oge", 0.0, y, a.of(nan)))


LONG = Inverse(
    coefficients.MIDDLE,
    (
        Piece(4.0, 3.25, coefficients.FAR),
        Piece(6.25, 5.125, coefficients.END),
        Piece(12.5, 9.375, coefficients.DEEP),
        Piece(27.5, 20.0, coefficients.LAST),
    ),
)
SHORT = Inverse(
    coefficients.SHORT_MIDDLE,
    (Piece(4.25, 3.375, coefficients.SHORT_FAR), Piece(10.25, 7.25, coefficients.SHORT_END)),
)
"""Exact to 1e-9, for f32."""

SINGLE = Inverse(coefficients.SINGLE_MIDDLE, (Piece(4.0, 3.25, coefficients.SINGLE_FAR),))
"""In f32, for a up to 1."""


def _times_two_less(q: Real) -> Real:
    """1 - a^2 of a = 1 - q, to all digits where q is small."""
    return q * (2.0 - q)


def _erfinv(x: Real, inverse: Inverse) -> Real:
    """Odd; infinite at 1, NaN beyond."""
    magnitude = x.abs()
    return inverse.of(magnitude, _times_two_less(1.0 - magnitude)).apply(math.CopySignOp, x)


def _single_erfinv(b: ScalarBuilder, operands: Sequence[SSAValue], kind: Attribute) -> SSAValue:
    """In f32: 1 - a^2 is rounded once, which w and with it y / a can do with."""
    x = Real(b, operands[0], kind)
    a = x.abs()
    return SINGLE.of(a, (-a).apply(math.FmaOp, a, 1.0)).apply(math.CopySignOp, x).value


def _erfcinv(x: Real, inverse: Inverse) -> Real:
    """erfcinv(2 - x) = -erfcinv(x); infinite at 0 and 2, NaN outside."""
    q = x.where("olt", 1.0, x, 2.0 - x)
    y = inverse.of(1.0 - q, _times_two_less(q))
    return x.where("ogt", 1.0, -y, y)


def _normcdfinv(x: Real, inverse: Inverse) -> Real:
    return _erfcinv(x * 2.0, inverse) * -sqrt(2)


# The number before 1 is 1 - 2^-53 (in f32 1 - 2^-24), whose sqrt w is 6.01 (3.99).
INVERSE_SYMBOLS["__nv_erfinv"] = ExternSymbol((f64,), f64, rounded_once(lambda x: _erfinv(x, LONG.up_to(6.25))))
INVERSE_SYMBOLS["__nv_erfinvf"] = ExternSymbol((f32,), f32, _single_erfinv)
_Function = Callable[[Real, Inverse], Real]
_FUNCTIONS: dict[str, tuple[_Function, Inverse, Inverse]] = {
    "erfcinv": (_erfcinv, LONG, SHORT),
    "normcdfinv": (_normcdfinv, LONG, SHORT),
}
for _name, (_function, *_inverses) in _FUNCTIONS.items():
    for _suffix, _type, _inverse in (("", f64, _inverses[0]), ("f", f32, _inverses[1])):
        INVERSE_SYMBOLS[f"__nv_{_name}{_suffix}"] = ExternSymbol(
            (_type,), _type, rounded_once(lambda x, f=_function, i=_inverse: f(x, i))
        )

"""atan of f32: |x| > 1 through pi/2 - atan(1/x), an odd polynomial on [0, 1]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

ATAN_COEFFICIENTS = (
    -0.333333283662796,
    0.1999971568584442,
    -0.14280343055725098,
    0.11061233282089233,
    -0.08821462094783783,
    0.06763648986816406,
    -0.04498325660824776,
    0.02277761697769165,
    -0.007425363175570965,
    0.0011345221428200603,
)
"""(atan x - x) / x^3 in x^2 on [0, 1]."""

HALF_PI_HIGH, HALF_PI_LOW = 1.5707963705062866, -4.371138828673793e-08


def emit_atan(b: FormBuilder, x: str) -> str:
    size = b.fabs(x)
    is_large = b.fcmp("ogt", size, b.float(1.0))
    r = b.select(is_large, b.fdiv(b.float(1.0), size), size)
    square = b.fmul(r, r)
    tail = b.fmul(b.fmul(square, r), emit_polynomial(b, square, ATAN_COEFFICIENTS))
    small = b.fadd(r, tail)
    large = b.fsub(b.float(HALF_PI_HIGH), b.fsub(small, b.float(HALF_PI_LOW)))
    return b.copysign(b.select(is_large, large, small), x)

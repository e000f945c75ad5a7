"""sin and cos of f32.

x = n pi/2 + r by three FMAs (Cody and Waite); n mod 4 picks sin r, cos r and the sign. Beyond |x| = 2^17 the three
parts of pi/2 are not enough: a vector that has such a lane takes the slow path, libm for every lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.polynomial import emit_polynomial
from tilewright.codegen.math_library.slow_path import emit_with_slow_path

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

SIN_COEFFICIENTS = (
    -0.1666666716337204,
    0.008333379402756691,
    -0.00019853025150950998,
    2.8317181204329245e-06,
)
"""(sin x - x) / x^3 in x^2 on |x| <= pi/4."""

COS_COEFFICIENTS = (
    0.0416666679084301,
    -0.0013888981193304062,
    2.4822447812766768e-05,
    -2.891816848205053e-07,
)
"""(cos x - 1 + x^2 / 2) / x^4 in x^2 on |x| <= pi/4."""

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
LARGEST_REDUCED = 131072.0


def emit_sin(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "sin", x, 0)


def emit_cos(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "cos", x, 1)


def _with_slow_path(b: FormBuilder, name: str, x: str, quarter: int) -> str:
    """The fast form, or libm lane by lane when any lane is finite and too large to reduce."""
    too_large = b.fcmp("oge", b.fabs(x), b.float(LARGEST_REDUCED))
    return emit_with_slow_path(b, name, (x,), too_large, lambda: _fast(b, x, quarter))


def _reduce_angle(b: FormBuilder, x: str) -> tuple[str, str]:
    """(q, r) with x = n pi/2 + r, |r| <= pi/4, and the integer q = n."""
    n = b.rint(b.fmul(x, b.float(TWO_OVER_PI)))
    r = x
    for part in HALF_PI:
        r = b.fma(n, b.float(-part), r)
    return b.fn.value(f"freeze {b.type('i32')} {b.cast('fptosi', n, 'float', 'i32')}"), r


def _fast(b: FormBuilder, x: str, quarter: int) -> str:
    quadrant, r = _reduce_angle(b, x)
    quadrant = b.add(quadrant, b.int(quarter)) if quarter else quadrant
    square = b.fmul(r, r)
    sine = b.fma(b.fmul(square, r), emit_polynomial(b, square, SIN_COEFFICIENTS), r)
    half = b.fma(square, b.float(-0.5), b.float(1.0))
    cosine = b.fma(b.fmul(square, square), emit_polynomial(b, square, COS_COEFFICIENTS), half)
    is_odd = b.icmp("ne", b.and_(quadrant, b.int(1)), b.int(0))
    sign = b.shl(b.and_(quadrant, b.int(2)), 30)
    value = b.select(is_odd, cosine, sine)
    value = b.bits(b.xor(b.bits(value), sign), "i32", "float")
    if quarter:
        return value
    return b.select(b.fcmp("oeq", x, b.float(0.0)), x, value)  # sin(-0) = -0

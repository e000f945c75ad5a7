"""sin and cos of f32.

cos: x = n pi/2 + r by three FMAs (Cody and Waite); n mod 4 picks sin r, cos r and the sign. sin: |x| = n pi + r, one
polynomial up to pi/2 and the sign of an odd n. (So near pi/2, where it is 1, cos 0 would be a rounding off.) Beyond
|x| = 2^17 three parts of pi are not enough: a vector that has such a lane takes the slow path, libm for every lane.
"""

from __future__ import annotations

from collections.abc import Callable
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

WHOLE_SIN_COEFFICIENTS = (
    -0.16666659712791443,
    0.008333069272339344,
    -0.00019809776858892292,
    2.606095677037956e-06,
)
"""(sin x - x) / x^3 in x^2 on |x| <= pi/2; 6.2e-9 of sin x at most."""

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
SIGN_BIT = -(1 << 31)


def emit_sin(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "sin", x, _sine)


def emit_cos(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "cos", x, _cosine)


def _with_slow_path(b: FormBuilder, name: str, x: str, fast: Callable[[FormBuilder, str], str]) -> str:
    """The fast form, or libm lane by lane when any lane is finite and too large to reduce."""
    too_large = b.fcmp("oge", b.fabs(x), b.float(LARGEST_REDUCED))
    return emit_with_slow_path(b, name, (x,), too_large, lambda: fast(b, x))


def _reduce_angle(b: FormBuilder, x: str, quarters: int) -> tuple[str, str]:
    """(q, r) with x = n quarters pi/2 + r, |r| <= quarters pi/4, and the integer q = n."""
    n = b.rint(b.fmul(x, b.float(TWO_OVER_PI / quarters)))
    r = x
    for part in HALF_PI:
        r = b.fma(n, b.float(-part * quarters), r)
    return b.fn.value(f"freeze {b.type('i32')} {b.cast('fptosi', n, 'float', 'i32')}"), r


def _sine(b: FormBuilder, x: str) -> str:
    turns, r = _reduce_angle(b, b.fabs(x), 2)
    square = b.fmul(r, r)
    value = b.fma(b.fmul(square, r), emit_polynomial(b, square, WHOLE_SIN_COEFFICIENTS), r)
    sign = b.xor(b.shl(turns, 31), b.and_(b.bits(x), b.int(SIGN_BIT)))  # sin(-0) = -0
    return b.bits(b.xor(b.bits(value), sign), "i32", "float")


def _cosine(b: FormBuilder, x: str) -> str:
    quadrant, r = _reduce_angle(b, x, 1)
    quadrant = b.add(quadrant, b.int(1))
    square = b.fmul(r, r)
    sine = b.fma(b.fmul(square, r), emit_polynomial(b, square, SIN_COEFFICIENTS), r)
    half = b.fma(square, b.float(-0.5), b.float(1.0))
    cosine = b.fma(b.fmul(square, square), emit_polynomial(b, square, COS_COEFFICIENTS), half)
    is_odd = b.icmp("ne", b.and_(quadrant, b.int(1)), b.int(0))
    sign = b.shl(b.and_(quadrant, b.int(2)), 30)
    value = b.select(is_odd, cosine, sine)
    return b.bits(b.xor(b.bits(value), sign), "i32", "float")

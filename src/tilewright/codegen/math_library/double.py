"""Vector forms of f64 alone: exp, exp2, log, log2, log10, tanh, sin, cos, atan; at most 2 ulp.

The same reductions as for f32, with the digits that f64 needs. Polynomials are minimax fits (Chebyshev interpolation in
60 digits, rounded); the log is of (1 + s) / (1 - s) with s = f / (2 + f), so that its leading term f is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.number import Condition, Number
from tilewright.codegen.math_library.polynomial import emit_polynomial
from tilewright.codegen.math_library.scaling import ROUNDING, has_scalef, scale
from tilewright.codegen.math_library.slow_path import emit_with_slow_path

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

D = "double"
LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
LN2_HIGH, LN2_LOW = 0.6931471805598903, 5.497923018708371e-14
LOG10_2_HIGH, LOG10_2_LOW = 0.30102999566395283, 2.8363394551044964e-14
LOG10_E = 0.4342944819032518
EXP_COEFFICIENTS = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)
"""(exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2."""
LOG_COEFFICIENTS = (
    0.6666666666666666,
    0.4000000000000088,
    0.2857142857080323,
    0.2222222239180047,
    0.18181795630884753,
    0.15386240205813478,
    0.13268759668560612,
    0.13086767009948175,
)
"""(log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2."""
TANH_COEFFICIENTS = (
    -0.3333333333333333,
    0.13333333333333042,
    -0.05396825396789699,
    0.021869488519008305,
    -0.008863235103240878,
    0.0035921217511549622,
    -0.0014557754120478055,
    0.0005896606577757043,
    -0.0002375906496055562,
    9.257116129556769e-05,
    -3.12011014257974e-05,
    6.485163482793113e-06,
)
"""(tanh x - x) / x^3 in x^2 on |x| <= 0.625."""
SIN_COEFFICIENTS = (
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836756774,
    2.7557316101617874e-06,
    -2.505113165023518e-08,
    1.5918115263265974e-10,
)
"""(sin x - x) / x^3 in x^2 on |x| <= pi / 4."""
COS_COEFFICIENTS = (
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876456e-05,
    -2.7557317271145144e-07,
    2.087614614655861e-09,
    -1.1382623647474604e-11,
)
"""(cos x - 1 + x^2 / 2) / x^4 in x^2 on |x| <= pi / 4."""
ATAN_COEFFICIENTS = (
    -0.3333333333333333,
    0.19999999999995516,
    -0.14285714284665682,
    0.11111111015187018,
    -0.0909090457530649,
    0.07692183125376892,
    -0.06664510525508936,
    0.05858140904866328,
    -0.050854078345894844,
    0.03923044778479309,
    -0.019175404711104935,
)
"""(atan x - x) / x^3 in x^2 on |x| <= tan(pi / 8)."""
TAN_OF_EIGHTH = 0.41421356237309503
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)
TWO_OVER_PI = 0.6366197723675814
LARGEST_REDUCED = 2.0**20


def emit_exp(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -746.0, 710.0)
    n = b.rint(b.fmul(x, b.float(LOG2_E, D), D), D)
    r = b.fma(n, b.float(-LN2_HIGH, D), x, D)
    r = b.fma(n, b.float(-LN2_LOW, D), r, D)
    return _power(b, r, n, lives)


def emit_exp2(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -1076.0, 1025.0)
    n = b.rint(x, D)
    return _power(b, b.fmul(_sub(b, x, n), b.float(LN2, D), D), n, lives)


def emit_log(b: FormBuilder, x: str) -> str:
    e, f = split(b, x)
    return special_logarithm(b, x, log_of_parts(b, e, f))


def emit_log2(b: FormBuilder, x: str) -> str:
    e, f = split(b, x)
    of_mantissa = log_of_parts(b, b.float(0.0, D), f)
    return special_logarithm(b, x, b.fma(of_mantissa, b.float(LOG2_E, D), e, D))


def emit_log10(b: FormBuilder, x: str) -> str:
    e, f = split(b, x)
    of_mantissa = log_of_parts(b, b.float(0.0, D), f)
    tail = b.fma(of_mantissa, b.float(LOG10_E, D), b.fmul(e, b.float(LOG10_2_LOW, D), D), D)
    return special_logarithm(b, x, b.fma(e, b.float(LOG10_2_HIGH, D), tail, D))


def emit_tanh(b: FormBuilder, x: str) -> str:
    """An odd polynomial below 0.625, 1 - 2 / (exp(2|x|) + 1) above it."""
    size = b.fabs(x, D)
    square = b.fmul(x, x, D)
    small = b.fma(b.fmul(square, x, D), emit_polynomial(b, square, TANH_COEFFICIENTS, D), x, D)
    grown = emit_exp(b, _add(b, size, size))
    large = _sub(b, b.float(1.0, D), b.fdiv(b.float(2.0, D), _add(b, grown, b.float(1.0, D)), D))
    is_small = b.fcmp("olt", size, b.float(0.625, D), D)
    return b.intrinsic("copysign", D, b.select(is_small, small, large, D), x)


def emit_sin(b: FormBuilder, x: str) -> str:
    return _circular(b, "sin", x, 0)


def emit_cos(b: FormBuilder, x: str) -> str:
    return _circular(b, "cos", x, 1)


def emit_atan(b: FormBuilder, x: str) -> str:
    size, one = b.fabs(x, D), b.float(1.0, D)
    turns = b.fcmp("ogt", size, one, D)
    angle = atan_of_quotient(b, b.select(turns, one, size, D), b.select(turns, size, one, D))
    return b.intrinsic("copysign", D, _turned(b, turns, angle), x)


# -- parts of them ----------------------------------------------------------------------------------------------------


def _add(b: FormBuilder, x: str, y: str) -> str:
    """An addition that must not be contracted."""
    return b.binary("fadd", x, y, D)


def _sub(b: FormBuilder, x: str, y: str) -> str:
    return b.binary("fsub", x, y, D)


def _live_lanes(b: FormBuilder, x: str, low: float, high: float) -> tuple[str, str]:
    """x where its power is neither 0 nor infinite, and where it is not 0; NaN stays NaN."""
    lives = b.fcmp("uge", x, b.float(low, D), D)
    x = b.select(b.fcmp("ogt", x, b.float(high, D), D), b.float(high, D), x, D)
    return (x if has_scalef(b, D) else b.select(lives, x, b.float(0.0, D), D)), lives


def _nearest(b: FormBuilder, x: str) -> tuple[str, str]:
    """The nearest integer, as a number and in the lowest bits of an i64."""
    moved = _add(b, x, b.float(ROUNDING, D))
    return _sub(b, moved, b.float(ROUNDING, D)), b.bits(moved, D, "i64")


def _power(b: FormBuilder, r: str, n: str, lives: str) -> str:
    """exp(r) 2^n in the lanes that live, 0 in the others."""
    tail = b.fma(b.fmul(r, r, D), emit_polynomial(b, r, EXP_COEFFICIENTS, D), r, D)
    value = Number(b, _add(b, tail, b.float(1.0, D)), D)
    return scale(value, Number(b, n, D), Condition(b, lives)).name


def split(b: FormBuilder, x: str) -> tuple[str, str]:
    """(e, f) with x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x, subnormal ones too."""
    is_subnormal = b.fcmp("olt", x, b.float(2.0**-1022, D), D)
    scaled = b.select(is_subnormal, b.fmul(x, b.float(2.0**52, D), D), x, D)
    root = b.int(0x3FE6A09E667F3BCD, "i64")
    shifted = b.sub(b.bits(scaled, D, "i64"), root, "i64")
    # The exponent as a number: the lowest bits of 1.5 * 2^52 hold any integer.
    exponent = b.add(b.ashr(shifted, 52, "i64"), b.int(0x4338000000000000, "i64"), "i64")
    e = _sub(b, b.bits(exponent, "i64", D), b.float(ROUNDING, D))
    e = b.select(is_subnormal, _add(b, e, b.float(-52.0, D)), e, D)
    mantissa = b.add(b.and_(shifted, b.int(0x000FFFFFFFFFFFFF, "i64"), "i64"), root, "i64")
    return e, _add(b, b.bits(mantissa, "i64", D), b.float(-1.0, D))


def log_of_parts(b: FormBuilder, e: str, f: str, extra: str | None = None) -> str:
    """e ln 2 + log(1 + f), and something smaller."""
    s = b.fdiv(f, _add(b, f, b.float(2.0, D)), D)
    z = b.fmul(s, s, D)
    half = b.fmul(b.fmul(f, f, D), b.float(0.5, D), D)
    rest = b.fmul(z, emit_polynomial(b, z, LOG_COEFFICIENTS, D), D)
    low = b.fmul(e, b.float(LN2_LOW, D), D)
    tail = b.fma(s, _add(b, half, rest), low if extra is None else _add(b, low, extra), D)
    return b.fma(e, b.float(LN2_HIGH, D), _sub(b, f, _sub(b, half, tail)), D)


def special_logarithm(b: FormBuilder, x: str, result: str) -> str:
    """0 gives -inf, negative numbers NaN; +inf and NaN are their own logarithm."""
    result = b.select(b.fcmp("ult", x, b.float(float("inf"), D), D), result, x, D)
    result = b.select(b.fcmp("olt", x, b.float(0.0, D), D), b.float(float("nan"), D), result, D)
    result = b.select(b.fcmp("uno", x, x, D), x, result, D)
    return b.select(b.fcmp("oeq", x, b.float(0.0, D), D), b.float(float("-inf"), D), result, D)


def _circular(b: FormBuilder, name: str, x: str, quarter: int) -> str:
    too_large = b.fcmp("oge", b.fabs(x, D), b.float(LARGEST_REDUCED, D), D)
    return emit_with_slow_path(b, name, (x,), too_large, lambda: _reduced_circular(b, x, quarter))


def _reduce_angle(b: FormBuilder, x: str) -> tuple[str, str]:
    """(q, r) with x = n pi/2 + r, |r| <= pi/4, and an integer q whose lowest bits are those of n."""
    n, quadrant = _nearest(b, b.fmul(x, b.float(TWO_OVER_PI, D), D))
    r = x
    for part in HALF_PI:
        r = b.fma(n, b.float(-part, D), r, D)
    return quadrant, r


def _reduced_circular(b: FormBuilder, x: str, quarter: int) -> str:
    """n mod 4 picks sin r, cos r and the sign."""
    quadrant, r = _reduce_angle(b, x)
    quadrant = b.add(quadrant, b.int(quarter, "i64"), "i64") if quarter else quadrant
    square = b.fmul(r, r, D)
    sine = b.fma(b.fmul(square, r, D), emit_polynomial(b, square, SIN_COEFFICIENTS, D), r, D)
    # 1 - x^2 / 2 is rounded, and what that takes is added to the small terms.
    half, one = b.fmul(square, b.float(0.5, D), D), b.float(1.0, D)
    head = _sub(b, one, half)
    lost = _sub(b, _sub(b, one, head), half)
    quartic = b.fma(b.fmul(square, square, D), emit_polynomial(b, square, COS_COEFFICIENTS, D), lost, D)
    is_odd = b.icmp("ne", b.and_(quadrant, b.int(1, "i64"), "i64"), b.int(0, "i64"), "i64")
    # The sign of zero is that of x: n is 0 there, and r is x.
    sine = b.select(b.fcmp("oeq", x, b.float(0.0, D), D), x, sine, D)
    chosen = b.select(is_odd, _add(b, head, quartic), sine, D)
    sign = b.shl(b.and_(quadrant, b.int(2, "i64"), "i64"), 62, "i64")
    return b.bits(b.xor(b.bits(chosen, D, "i64"), sign, "i64"), "i64", D)


def atan_of_quotient(b: FormBuilder, least: str, most: str) -> str:
    """atan(least / most) for 0 <= least <= most: above tan(pi/8), pi/4 + atan((least - most) / (least + most))."""
    # Scaled, so that the sum of large numbers is finite, and products with subnormal ones have digits.
    scale = b.select(b.fcmp("ogt", most, b.float(1.0, D), D), b.float(0.25, D), b.float(2.0**60, D), D)
    small, large = b.fmul(least, scale, D), b.fmul(most, scale, D)
    is_wide = b.fcmp("ogt", small, b.fmul(large, b.float(TAN_OF_EIGHTH, D), D), D)
    numerator = b.select(is_wide, _sub(b, small, large), least, D)
    denominator = b.select(is_wide, _add(b, small, large), most, D)
    t = b.fdiv(numerator, denominator, D)
    square = b.fmul(t, t, D)
    tail = b.fmul(b.fmul(square, t, D), emit_polynomial(b, square, ATAN_COEFFICIENTS, D), D)
    high, low = QUARTER_PI
    wide = _add(b, b.float(high, D), _add(b, t, _add(b, tail, b.float(low, D))))
    return b.select(is_wide, wide, _add(b, t, tail), D)


def _turned(b: FormBuilder, turns: str, angle: str) -> str:
    """pi/2 - angle in some lanes."""
    high, low, _ = HALF_PI
    return b.select(turns, _sub(b, b.float(high, D), _sub(b, angle, b.float(low, D))), angle, D)

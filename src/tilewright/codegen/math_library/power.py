"""pow of f32, by exp2(y log2 |x|) in f64: an f32 result needs a logarithm of 32 good bits.

Special values follow C: pow(x, 0) = pow(1, y) = 1 even for NaN, odd integer y keep the sign of x, negative x with other
finite y give NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

LOG2_COEFFICIENTS = (
    2.885390081777849,
    0.9617966941157848,
    0.5770779416167321,
    0.4122093318286816,
    0.3199022821373102,
    0.2829511296680383,
)
"""log2((1 + s) / (1 - s)) / s in s^2."""

EXP2_COEFFICIENTS = (
    0.9999999999997627,
    0.6931471805465148,
    0.24022650698879808,
    0.05550410939341686,
    0.009618128542955963,
    0.0013333452061799447,
    0.00015403851678480503,
    1.5309737626496665e-05,
    1.3175874395463936e-06,
)
D = "double"


def emit_pow(b: FormBuilder, x: str, y: str) -> str:
    size = b.fabs(x)
    magnitude = _power_of_positive(b, size, y)
    zero, one, infinity = b.float(0.0), b.float(1.0), b.float(float("inf"))
    is_rising = b.fcmp("ogt", y, zero)
    of_zero = b.select(is_rising, zero, infinity)
    of_infinity = b.select(is_rising, infinity, zero)
    magnitude = b.select(b.fcmp("oeq", size, zero), of_zero, magnitude)
    magnitude = b.select(b.fcmp("oeq", size, infinity), of_infinity, magnitude)
    magnitude = b.select(b.fcmp("oeq", size, one), one, _infinite_exponent(b, size, y, magnitude))
    result = _sign(b, x, y, magnitude)
    is_nan = b.fcmp("uno", x, y)
    result = b.select(is_nan, b.float(float("nan")), result)
    is_one = b.or_(b.fcmp("oeq", y, zero), b.fcmp("oeq", x, one), "i1")
    return b.select(is_one, one, result)


def _infinite_exponent(b: FormBuilder, size: str, y: str, otherwise: str) -> str:
    """|x|^(+-inf): infinity when it grows, 0 when it shrinks."""
    grows = b.icmp("eq", b.fcmp("ogt", size, b.float(1.0)), b.fcmp("ogt", y, b.float(0.0)), "i1")
    limit = b.select(grows, b.float(float("inf")), b.float(0.0))
    return b.select(b.fcmp("oeq", b.fabs(y), b.float(float("inf"))), limit, otherwise)


def _sign(b: FormBuilder, x: str, y: str, magnitude: str) -> str:
    """The sign of x for odd y; NaN for negative finite x with fractional finite y."""
    whole = b.intrinsic("trunc", "float", y)
    is_integer = b.fcmp("oeq", whole, y)
    half = b.fmul(y, b.float(0.5))
    is_odd = b.and_(is_integer, b.fcmp("one", b.intrinsic("trunc", "float", half), half), "i1")
    signed = b.select(is_odd, b.copysign(magnitude, x), magnitude)
    is_invalid = b.and_(b.fcmp("olt", x, b.float(0.0)), b.not_(is_integer), "i1")
    is_invalid = b.and_(is_invalid, b.fcmp("one", x, b.float(float("-inf"))), "i1")
    return b.select(is_invalid, b.float(float("nan")), signed)


def _power_of_positive(b: FormBuilder, x: str, y: str) -> str:
    """x^y for finite positive x and finite y, rounded once to f32."""
    wide = b.cast("fpext", x, "float", D)
    shifted = b.sub(b.bits(wide, D, "i64"), b.int(0x3FE6A09E667F3BCD, "i64"), "i64")  # sqrt(1/2)
    exponent = b.cast("sitofp", b.cast("trunc", b.ashr(shifted, 52, "i64"), "i64", "i32"), "i32", D)
    mantissa = b.add(b.and_(shifted, b.int(0x000FFFFFFFFFFFFF, "i64"), "i64"), b.int(0x3FE6A09E667F3BCD, "i64"), "i64")
    m = b.bits(mantissa, "i64", D)
    one = b.float(1.0, D)
    s = b.fdiv(b.fsub(m, one, D), b.fadd(m, one, D), D)
    log2 = b.fma(s, emit_polynomial(b, b.fmul(s, s, D), LOG2_COEFFICIENTS, D), exponent, D)
    t = b.fmul(b.cast("fpext", y, "float", D), log2, D)
    t = b.intrinsic("minnum", D, t, b.float(300.0, D))
    t = b.intrinsic("maxnum", D, t, b.float(-300.0, D))
    n = b.rint(t, D)
    p = emit_polynomial(b, b.fsub(t, n, D), EXP2_COEFFICIENTS, D)
    biased = b.add(b.cast("sext", b.cast("fptosi", n, D, "i32"), "i32", "i64"), b.int(1023, "i64"), "i64")
    power = b.bits(b.shl(biased, 52, "i64"), "i64", D)
    return b.cast("fptrunc", b.fmul(p, power, D), D, "float")

"""pow of f32 and f64: exp(y log |x|) with a logarithm of more digits than the result has.

For f32 it is one of 32 good bits, in f64 and to the base 2. For f64 it is a sum of two numbers, log m = 2 s + 2/3 s^3
+ s^5 p(s^2) with s = (m - 1) / (m + 1), whose first two terms are computed to twice the digits (68 good bits: its
product with y may be as large as 745).

Special values follow C: pow(x, 0) = pow(1, y) = 1 even for NaN, odd integer y keep the sign of x, negative x with other
finite y give NaN.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.exponential import exp_of_rest, reduced
from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum, two_product
from tilewright.codegen.math_library.scaling import scale

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
LOG_COEFFICIENTS = (
    0.4,
    0.28571428571429375,
    0.2222222222165133,
    0.18181818336322408,
    0.15384594872224233,
    0.1333480919529892,
    0.1170612507385906,
    0.1172425897646252,
)
"""((log((1 + s) / (1 - s)) / s - 2) / s^2 - 2/3) / s^2 in s^2."""
TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
LARGEST = 760.0
"""exp of more than this is infinite, of less than its negative 0."""
D = "double"


def emit_pow(b: FormBuilder, x: str, y: str) -> str:
    base, exponent = Number(b, x), Number(b, y)
    size = abs(base)
    of_positive = _float_power if b.scalar == "float" else _double_power
    magnitude = of_positive(size, exponent)
    is_rising = exponent > 0.0
    magnitude = size.equals(0.0).pick(is_rising.pick(base.of(0.0), inf), magnitude)
    magnitude = size.equals(inf).pick(is_rising.pick(base.of(inf), 0.0), magnitude)
    magnitude = size.equals(1.0).pick(1.0, _infinite_exponent(size, exponent, magnitude))
    result = (base.is_nan() | exponent.is_nan()).pick(nan, _signed(base, exponent, magnitude))
    return (exponent.equals(0.0) | base.equals(1.0)).pick(1.0, result).name


def _infinite_exponent(size: Number, y: Number, otherwise: Number) -> Number:
    """|x|^(+-inf): infinity when it grows, 0 when it shrinks."""
    b = size.b
    grows = Condition(b, b.icmp("eq", (size > 1.0).name, (y > 0.0).name, "i1"))
    return abs(y).equals(inf).pick(grows.pick(size.of(inf), 0.0), otherwise)


def _signed(x: Number, y: Number, magnitude: Number) -> Number:
    """The sign of x for odd y; NaN for negative finite x with fractional finite y."""
    is_whole = y.intrinsic("trunc").equals(y)
    half = y * 0.5
    is_odd = is_whole & half.intrinsic("trunc").differs(half)
    is_invalid = (x < 0.0) & ~is_whole & x.differs(-inf)
    return is_invalid.pick(nan, is_odd.pick(magnitude.copysign(x), magnitude))


def _float_power(x: Number, y: Number) -> Number:
    """x^y for finite positive x and finite y, rounded once to f32."""
    b = x.b
    wide = b.cast("fpext", x.name, "float", D)
    root = b.int(0x3FE6A09E667F3BCD, "i64")  # sqrt(1/2)
    shifted = b.sub(b.bits(wide, D, "i64"), root, "i64")
    exponent = b.cast("sitofp", b.cast("trunc", b.ashr(shifted, 52, "i64"), "i64", "i32"), "i32", D)
    mantissa = b.add(b.and_(shifted, b.int(0x000FFFFFFFFFFFFF, "i64"), "i64"), root, "i64")
    m = Number(b, b.bits(mantissa, "i64", D), D)
    s = (m - 1.0) / (m + 1.0)
    log2 = s.fma((s * s).polynomial(LOG2_COEFFICIENTS), Number(b, exponent, D))
    t = Number(b, b.cast("fpext", y.name, "float", D), D) * log2
    t = t.intrinsic("minnum", 300.0).intrinsic("maxnum", -300.0)
    n = t.intrinsic("roundeven")
    power = scale((t - n).polynomial(EXP2_COEFFICIENTS), n)
    return Number(b, b.cast("fptrunc", power.name, D, "float"), "float")


def _double_power(x: Number, y: Number) -> Number:
    """x^y for finite positive x and finite y."""
    high, low = _log_in_two(x)
    t, rest = two_product(y, high)
    rest = y.fma(low, rest)
    is_certain = abs(t) > LARGEST
    t = is_certain.pick(t.of(LARGEST).copysign(t), t)
    n, r, lost = reduced(t)
    return scale(exp_of_rest(r, lost + is_certain.pick(0.0, rest)), n)


def _log_in_two(x: Number) -> tuple[Number, Number]:
    """log x, as the sum of two numbers, for finite positive x."""
    b = x.b
    e, f = (Number(b, part) for part in double.split(b, x.name))
    s, s_low = _divided_by_two_and(f)
    square, square_low = two_product(s, s)
    square_low = (s + s).fma(s_low, square_low)
    cube, cube_low = two_product(square, s)
    cube_low = square.fma(s_low, square_low.fma(s, cube_low))
    third, third_low = two_product(cube, cube.of(TWO_THIRDS[0]))
    third_low = cube.fma(TWO_THIRDS[1], cube_low.fma(TWO_THIRDS[0], third_low))
    tail = (cube * square).fma(square.polynomial(LOG_COEFFICIENTS), third_low)
    high, low = fast_two_sum(s + s, third)
    low = low + (s_low + s_low + tail)
    total, lost = fast_two_sum(e * double.LN2_HIGH, high)
    return fast_two_sum(total, lost + e.fma(double.LN2_LOW, low))


def _divided_by_two_and(f: Number) -> tuple[Number, Number]:
    """f / (2 + f), as the sum of two numbers."""
    under, under_low = fast_two_sum(f.of(2.0), f)
    inverse = 1.0 / under
    quotient = f * inverse
    rest = (-quotient).fma(under_low, (-quotient).fma(under, f))
    return quotient, rest * inverse

"""log, log2, log10 of f32; log1p of f32 and f64.

x = 2^e * m with m in [sqrt(1/2), sqrt(2)), f = m - 1; log(1 + f) by a polynomial that keeps the leading terms exact.
Coefficients: weighted least squares driven to the minimax solution (Lawson), rounded to f32 one after the other.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum, two_product
from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

LOG_COEFFICIENTS = (
    0.3333331346511841,
    -0.25000008940696716,
    0.2000207155942917,
    -0.16667990386486053,
    0.14220362901687622,
    -0.12406208366155624,
    0.1188347116112709,
    -0.11670182645320892,
    0.06749539077281952,
)
"""(log(1 + f) - f + f^2 / 2) / f^3."""

LOG2_COEFFICIENTS = (
    -0.7213475108146667,
    0.48089808225631714,
    -0.36067456007003784,
    0.2885681092739105,
    -0.24045148491859436,
    0.20515945553779602,
    -0.17916671931743622,
    0.17156071960926056,
    -0.16762778162956238,
    0.09642521291971207,
)
"""(log2(1 + f) - f / ln 2) / f^2."""

SMALLEST = {"float": 2.0**-25, "double": 2.0**-54}
"""Below, log1p(x) is x."""
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.428606765330187e-06
LOG2_E_HIGH, LOG2_E_LOW = 1.4426950216293335, 1.925963033500011e-08
LOG10_E_HIGH, LOG10_E_LOW = 0.4342944920063019, -1.010305e-08
LOG10_2_HIGH, LOG10_2_LOW = 0.301025390625, 4.605039e-06


def emit_log(b: FormBuilder, x: str) -> str:
    e, f = _split(b, x)
    return _special(b, x, _log_of_parts(b, e, f))


def emit_log2(b: FormBuilder, x: str) -> str:
    e, f = _split(b, x)
    tail = b.fma(b.fmul(f, f), emit_polynomial(b, f, LOG2_COEFFICIENTS), b.fmul(f, b.float(LOG2_E_LOW)))
    return _special(b, x, _sum_of_parts(b, e, f, LOG2_E_HIGH, tail))


def emit_log10(b: FormBuilder, x: str) -> str:
    e, f = _split(b, x)
    tail = _log_tail(b, f)
    correction = b.fma(e, b.float(LOG10_2_LOW), b.fmul(f, b.float(LOG10_E_LOW)))
    tail = b.fma(tail, b.float(LOG10_E_HIGH), correction)
    return _special(b, x, _sum_of_parts(b, b.fmul(e, b.float(LOG10_2_HIGH)), f, LOG10_E_HIGH, tail))


def _sum_of_parts(b: FormBuilder, whole: str, f: str, factor: float, tail: str) -> str:
    """whole + f * factor + tail, all digits of the first two kept until the last addition."""
    value = Number(b, f)
    product, product_low = two_product(value, value.of(factor))
    head, lost = fast_two_sum(Number(b, whole), product)
    return (head + (lost + (product_low + Number(b, tail)))).name


def emit_log1p(b: FormBuilder, x: str) -> str:
    value = Number(b, x)
    return (abs(value) < SMALLEST[b.scalar]).pick(value, log_of_one_and(value)).name


def log_of_one_and(high: Number, low: Number | None = None, doubled: Condition | None = None) -> Number:
    """log(1 + high + low), or log(2 high) where `doubled`, which is for large numbers.

    log(u) + ((high - (u - 1)) + low) / u with u = 1 + high rounded: the correction is what rounding took, and low.
    """
    b = high.b
    one = high.of(1.0) if doubled is None else doubled.pick(high.of(0.0), 1.0)
    u = high + one
    lost = high - (u - one)
    correction = (lost if low is None else lost + low) / u
    e, f = (_split if b.scalar == "float" else double.split)(b, u.name)
    if doubled is not None:
        e = b.select(doubled.name, (Number(b, e) + 1.0).name, e, b.scalar)
    if b.scalar == "float":
        result = _special(b, u.name, _log_of_parts(b, e, f, correction.name))
    else:
        result = double.special_logarithm(b, u.name, double.log_of_parts(b, e, f, correction.name))
    return u.equals(inf).pick(high, Number(b, result))


def _split(b: FormBuilder, x: str) -> tuple[str, str]:
    """(e, f) with x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x, subnormal ones too."""
    is_subnormal = b.fcmp("olt", x, b.float(2.0**-126))
    scaled = b.select(is_subnormal, b.fmul(x, b.float(2.0**23)), x)
    shifted = b.sub(b.bits(scaled), b.int(0x3F3504F3))  # sqrt(1/2)
    exponent = b.ashr(shifted, 23)
    mantissa = b.add(b.and_(shifted, b.int(0x007FFFFF)), b.int(0x3F3504F3))
    e = b.cast("sitofp", exponent, "i32", "float")
    e = b.select(is_subnormal, b.fadd(e, b.float(-23.0)), e)
    return e, b.fadd(b.bits(mantissa, "i32", "float"), b.float(-1.0))


def _log_tail(b: FormBuilder, f: str) -> str:
    """log(1 + f) - f."""
    square = b.fmul(f, f)
    cubic = b.fmul(b.fmul(square, f), emit_polynomial(b, f, LOG_COEFFICIENTS))
    return b.fma(square, b.float(-0.5), cubic)


def _log_of_parts(b: FormBuilder, e: str, f: str, extra: str | None = None) -> str:
    """e ln 2 + log(1 + f), and something smaller."""
    tail = b.fma(e, b.float(LN2_LOW), _log_tail(b, f))
    tail = tail if extra is None else _plain_add(b, tail, extra)
    return b.fma(e, b.float(LN2_HIGH), _plain_add(b, f, tail))


def _plain_add(b: FormBuilder, x: str, y: str) -> str:
    """An addition that must not be contracted."""
    return b.fn.binary("fadd", b.type("float"), x, y)


def _special(b: FormBuilder, x: str, result: str) -> str:
    """0 gives -inf, negative numbers NaN; +inf and NaN are their own logarithm."""
    infinity = b.float(float("inf"))
    result = b.select(b.fcmp("ult", x, infinity), result, x)
    result = b.select(b.fcmp("olt", x, b.float(0.0)), b.float(float("nan")), result)
    result = b.select(b.fcmp("uno", x, x), x, result)
    return b.select(b.fcmp("oeq", x, b.float(0.0)), b.float(float("-inf")), result)

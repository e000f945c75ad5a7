"""tanh of f32; sinh, cosh and the inverses asinh, acosh and atanh of f32 and f64.

tanh is an odd polynomial below 0.625 and 1 - 2 / (exp(2|x|) + 1) above it; sinh one below 1 and (exp x - exp -x) / 2
above. The inverses are logarithms of 1 + high + low, sums that are as exact as two numbers can say.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

from tilewright.codegen.math_library.exponential import emit_exp, half_exp
from tilewright.codegen.math_library.logarithm import log_of_one_and
from tilewright.codegen.math_library.number import Number, fast_two_sum
from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

TANH_COEFFICIENTS = (
    -0.3333333134651184,
    0.13333220779895782,
    -0.05394818261265755,
    0.021706948056817055,
    -0.00819025281816721,
    0.002153015462681651,
)
"""(tanh x - x) / x^3 in x^2 on |x| <= 0.625."""

POLYNOMIAL_LIMIT = 0.625


def emit_tanh(b: FormBuilder, x: str) -> str:
    size = b.fabs(x)
    square = b.fmul(x, x)
    small = b.fma(b.fmul(square, x), emit_polynomial(b, square, TANH_COEFFICIENTS), x)
    grown = emit_exp(b, b.fadd(size, size))  # exp overflows to infinity, which gives 1
    large = b.fsub(b.float(1.0), b.fdiv(b.float(2.0), b.fadd(grown, b.float(1.0))))
    return b.copysign(b.select(b.fcmp("olt", size, b.float(POLYNOMIAL_LIMIT)), small, large), x)


SINH_COEFFICIENTS = {
    "float": (0.1666666716337204, 0.008333311416208744, 0.00019842632173094898, 2.783963054753258e-06),
    "double": (
        0.16666666666666666,
        0.008333333333333299,
        0.00019841269841324512,
        2.7557319191233043e-06,
        2.5052117727437843e-08,
        1.6057676570003392e-10,
        7.746288726587424e-13,
    ),
}
"""(sinh x - x) / x^3 in x^2 on |x| <= 1."""

LARGE = {"float": 2.0**13, "double": 2.0**28}
"""From here on, asinh x and acosh x are log 2x."""


def emit_sinh(b: FormBuilder, x: str) -> str:
    value = Number(b, x)
    size, square = abs(value), value * value
    small = (square * value).fma(square.polynomial(SINH_COEFFICIENTS[b.scalar]), value)
    half = half_exp(size)
    large = half - 0.25 / half
    return (size < 1.0).pick(small, large.copysign(value)).name


def emit_cosh(b: FormBuilder, x: str) -> str:
    half = half_exp(abs(Number(b, x)))
    return (half + 0.25 / half).name


def emit_asinh(b: FormBuilder, x: str) -> str:
    """log(1 + a + a^2 / (1 + sqrt(1 + a^2))), a = |x|."""
    value = Number(b, x)
    size = abs(value)
    is_large = size > LARGE[b.scalar]
    a = is_large.pick(1.0, size)
    square = a * a
    high, low = fast_two_sum(a, square / ((square + 1.0).intrinsic("sqrt") + 1.0))
    result = log_of_one_and(is_large.pick(size, high), is_large.pick(0.0, low), doubled=is_large)
    return result.copysign(value).name


def emit_acosh(b: FormBuilder, x: str) -> str:
    """log(1 + t + sqrt(t^2 + 2t)), t = x - 1."""
    value = Number(b, x)
    is_large = value > LARGE[b.scalar]
    t = is_large.pick(1.0, value - 1.0)
    high, low = fast_two_sum(t.fma(t, t + t).intrinsic("sqrt"), t)
    result = log_of_one_and(is_large.pick(value, high), is_large.pick(0.0, low), doubled=is_large)
    return (value < 1.0).pick(nan, result).name


def emit_atanh(b: FormBuilder, x: str) -> str:
    """log(1 + 2a + 2a^2 / (1 - a)) / 2, a = |x|."""
    value = Number(b, x)
    a = abs(value)
    twice = a + a
    high, low = fast_two_sum(twice, twice * a / (1.0 - a))
    # Beyond 1/2 the quotient is the larger part, and digits that the sum loses do not matter to the logarithm.
    result = log_of_one_and(high, (a < 0.5).pick(low, 0.0)) * 0.5
    result = a.equals(1.0).pick(inf, result)
    return (a > 1.0).pick(nan, result).copysign(value).name

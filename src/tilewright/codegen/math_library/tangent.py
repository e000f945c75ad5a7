"""tan of f32 and f64: sine over cosine of the reduced angle, each a sum of two numbers, by one division.

q = s / c is rounded too often; what it lacks, (s - q c) / c, is computed with fused multiply-adds and added. In odd
quadrants it is -c / s. Angles that are too large to reduce take the slow path, as sine's and cosine's do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double, trigonometric
from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum, two_product
from tilewright.codegen.math_library.scaling import exponent_bits
from tilewright.codegen.math_library.slow_path import emit_with_slow_path

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

TWO_OVER_PI = 0.6366197723675814


@dataclass(frozen=True)
class _CircleFacts:
    sine: tuple[float, ...]
    """(sin x - x) / x^3 in x^2."""
    cosine: tuple[float, ...]
    """(cos x - 1 + x^2 / 2) / x^4 in x^2."""
    half_pi: tuple[float, float, float]
    largest: float
    integer: str


_FACTS = {
    "float": _CircleFacts(
        trigonometric.SIN_COEFFICIENTS,
        trigonometric.COS_COEFFICIENTS,
        trigonometric.HALF_PI,
        trigonometric.LARGEST_REDUCED,
        "i32",
    ),
    "double": _CircleFacts(
        double.SIN_COEFFICIENTS, double.COS_COEFFICIENTS, double.HALF_PI, double.LARGEST_REDUCED, "i64"
    ),
}


def emit_tan(b: FormBuilder, x: str) -> str:
    too_large = abs(Number(b, x)) >= _FACTS[b.scalar].largest
    return emit_with_slow_path(b, "tan", (x,), too_large.name, lambda: _reduced_tangent(b, x))


def _reduced_tangent(b: FormBuilder, x: str) -> str:
    facts, value = _FACTS[b.scalar], Number(b, x)
    n = (value * TWO_OVER_PI).intrinsic("roundeven")
    first, second, third = facts.half_pi
    rest = n.fma(-first, value)
    product, product_low = two_product(n, n.of(second))
    r = rest - product
    less = n.fma(-third, ((rest - r) - product) - product_low)
    square = r * r
    sine = fast_two_sum(r, (square * r).fma(square.polynomial(facts.sine), less))
    half = square * 0.5
    head, lost = fast_two_sum(half.of(1.0), -half)
    cosine = fast_two_sum(head, (square * square).fma(square.polynomial(facts.cosine), lost))
    odd_bit = b.and_(exponent_bits(n), b.int(1, facts.integer), facts.integer)
    is_odd = Condition(b, b.icmp("ne", odd_bit, b.int(0, facts.integer), facts.integer))
    over = [is_odd.pick(-c, s) for s, c in zip(sine, cosine, strict=True)]
    under = [is_odd.pick(s, c) for s, c in zip(sine, cosine, strict=True)]
    inverse = 1.0 / under[0]
    quotient = over[0] * inverse
    rest = (-quotient).fma(under[1], (-quotient).fma(under[0], over[0]) + over[1])
    return value.equals(0.0).pick(value, rest.fma(inverse, quotient)).name

"""tan of f32 and f64: an odd polynomial of the reduced angle, as a sum of two numbers; in odd quadrants -1 / tan.

That quotient q is rounded too often; what it lacks, (-1 - q t) / t, is computed with fused multiply-adds and added.
Angles that are too large to reduce take the slow path, as sine's and cosine's do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double, trigonometric
from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum, two_product
from tilewright.codegen.math_library.scaling import exponent_bits
from tilewright.codegen.math_library.slow_path import emit_with_slow_path
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

TWO_OVER_PI = 0.6366197723675814


@dataclass(frozen=True)
class _TangentFacts:
    coefficients: tuple[float, ...]
    """(tan x - x) / x^3 in x^2 on |x| <= pi/4."""
    half_pi: tuple[float, float, float]
    largest: float
    integer: str


_FACTS = {
    "float": _TangentFacts(
        (
            0.33333349227905273,
            0.13332675397396088,
            0.054058920592069626,
            0.0212861280888319,
            0.010827750898897648,
            9.77423187578097e-05,
            0.004372996278107166,
        ),
        trigonometric.HALF_PI,
        trigonometric.LARGEST_REDUCED,
        "i32",
    ),
    "double": _TangentFacts(
        (
            0.33333333333332776,
            0.1333333333341495,
            0.053968253926513415,
            0.021869489612700684,
            0.008863219112036573,
            0.003592289551749646,
            0.0014547550776172812,
            0.0005950769796509043,
            0.000222343526992028,
            0.0001366005836076051,
            -2.649224333538763e-05,
            8.955004578293955e-05,
            -4.4929410145589125e-05,
            2.0875993286111896e-05,
        ),
        double.HALF_PI,
        double.LARGEST_REDUCED,
        "i64",
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
    # What rounding took from r counts (1 + tan^2) times.
    low = (square * r).fma(square.polynomial(facts.coefficients), square.fma(less, less))
    tangent, low = fast_two_sum(r, low)
    inverse = -1.0 / tangent
    lacking = inverse.fma(low, inverse.fma(tangent, 1.0))
    odd_bit = b.and_(exponent_bits(n), b.int(1, facts.integer), facts.integer)
    is_odd = Condition(b, b.icmp("ne", odd_bit, b.int(0, facts.integer), facts.integer))
    result = is_odd.pick(inverse.fma(lacking, inverse), tangent)
    return value.equals(0.0).pick(value, result).name

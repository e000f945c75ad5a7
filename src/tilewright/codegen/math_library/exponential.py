"""exp and exp2 of f32; expm1 of f32 and f64, and the parts that other exponentials of both are made of.

exp(x) = 2^n * p(r) with n = rint(x / ln 2), r = x - n ln 2 in two FMAs, p a degree 6 minimax polynomial (0.87 ulp).
With AVX-512 `vscalefps` applies 2^n, also into the subnormals, and gives the right answers for +infinity and NaN by
itself; `vreduceps` gives exp2's r = x - rint(x). Elsewhere the power is applied in two integer-built factors after
bounding x (NaN passes through). Sixteen lanes have a shorter way: see `exponential_table.py`.

Where the result is 0 for sure (-infinity of masked lanes is common) it is selected, not computed: a product that
underflows costs x86 an assist of 150 cycles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.exponential_table import exp2_by_table, exp_by_table, has_table_form
from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum
from tilewright.codegen.math_library.polynomial import emit_polynomial
from tilewright.codegen.math_library.scaling import (
    call_masked,
    exponent_bits,
    has_scalef,
    in_pieces,
    power_of_two,
    scale,
)
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.428606765330187e-06
EXP_COEFFICIENTS = (
    1.0,
    1.0,
    0.4999999403953552,
    0.1666652113199234,
    0.04166838899254799,
    0.008368710055947304,
    0.0013814609264954925,
)
EXP2_COEFFICIENTS = (
    1.0,
    0.6931471824645996,
    0.24022647738456726,
    0.05550362169742584,
    0.009618526324629784,
    0.0013390161329880357,
    0.00015321149840019643,
)
EXPM1_COEFFICIENTS = (
    0.5,
    0.1666666567325592,
    0.041666485369205475,
    0.008333541452884674,
    0.0013933228328824043,
    0.00019766994228120893,
)
"""(expm1(x) - x) / x^2 on |x| <= ln 2 / 2."""


@dataclass(frozen=True)
class ExponentialFacts:
    """What a type's exponentials are made of; exp is infinite above `most`, expm1 is -1 below `least`."""

    ln2_high: float
    ln2_low: float
    coefficients: tuple[float, ...]
    """(exp(r) - 1 - r) / r^2."""
    least: float
    most: float
    exact_below: float
    """Where expm1(x) is x."""


FACTS = {
    "float": ExponentialFacts(LN2_HIGH, LN2_LOW, EXPM1_COEFFICIENTS, -20.0, 89.0, 2.0**-26),
    "double": ExponentialFacts(double.LN2_HIGH, double.LN2_LOW, double.EXP_COEFFICIENTS, -40.0, 710.0, 2.0**-55),
}


def emit_exp(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -104.0, 89.0)
    if has_table_form(b):
        return exp_by_table(b, x, lives, LOG2_E, (LN2_HIGH, LN2_LOW))
    n = b.rint(b.fmul(x, b.float(LOG2_E)))
    r = b.fma(n, b.float(-LN2_HIGH), x)
    r = b.fma(n, b.float(-LN2_LOW), r)
    return _scaled(b, emit_polynomial(b, r, EXP_COEFFICIENTS), n, lives)


def emit_exp2(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -151.0, 129.0)
    if has_table_form(b):
        return exp2_by_table(b, x, lives)
    if has_scalef(b) and b.facts.has("avx512dq"):
        # One micro-operation less than rounding first; 0 for infinities, so that n is infinite.
        r = in_pieces(b, [(x, "float")], "float", lambda pieces, lanes: _rest_of_rint(b, pieces[0], lanes))
        n = b.fn.binary("fsub", b.type("float"), x, r)
    else:
        n = b.rint(x)
        r = b.fn.binary("fsub", b.type("float"), x, n)
    return _scaled(b, emit_polynomial(b, r, EXP2_COEFFICIENTS), n, lives)


def reduced(x: Number) -> tuple[Number, Number, Number]:
    """(n, r, lost) with x = n ln 2 + r + lost, n whole, |r| <= ln 2 / 2, and lost what rounding took from r."""
    facts = FACTS[x.scalar]
    n = (x * LOG2_E).intrinsic("roundeven")
    rest = n.fma(-facts.ln2_high, x)
    r = n.fma(-facts.ln2_low, rest)
    return n, r, n.fma(-facts.ln2_low, rest - r)


def exp_of_rest(r: Number, lost: Number) -> Number:
    """exp(r + lost) for |r| <= ln 2 / 2 and a small `lost`."""
    r, lost = fast_two_sum(r, lost)
    head, tail = fast_two_sum(r.of(1.0), r)
    return head + (tail + (r * r).fma(r.polynomial(FACTS[r.scalar].coefficients), lost))


def emit_expm1(b: FormBuilder, x: str) -> str:
    """2^n (1 + q) - 1 = 2 (2^m q + (2^m - 1/2)) with q = expm1(r) and m = n - 1, whose power is a number for every n,
    and what rounding took from q and from the sum."""
    value, facts = Number(b, x), FACTS[b.scalar]
    bounded = (value > facts.most).pick(facts.most, value)
    n, r, lost = reduced((bounded < facts.least).pick(facts.least, bounded))
    q, q_low = fast_two_sum(r, (r * r).fma(r.polynomial(facts.coefficients), lost))
    power = power_of_two(b, exponent_bits(n - 1.0), b.scalar)
    less_half, lost = fast_two_sum(power, power.of(-0.5))
    half = power.fma(q, less_half)
    half = half + power.fma(q_low, power.fma(q, less_half - half) + lost)
    # Tiny arguments (and the sign of zero) are their own result.
    return (abs(value) < facts.exact_below).pick(value, half + half).name


def half_exp(x: Number) -> Number:
    """exp(x) / 2 for x >= 0, which is finite a little longer than exp(x)."""
    most = FACTS[x.scalar].most + 1.0
    n, r, lost = reduced((x > most).pick(most, x))
    return scale(exp_of_rest(r, lost), n - 1.0)


def _live_lanes(b: FormBuilder, x: str, low: float, high: float) -> tuple[str, str]:
    """x with harmless numbers where the result is 0 or overflows anyway, and the lanes whose result is not 0."""
    lives = b.fcmp("uge", x, b.float(low))
    if not has_scalef(b):
        x = b.select(b.fcmp("ogt", x, b.float(high)), b.float(high), x)
        x = b.select(lives, x, b.float(0.0))
    return x, lives


def _scaled(b: FormBuilder, p: str, n: str, lives: str) -> str:
    """p * 2^n in the lanes that live, 0 in the others."""
    return scale(Number(b, p, "float"), Number(b, n, "float"), Condition(b, lives)).name


def _rest_of_rint(b: FormBuilder, x: str, lanes: int) -> str:
    """x - rint(x) by `vreduceps`, without flags."""
    silent_to_even = 8
    return call_masked(b, "reduce", [x], [], "float", lanes, silent_to_even)

"""Division of a vector by one number: multiply by its reciprocal and correct, instead of dividing each lane.

A vector division keeps the divider busy for 16 cycles; this takes three multiply-adds. With y = 1/s rounded:

    q = x y,  r = x - q s (exact),  q' = q + r y

q' is x / s rounded to nearest (Markstein's theorem) as long as r is a normal number; for |x| below 2^-100 (f64: 2^-960)
the last bit may be off. Divisors between 2^-64 and 2^64 are divided by in this way; others, zero and NaN take the plain
division. A lane for which the correction has no number (an infinite x, an overflowing q) keeps q.
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.lowering.loops_to_llvm.types import ValueType
from tilewright.support.records import dataclass

LARGEST, SMALLEST = 2.0**64, 2.0**-64


@dataclass(frozen=True)
class UniformDivisor:
    """What is computed once for a divisor: its reciprocal in all lanes, and whether that may be used."""

    reciprocal: str
    is_ordinary: str


def plan_divisor(b: LaneBuilder, scalar: str, type: ValueType) -> UniformDivisor:
    """The reciprocal of a scalar divisor, computed where the divisor is splat."""
    fn, text = b.fn, type.scalar.text
    one = LaneBuilder(fn, 0)
    size = one.fabs(scalar, text)
    above = one.fcmp("oge", size, one.float(SMALLEST, text), text)
    below = one.fcmp("ole", size, one.float(LARGEST, text), text)
    reciprocal = one.fdiv(one.float(1.0, text), scalar, text)
    single = fn.insert_element(type.text, "poison", text, reciprocal, 0)
    mask = f"<{type.lanes} x i32> zeroinitializer"
    spread = fn.shuffle(type.text, single, "poison", mask)
    return UniformDivisor(spread, one.and_(above, below, "i1"))


def emit_uniform_division(b: LaneBuilder, x: str, s: str, divisor: UniformDivisor, scalar: str) -> str:
    """x / s lane by lane, where `divisor` was planned for s."""
    fn = b.fn
    quick, plain, done = fn.new_label("quick"), fn.new_label("plain"), fn.new_label("divided")
    fn.branch_if(divisor.is_ordinary, quick, plain)
    fn.start(quick)
    # Plain instructions: contracting q into the correction would lose what is being corrected.
    q = fn.binary("fmul", b.type(scalar), x, divisor.reciprocal)
    rest = b.fma(b.fneg(q, scalar), s, x, scalar)
    corrected = b.fma(rest, divisor.reciprocal, q, scalar)
    corrected = b.select(b.fcmp("ord", corrected, corrected, scalar), corrected, q, scalar)
    fn.branch(done)
    fn.start(plain)
    divided = b.fdiv(x, s, scalar)
    fn.branch(done)
    fn.start(done)
    result = fn.phi(b.type(scalar))
    result.add(corrected, quick)
    result.add(divided, plain)
    return result.name

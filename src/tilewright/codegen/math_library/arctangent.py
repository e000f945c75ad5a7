"""atan of f32: |x| > 1 through pi/2 - atan(1/x), an odd polynomial on [0, 1]; atan2 of f32 and f64, in f64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.number import Condition, Number

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

ATAN_COEFFICIENTS = (
    -0.333333283662796,
    0.1999971568584442,
    -0.14280343055725098,
    0.11061233282089233,
    -0.08821462094783783,
    0.06763648986816406,
    -0.04498325660824776,
    0.02277761697769165,
    -0.007425363175570965,
    0.0011345221428200603,
)
"""(atan x - x) / x^3 in x^2 on [0, 1]."""

WIDE_COEFFICIENTS = (
    -0.33333332134527377,
    0.19999927263311626,
    -0.14284167371301462,
    0.11094503895123169,
    -0.08985437326365907,
    0.07259426967053077,
    -0.054515668299636215,
    0.03447542405552559,
    -0.016299051160815002,
    0.004926163676816337,
    -0.000697917856783123,
)
"""The same with ten digits, for atan2 of f32, which is computed in f64."""
HALF_PI = {"float": (1.5707963705062866, -4.371138828673793e-08), "double": double.HALF_PI[:2]}


def emit_atan(b: FormBuilder, x: str) -> str:
    value = Number(b, x)
    size = abs(value)
    turns = size > 1.0
    angle = _atan_of_fraction(turns.pick(1.0 / size, size), ATAN_COEFFICIENTS)
    return _turned(turns, angle).copysign(value).name


def emit_atan2(b: FormBuilder, y: str, x: str) -> str:
    """Of f32 it is rounded once."""
    if b.scalar == "double":

        def atan(u: Number, v: Number) -> Number:
            return Number(b, double.atan_of_quotient(b, u.name, v.name))

        return _angle(Number(b, y), Number(b, x), atan).name
    rise, run = (Number(b, b.cast("fpext", value, "float", "double"), "double") for value in (y, x))
    angle = _angle(rise, run, lambda u, v: _atan_of_fraction(u / v, WIDE_COEFFICIENTS))
    return b.cast("fptrunc", angle.name, "double", "float")


def _angle(rise: Number, run: Number, atan: Callable[[Number, Number], Number]) -> Number:
    """The angle of the smaller to the larger of |x| and |y|, put into its octant; 0 / 0 counts as 0, inf / inf as 1."""
    b, up, across = rise.b, abs(rise), abs(run)
    turns = up > across
    least, most = turns.pick(across, up), turns.pick(up, across)
    least = least.equals(inf).pick(1.0, least)
    most = (across.equals(up) & most.equals(inf)).pick(1.0, most)
    most = most.equals(0.0).pick(1.0, most)
    angle = _turned(turns, atan(least, most))
    high, low = HALF_PI["double"]
    is_left = Condition(b, b.icmp("slt", b.bits(run.name, "double", "i64"), b.int(0, "i64"), "i64"))
    angle = is_left.pick(2 * high - (angle - 2 * low), angle).copysign(rise)
    return (rise.is_nan() | run.is_nan()).pick(rise + run, angle)


def _atan_of_fraction(t: Number, coefficients: Sequence[float]) -> Number:
    """atan t for 0 <= t <= 1, to the digits of the coefficients."""
    square = t * t
    return (square * t).fma(square.polynomial(coefficients), t)


def _turned(turns: Condition, angle: Number) -> Number:
    """pi/2 - angle in some lanes."""
    high, low = HALF_PI[angle.scalar]
    return turns.pick(high - (angle - low), angle)

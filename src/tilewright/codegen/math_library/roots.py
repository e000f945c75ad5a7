"""1 / sqrt(x) and the cube root, of f32 and f64."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tilewright.codegen.math_library.number import Number, two_product
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder


def emit_rsqrt(b: FormBuilder, x: str) -> str:
    """Two correctly rounded steps: at most 1.5 ulp. 0 gives infinity, infinity 0, negative numbers NaN."""
    return (1.0 / Number(b, x).intrinsic("sqrt")).name


@dataclass(frozen=True)
class _CubeFacts:
    """Numbers below `least` are multiplied by `factor`, and their roots divided by its root; how often to refine."""

    least: float
    factor: float
    root_of_factor: float
    refinements: int


FIRST_GUESS, FIRST_GUESS_OF_DOUBLES = 0x54A23000, 0x553EF100
"""The upper 32 bits that a third of those of x are taken from, with the least error of all."""
_CUBES = {"float": _CubeFacts(2.0**-126, 2.0**24, 2.0**8, 2), "double": _CubeFacts(2.0**-1022, 2.0**54, 2.0**18, 3)}


def emit_cbrt(b: FormBuilder, x: str) -> str:
    """|x| r^2 with r = |x|^(-1/3), refined from the bits of x by r <- r (1 + c/3 + 2 c^2/9), c = 1 - |x| r^3.

    Each refinement triples the good digits. The last step is Newton's for y^3 = |x| with an exact square.
    """
    value = Number(b, x)
    facts = _CUBES[b.scalar]
    size = abs(value)
    is_tiny = size < facts.least
    a = is_tiny.pick(size * facts.factor, size)
    r = _first_guess(a)
    for _ in range(facts.refinements):
        c = (r * r * r).fma(-a, 1.0)
        r = (r * c).fma(c.fma(2 / 9, 1 / 3), r)
    square = r * r
    y = a * square
    high, low = two_product(y, y)
    rest = (-low).fma(y, (-high).fma(y, a))
    y = rest.fma(square * (1 / 3), y)
    y = is_tiny.pick(y * (1 / facts.root_of_factor), y)
    return ((size > 0.0) & (size < inf)).pick(y.copysign(value), value).name


def _first_guess(a: Number) -> Number:
    """a^(-1/3) to 4%: the constant less a third of the bits, which are exponent and digits; of f64 the upper 32."""
    b = a.b
    if a.scalar == "float":
        third = b.cast("sitofp", b.bits(a.name), "i32", "float")
        third = b.cast("fptosi", b.fmul(third, b.float(1 / 3)), "float", "i32")
        return Number(b, b.bits(b.sub(b.int(FIRST_GUESS), third), "i32", "float"))
    upper = b.or_(b.lshr(b.bits(a.name, "double", "i64"), 32, "i64"), b.int(0x4330000000000000, "i64"), "i64")
    third = (Number(b, b.bits(upper, "i64", "double")) - 2.0**52) * (1 / 3) + 2.0**52
    bits = b.shl(b.bits(third.name, "double", "i64"), 32, "i64")
    return Number(b, b.bits(b.sub(b.int(FIRST_GUESS_OF_DOUBLES << 32, "i64"), bits, "i64"), "i64", "double"))

"""exp and exp2 of sixteen floats, with AVX-512: by a table that one register holds.

exp2(x) = 2^floor(x) t[k] (1 + q(r)) with k the first four binary places of x behind the point, r = x - floor(16 x) / 16
what is behind them, q of degree 3 (0.77 ulp). k is read off the last bits of x + 1.5 2^19, rounded down; `vreduceps`
gives r, `vpermps` t[k], and `vscalefps` looks at floor(x) only. That is one operation less than `exponential.py` takes,
for exp two less.

t[k] is 2^(k / 16) C and q(r) = 2^r / C - 1, or e^r / C - 1: C is such that all sixteen t[k] are within 0.22 ulp of a
float, and t[0] (1 + q(0)) is 1 to 29 bits. So powers of 2 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import f32_constant, vector_constant
from tilewright.codegen.math_library.polynomial import emit_polynomial
from tilewright.codegen.math_library.scaling import call_masked, has_scalef, in_pieces

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

_LANES = 16
_VECTOR, _INTEGERS = f"<{_LANES} x float>", f"<{_LANES} x i32>"
_PLACES = 4
_TABLE = (
    *(1.0253087282180786, 1.0707030296325684, 1.1181070804595947, 1.1676099300384521),
    *(1.2193044424057007, 1.2732876539230347, 1.3296608924865723, 1.3885300159454346),
    *(1.4500055313110352, 1.5142027139663696, 1.5812422037124634, 1.6512497663497925),
    *(1.7243568897247314, 1.8007006645202637, 1.8804244995117188, 1.963678002357483),
)
_EXP2_COEFFICIENTS = (-0.024684006348252296, 0.6760380864143372, 0.23425017297267914, 0.05532137304544449)
"""Of 2^r / C - 1 on 0 <= r <= 1/16."""
_EXP_COEFFICIENTS = (-0.024684006348252296, 0.9753168225288391, 0.48756104707717896, 0.16611795127391815)
"""Of e^r / C - 1 on 0 <= r <= ln 2 / 16."""

_POINT = 1.5 * 2.0 ** (23 - _PLACES)
"""Floats near it have `_PLACES` binary places."""
_ROUND_DOWN, _SILENT = 1, 8


def has_table_form(b: FormBuilder) -> bool:
    return has_scalef(b) and b.lanes >= _LANES and b.facts.has("avx512dq")


def exp2_by_table(b: FormBuilder, x: str, lives: str) -> str:
    """2^x in the lanes that live, 0 in the others."""

    def once(operands: Sequence[str], lanes: int) -> str:
        x, lives = operands
        places = _rounded_down(b, "add", x, _POINT)
        r = call_masked(b, "reduce", [x], [], "float", lanes, _ROUND_DOWN | _SILENT | _PLACES << 4)
        return _combined(b, places, r, _EXP2_COEFFICIENTS, x, lives)

    return in_pieces(b, [(x, "float"), (lives, "i1")], "float", once)


def exp_by_table(b: FormBuilder, x: str, lives: str, log2_e: float, ln2: Sequence[float]) -> str:
    """e^x, in the same way, with n = floor(16 x log2 e) / 16 and r = x - n ln 2; `ln2` in parts that add up to it.

    `log2_e` is below log2 e as a float. So r is not negative for the largest x either, and q(r) overflows upward.
    """

    def once(operands: Sequence[str], lanes: int) -> str:
        r, lives = operands
        lane = LaneBuilder(b.fn, lanes)
        places = _rounded_down(b, "vfmadd", r, log2_e, _POINT)
        n = b.fn.value(f"fsub {_VECTOR} {places}, {lane.float(_POINT)}")
        for part in ln2:
            r = lane.fma(n, lane.float(-part), r)
        return _combined(b, places, r, _EXP_COEFFICIENTS, n, lives)

    return in_pieces(b, [(x, "float"), (lives, "i1")], "float", once)


def _rounded_down(b: FormBuilder, name: str, x: str, *constants: float) -> str:
    """x plus a number, or times one and plus another."""
    lane = LaneBuilder(b.fn, _LANES)
    arguments = [(_VECTOR, x), *((_VECTOR, lane.float(constant)) for constant in constants)]
    return b.fn.call(_VECTOR, f"llvm.x86.avx512.{name}.ps.512", [*arguments, ("i32", str(_ROUND_DOWN | _SILENT))])


def _combined(b: FormBuilder, places: str, r: str, coefficients: Sequence[float], n: str, lives: str) -> str:
    """2^floor(n) t[k] (1 + q(r)), with k in the last bits of `places`."""
    lane = LaneBuilder(b.fn, _LANES)
    table = vector_constant("float", map(f32_constant, _TABLE))
    numbers = lane.bits(places)
    t = b.fn.call(_VECTOR, "llvm.x86.avx512.permvar.sf.512", [(_VECTOR, table), (_INTEGERS, numbers)])
    product = lane.fma(t, emit_polynomial(lane, r, coefficients), t)
    return call_masked(b, "scalef", [product, n], [lives], "float", _LANES)


__all__ = ["exp2_by_table", "exp_by_table", "has_table_form"]

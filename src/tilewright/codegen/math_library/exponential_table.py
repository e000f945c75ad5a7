"""exp and exp2 of sixteen floats, with AVX-512: by a table that two registers hold.

exp2(x) = 2^floor(x) t[k] (1 + q(r)) with k the first five binary digits of x after the point, r = x - floor(32 x) / 32
what comes after them, q of degree 2 (1.7 ulp). k is read off the last bits of x + 1.5 2^18, rounded down; `vreduceps`
gives r, `vpermi2ps` t[k], and `vscalefps` looks at floor(x) only. That is two operations less than `exponential.py`
takes, for exp three less; sixteen entries and a degree more would give 0.77 ulp and take attention 3 % longer.

t[k] is 2^(k / 32) C and q(r) = 2^r / C - 1, or e^r / C - 1: C is such that all t[k] are within 0.3 ulp of a float, and
t[0] (1 + q(0)) rounds to 1. So powers of 2 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import f32_constant, vector_constant
from tilewright.codegen.math_library.polynomial import emit_polynomial
from tilewright.codegen.math_library.scaling import call_masked, has_scalef, in_pieces

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

_LANES = 16
_VECTOR, _INTEGERS = f"<{_LANES} x float>", f"<{_LANES} x i32>"
_PLACES = 5
_TABLE = (
    *(1.0172251462936401, 1.0394995212554932, 1.0622615814208984, 1.0855220556259155),
    *(1.109291911125183, 1.1335822343826294, 1.1584044694900513, 1.1837701797485352),
    *(1.2096914052963257, 1.2361801862716675, 1.2632490396499634, 1.2909106016159058),
    *(1.3191778659820557, 1.3480640649795532, 1.3775827884674072, 1.4077479839324951),
    *(1.4385735988616943, 1.4700742959976196, 1.5022647380828857, 1.5351600646972656),
    *(1.5687756538391113, 1.603127360343933, 1.6382312774658203, 1.674103856086731),
    *(1.7107620239257812, 1.748222827911377, 1.7865039110183716, 1.8256232738494873),
    *(1.8655991554260254, 1.9064505100250244, 1.948196291923523, 1.9908562898635864),
)
_EXP2_COEFFICIENTS = (-0.01693343184888363, 0.6813796758651733, 0.23872847855091095)
"""Of 2^r / C - 1 on 0 <= r <= 1/32."""
_EXP_COEFFICIENTS = (-0.01693343184888363, 0.9830231070518494, 0.49688205122947693)
"""Of e^r / C - 1 on 0 <= r <= ln 2 / 32."""

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
        n = b.fn.binary("fsub", _VECTOR, places, lane.float(_POINT))
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
    low, high = (vector_constant("float", map(f32_constant, half)) for half in (_TABLE[:_LANES], _TABLE[_LANES:]))
    operands = [(_VECTOR, low), (_INTEGERS, lane.bits(places)), (_VECTOR, high)]
    t = b.fn.call(_VECTOR, "llvm.x86.avx512.vpermi2var.ps.512", operands)
    product = lane.fma(t, emit_polynomial(lane, r, coefficients), t)
    return call_masked(b, "scalef", [product, n], [lives], "float", _LANES)

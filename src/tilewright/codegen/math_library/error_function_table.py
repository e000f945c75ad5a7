"""erf of eight or sixteen floats on x86: polynomials whose coefficients lie in registers, eight of each.

erf(x) = x f(x) with f(x) = erf(x) / x on [0, 3.925], beyond which erf is 1. f is a polynomial of degree 6 in each of
eight intervals: y = |x| / width, k = rint(y), t = y - k, and `vpermps` picks the coefficients of interval k (1.1 ulp).
Half the instructions of the form in `error_function.py`, which has two polynomials and an exponential.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import f32_constant, vector_constant
from tilewright.codegen.math_library.scaling import in_pieces

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

_ONE_FROM = 3.924999952316284
"""Where erf(x) is 1."""
_INTERVALS_BY_WIDTH = 1.9082802534103394
"""7.49 / `_ONE_FROM`: the last interval, 7, ends there."""
_PARTS = (1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25)
"""What is taken from f in each interval, so that little is left: these times x are exact."""
_COEFFICIENTS = (
    (
        0.12837916612625122,
        0.03307247534394264,
        -0.17780856788158417,
        0.11942971497774124,
        -0.024376893416047096,
        0.13157552480697632,
        0.06804393231868744,
        0.022611407563090324,
    ),
    (
        0.0,
        -0.17565223574638367,
        -0.22299985587596893,
        -0.174709290266037,
        -0.11542068421840668,
        -0.07607961446046829,
        -0.05299775302410126,
        -0.03894425556063652,
    ),
    (
        -0.10328779369592667,
        -0.05980323255062103,
        0.008193831890821457,
        0.03206545114517212,
        0.025027068331837654,
        0.014892459847033024,
        0.008817236870527267,
        0.005562993697822094,
    ),
    (
        0.0,
        0.024417530745267868,
        0.016512099653482437,
        0.0007792254909873009,
        -0.003772926516830921,
        -0.0027044678572565317,
        -0.0014530997723340988,
        -0.0007941641379147768,
    ),
    (
        0.008506851270794868,
        0.0019863704219460487,
        -0.00445569260045886,
        -0.002585766837000847,
        -7.127670687623322e-05,
        0.00038322529871948063,
        0.0002297231403645128,
        0.00011318761971779168,
    ),
    (
        0.0,
        -0.0019242992857471108,
        -0.0003166132082697004,
        0.000668131688144058,
        0.0002622139290906489,
        -9.133309504250064e-06,
        -3.156295497319661e-05,
        -1.5887209883658215e-05,
    ),
    (
        -0.0005416593048721552,
        3.659132562461309e-05,
        0.0003273413167335093,
        -7.956561603350565e-06,
        -7.709473720751703e-05,
        -1.8633814761415124e-05,
        3.2668901894794544e-06,
        1.5786901030878653e-06,
    ),
)
"""Of f less its part, of t^0, t^1, ... in each interval: least squares on Chebyshev's nodes by relative error of f,
rounded one after the other from t^0 on."""
_POINT = 1.5 * 2.0**23
"""Floats near it are whole numbers, in their last bits."""
_PERMUTE = {8: "llvm.x86.avx2.permps", 16: "llvm.x86.avx512.permvar.sf.512"}


def has_erf_by_table(b: FormBuilder) -> bool:
    """Return whether instructions look all lanes up in a register."""
    if b.lanes < 8 or b.lanes & (b.lanes - 1) or not b.facts.has("avx2"):
        return False
    return b.lanes == 8 or b.facts.has("avx512f")


def erf_by_table(b: FormBuilder, x: str) -> str:
    """erf of x, in pieces of what one register holds."""
    return in_pieces(b, [(x, "float")], "float", lambda pieces, lanes: _erf(LaneBuilder(b.fn, lanes), pieces[0]))


def _erf(lane: LaneBuilder, x: str) -> str:
    size = lane.fabs(x)
    size = lane.select(lane.fcmp("ogt", size, lane.float(_ONE_FROM)), lane.float(_ONE_FROM), size)
    scale, point = lane.float(_INTERVALS_BY_WIDTH), lane.float(_POINT)
    whole = lane.fma(size, scale, point)
    t = lane.fma(size, scale, lane.fneg(lane.fsub(whole, point)))
    k = lane.bits(whole)
    *others, result = [_look_up(lane, column, k) for column in _COEFFICIENTS]
    for coefficient in reversed(others):
        result = lane.fma(result, t, coefficient)
    result = lane.fma(result, size, lane.fmul(_look_up(lane, _PARTS, k), size))
    one = lane.float(1.0)
    return lane.copysign(lane.select(lane.fcmp("ogt", result, one), one, result), x)


def _look_up(lane: LaneBuilder, column: tuple[float, ...], k: str) -> str:
    """The coefficients of each lane's interval, by the last bits of k."""
    table = vector_constant("float", map(f32_constant, column * (lane.lanes // len(column))))
    operands = [(lane.type("float"), table), (lane.type("i32"), k)]
    return lane.fn.call(lane.type("float"), _PERMUTE[lane.lanes], operands)

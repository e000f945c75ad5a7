"""The gamma function of libdevice and its logarithm, by polynomials and Stirling's formula.

With y = x - 1 or, below 1/2, y = -x, which are exact, gamma(y + 1) is y gamma(y) where y is large enough for the
formula. Where it is not, it is y (y - 1) ... (y - k + 2) gamma(y - k + 2), and that gamma, of 1.5 to 2.5, a polynomial.
Below 1/2 gamma(x) = pi / (sin(pi x) gamma(1 - x)).

Both are computed in f64, with fewer terms where they are rounded to f32. Measured against values of sixty digits: 5
units in the last place for tgamma of f64, 4 for lgamma except next to its zeros between -12 and -2 (there the error is
absolute), the nearest float in f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log, nan, pi

from xdsl.dialects.builtin import f32, f64

from tilewright.dialects import math
from tilewright.lowering.arith_to_linalg.extern_special import Real, rounded_once
from tilewright.lowering.arith_to_linalg.extern_symbols import ExternSymbol, SymbolTable
from tilewright.support.records import dataclass

GAMMA_SYMBOLS: SymbolTable = {}

# Chebyshev interpolation in sixty digits, highest power first; after each the largest relative error.
_LOG_NEAR_TWO = (
    6.379047507619774e-08,
    -1.3412819758517287e-07,
    2.0304806751615227e-07,
    -4.303558760359961e-07,
    9.578663334114758e-07,
    -2.0449201467015115e-06,
    4.374374916915131e-06,
    -9.438458716242811e-06,
    2.050726741605779e-05,
    -4.4926351103833334e-05,
    9.945750909889392e-05,
    -0.00022315475074520367,
    0.0005096695248853096,
    -0.0011927539120010226,
    0.002890510330738737,
    -0.0073855510286681535,
    0.02058080842778457,
    -0.06735230105319814,
    0.3224670334241132,
    0.42278433509846713,
)
"""log gamma(2 + t) / t, |t| <= 1/2: 3e-17."""
_SHORT_LOG_NEAR_TWO = (
    2.4154595381278688e-05,
    -5.278721858454867e-05,
    9.839697643190869e-05,
    -0.00022086982602425632,
    0.0005098091580313527,
    -0.0011930547050406706,
    0.0028905020821439896,
    -0.007385533261288008,
    0.020580808605237744,
    -0.06735230143541507,
    0.3224670334234966,
    0.4227843350997953,
)
"""The same: 8e-12."""
_NEAR_TWO = (
    -1.3131191509664216e-06,
    2.6259112907777463e-06,
    -3.609421076900372e-06,
    7.216424561413336e-06,
    -1.5296289519910945e-05,
    3.0576257282864494e-05,
    -6.078180215145502e-05,
    0.00012165162946720078,
    -0.00024094266875000244,
    0.0004903909165362433,
    -0.0009195737556751735,
    0.002103933174405157,
    -0.0028526458243686085,
    0.011154045724557167,
    -0.00026698206868206766,
    0.07424901075338801,
    0.0815769192470858,
    0.41184033042644064,
    0.42278433509846713,
    1.0,
)
"""gamma(2 + t), |t| <= 1/2: 4e-18."""
_SHORT_NEAR_TWO = (
    -7.60996997214587e-05,
    0.0001522719555574663,
    -0.00023544636600471617,
    0.0004794037651644442,
    -0.0009205301044546049,
    0.0021058449309745556,
    -0.002852561183114838,
    0.011153876524937729,
    -0.0002669856184123688,
    0.07424901784938182,
    0.08157691930273181,
    0.4118403303152029,
    0.4227843350983251,
    1.000000000000284,
)
"""The same: 5e-13."""
_LOG_FACTOR = (
    0.005065905360081594,
    -0.0018903829938839239,
    0.0008414700852502405,
    -0.0005952365845057041,
    0.0007936507897524057,
    -0.002777777777773988,
    0.08333333333333334,
)
"""z (log gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2) in 1 / z^2, z >= 8: 1e-16."""
_SHORT_LOG_FACTOR = (
    0.000772651446716982,
    -0.0005943175908562156,
    0.0007936457161115373,
    -0.0027777777679124514,
    0.08333333333333026,
)
"""The same: 4e-14."""
_FACTOR = (
    0.0008881054541230809,
    -0.0017033721980616843,
    0.00020104520706206211,
    0.0019634260202126344,
    -0.0005751222362627025,
    -0.006721092364386124,
    0.008703570420811891,
    0.2088856895524771,
    2.5066282746310007,
)
"""gamma(z) exp(z) / z^(z - 1/2) in 1 / z, z >= 8: 7e-17."""
_SHORT_FACTOR = (
    3.445591346872211e-05,
    -0.006787363016269295,
    0.008706518195780319,
    0.20888564357818207,
    2.5066282747458954,
)
"""The same: 5e-11."""
_SINE = (
    7.697826768224191e-07,
    -2.1903497074626018e-05,
    0.0004662998161898394,
    -0.007370430505916944,
    0.0821458865731029,
    -0.5992645293189447,
    2.5501640398773007,
    -5.16771278004997,
    3.141592653589793,
)
"""sin(pi r) / r in r^2, |r| <= 1/2: 1e-16."""

_FROM = 8.0
"""Where Stirling's formula begins to hold to all digits."""
_TINY = 1e-20
"""Below it gamma(x) is 1 / x: what is lost is Euler's constant times x."""


@dataclass(frozen=True)
class _Reduced:
    """gamma(y + 1) = gamma(t + 2) `product`, y = t + k, -1/2 <= t < 1/2, k > 0; gamma(t + 2) / (t + 1) where y is t."""

    y: Real
    t: Real
    product: Real

    @staticmethod
    def of(x: Real) -> _Reduced:
        """For gamma(x), or for gamma(1 - x) below 1/2. The factors y - m are exact."""
        y = x.where("olt", 0.5, -x, x - 1.0)
        product = y.where("oge", 1.5, y, y.of(1.0))
        for m in range(1, 7):
            product = product * y.where("oge", m + 1.5, y - float(m), y.of(1.0))
        t = y - y.apply(math.RoundEvenOp)
        return _Reduced(y, t.where("oeq", 0.5, -0.5, t), product)

    def choose(self, at_zero: Real, elsewhere: Real) -> Real:
        """`at_zero` where k is 0."""
        return self.y.where("olt", 0.5, at_zero, elsewhere)


def _sin_pi(x: Real) -> Real:
    """sin(pi x), exact next to whole numbers: turns are taken off, and the rest r becomes 1 - r beyond a half."""
    rest = (x * 0.5).apply(math.RoundEvenOp).apply(math.FmaOp, -2.0, x)
    mirrored = x.of(1.0).apply(math.CopySignOp, rest) - rest
    r = rest.abs().where("ole", 0.5, rest, mirrored)
    return r * (r * r).polynomial(_SINE)


def _is_pole(x: Real, at_pole: float, elsewhere: Real) -> Real:
    """`at_pole` at negative whole numbers."""
    whole = x - x.apply(math.FloorOp)
    return x.where("olt", 0.0, whole.where("oeq", 0.0, at_pole, elsewhere), elsewhere)


def _stirling(y: Real) -> Real:
    """gamma(y + 1), y >= 8. The power is taken in two halves, which do not overflow before the result does."""
    half = y.apply(math.PowFOp, (y - 0.5) * 0.5)
    return half * (-y).exp() * half * (1.0 / y).polynomial(_FACTOR) * y


def _short_stirling(y: Real) -> Real:
    """The same for f32, which is infinite from 36 on."""
    return ((y - 0.5) * y.log() - y).exp() * (1.0 / y).polynomial(_SHORT_FACTOR) * y


def _tgamma(x: Real, terms: Sequence[float], stirling: Callable[[Real], Real]) -> Real:
    reduced = _Reduced.of(x)
    near, t = reduced.t.polynomial(terms), reduced.t
    near = reduced.choose(near / (t + 1.0), near * reduced.product)
    gamma = reduced.y.where("oge", _FROM, stirling(reduced.y), near)
    sine = _sin_pi(x)
    value = x.where("olt", 0.5, pi / (sine * gamma), gamma)
    value = x.where("olt", -184.0, sine * 0.0, x.where("ogt", 172.0, inf, value))
    return x.abs().where("olt", _TINY, 1.0 / x, _is_pole(x, nan, value))


def _lgamma(x: Real, terms: Sequence[float], far_terms: Sequence[float]) -> Real:
    """log |gamma(x)|; infinite at the poles. Next to its zeros at 1 and 2 the error is relative as well."""
    reduced = _Reduced.of(x)
    y, t = reduced.y, reduced.t
    rest = reduced.choose(t, reduced.product - 1.0).apply(math.Log1pOp)
    near = t * t.polynomial(terms) + reduced.choose(-rest, rest)
    inverse = 1.0 / y
    power = y + 0.5
    far = power * (y.log() - 1.0) + (power - y) + log(2 * pi) / 2 + (inverse * inverse).polynomial(far_terms) * inverse
    right = y.where("oge", _FROM, far, near)
    value = x.where("olt", 0.5, (pi / _sin_pi(x).abs()).log() - right, right)
    value = x.abs().where("oeq", inf, inf, value)
    return x.abs().where("olt", _TINY, -x.abs().log(), _is_pole(x, inf, value))


def _add(name: str, long: Callable[[Real], Real], short: Callable[[Real], Real]) -> None:
    """A function, as f64 needs it and as f32 does."""
    GAMMA_SYMBOLS[f"__nv_{name}"] = ExternSymbol((f64,), f64, rounded_once(long))
    GAMMA_SYMBOLS[f"__nv_{name}f"] = ExternSymbol((f32,), f32, rounded_once(short))


_add("tgamma", lambda x: _tgamma(x, _NEAR_TWO, _stirling), lambda x: _tgamma(x, _SHORT_NEAR_TWO, _short_stirling))
_add(
    "lgamma",
    lambda x: _lgamma(x, _LOG_NEAR_TWO, _LOG_FACTOR),
    lambda x: _lgamma(x, _SHORT_LOG_NEAR_TWO, _SHORT_LOG_FACTOR),
)

"""The gamma function of libdevice and its logarithm, by Stirling's formula.

With y = x - 1 or, below 1/2, y = -x, which are exact, gamma(y + 1) is y gamma(y) where y is large enough for the
formula, and gamma(y + 9) / ((y + 1) ... (y + 8)) where it is not; below 1/2 gamma(x) = pi / (sin(pi x) gamma(1 - x)).

Both are computed in f64, with fewer terms where they are rounded to f32. Measured against values of forty digits: 50
units in the last place for tgamma of f64, an error of 7e-15 (above 1 relative) for lgamma, the nearest float or its
neighbour in f32.
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

# Chebyshev interpolation in fifty digits, highest power first; after each the largest relative error.
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
class _Shifted:
    """gamma(y + 1) = gamma(z) `over` / `under`, z >= 8."""

    y: Real
    z: Real
    under: Real

    def over(self) -> Real:
        """y where z is y."""
        return self.y.where("olt", _FROM, 1.0, self.y)

    @staticmethod
    def of(x: Real) -> _Shifted:
        """For gamma(x), or for gamma(1 - x) below 1/2."""
        y = x.where("olt", 0.5, -x, x - 1.0)
        product = y + 1.0
        for k in range(2, 9):
            product = product * (y + float(k))
        is_small = ("olt", _FROM)
        return _Shifted(y, y.where(*is_small, y + 9.0, y), y.where(*is_small, product, y.of(1.0)))


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


def _stirling(z: Real) -> Real:
    """gamma(z), z >= 8. The power is taken in two halves, which do not overflow before the result does."""
    half = z.apply(math.PowFOp, (z - 0.5) * 0.5)
    return half * (-z).exp() * half * (1.0 / z).polynomial(_FACTOR)


def _short_stirling(z: Real) -> Real:
    """The same for f32, which is infinite from 36 on."""
    return ((z - 0.5) * z.log() - z).exp() * (1.0 / z).polynomial(_SHORT_FACTOR)


def _tgamma(x: Real, stirling: Callable[[Real], Real]) -> Real:
    shifted = _Shifted.of(x)
    sine, gamma = _sin_pi(x), stirling(shifted.z) * shifted.over()
    value = x.where("olt", 0.5, shifted.under * pi, gamma) / x.where("olt", 0.5, sine * gamma, shifted.under)
    value = x.where("olt", -184.0, sine * 0.0, x.where("ogt", 172.0, inf, value))
    return x.abs().where("olt", _TINY, 1.0 / x, _is_pole(x, nan, value))


def _lgamma(x: Real, terms: Sequence[float]) -> Real:
    """log |gamma(x)|; infinite at the poles."""
    shifted = _Shifted.of(x)
    z, inverse = shifted.z, 1.0 / shifted.z
    power = shifted.y.where("olt", _FROM, z - 0.5, z + 0.5)
    right = power * (z.log() - 1.0) + (power - z) + log(2 * pi) / 2 + (inverse * inverse).polynomial(terms) * inverse
    rest = x.where("olt", 0.5, shifted.under * pi / _sin_pi(x).abs(), shifted.under).log()
    value = x.where("olt", 0.5, rest - right, right - rest)
    value = x.abs().where("oeq", inf, inf, value)
    return x.abs().where("olt", _TINY, -x.abs().log(), _is_pole(x, inf, value))


def _add(name: str, long: Callable[[Real], Real], short: Callable[[Real], Real]) -> None:
    """A function, as f64 needs it and as f32 does."""
    GAMMA_SYMBOLS[f"__nv_{name}"] = ExternSymbol((f64,), f64, rounded_once(long))
    GAMMA_SYMBOLS[f"__nv_{name}f"] = ExternSymbol((f32,), f32, rounded_once(short))


_add("tgamma", lambda x: _tgamma(x, _stirling), lambda x: _tgamma(x, _short_stirling))
_add("lgamma", lambda x: _lgamma(x, _LOG_FACTOR), lambda x: _lgamma(x, _SHORT_LOG_FACTOR))

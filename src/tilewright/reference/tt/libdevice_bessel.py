"""The Bessel functions of libdevice, from Fourier series.

J of all orders at once is the Fourier transform of exp(i x sin t), and I that of exp(x cos t): the trapezoidal rule has
no error but aliasing, which is below rounding as soon as there are more points than the orders that count. Y is
Neumann's series in them (Abramowitz and Stegun 9.1.89) for order 0, its derivative for order 1, and the recurrence
upwards for others. Beyond `FAR`, where tables would be long, orders 0 and 1 are Hankel's asymptotic series. All of it
runs in NumPy's longest floats, one value after the other.
"""

from __future__ import annotations

# NumPy's longest floats have no precise types.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array

Long = np.longdouble
FAR = 1500.0
EULER = Long("0.57721566490153286060651209008240243104")
PI = Long("3.14159265358979323846264338327950288420")


@lru_cache(maxsize=256)
def _first_kind_table(x: float, count: int) -> Array:
    """J of orders 0, 1, ..., count - 1 for x >= 0."""
    points = 2 * (count + int(x) + 12 * int(x ** (1 / 3)) + 60)
    angle = 2 * PI * np.arange(points, dtype=Long) / points
    return np.fft.fft(np.exp(1j * Long(x) * np.sin(angle))).real[:count] / points


def _power_series(order: int, x: float, sign: int) -> Any:
    """The sum over k of sign**k (x / 2)**(2 k + order) / (k! (k + order)!), for x not much larger than the order."""
    term = Long(1)
    for k in range(1, order + 1):
        term = term * Long(x) / (2 * k)
        if not term:
            return term
    total = term
    for k in range(1, 60):
        term = term * Long(x) * Long(x) * sign / (4 * k * (k + order))
        total += term
    return total


def _asymptotic(order: int, x: float) -> tuple[Any, Any]:
    """J and Y of order 0 or 1 by Hankel's series for large x."""
    term, series = Long(1), Long(1) + 0j
    for k in range(1, 12):
        term = term * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * Long(x))
        series += term * (1j) ** k
    phase = Long(x)
    turn = np.sqrt(Long(0.5)) * (1 - 1j) * (-1j) ** order
    wave = np.sqrt(2 / (PI * Long(x))) * series * (np.cos(phase) + 1j * np.sin(phase)) * turn
    return wave.real, wave.imag


def _upwards(order: int, x: float, zeroth: Any, first: Any) -> Any:
    older, newer = zeroth, first
    for k in range(1, order):
        older, newer = newer, newer * 2 * k / Long(x) - older
        if not np.isfinite(newer):
            return newer
    return newer if order else zeroth


def _first_kind(order: int, x: float) -> Any:
    """J, of x >= 0."""
    if x * x < 4 * (order + 1) or order > 20 * x + 200:
        return _power_series(order, x, -1)
    if x <= FAR or order > x:
        return _first_kind_table(x, order + 1)[order]
    return _upwards(order, x, _asymptotic(0, x)[0], _asymptotic(1, x)[0])


def _second_kind_near(x: float) -> tuple[Any, Any]:
    """Y of orders 0 and 1, of x > 0, by Neumann's series."""
    count = 2 * (int(x) + 40)
    j = _first_kind_table(x, count + 2)
    k = np.arange(1, count // 2)
    signs = np.where(k % 2 == 1, -1, 1) / k.astype(Long)
    logarithm = np.log(Long(x) / 2) + EULER
    zeroth = 2 / PI * logarithm * j[0] - 4 / PI * np.sum(signs * j[2 * k])
    slopes = (j[2 * k - 1] - j[2 * k + 1]) / 2
    first = 2 / PI * (logarithm * j[1] - j[0] / Long(x)) + 4 / PI * np.sum(signs * slopes)
    return zeroth, first


def _second_kind(order: int, x: float) -> Any:
    """Y, of x > 0."""
    if x <= FAR:
        return _upwards(order, x, *_second_kind_near(x))
    return _upwards(order, x, _asymptotic(0, x)[1], _asymptotic(1, x)[1])


def _modified(order: int, x: float) -> Any:
    """I, of x >= 0; beyond 720 it is too large for a double."""
    if x > 720:
        return Long(math.inf)
    if x < 1:
        return _power_series(order, x, 1)
    points = 100 + 8 * int(x)
    angle = 2 * PI * np.arange(points, dtype=Long) / points
    return np.exp(Long(x)) * np.mean(np.exp(Long(x) * (np.cos(angle) - 1)) * np.cos(order * angle))


def _parity(order: int, x: float) -> int:
    return -1 if x < 0 and order % 2 else 1


def bessel_j(order: int, x: float) -> float:
    """J of any order that is not negative."""
    if order < 0 or math.isnan(x):
        return math.nan
    return 0.0 if math.isinf(x) else float(_parity(order, x) * _first_kind(order, abs(x)))


def bessel_y(order: int, x: float) -> float:
    """Y of any order that is not negative and x that is not negative."""
    if order < 0 or math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    with np.errstate(over="ignore"):
        return 0.0 if math.isinf(x) else float(_second_kind(order, x))


def bessel_i(order: int, x: float) -> float:
    """I of order 0 or 1."""
    if math.isnan(x):
        return math.nan
    with np.errstate(over="ignore"):
        return float(_parity(order, x) * _modified(order, abs(x)))


def _of_order(function: Callable[[int, float], float], order: int) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        return np.array([function(order, value) for value in x.ravel().tolist()], np.float64).reshape(x.shape)

    return apply


def _of_any_order(function: Callable[[int, float], float]) -> Callable[[Array, Array], Array]:
    def apply(order: Array, x: Array) -> Array:
        lanes = zip(order.ravel().tolist(), x.ravel().tolist(), strict=True)
        return np.array([function(*lane) for lane in lanes], np.float64).reshape(x.shape)

    return apply


BESSEL_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "j0": _of_order(bessel_j, 0),
    "j1": _of_order(bessel_j, 1),
    "jn": _of_any_order(bessel_j),
    "y0": _of_order(bessel_y, 0),
    "y1": _of_order(bessel_y, 1),
    "yn": _of_any_order(bessel_y),
    "cyl_bessel_i0": _of_order(bessel_i, 0),
    "cyl_bessel_i1": _of_order(bessel_i, 1),
}
"""By the name for f64; f32's ends in f."""

"""Arithmetic and conversions of libdevice with a directed rounding: exact rational arithmetic, then the definition."""

from __future__ import annotations

# The operations below are lambdas over fractions and doubles alike, whose parameters cannot be annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.support.records import dataclass

DIRECTIONS = ("rd", "ru", "rz")


@dataclass(frozen=True)
class Format:
    """A binary float type: 2**least is its smallest number, 2**top the first that is too large."""

    dtype: Any
    least: int
    digits: int
    top: int

    def round(self, value: Fraction, mode: str) -> float:
        """The float next to a number, other than zero, in a direction."""
        size = abs(value)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        unit = Fraction(2) ** max(exponent - self.digits + 1, self.least)
        steps = size // unit
        outwards = mode == ("ru" if value > 0 else "rd")
        if outwards and steps * unit != size:
            steps += 1
        top = Fraction(2) ** self.top
        if steps * unit >= top:
            rounded = math.inf if outwards else float(top - top / 2**self.digits)
        else:
            rounded = float(steps * unit)
        return math.copysign(rounded, 1 if value > 0 else -1)


SINGLE, DOUBLE = Format(np.float32, -149, 24, 128), Format(np.float64, -1074, 53, 1024)


@dataclass(frozen=True)
class Exact:
    """An operation: of rational numbers, and of doubles where these are infinite, NaN or lead to zero.

    `addends` gives the signs of what a sum consists of: they decide the sign of a zero.
    """

    of_fractions: Callable[..., Fraction]
    of_doubles: Callable[..., Any]
    addends: Callable[..., Sequence[float]] | None = None

    def call(self, x: Sequence[Any], kind: Format, mode: str) -> float:
        """The result for one lane."""
        if all(isinstance(value, int) or math.isfinite(value) for value in x):
            try:
                value = self.of_fractions(*map(Fraction, x))
            except (ZeroDivisionError, ValueError):
                value = Fraction(0)
            if value:
                return kind.round(value, mode)
            if self.addends is not None:
                signs = [math.copysign(1, part) < 0 for part in self.addends(*x)]
                return -0.0 if (any(signs) if mode == "rd" else all(signs)) else 0.0
        with np.errstate(all="ignore"):
            return float(self.of_doubles(*map(np.float64, x)))


def _root(x: Fraction) -> Fraction:
    """A number between the same two floats as the square root, and equal to it where that is rational."""
    if x < 0:
        raise ValueError("the root of a negative number")
    scaled = x * Fraction(4) ** 1200
    root = math.isqrt(int(scaled))
    return (root + Fraction(0 if root * root == scaled else 1, 2)) / Fraction(2) ** 1200


def _sign_product(x: float, y: float) -> float:
    return math.copysign(1, x) * math.copysign(1, y)


def _reciprocal(x: Any) -> Any:
    return 1 / x


def _itself(x: Any) -> Any:
    return x


def _fused_doubles(x: Any, y: Any, z: Any) -> Any:
    """Of finite x and y the product is finite, however large."""
    return x * y + z if not np.isfinite(x * 0 + y * 0) else z


ARITHMETIC: dict[str, Exact] = {
    "add": Exact(operator.add, operator.add, lambda x, y: (x, y)),
    "sub": Exact(operator.sub, operator.sub, lambda x, y: (x, -y)),
    "mul": Exact(operator.mul, operator.mul),
    "div": Exact(operator.truediv, operator.truediv),
    "rcp": Exact(_reciprocal, _reciprocal),
    "sqrt": Exact(_root, np.sqrt),
    "fma": Exact(lambda x, y, z: x * y + z, _fused_doubles, lambda x, y, z: (_sign_product(x, y), z)),
}
CONVERSION = Exact(_itself, _itself)


def _by_lane(exact: Exact, kind: Format, mode: str, source: Any = None) -> Callable[..., Array]:
    """An operation on arrays; integers are read as those of the type `source`."""

    def apply(*operands: Array) -> Array:
        columns = [np.asarray(v if source is None else v.astype(source)).ravel().tolist() for v in operands]
        lanes = [exact.call(lane, kind, mode) for lane in zip(*columns, strict=True)]
        return np.array(lanes, np.float64).astype(kind.dtype).reshape(operands[0].shape)

    return apply


def _functions(mode: str) -> dict[str, Callable[..., Array]]:
    table = {f"double2float_{mode}": _by_lane(CONVERSION, SINGLE, mode)}
    for prefix, kind in (("f", SINGLE), ("d", DOUBLE)):
        for name, exact in ARITHMETIC.items():
            symbol = {"ffma": "fmaf", "dfma": "fma"}.get(prefix + name, prefix + name)
            table[f"{symbol}_{mode}"] = _by_lane(exact, kind, mode)
    for name, source in {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}.items():
        table[f"{name}2float_{mode}"] = _by_lane(CONVERSION, SINGLE, mode, source)
        table[f"{name}2double_{mode}"] = _by_lane(CONVERSION, DOUBLE, mode, source)
    return table


ROUNDED_FUNCTIONS: dict[str, Callable[..., Array]] = {
    name: function for mode in DIRECTIONS for name, function in _functions(mode).items()
}
"""By the name without its prefix ``__nv_``."""

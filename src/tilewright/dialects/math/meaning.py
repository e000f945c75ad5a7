"""What the math ops compute, on NumPy arrays. Folding uses the exact ones, the reference all of them.

Functions without a NumPy counterpart (erf, cbrt) are applied element by element through the C library in double
precision and rounded
to the type; the 8- and 16-bit floats are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tilewright.dialects.arith.meaning import as_signed, as_unsigned, round_floats
from tilewright.dialects.numeric import Array

UnaryMeaning = Callable[[Array], Array]


def _elementwise(function: Callable[[float], float]) -> UnaryMeaning:
    def meaning(values: Array) -> Array:
        flat = np.asarray(values, np.float64)
        return np.array([function(value) for value in flat.ravel().tolist()], np.float64).reshape(flat.shape)

    return meaning


def _round_away(values: Array) -> Array:
    truncated = np.trunc(values)
    step = np.copysign(np.ones_like(values), values)
    return np.where(np.abs(values - truncated) >= values.dtype.type(0.5), truncated + step, truncated)


FLOAT_UNARY: dict[str, UnaryMeaning] = {
    "math.absf": np.abs,
    "math.acos": np.arccos,
    "math.acosh": np.arccosh,
    "math.asin": np.arcsin,
    "math.asinh": np.arcsinh,
    "math.atan": np.arctan,
    "math.atanh": np.arctanh,
    "math.cbrt": np.cbrt,
    "math.ceil": np.ceil,
    "math.cos": np.cos,
    "math.cosh": np.cosh,
    "math.erf": _elementwise(math.erf),
    "math.erfc": _elementwise(math.erfc),
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.floor": np.floor,
    "math.log": np.log,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.round": _round_away,
    "math.roundeven": np.rint,
    "math.rsqrt": lambda values: values.dtype.type(1) / np.sqrt(values),
    "math.sin": np.sin,
    "math.sinh": np.sinh,
    "math.sqrt": np.sqrt,
    "math.tan": np.tan,
    "math.tanh": np.tanh,
    "math.trunc": np.trunc,
}

FLOAT_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "math.atan2": np.arctan2,
    "math.copysign": np.copysign,
    "math.powf": np.power,
}

FLOAT_TEST: dict[str, Callable[[Array], Array]] = {
    "math.isfinite": np.isfinite,
    "math.isinf": np.isinf,
    "math.isnan": np.isnan,
}

EXACT = frozenset(
    f"math.{name}"
    for name in (
        *("absf", "ceil", "floor", "round", "roundeven", "trunc", "sqrt", "copysign", "fma", "clampf"),
        *("isfinite", "isinf", "isnan", "isnormal", "absi", "ctpop", "ctlz", "cttz", "ipowi"),
    )
)
"""Ops whose result is the same on every machine: IEEE says it to the last bit, or no rounding is involved."""


def float_unary(name: str, values: Array) -> Array:
    """A function of one float, computed in at least single precision and rounded to the type of the operand."""
    return round_floats(np.asarray(FLOAT_UNARY[name](_widened(values))), values.dtype)


def float_binary(name: str, lhs: Array, rhs: Array) -> Array:
    """A function of two floats."""
    return round_floats(np.asarray(FLOAT_BINARY[name](_widened(lhs), _widened(rhs))), lhs.dtype)


def float_test(name: str, values: Array) -> Array:
    """A property of a float."""
    if name == "math.isnormal":
        return _is_normal(values)
    return np.asarray(FLOAT_TEST[name](_widened(values)))


def _is_normal(values: Array) -> Array:
    import ml_dtypes

    tiny = float(cast(Any, ml_dtypes.finfo(values.dtype)).tiny)
    magnitude = np.abs(values.astype(np.float64))
    return np.isfinite(magnitude) & (magnitude >= tiny)


def _widened(values: Array) -> Array:
    return values if values.dtype.type in (np.float32, np.float64) else values.astype(np.float32)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` rounded once: in double precision with the rounding error of the sum made sticky, in exact
    arithmetic for double."""
    if a.dtype == np.float64:
        return _exact_fma(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    return round_floats(_sum_rounded_to_odd(product, c.astype(np.float64)), a.dtype)


def _sum_rounded_to_odd(x: Array, y: Array) -> Array:
    """``x + y`` with the last bit of the double set where the sum is not exact, so that rounding it again is right
    (Boldo and Melquiond 2008)."""
    total = np.asarray(x + y)
    back = total - x
    error = (x - (total - back)) + (y - back)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((bits & 1) == 0)
    towards_zero = (error > 0) != (total > 0)
    odd = np.where(inexact, np.where(towards_zero, bits - 1, bits + 1), bits)
    return odd.view(np.float64)


def _exact_fma(a: Array, b: Array, c: Array) -> Array:
    from fractions import Fraction

    a, b, c = np.broadcast_arrays(a, b, c)
    result = np.empty(a.shape, np.float64)
    for position in np.ndindex(a.shape):
        x, y, z = float(a[position]), float(b[position]), float(c[position])
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            result[position] = np.float64(x) * np.float64(y) + np.float64(z)
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            result[position] = np.float64(x) * np.float64(y) + np.float64(z)
            continue
        try:
            result[position] = float(exact)
        except OverflowError:
            result[position] = math.inf if exact > 0 else -math.inf
    return result


def clamp(values: Array, low: Array, high: Array) -> Array:
    """``math.clampf``: NaN if any operand is."""
    from tilewright.dialects.arith.meaning import FLOAT_BINARY as ARITH

    return ARITH["arith.minimumf"](ARITH["arith.maximumf"](values, low), high)


def integer_unary(name: str, values: Array, width: int) -> Array:
    """Absolute value and bit counts."""
    unsigned = as_unsigned(values, width)
    match name:
        case "math.absi":
            result = np.abs(as_signed(values, width))
        case "math.ctpop":
            result = _bit_counts(unsigned)
        case "math.ctlz":
            result = width - _bit_lengths(unsigned, width)
        case "math.cttz":
            lowest = unsigned & (~unsigned + unsigned.dtype.type(1))
            lengths = _bit_lengths(lowest, width)
            result = np.where(unsigned == 0, width, lengths - 1)
        case _:
            raise KeyError(name)
    return (result & 1).astype(np.bool_) if values.dtype == np.bool_ else np.asarray(result).astype(values.dtype)


def _bit_counts(values: Array) -> Array:
    counts = np.zeros(values.shape, np.int64)
    for bit in range(values.dtype.itemsize * 8):
        counts = counts + ((values >> values.dtype.type(bit)) & values.dtype.type(1)).astype(np.int64)
    return counts


def _bit_lengths(values: Array, width: int) -> Array:
    lengths = np.zeros(values.shape, np.int64)
    for bit in range(width):
        lengths = np.where((values >> values.dtype.type(bit)) != 0, bit + 1, lengths)
    return lengths


def integer_power(base: Array, exponent: Array, width: int) -> Array:
    """``math.ipowi`` by squaring; a negative power of anything but 1 and -1 is 0 (undefined for 0)."""
    value, power = as_signed(base, width).astype(np.int64), as_signed(exponent, width).astype(np.int64)
    result = np.ones(np.broadcast(value, power).shape, np.int64)
    remaining, square = np.where(power < 0, 0, power), value.copy()
    with np.errstate(over="ignore"):
        while np.any(remaining > 0):
            result = np.where(remaining & 1, result * square, result)
            square = square * square
            remaining = remaining >> 1
    negative = np.where(value == 1, 1, np.where(value == -1, np.where(power & 1, -1, 1), 0))
    result = np.where(power < 0, negative, result)
    return (result & 1).astype(np.bool_) if base.dtype == np.bool_ else result.astype(base.dtype)

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
from tilewright.dialects.float8 import narrow_to_float8
from tilewright.dialects.numeric import Array

UnaryMeaning = Callable[[Array], Array]


def _elementwise(function: Callable[[float], float]) -> UnaryMeaning:
    def meaning(values: Array) -> Array:
        flat = np.asarray(values, np.float64)
        return np.array([function(value) for value in flat.ravel().tolist()], np.float64).reshape(flat.shape)

    return meaning


def round_away(values: Array) -> Array:
    truncated = np.trunc(values)
    step = np.copysign(np.ones_like(values), values)
    return np.where(np.abs(values - truncated) >= values.dtype.type(0.5), truncated + step, truncated)


def reciprocal_root(values: Array) -> Array:
    """``math.rsqrt``."""
    return np.asarray(values.dtype.type(1) / np.sqrt(values))


erf, erfc = _elementwise(math.erf), _elementwise(math.erfc)


def computed(function: Callable[..., Any], *operands: Array) -> Array:
    """A function of floats, computed in at least single precision and rounded to their type."""
    return round_floats(np.asarray(function(*map(widened, operands))), operands[0].dtype)


def is_normal(values: Array) -> Array:
    """``math.isnormal``: neither zero, subnormal, infinite nor NaN."""
    import ml_dtypes

    tiny = float(cast(Any, ml_dtypes.finfo(values.dtype)).tiny)
    magnitude = np.abs(values.astype(np.float64))
    return np.isfinite(magnitude) & (magnitude >= tiny)


def widened(values: Array) -> Array:
    """Floats in a type that NumPy computes with: the 8- and 16-bit ones as float32."""
    return values if values.dtype.type in (np.float32, np.float64) else values.astype(np.float32)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` rounded once: in double precision with the rounding error of the sum made sticky, in exact
    arithmetic for double."""
    if a.dtype == np.float64:
        return _exact_fma(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    total = _sum_rounded_to_odd(product, c.astype(np.float64))
    return (
        narrow_to_float8(total, a.dtype, keeps_infinity=True) if a.dtype.itemsize == 1 else round_floats(total, a.dtype)
    )


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


def magnitude(values: Array, width: int) -> Array:
    """``math.absi``; the smallest integer stays."""
    return np.abs(as_signed(values, width))


def count_ones(values: Array, width: int) -> Array:
    """``math.ctpop``."""
    return _bit_counts(as_unsigned(values, width))


def count_leading_zeros(values: Array, width: int) -> Array:
    """``math.ctlz``; the width for 0."""
    return width - _bit_lengths(as_unsigned(values, width), width)


def count_trailing_zeros(values: Array, width: int) -> Array:
    """``math.cttz``; the width for 0."""
    unsigned = as_unsigned(values, width)
    lowest = unsigned & (~unsigned + unsigned.dtype.type(1))
    return np.where(unsigned == 0, width, _bit_lengths(lowest, width) - 1)


def in_type(result: Array, like: Array) -> Array:
    """Integers in the type of the operand that they come from."""
    return (result & 1).astype(np.bool_) if like.dtype == np.bool_ else np.asarray(result).astype(like.dtype)


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
    return in_type(result, base)

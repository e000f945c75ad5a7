"""Floating-point arithmetic with one rounding: exact sums and products, directed modes, subnormals flushed to zero."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tilewright.dialects.arith.meaning import round_floats
from tilewright.dialects.numeric import Array
from tilewright.reference.simt.types import Values, choose

MODES = ("rn", "rz", "rm", "rp")
SMALLEST_NORMAL = np.float32(2.0**-126)


def flush(values: Values) -> Values:
    """f16 or f32 with subnormals as zeros of their sign."""
    dtype = values.dtype.type
    smallest = SMALLEST_NORMAL if dtype is np.float32 else np.finfo(dtype).tiny
    return choose(np.abs(values) < smallest, np.copysign(dtype(0), values), values)


def two_sum(a: Values, b: Values) -> tuple[Values, Values]:
    """``a + b`` rounded, and what the rounding lost. Knuth, The Art of Computer Programming 2, 4.2.2."""
    total = a + b
    shown = total - a
    return total, (a - (total - shown)) + (b - shown)


def two_product(a: Values, b: Values) -> tuple[Values, Values]:
    """``a * b`` in f64 rounded, and what the rounding lost. Dekker, Numerische Mathematik 18 (1971)."""
    product = a * b
    split = np.float64(134217729.0)
    a_high = split * a - (split * a - a)
    b_high = split * b - (split * b - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, choose(np.isfinite(product) & np.isfinite(error), error, 0.0)


def to_odd(values: Values, error: Values) -> Values:
    """f64 values that stand for `values + error`: truncated, with the last bit set where something was cut off, so
    that one more rounding to a narrower type gives what a single one would have given. Boldo and Melquiond, IEEE
    Transactions on Computers 57 (2008)."""
    values = np.asarray(values, np.float64)
    inexact = np.isfinite(values) & (np.asarray(error) != 0)
    beyond = inexact & ((error > 0) != (values > 0)) & (values != 0)
    bits = values.view(np.int64) - beyond
    return (bits | inexact).view(np.float64)


def narrow(values: Values, error: Values, dtype: np.dtype[Any], mode: str = "rn") -> Values:
    """``values + error``, in f64, as a float type with one rounding."""
    odd = to_odd(values, error)
    if mode == "rn":
        return _nearest(odd, dtype)
    return directed(odd, dtype, mode)


def _nearest(values: Array, dtype: np.dtype[Any]) -> Values:
    return values if dtype == np.float64 else round_floats(values, dtype)


def directed(values: Values, dtype: np.dtype[Any], mode: str) -> Values:
    """f64 as another float type, towards zero (`rz`), minus (`rm`) or plus infinity (`rp`)."""
    values = np.asarray(values, np.float64)
    nearest = np.asarray(_nearest(values, dtype))
    wide = nearest.astype(np.float64)
    if mode == "rz":
        wrong = np.abs(wide) > np.abs(values)
    elif mode == "rm":
        wrong = wide > values
    else:
        wrong = wide < values
    step = {"rz": choose(values > 0, -1, 1), "rm": -1, "rp": 1}[mode]
    return choose(wrong, _neighbour(nearest, step), nearest)


def _neighbour(values: Array, direction: Any) -> Array:
    """The next value of the type up (1) or down (-1)."""
    integer = np.dtype(f"i{values.dtype.itemsize}")
    bits = values.view(integer)
    negative = bits < 0
    moved: Any = bits + choose(negative, -direction, direction).astype(integer)
    smallest = choose(direction < 0, np.iinfo(integer).min + 1, 1).astype(integer)
    return choose(values == 0, smallest, moved).astype(integer).view(values.dtype)


def fused(a: Values, b: Values, c: Values, dtype: np.dtype[Any]) -> Values:
    """``a * b + c`` with one rounding, to nearest."""
    if dtype == np.float64:
        return _fused_double(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    wide = c.astype(np.float64)
    total = product + wide
    if dtype == np.float32:
        return _rounded_once(total, product, wide)
    return narrow(total, two_sum(product, wide)[1], dtype)


TOWARDS = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}
"""Where a mode rounds to."""


def goes_beyond(nearest: Values, error: Values, mode: str) -> Values:
    """Return whether rounding to nearest went the wrong way: `error` is what has to be added to be exact."""
    wrong = {"rz": (error != 0) & ((error > 0) != (nearest > 0)), "rm": error < 0, "rp": error > 0}
    return wrong[mode]


def directed_double(values: Values, error: Values, mode: str) -> Values:
    """``values + error`` in f64, towards zero or an infinity."""
    return choose(goes_beyond(values, error, mode), np.nextafter(values, TOWARDS[mode]), values)


def _rounded_once(total: Values, product: Values, addend: Values) -> Values:
    """The f32 of an f64 sum; where that sum could be a tie, or subnormal, the exact one decides."""
    total = np.asarray(total)
    bits = total.view(np.uint64) & np.uint64(0x1FFFFFFF)
    doubtful = (bits == np.uint64(0x10000000)) | (np.abs(total) < SMALLEST_NORMAL)
    single = total.astype(np.float32)
    if np.any(doubtful):
        exact = to_odd(total, two_sum(product, addend)[1]).astype(np.float32)
        single = choose(doubtful, exact, single)
    return single


def _fused_double(a: Values, b: Values, c: Values) -> Values:
    product, error = two_product(a, b)
    total, lost = two_sum(product, c)
    low, rest = two_sum(lost, error)
    exact = np.isfinite(total)
    nearest = total + choose(exact, to_odd(low, rest), 0.0)
    # A sum that is zero has the sign that doubles give it.
    result: Any = choose(exact & (nearest != 0), nearest, a * b + c)
    large, small = 2.0**990, 2.0**-900
    extreme = (np.abs(a) > large) | (np.abs(b) > large) | (np.abs(product) < small) | (np.abs(total) < small)
    extreme = extreme & np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
    return _with_rationals(np.asarray(result), np.asarray(extreme), (a, b, c)) if np.any(extreme) else result


def _with_rationals(result: Array, chosen: Array, operands: tuple[Values, Values, Values]) -> Values:
    """Those elements whose intermediate results are too large or small for doubles, by exact arithmetic."""
    flat = result.reshape(-1).copy()
    spread = [np.broadcast_to(operand, result.shape).reshape(-1) for operand in operands]
    for position in np.flatnonzero(chosen.reshape(-1)).tolist():
        a, b, c = (Fraction(float(operand[position])) for operand in spread)
        flat[position] = _of_rational(a * b + c)
    return flat.reshape(result.shape)


def _of_rational(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf

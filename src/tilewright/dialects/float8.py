"""Narrowing to the 8-bit floats: rounded once, saturating, as NVIDIA's ``cvt.satfinite`` does; and their arithmetic.

Found from the list of all values of the format, so that it shares nothing with the bit arithmetic of the lowering.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array

UNSIGNED_ZERO = ("float8_e4m3fnuz", "float8_e5m2fnuz")
"""Formats without a negative zero; its code is NaN."""


@cache
def finite_magnitudes(dtype: np.dtype[Any]) -> Array:
    """The values of the codes 0, 1, ... that are finite, in that order, which is ascending."""
    values = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float64)
    return values[np.isfinite(values)]


def narrow_to_float8(
    values: Array, dtype: np.dtype[Any], *, towards_zero: bool = False, keeps_infinity: bool = False
) -> Array:
    """Floats as 8-bit floats, to nearest even or towards zero. Magnitudes beyond the largest finite value become that
    value, infinities, too, unless they are kept where the format has them; NaN becomes the NaN without a sign."""
    exact = np.asarray(values).astype(np.float64)
    table = finite_magnitudes(dtype)
    magnitude = np.minimum(np.where(np.isnan(exact), 0.0, np.abs(exact)), table[-1])
    below = np.searchsorted(table, magnitude, side="right") - 1
    code = below
    if not towards_zero:
        above = np.minimum(below + 1, table.size - 1)
        to_below, to_above = magnitude - table[below], table[above] - magnitude
        goes_up = (to_above < to_below) | ((to_above == to_below) & (below % 2 == 1))
        code = np.where(goes_up, above, below)
    unsigned_zero = dtype.name in UNSIGNED_ZERO
    negative = np.signbit(exact) & ~(unsigned_zero & (code == 0))
    if keeps_infinity and np.dtype(dtype).name == "float8_e5m2":
        code = np.where(np.isinf(exact), table.size, code)
    bits = np.where(negative, code | 0x80, code)
    bits = np.where(np.isnan(exact), 0x80 if unsigned_zero else 0x7F, bits)
    return bits.astype(np.uint8).view(dtype)


def in_float8(compute: Callable[..., Any]) -> Callable[..., Array]:
    """Arithmetic that rounds 8-bit floats once, as their conversions do: what is too large becomes the largest finite
    value. An infinity, which only an operand or a division by zero gives, stays one where the format has it."""

    def meaning(*operands: Any) -> Array:
        arrays = [np.asarray(operand) for operand in operands]
        dtype = arrays[0].dtype
        if dtype.itemsize > 1:
            return np.asarray(compute(*arrays))
        wide = compute(*(array.astype(np.float32) for array in arrays))
        return narrow_to_float8(np.asarray(wide), dtype, keeps_infinity=True)

    return meaning

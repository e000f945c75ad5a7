"""Matmuls, in order along K, accumulated in the type of the accumulator (f32 for narrower floats)."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.arith.meaning import as_signed, round_floats
from tilewright.dialects.numeric import Array, wrap_to_width
from tilewright.dialects.tt import InputPrecision
from tilewright.dialects.types import bit_width, element_type, is_float
from tilewright.reference.machine import Frame, Values, meaning_of

TF32_DROPPED_BITS = 13
"""tf32 keeps 10 of the 23 bits of f32's mantissa."""


def multiply(a: Any, b: Any, c: Any, accumulator: Attribute) -> Array:
    """``c + a @ b``: for k from 0 up, ``a[.., k] * b[k, ..]`` is rounded to the accumulator's type and added.

    Operands are widened exactly. Sums of 16-bit and 8-bit floats are kept in f32 and rounded once at the end.
    """
    a, b, c = np.asarray(a), np.asarray(b), np.asarray(c)
    if not is_float(accumulator):
        width = bit_width(accumulator)
        total = as_signed(c, width).astype(np.int64)
        for k in range(a.shape[-1]):
            total = total + a[..., :, k, np.newaxis].astype(np.int64) * b[..., k, np.newaxis, :].astype(np.int64)
        return wrap_to_width(total.astype(c.dtype), accumulator)
    wide = np.dtype(np.float64 if c.dtype == np.float64 else np.float32)
    total, left, right = c.astype(wide), a.astype(wide), b.astype(wide)
    for k in range(a.shape[-1]):
        total = total + left[..., :, k, np.newaxis] * right[..., k, np.newaxis, :]
    return round_floats(total, c.dtype)


def round_to_tf32(values: Array) -> Array:
    """f32 rounded to 10 bits of mantissa, to nearest even; infinities and NaN stay."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    half = np.uint32((1 << (TF32_DROPPED_BITS - 1)) - 1) + ((bits >> np.uint32(TF32_DROPPED_BITS)) & np.uint32(1))
    rounded = (bits + half) & np.uint32(0xFFFFFFFF << TF32_DROPPED_BITS & 0xFFFFFFFF)
    return np.where(np.isfinite(values), rounded.view(np.float32).reshape(values.shape), values)


def round_to_tf32_away(values: Array) -> Array:
    """As `round_to_tf32`, but halves go away from zero: what `cvt.rna.tf32.f32` does."""
    values = np.asarray(values, np.float32)
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = (bits + np.uint32(1 << (TF32_DROPPED_BITS - 1))) & np.uint32(0xFFFFFFFF << TF32_DROPPED_BITS & 0xFFFFFFFF)
    return np.where(np.isfinite(values), rounded.view(np.float32).reshape(values.shape), values)


@meaning_of(tt.DotOp)
def dot(op: tt.DotOp, frame: Frame) -> Values:
    """`inputPrecision` says what may be lost, and nothing is, unless the machine `rounds_dot_inputs`: then f32 operands
    are rounded to tf32 where that is allowed (the split forms such as tf32x3 count as exact)."""
    a, b, c = frame.get_all((op.a, op.b, op.c))
    allowed = InputPrecision.of(op.input_precision) is InputPrecision.TF32
    if frame.machine.rounds_dot_inputs and allowed and a.dtype == np.float32:
        a, b = round_to_tf32(a), round_to_tf32(b)
    return (multiply(a, b, c, element_type(op.c.type)),)

"""Products of microscaling formats."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from tilewright.dialects import tt
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import ScaleDotElemType
from tilewright.dialects.types import element_type
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.dot import multiply

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The values of the 16 codes of e2m1."""


def unpack_e2m1(packed: Array, axis: int) -> Array:
    """The values of pairs of 4-bit floats; the low nibble comes first along the axis."""
    codes = np.ascontiguousarray(packed).view(np.uint8).reshape(packed.shape)
    pairs = np.stack([E2M1[codes & 15], E2M1[codes >> 4]], axis=axis % packed.ndim + 1)
    shape = list(packed.shape)
    shape[axis] *= 2
    return pairs.reshape(shape)


def decode_values(op: tt.DotScaledOp, values: Array, kind: ScaleDotElemType, packed_axis: int) -> Array:
    """The elements of an operand as f32."""
    import ml_dtypes

    if kind is ScaleDotElemType.E2M1:
        return unpack_e2m1(values, packed_axis)
    if values.dtype.itemsize != 1 or values.dtype != np.int8:
        return values.astype(np.float32)
    formats: dict[ScaleDotElemType, Any] = {
        ScaleDotElemType.E4M3: ml_dtypes.float8_e4m3fn,
        ScaleDotElemType.E5M2: ml_dtypes.float8_e5m2,
    }
    if kind not in formats:
        raise reference_error(op, f"elements of {kind.keyword} stored as i8 have no reference meaning")
    return np.ascontiguousarray(values).view(formats[kind]).reshape(values.shape).astype(np.float32)


def decode_scale(scale: Array) -> Array:
    """Scales as f32: integers are e8m0, ``2**(s - 127)`` with 255 for NaN; floats are themselves."""
    if scale.dtype != np.int8:
        return scale.astype(np.float32)
    codes = np.ascontiguousarray(scale).view(np.uint8).reshape(scale.shape).astype(np.int32)
    powers = np.ldexp(np.float32(1), codes - 127).astype(np.float32)
    return np.where(codes == 255, np.float32(np.nan), powers)


def scaled(values: Array, scale: Array | None, k_axis: int) -> Array:
    """Each element times the scale of its group along K; the K dimension of scales is their last."""
    if scale is None:
        return values
    factors = decode_scale(scale)
    factors = np.repeat(factors, values.shape[k_axis] // factors.shape[-1], axis=-1)
    return values * (factors if k_axis == -1 else np.swapaxes(factors, -1, -2))


def _flag(attr: IntegerAttr[Any]) -> bool:
    return bool(attr.value.data)


@meaning_of(tt.DotScaledOp)
def dot_scaled(op: tt.DotScaledOp, frame: Frame) -> Values:
    """Operands are unpacked and scaled in f32, then multiplied as `tt.dot` does."""
    a_scale, b_scale = (None if scale is None else np.asarray(frame.get(scale)) for scale in (op.a_scale, op.b_scale))
    lhs_axis, rhs_axis = (-1 if _flag(op.lhs_k_pack) else -2), (-2 if _flag(op.rhs_k_pack) else -1)
    a = decode_values(op, frame.get(op.a), ScaleDotElemType.of(op.a_elem_type), lhs_axis)
    b = decode_values(op, frame.get(op.b), ScaleDotElemType.of(op.b_elem_type), rhs_axis)
    product = multiply(scaled(a, a_scale, -1), scaled(b, b_scale, -2), frame.get(op.c), element_type(op.c.type))
    return (product,)

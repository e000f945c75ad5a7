"""Ops that change the layout, or the packing, of tensors: a layout is not a part of a tensor's value."""

from __future__ import annotations

import numpy as np

from tilewright.dialects import gluon, ttg
from tilewright.dialects.numeric import scalar_dtype
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.dot_scaled import unpack_e2m1


@meaning_of(ttg.ConvertLayoutOp, gluon.SetAutoLayoutOp)
def convert_layout(op: ttg.ConvertLayoutOp | gluon.SetAutoLayoutOp, frame: Frame) -> Values:
    return (np.asarray(frame.get(op.src)),)


@meaning_of(ttg.Fp4ToFpOp)
def fp4_to_fp(op: ttg.Fp4ToFpOp, frame: Frame) -> Values:
    """Every value of the 4-bit format is one of the wider format."""
    values = unpack_e2m1(np.asarray(frame.get(op.src)), op.axis.value.data)
    return (values.astype(scalar_dtype(op.result.type)),)

"""Ops that move elements and leave them as they are."""

from __future__ import annotations

import numpy as np

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import shape_of
from tilewright.reference.machine import Frame, Values, meaning_of


@meaning_of(tt.SplatOp)
def splat(op: tt.SplatOp, frame: Frame) -> Values:
    value = np.asarray(frame.get(op.src))
    return (np.full(shape_of(op.result.type), value, value.dtype),)


@meaning_of(tt.UnsplatOp)
def unsplat(op: tt.UnsplatOp, frame: Frame) -> Values:
    return (frame.get(op.src).reshape(-1)[0],)


@meaning_of(tt.ExpandDimsOp)
def expand_dims(op: tt.ExpandDimsOp, frame: Frame) -> Values:
    return (np.expand_dims(frame.get(op.src), op.axis.value.data),)


@meaning_of(tt.BroadcastOp)
def broadcast(op: tt.BroadcastOp, frame: Frame) -> Values:
    return (np.broadcast_to(frame.get(op.src), shape_of(op.result.type)),)


@meaning_of(tt.ReshapeOp)
def reshape(op: tt.ReshapeOp, frame: Frame) -> Values:
    """Row-major, also where `allow_reorder` would permit another order."""
    return (frame.get(op.src).reshape(shape_of(op.result.type)),)


@meaning_of(tt.TransOp)
def transpose(op: tt.TransOp, frame: Frame) -> Values:
    return (np.transpose(frame.get(op.src), static_values(op.order)),)


@meaning_of(tt.JoinOp)
def join(op: tt.JoinOp, frame: Frame) -> Values:
    return (np.stack(frame.get_all(op.operands), axis=-1),)


@meaning_of(tt.SplitOp)
def split(op: tt.SplitOp, frame: Frame) -> Values:
    source = frame.get(op.src)
    return source[..., 0], source[..., 1]


@meaning_of(tt.CatOp)
def concatenate(op: tt.CatOp, frame: Frame) -> Values:
    """The first operand's elements, then the second's."""
    both = np.concatenate([np.ravel(value) for value in frame.get_all(op.operands)])
    return (both.reshape(shape_of(op.result.type)),)

"""Accesses to buffers in shared memory at run-time indices: an index outside of the buffer is an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects import ttg
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import RMWOp
from tilewright.dialects.types import element_type
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.memory import AccessError
from tilewright.reference.tt.atomics import lanes_in_rounds, rmw_update
from tilewright.reference.ttg.buffers import view_of
from tilewright.reference.ttg.shared_memory import SharedView


def _indexed(frame: Frame, buffer: SSAValue, indices: SSAValue, axis: int, live: Any = None) -> SharedView:
    """A view of the elements that the indices name, each as often as it is named."""
    view, index = view_of(frame, buffer), np.asarray(frame.get(indices)).astype(np.int64)
    extent = view.positions.shape[axis]
    outside = (index < 0) | (index >= extent)
    if live is not None:
        outside &= np.asarray(live)
    if np.any(outside):
        lane = tuple(int(place) for place in np.argwhere(outside)[0])
        raise AccessError(f"lane {lane}: index {index[lane]} is outside of dimension {axis} of size {extent}")
    place: list[Array] = list(np.indices(index.shape, sparse=True))
    place[axis] = np.clip(index, 0, extent - 1)
    return replace(view, positions=view.positions[tuple(place)])


@meaning_of(ttg.LocalGatherOp)
def gather(op: ttg.LocalGatherOp, frame: Frame) -> Values:
    view = _indexed(frame, op.src, op.indices, op.axis.value.data)
    return (view.load(must_be_written=frame.machine.track_initialisation),)


@meaning_of(ttg.LocalScatterOp)
def scatter(op: ttg.LocalScatterOp, frame: Frame) -> Values:
    """Of several values for one element the last one stays."""
    _indexed(frame, op.dst, op.indices, op.axis.value.data).store(frame.get(op.values))
    return ()


@meaning_of(ttg.LocalAtomicScatterRMWOp)
def atomic_scatter(op: ttg.LocalAtomicScatterRMWOp, frame: Frame) -> Values:
    """One lane after another; what a lane that is masked off gives is 0."""
    values: Array = np.asarray(frame.get(op.values))
    live = np.ones(values.shape, np.bool_) if op.mask is None else np.asarray(frame.get(op.mask), np.bool_)
    view = _indexed(frame, op.dst, op.indices, op.axis.value.data, live)
    update = rmw_update(op, RMWOp.of(op.atomic_rmw_op), element_type(op.values.type))
    old = np.zeros(values.shape, view.dtype)
    for lanes in lanes_in_rounds(view.positions, live):
        chosen = replace(view, positions=view.positions[lanes])
        old[lanes] = chosen.load(must_be_written=frame.machine.track_initialisation)
        chosen.store(update(old[lanes], values[lanes]))
    return (old,)

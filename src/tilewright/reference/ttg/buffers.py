"""Buffers in shared memory: allocation, loads, stores and views."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilewright.dialects import ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.reference.machine import Frame, Values, as_int, meaning_of
from tilewright.reference.memory import AccessError
from tilewright.reference.ttg.in_flight import memory_of_program
from tilewright.reference.ttg.shared_memory import SharedView, fresh_buffer, indexed, whole_view


def view_of(frame: Frame, value: SSAValue) -> SharedView:
    """A buffer that an op takes."""
    view: SharedView = frame.get(value)
    return view


@meaning_of(ttg.LocalAllocOp)
def allocate(op: ttg.LocalAllocOp, frame: Frame) -> Values:
    """Return where the allocation says, or in memory of its own before there is one."""
    type_, offset = as_memdesc(op.result.type), op.attributes.get("allocation.offset")
    if isinstance(offset, IntegerAttr):
        place: Any = offset.value.data
        view = memory_of_program(frame).at_offset(type_, frame.machine.shared_base + place)
    else:
        view = fresh_buffer(type_, f"buffer '{op.result.name_hint}'" if op.result.name_hint else "a buffer")
    if op.src is not None:
        view.store(frame.get(op.src))
    return (view,)


@meaning_of(ttg.LocalDeallocOp)
def deallocate(op: ttg.LocalDeallocOp, frame: Frame) -> Values:
    """Nothing may still be under way in the buffer."""
    view_of(frame, op.src).check_writable()
    return ()


@meaning_of(ttg.LocalLoadOp)
def load(op: ttg.LocalLoadOp, frame: Frame) -> Values:
    return (view_of(frame, op.src).load(must_be_written=frame.machine.track_initialisation),)


@meaning_of(ttg.LocalStoreOp)
def store(op: ttg.LocalStoreOp, frame: Frame) -> Values:
    view_of(frame, op.dst).store(frame.get(op.src))
    return ()


@meaning_of(ttg.MemDescIndexOp)
def index(op: ttg.MemDescIndexOp, frame: Frame) -> Values:
    return (indexed(view_of(frame, op.src), as_int(frame.get(op.index)), as_memdesc(op.result.type)),)


@meaning_of(ttg.MemDescSubsliceOp)
def subslice(op: ttg.MemDescSubsliceOp, frame: Frame) -> Values:
    view, type_ = view_of(frame, op.src), as_memdesc(op.result.type)
    box = tuple(
        slice(start, start + size) for start, size in zip(static_values(op.offsets), type_.get_shape(), strict=True)
    )
    return (SharedView(view.storage, type_, view.start, view.positions[box]),)


@meaning_of(ttg.MemDescTransOp)
def transpose(op: ttg.MemDescTransOp, frame: Frame) -> Values:
    view = view_of(frame, op.src)
    positions = np.transpose(view.positions, static_values(op.order))
    return (SharedView(view.storage, as_memdesc(op.result.type), view.start, positions),)


@meaning_of(ttg.MemDescReshapeOp)
def reshape(op: ttg.MemDescReshapeOp, frame: Frame) -> Values:
    view, type_ = view_of(frame, op.src), as_memdesc(op.result.type)
    return (SharedView(view.storage, type_, view.start, view.positions.reshape(type_.get_shape())),)


@meaning_of(ttg.MemDescReinterpretOp)
def reinterpret(op: ttg.MemDescReinterpretOp, frame: Frame) -> Values:
    """The same bytes, laid out as the new type says."""
    view = view_of(frame, op.src)
    if view.type.get_shape() != view.type.get_alloc_shape():
        raise AccessError("a part of a buffer cannot be reinterpreted")
    return (whole_view(view.storage, as_memdesc(op.result.type), view.start),)

"""Stores of tensors to views of memory that others see.

%r = linalg.generic ...; bufferization.materialize_in_destination %r in %view
  ->  the nest writes to %view where it reads nothing of it that it has written; else a copy, by way of a buffer where
      the two may overlap
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import linalg
from tilewright.dialects.types import element_type
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.access_log import location_of_load
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.lower_structured import run_generic
from tilewright.lowering.linalg_to_loops.overlaps import is_disjoint, is_same_memory, writes_directly
from tilewright.lowering.linalg_to_loops.sources import StridedView, memory_of
from tilewright.transforms.linalg.structured import shape_or_scalar


def store_box(
    lowering: FunctionLowering,
    op: Operation,
    value: SSAValue,
    dest: StridedView,
    starts: Sequence[Index],
    sizes: Sequence[Index],
) -> None:
    """Write the box of `value` at `starts` to the same indices of `dest`."""
    producer = value.owner
    if any(start != 0 for start in starts):
        _store_inner_box(lowering, value, dest, starts, sizes)
        return
    if isinstance(producer, linalg.StructuredOp) and producer in lowering.values.deferred:
        _store_deferred(lowering, producer, dest, sizes)
        return
    source, location = lowering.source(value), location_of_load(value)
    view = memory_of(source)
    if view is not None and not is_disjoint(lowering, view, dest) and not is_same_memory(view, dest):
        lowering.known.context.remark(op, "what is stored may overlap what it was loaded from", RemarkKind.COPIED)
        buffer = lowering.memory.new_tile(value)
        lowering.copy(source, buffer, sizes, location)
        source = buffer
    lowering.copy(source, dest, sizes, location)


def _store_deferred(
    lowering: FunctionLowering, producer: linalg.StructuredOp, dest: StridedView, sizes: Sequence[Index]
) -> None:
    """The results of a generic that has waited for its store."""
    if writes_directly(lowering, producer, dest):
        run_generic(lowering, producer, dest, sizes)
        return
    buffer = lowering.memory.new_tile(producer.results[0])
    run_generic(lowering, producer, buffer, sizes)
    lowering.copy(buffer, dest, sizes)


def _store_inner_box(
    lowering: FunctionLowering, value: SSAValue, dest: StridedView, starts: Sequence[Index], sizes: Sequence[Index]
) -> None:
    """A box that does not start at the origin: both sides shifted; what is not in memory yet is put there whole."""
    producer, shape = value.owner, shape_or_scalar(value.type)
    is_deferred = isinstance(producer, linalg.StructuredOp) and producer in lowering.values.deferred
    source = None if is_deferred else lowering.source(value)
    if not isinstance(source, StridedView):
        buffer = lowering.memory.new_tile(value)
        if isinstance(producer, linalg.StructuredOp) and is_deferred:
            run_generic(lowering, producer, buffer, shape)
        elif source is not None:
            lowering.copy(source, buffer)
        source = buffer
    rank = list(range(len(shape)))
    box = tuple(1 if size == 1 else extent for size, extent in zip(sizes, shape, strict=True))
    shifted = sources.cut_slice(lowering.emitter, source, starts, [1] * len(shape), rank, box)
    target = sources.cut_slice(lowering.emitter, dest, starts, [1] * len(shape), rank, box)
    assert isinstance(shifted, StridedView) and isinstance(target, StridedView)
    if not is_disjoint(lowering, shifted, target) and not is_same_memory(shifted, target):
        buffer = lowering.memory.new_buffer(element_type(value.type), box)
        lowering.copy(shifted, buffer, sizes)
        shifted = buffer
    lowering.copy(shifted, target, sizes)

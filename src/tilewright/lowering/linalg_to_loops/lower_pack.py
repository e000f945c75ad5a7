"""Panels of right operands: calls of the routines that pack, or that find panels in a pack cache.

%p = linalg_ext.pack %b cached(0) {microkernel.packing = ...}
  ->  %p = call @tw_mk_cache_f32_f32_64(%b, %b_stride, %cache, %rows, %columns, 0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import PACK_CACHE_BYTES, Packing, PanelRoutine
from tilewright.dialects import linalg_ext
from tilewright.dialects.types import bit_width, element_type
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.dot_operands import (
    MatrixAddress,
    copied_operand,
    in_place,
    is_contiguous,
    is_full,
    right_operand,
)
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index
from tilewright.lowering.linalg_to_loops.external_calls import call_microkernel
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_memory import memref_sizes
from tilewright.lowering.linalg_to_loops.sources import PaddedView, StridedView
from tilewright.lowering.microkernel_attributes import find_routine
from tilewright.transforms.linalg.index_proofs import constant_of


@lowers(linalg_ext.PackOp)
def lower_pack(op: linalg_ext.PackOp, lowering: FunctionLowering) -> None:
    """A call of the routine that packs, or finds the panels in a cache."""
    routine = find_routine(op)
    if not isinstance(routine, PanelRoutine):
        lowering.fail(op, "panels without a routine that packs them")
        return
    emitter = lowering.emitter
    if op.condition is not None:
        panels = _find_panels(lowering, op, routine)
    elif op.cache is not None:
        panels = _cached_panels(lowering, op, routine)
    else:
        b = right_operand(lowering, lowering.source(op.source), tensor_shape(op.source), tensor_shape(op.source)[0])
        panels = _packed_panels(lowering, op, routine, *b)
    lowering.values.panels[op.panels] = panels
    if op.is_there is not None:
        op.is_there.replace_all_uses_with(emitter.truth(emitter.compare("ne", panels, 0)))
    lowering.values.dead.append(op)


def _packed_panels(
    lowering: FunctionLowering, op: linalg_ext.PackOp, routine: PanelRoutine, b: MatrixAddress, rows_adjoin: bool
) -> SSAValue:
    """The address of panels that are packed here."""
    size = prod(tensor_shape(op.panels)) * bit_width(element_type(op.panels.type)) // 8
    packed = in_place(lowering.emitter, lowering.memory.new_buffer(i8, (size,)))
    routine = replace(routine, packing=Packing.PACK, transposed_b=rows_adjoin)
    stride = b.strides[-1 if rows_adjoin else -2]
    operands = (b.address, stride, packed.address, *tensor_shape(op.source))
    call_microkernel(lowering.emitter, routine, operands)
    return packed.address


def _cached_panels(lowering: FunctionLowering, op: linalg_ext.PackOp, routine: PanelRoutine) -> SSAValue:
    """The address of panels that another program may have packed; of a matrix that is cut off by its end, of those of
    a copy with its padding."""
    emitter, source, shape = lowering.emitter, lowering.source(op.source), tensor_shape(op.source)
    inner = source.inner if isinstance(source, PaddedView) else source
    full = is_full(emitter, source, shape, -1, 0) if isinstance(source, PaddedView) else True
    rows_adjoin = not is_contiguous(source, 1)
    # What was copied to a buffer is at one address in all programs, each with elements of its own.
    is_own = not isinstance(inner, StridedView) or inner.owned
    if full is False or is_own or (rows_adjoin and not is_contiguous(source, 0)):
        return _packed_panels(lowering, op, routine, copied_operand(lowering, source, shape), rows_adjoin=False)
    assert isinstance(inner, StridedView)
    routine = replace(routine, transposed_b=rows_adjoin)
    if full is True:
        return _call_cache(lowering, op, routine, inner, shape)
    choice, then_block, else_block = emitter.open_if(full, [INDEX])
    with emitter.at(then_block):
        emitter.yield_([_call_cache(lowering, op, routine, inner, shape)])
    with emitter.at(else_block):
        order = (1, 0) if rows_adjoin else (0, 1)
        copy = copied_operand(lowering, sources.permute(source, order), tuple(shape[dim] for dim in order))
        in_order = replace(copy, strides=tuple(copy.strides[dim] for dim in order))
        emitter.yield_([_packed_panels(lowering, op, routine, in_order, rows_adjoin)])
    return choice.results[0]


def _find_panels(lowering: FunctionLowering, op: linalg_ext.PackOp, routine: PanelRoutine) -> SSAValue:
    """The address of panels of a view; 0 where there are none."""
    emitter, sizes, condition = lowering.emitter, memref_sizes(op.source), op.condition
    if sizes is None or condition is None:
        lowering.fail(op, "a view whose sizes are not known")
        raise AssertionError
    view = lowering.view_for(op, op.source)
    if constant_of(condition) is not None:
        return _call_cache(lowering, op, routine, view, sizes)
    found, then_block, else_block = emitter.open_if(condition, [INDEX])
    with emitter.at(then_block):
        emitter.yield_([_call_cache(lowering, op, routine, view, sizes)])
    with emitter.at(else_block):
        emitter.yield_([emitter.constant(0, INDEX)])
    return found.results[0]


def _call_cache(
    lowering: FunctionLowering, op: linalg_ext.PackOp, routine: PanelRoutine, view: StridedView, sizes: Sequence[Index]
) -> SSAValue:
    assert op.cache is not None
    emitter = lowering.emitter
    b = in_place(emitter, view)
    cache = in_place(emitter, lowering.memory.new_scratch(PACK_CACHE_BYTES))
    stride = b.strides[-1 if routine.transposed_b else -2]
    operands = (b.address, stride, cache.address, *sizes, op.cache.value.data)
    return call_microkernel(emitter, routine, operands, (INDEX,)).results[0]

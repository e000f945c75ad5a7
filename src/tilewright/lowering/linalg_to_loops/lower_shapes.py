"""Tensors that are other views of tensors: reshapes, transposes, slices, padding."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, linalg, linalg_ext, tensor
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_structured import lower_generic
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, Splat, StridedView
from tilewright.transforms.linalg.index_proofs import fold_index


@lowers(tensor.ExpandShapeOp)
def lower_expand(op: tensor.ExpandShapeOp, lowering: FunctionLowering) -> None:
    """New strides over the same memory."""
    reshape(lowering, op, op.src, lambda source: sources.expand(source, op.groups, tensor_shape(op.result)))


@lowers(tensor.CollapseShapeOp)
def lower_collapse(op: tensor.CollapseShapeOp, lowering: FunctionLowering) -> None:
    """New strides over the same memory, if the joined dimensions are adjacent in it."""
    reshape(lowering, op, op.src, lambda source: sources.collapse(source, op.groups, tensor_shape(op.result)))


@lowers(linalg.TransposeOp)
def lower_transpose(op: linalg.TransposeOp, lowering: FunctionLowering) -> None:
    """Strides in another order over the same memory."""
    if not op.results:
        lower_generic(op, lowering)
        return
    lowering.define(op, sources.permute(lowering.source(op.inputs[0]), op.dims))


@lowers(linalg_ext.AsWordsOp)
def lower_as_words(op: linalg_ext.AsWordsOp, lowering: FunctionLowering) -> None:
    """The same memory, four bytes at a time."""
    reshape(lowering, op, op.source, sources.as_words)


@lowers(tensor.ReshapeOp)
def lower_reshape(op: tensor.ReshapeOp, lowering: FunctionLowering) -> None:
    """Any shape to any other, through row major memory."""
    shape = tensor_shape(op.result)

    def change(source: Source) -> Source | None:
        if isinstance(source, Splat):
            return source
        if not isinstance(source, StridedView) or not source.is_contiguous():
            return None
        strides = sources.contiguous_strides(shape)
        return StridedView(source.flat, source.offset, strides, shape, source.element, source.root, source.owned)

    reshape(lowering, op, op.source, change)


def reshape(
    lowering: FunctionLowering, op: Operation, value: SSAValue, change: Callable[[Source], Source | None]
) -> None:
    """Apply a change of shape to a source, or to a contiguous copy of it."""
    changed = change(lowering.source(value))
    if changed is None:
        buffer = lowering.memory.new_tile(value)
        lowering.copy(lowering.source(value), buffer)
        changed = change(buffer)
        assert changed is not None
    lowering.define(op, changed)


@lowers(tensor.CastOp)
def lower_cast(op: tensor.CastOp, lowering: FunctionLowering) -> None:
    """The same elements."""
    lowering.define(op, lowering.source(op.source))


@lowers(tensor.ExtractSliceOp)
def lower_extract_slice(op: tensor.ExtractSliceOp, lowering: FunctionLowering) -> None:
    """A static slice is a change of offset and strides.

    The store that takes a dynamic slice, or a slice of what it will have computed itself, looks through it.
    """
    shape = tensor_shape(op.result)
    if DYNAMIC_INDEX in shape or op.source.owner in lowering.values.deferred:
        lowering.values.dead.append(op)
        return
    if any(isinstance(step, SSAValue) for step in op.mixed_strides):
        lowering.fail(op, "slice with a stride that is not constant")
    steps = [step for step in op.mixed_strides if isinstance(step, int)]
    source = lowering.source(op.source)
    offsets = [fold_index(offset) for offset in op.mixed_offsets]
    cut = sources.cut_slice(lowering.emitter, source, offsets, steps, op.kept_dims, shape)
    if cut is None:
        cut = sources.cut_slice(lowering.emitter, lowering.in_memory(op.source), offsets, steps, op.kept_dims, shape)
        assert cut is not None
    lowering.define(op, cut)


@lowers(tensor.InsertSliceOp)
def lower_insert_slice(op: tensor.InsertSliceOp, lowering: FunctionLowering) -> None:
    """A slice changed: in place where the old tensor is not needed any more, else in a copy."""
    if any(isinstance(entry, SSAValue) for entry in (*op.mixed_sizes, *op.mixed_strides)):
        lowering.fail(op, "slice of dynamic extent")
    source = lowering.source(op.source)
    dest = lowering.storage.updated(op, op.dest, op.result)
    shape = tensor_shape(op.source)
    offsets = [fold_index(offset) for offset in op.mixed_offsets]
    steps = [step for step in op.mixed_strides if isinstance(step, int)]
    part = sources.cut_slice(lowering.emitter, dest, offsets, steps, op.kept_dims, shape)
    assert isinstance(part, StridedView)
    lowering.copy(source, part)
    lowering.define(op, dest)


@lowers(tensor.ConcatOp)
def lower_concat(op: tensor.ConcatOp, lowering: FunctionLowering) -> None:
    """The inputs, one after the other, in a new buffer."""
    shape, buffer = tensor_shape(op.result), lowering.memory.new_tile(op.result)
    dims = list(range(len(shape)))
    dim, start = op.dim.value.data, 0
    for value in op.inputs:
        part_shape = tensor_shape(value)
        offsets = [start if axis == dim else 0 for axis in range(len(shape))]
        part = sources.cut_slice(lowering.emitter, buffer, offsets, [1] * len(shape), dims, part_shape)
        assert isinstance(part, StridedView)
        lowering.copy(lowering.source(value), part)
        start += part_shape[dim]
    lowering.define(op, buffer)


@lowers(tensor.PadOp)
def lower_pad(op: tensor.PadOp, lowering: FunctionLowering) -> None:
    """Read a pad as a padded view: elements out of the bounds of the view are the padding."""
    shape = tensor_shape(op.result)
    body = op.region.block
    yield_op = body.last_op
    assert yield_op is not None
    fill = yield_op.operands[0]
    view = lowering.source(op.source)
    if fill.owner is body or DYNAMIC_INDEX in shape or not isinstance(view, StridedView):
        lowering.fail(op, "padding of this form")
        return
    if isinstance(fill.owner, Operation) and fill.owner.parent_block() is body:
        fill.owner.detach()
        lowering.emitter.insert(fill.owner)
    low = [fold_index(entry) for entry in op.mixed_low]
    high = [box_end(lowering, extent, entry) for extent, entry in zip(shape, op.mixed_high, strict=True)]
    offset = view.offset
    for start, stride in zip(low, view.strides, strict=True):
        offset = lowering.emitter.sub(offset, lowering.emitter.mul(start, stride))
    inner = StridedView(view.flat, offset, view.strides, shape, view.element, view.root, view.owned)
    lowering.define(op, PaddedView(inner, tuple(low), tuple(high), shape, fill))


def box_end(lowering: FunctionLowering, extent: int, padding: Index) -> Index:
    """Return where a padded view ends before its padding: `extent - (extent - size)` is `size`."""
    padding = fold_index(padding)
    owner = padding.owner if isinstance(padding, SSAValue) else None
    if isinstance(owner, arith.SubiOp) and fold_index(owner.lhs) == extent:
        return fold_index(owner.rhs)
    return lowering.emitter.sub(extent, padding)

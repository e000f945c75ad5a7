"""Tensor ops on buffers: results are computed into their own buffer, or into that of a destination that nothing else
reads. Static reshapes, and slices of dynamic extents, are views of the buffer of their operand.

%r = tensor.insert_slice %a into %t[%i] [4] [1]
  ->  memref.copy %t, %buffer;  %s = memref.subview %buffer[%i] [4] [1];  memref.copy %a, %s
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, linalg, memref, tensor, ub
from tilewright.dialects.arith.constant import is_dense
from tilewright.dialects.memref.views import infer_subview_type, strided_layout, strides_and_offset
from tilewright.dialects.types import as_memref, as_tensor, element_type, has_static_shape, is_tensor, shape_of
from tilewright.transforms.linalg.one_shot_bufferize.buffers import buffer_type
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer, lowers
from tilewright.transforms.linalg.one_shot_bufferize.structured_rules import fill, insert_generic

# -- where tensors come from -------------------------------------------------------------------------------------------


@lowers(arith.ConstantOp)
def bufferize_constant(op: arith.ConstantOp, f: Bufferizer) -> None:
    """A fill with the one element, or a table."""
    type_, value = op.result.type, op.value
    if not is_tensor(type_):
        return
    if not is_dense(value):
        f.fail(op, "is a constant of unknown form")
    if not value.is_splat():
        f.buffers.bind(op.result, f.buffers.constant(value, buffer_type(type_)))
    else:
        fill(f, _scalar_constant(f, value), f.buffers.of(op.result))
    f.retire(op)


def _scalar_constant(f: Bufferizer, value: DenseIntOrFPElementsAttr) -> SSAValue:
    (attribute, *_) = cast("Sequence[IntegerAttr | FloatAttr]", value.get_attrs())
    return f.builder.result(arith.ConstantOp(attribute))


@lowers(tensor.EmptyOp, ub.PoisonOp)
def bufferize_undefined(op: tensor.EmptyOp | ub.PoisonOp, f: Bufferizer) -> None:
    """Whatever is in the buffer."""
    if is_tensor(op.results[0].type):
        f.retire(op)


@lowers(tensor.SplatOp)
def bufferize_splat(op: tensor.SplatOp, f: Bufferizer) -> None:
    """A fill."""
    fill(f, op.input, f.buffers.of(op.results[0]))
    f.retire(op)


@lowers(tensor.FromElementsOp)
def bufferize_from_elements(op: tensor.FromElementsOp, f: Bufferizer) -> None:
    """One store for each element."""
    buffer = f.buffers.of(op.result)
    positions = product(*(range(extent) for extent in as_tensor(op.result.type).get_shape()))
    for element, position in zip(op.elements, positions, strict=True):
        f.builder.insert(memref.StoreOp(element, buffer, [f.index(index) for index in position]))
    f.retire(op)


@lowers(tensor.GenerateOp)
def bufferize_generate(op: tensor.GenerateOp, f: Bufferizer) -> None:
    """A `linalg.generic` over the indices."""
    _compute(f, op.body, f.buffers.of(op.result))
    f.retire(op)


@lowers(tensor.PadOp)
def bufferize_pad(op: tensor.PadOp, f: Bufferizer) -> None:
    """The padding everywhere, then the source at its offsets."""
    buffer = f.buffers.of(op.result)
    _compute(f, op.region, buffer)
    source = f.buffers.of(op.source)
    inner = _subview(f, op, buffer, op.mixed_low, _extents(f, source), [1] * len(op.mixed_low))
    f.buffers.copy(source, inner)
    f.retire(op)


def _extents(f: Bufferizer, buffer: SSAValue) -> list[int | SSAValue]:
    extents: list[int | SSAValue] = []
    for dim, extent in enumerate(shape_of(buffer.type) or ()):
        is_static = extent >= 0
        extents.append(extent if is_static else f.builder.result(memref.DimOp(buffer, f.index(dim))))
    return extents


def _compute(f: Bufferizer, region: Region, buffer: SSAValue) -> None:
    """Fill a buffer with what a region yields for the indices of each element."""
    rank = len(shape_of(buffer.type) or ())
    block = Block(arg_types=[element_type(buffer.type)])
    indices = [linalg.IndexOp(dim) for dim in range(rank)]
    block.add_ops(indices)
    body = region.block
    for argument, index in zip(body.args, indices, strict=True):
        argument.replace_all_uses_with(index.result)
    for inner in list(body.ops):
        inner.detach()
        if isinstance(inner, tensor.YieldOp):
            block.add_op(linalg.YieldOp(inner.value))
            inner.erase()
        else:
            block.add_op(inner)
    insert_generic(f, [], buffer, block)


# -- elements and parts ------------------------------------------------------------------------------------------------


@lowers(tensor.ExtractOp)
def bufferize_extract(op: tensor.ExtractOp, f: Bufferizer) -> None:
    """A load."""
    f.replace(op, f.builder.insert(memref.LoadOp(f.buffers.of(op.tensor), op.indices)).results)


@lowers(tensor.InsertOp)
def bufferize_insert(op: tensor.InsertOp, f: Bufferizer) -> None:
    """A store into the destination."""
    buffer = f.buffers.destination(op, op.dest, op.result)
    f.builder.insert(memref.StoreOp(op.scalar, buffer, op.indices))
    f.retire(op)


@lowers(tensor.DimOp)
def bufferize_dim(op: tensor.DimOp, f: Bufferizer) -> None:
    """The extent of the buffer."""
    f.replace(op, f.builder.insert(memref.DimOp(f.buffers.of(op.source), op.index)).results)


@lowers(tensor.RankOp)
def bufferize_rank(op: tensor.RankOp, f: Bufferizer) -> None:
    """A constant."""
    f.replace(op, (f.index(as_tensor(op.operands[0].type).get_num_dims()),))


@lowers(tensor.ExtractSliceOp)
def bufferize_extract_slice(op: tensor.ExtractSliceOp, f: Bufferizer) -> None:
    """A copy of a view; the view itself where only the program knows its extents."""
    source = f.buffers.of(op.source)
    view = _subview(f, op, source, op.mixed_offsets, op.mixed_sizes, op.mixed_strides, op.kept_dims)
    if has_static_shape(op.result.type):
        f.buffers.copy(view, f.buffers.of(op.result))
    else:
        f.buffers.bind(op.result, view, source)
    f.retire(op)


@lowers(tensor.InsertSliceOp)
def bufferize_insert_slice(op: tensor.InsertSliceOp, f: Bufferizer) -> None:
    """A copy into a view of the destination."""
    buffer = f.buffers.destination(op, op.dest, op.result)
    view = _subview(f, op, buffer, op.mixed_offsets, op.mixed_sizes, op.mixed_strides, op.kept_dims)
    f.buffers.copy(f.buffers.of(op.source), view)
    f.retire(op)


@lowers(tensor.ConcatOp)
def bufferize_concat(op: tensor.ConcatOp, f: Bufferizer) -> None:
    """Copies into views, one after the other."""
    buffer, start = f.buffers.of(op.result), 0
    for value in op.inputs:
        shape = as_tensor(value.type).get_shape()
        offsets = [start if dim == op.dim.value.data else 0 for dim in range(len(shape))]
        f.buffers.copy(f.buffers.of(value), _subview(f, op, buffer, offsets, shape, [1] * len(shape)))
        start += shape[op.dim.value.data]
    f.retire(op)


def _subview(
    f: Bufferizer,
    op: Operation,
    source: SSAValue,
    offsets: Sequence[int | SSAValue],
    sizes: Sequence[int | SSAValue],
    strides: Sequence[int | SSAValue],
    kept: Sequence[int] | None = None,
) -> SSAValue:
    """``memref.subview``, without the dimensions that are not kept."""
    type_ = infer_subview_type(as_memref(source.type), offsets, sizes, strides)
    if kept is not None and len(kept) < len(sizes):
        strides_of, offset = strides_and_offset(type_)
        shape = type_.get_shape()
        layout = strided_layout([strides_of[dim] for dim in kept], offset)
        type_ = MemRefType(type_.element_type, [shape[dim] for dim in kept], layout)
    return f.builder.result(memref.SubviewOp(source, offsets, sizes, strides, type_))


# -- shapes ------------------------------------------------------------------------------------------------------------


@lowers(tensor.CollapseShapeOp)
def bufferize_collapse(op: tensor.CollapseShapeOp, f: Bufferizer) -> None:
    """A view of contiguous elements."""
    source = _contiguous(f, op, op.src)
    view = f.builder.insert(memref.CollapseShapeOp(source, op.groups, buffer_type(op.result.type)))
    f.buffers.bind(op.result, view.results[0], source)
    f.retire(op)


@lowers(tensor.ExpandShapeOp)
def bufferize_expand(op: tensor.ExpandShapeOp, f: Bufferizer) -> None:
    """A view of contiguous elements."""
    source = _contiguous(f, op, op.src)
    view = f.builder.insert(memref.ExpandShapeOp(source, op.groups, buffer_type(op.result.type)))
    f.buffers.bind(op.result, view.results[0], source)
    f.retire(op)


@lowers(tensor.ReshapeOp)
def bufferize_reshape(op: tensor.ReshapeOp, f: Bufferizer) -> None:
    """A view of contiguous elements."""
    source, shape = _contiguous(f, op, op.source), as_tensor(op.result.type).get_shape()
    strides, stride = list[int](), 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= extent
    type_ = buffer_type(op.result.type)
    view = f.builder.result(memref.ReinterpretCastOp(source, 0, shape, strides, type_))
    f.buffers.bind(op.result, view, source)
    f.retire(op)


@lowers(tensor.CastOp)
def bufferize_cast(op: tensor.CastOp, f: Bufferizer) -> None:
    """A copy into a buffer of known extents, or a view that forgets some."""
    source = f.buffers.of(op.source)
    if has_static_shape(op.dest.type):
        f.buffers.copy(source, f.buffers.of(op.dest))
    else:
        layout = as_memref(source.type)
        type_ = type(layout)(layout.element_type, as_tensor(op.dest.type).shape, layout.layout)
        f.buffers.bind(op.dest, f.builder.result(memref.CastOp(source, type_)), source)
    f.retire(op)


def _contiguous(f: Bufferizer, op: Operation, value: SSAValue) -> SSAValue:
    if not (has_static_shape(value.type) and has_static_shape(op.results[0].type)):
        f.fail(op, "changes the shape of a tensor whose extents are known at run time only")
    return f.buffers.of(value)

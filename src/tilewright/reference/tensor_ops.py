"""The meaning of tensor and bufferization ops: tensors are arrays that nothing changes in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, tensor, vector
from tilewright.dialects.arith.meaning import cast
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.slices import SlicingOp
from tilewright.dialects.types import element_type, shape_of
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, as_int, meaning_of
from tilewright.reference.memory import AccessError, MemRef, allocate


def mixed_ints(values: Sequence[int | SSAValue], frame: Frame) -> list[int]:
    """A mixed list with its values read."""
    return [value if isinstance(value, int) else as_int(frame.get(value)) for value in values]


def sizes_of(type_: Any, dynamic: Sequence[SSAValue], frame: Frame) -> list[int]:
    """A shape with its dynamic extents filled in."""
    remaining = iter(dynamic)
    shape = shape_of(type_) or ()
    return [as_int(frame.get(next(remaining))) if extent == DYNAMIC_INDEX else extent for extent in shape]


def undefined(shape: Sequence[int], element: Any) -> Array:
    """Contents that nothing may rely on: all bits set."""
    return allocate(shape, element, track=False).load_all()


def place_of(indices: Sequence[Any], shape: Sequence[int], active: Array | None) -> tuple[Any, ...]:
    """Indices checked against a shape; lanes that take no part read element 0."""
    checked: list[Any] = []
    for dim, (index, size) in enumerate(zip(indices, shape, strict=True)):
        outside = (index < 0) | (index >= size)
        if active is not None:
            outside = outside & active
            index = np.where(active, index, 0)
        if np.any(outside):
            where = np.asarray(np.broadcast_to(index, np.shape(outside)))[outside]
            raise AccessError(f"index {int(where.reshape(-1)[0])} is outside of dimension {dim} of size {size}")
        checked.append(index)
    return tuple(checked)


@meaning_of(tensor.EmptyOp)
def empty(op: tensor.EmptyOp, frame: Frame) -> Values:
    type_ = op.results[0].type
    return (undefined(sizes_of(type_, op.operands, frame), element_type(type_)),)


@meaning_of(tensor.SplatOp)
def splat(op: tensor.SplatOp, frame: Frame) -> Values:
    value = frame.get(op.operands[0])
    return (np.full(sizes_of(op.results[0].type, op.operands[1:], frame), value, np.asarray(value).dtype),)


@meaning_of(tensor.FromElementsOp, vector.FromElementsOp)
def from_elements(op: tensor.FromElementsOp | vector.FromElementsOp, frame: Frame) -> Values:
    type_ = op.results[0].type
    return (np.array(frame.get_all(op.operands), dtype_of(element_type(type_))).reshape(shape_of(type_) or ()),)


@meaning_of(tensor.GenerateOp)
def generate(op: tensor.GenerateOp, frame: Frame) -> Values:
    type_ = op.results[0].type
    result = undefined(sizes_of(type_, op.operands, frame), element_type(type_))
    for place in np.ndindex(*result.shape):
        (result[place],) = frame.run_region(op.body, [np.int64(index) for index in place])
    return (result,)


@meaning_of(tensor.PadOp)
def pad(op: tensor.PadOp, frame: Frame) -> Values:
    source = frame.get(op.source)
    low, high = mixed_ints(op.mixed_low, frame), mixed_ints(op.mixed_high, frame)
    shape = [before + extent + after for before, extent, after in zip(low, source.shape, high, strict=True)]
    result = np.empty(shape, source.dtype)
    inside = tuple(slice(before, before + extent) for before, extent in zip(low, source.shape, strict=True))
    outside = np.ones(shape, np.bool_)
    outside[inside] = False
    for place in zip(*np.nonzero(outside), strict=True):
        (result[place],) = frame.run_region(op.region, [np.int64(index) for index in place])
    result[inside] = source
    return (result,)


@meaning_of(tensor.ExtractOp)
def extract(op: tensor.ExtractOp, frame: Frame) -> Values:
    source = frame.get(op.operands[0])
    indices = frame.get_all(op.operands[1:])
    return (source[place_of(indices, source.shape, frame.active)],)


@meaning_of(tensor.InsertOp)
def insert(op: tensor.InsertOp, frame: Frame) -> Values:
    value, dest, *indices = frame.get_all(op.operands)
    result = np.array(dest)
    result[place_of(indices, result.shape, None)] = value
    return (result,)


@meaning_of(tensor.DimOp)
def extent(op: tensor.DimOp, frame: Frame) -> Values:
    shape, dim = np.shape(frame.get(op.source)), as_int(frame.get(op.index))
    if not 0 <= dim < len(shape):
        raise reference_error(op, f"there is no dimension {dim}")
    return (np.int64(shape[dim]),)


@meaning_of(tensor.RankOp)
def rank(op: tensor.RankOp, frame: Frame) -> Values:
    return (np.int64(np.ndim(frame.get(op.operands[0]))),)


@meaning_of(tensor.CastOp)
def shape_cast(op: tensor.CastOp, frame: Frame) -> Values:
    value = frame.get(op.operands[0])
    wanted = shape_of(op.results[0].type)
    if wanted is not None and any(w not in (DYNAMIC_INDEX, f) for w, f in zip(wanted, value.shape, strict=True)):
        raise reference_error(op, f"a tensor of shape {list(value.shape)} is not a {op.results[0].type}")
    return (value,)


@meaning_of(tensor.BitcastOp)
def bitcast(op: tensor.BitcastOp, frame: Frame) -> Values:
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    return (cast("arith.bitcast", frame.get(op.operands[0]), source, target),)


@meaning_of(tensor.CollapseShapeOp)
def collapse(op: tensor.CollapseShapeOp, frame: Frame) -> Values:
    source = frame.get(op.operands[0])
    shape = [int(np.prod([source.shape[dim] for dim in group], dtype=np.int64)) for group in op.groups]
    return (source.reshape(shape),)


@meaning_of(tensor.ExpandShapeOp)
def expand(op: tensor.ExpandShapeOp, frame: Frame) -> Values:
    return (frame.get(op.operands[0]).reshape(mixed_ints(op.mixed_output_shape, frame)),)


@meaning_of(tensor.ReshapeOp)
def reshape(op: tensor.ReshapeOp, frame: Frame) -> Values:
    source, shape = frame.get_all(op.operands)
    wanted = [int(extent) for extent in shape]
    if int(np.prod(wanted, dtype=np.int64)) != source.size:
        raise reference_error(op, f"{source.size} elements do not fill a shape of {wanted}")
    return (source.reshape(wanted),)


@meaning_of(tensor.ConcatOp)
def concatenate(op: tensor.ConcatOp, frame: Frame) -> Values:
    return (np.concatenate(frame.get_all(op.operands), axis=op.dim.value.data),)


def slice_places(op: SlicingOp, shape: Sequence[int], frame: Frame) -> tuple[slice, ...]:
    """The part of an array that a slicing op takes; raises where it leaves the array."""
    lists = (op.mixed_offsets, op.mixed_sizes, op.mixed_strides)
    offsets, sizes, strides = (mixed_ints(values, frame) for values in lists)
    places: list[slice] = []
    for dim, (offset, size, stride, bound) in enumerate(zip(offsets, sizes, strides, shape, strict=True)):
        last = offset + (size - 1) * stride
        if size < 0 or stride < 1 or (size > 0 and not (offset >= 0 and last < bound)):
            raise AccessError(f"dimension {dim}: {size} elements from {offset} by {stride} leave a size of {bound}")
        places.append(slice(offset, last + 1 if size else offset, stride))
    return tuple(places)


@meaning_of(tensor.ExtractSliceOp)
def extract_slice(op: tensor.ExtractSliceOp, frame: Frame) -> Values:
    source = frame.get(op.source)
    part = source[slice_places(op, source.shape, frame)]
    return (part.reshape([part.shape[dim] for dim in op.kept_dims]),)


@meaning_of(tensor.InsertSliceOp)
def insert_slice(op: tensor.InsertSliceOp, frame: Frame) -> Values:
    source, result = frame.get(op.source), np.array(frame.get(op.dest))
    places = slice_places(op, result.shape, frame)
    result[places] = source.reshape(result[places].shape)
    return (result,)


@meaning_of(bufferization.ToTensorOp)
def to_tensor(op: bufferization.ToTensorOp, frame: Frame) -> Values:
    """The contents at this moment. An unranked source gives what can be reached from it as one dimension."""
    source: MemRef = frame.get(op.memref)
    if isinstance(op.memref.type, UnrankedMemRefType):
        return (np.array(source.storage.data[source.offset :]),)
    return (source.load_all(),)


@meaning_of(bufferization.ToBufferOp)
def to_buffer(op: bufferization.ToBufferOp, frame: Frame) -> Values:
    value = frame.get(op.tensor)
    buffer = allocate(value.shape, element_type(op.tensor.type), track=False)
    buffer.store_all(value)
    return (buffer,)


@meaning_of(bufferization.MaterializeInDestinationOp)
def materialize(op: bufferization.MaterializeInDestinationOp, frame: Frame) -> Values:
    source, dest = frame.get_all(op.operands)
    if not isinstance(dest, MemRef):
        return (source,)
    if tuple(source.shape) != dest.sizes:
        raise reference_error(op, f"a tensor of shape {list(source.shape)} does not fill {list(dest.sizes)}")
    dest.store_all(source)
    return ()


@meaning_of(bufferization.AllocTensorOp)
def alloc_tensor(op: bufferization.AllocTensorOp, frame: Frame) -> Values:
    if op.copy is not None:
        return (frame.get(op.copy),)
    type_ = op.results[0].type
    return (undefined(sizes_of(type_, op.dynamic_sizes, frame), element_type(type_)),)


@meaning_of(bufferization.DeallocTensorOp)
def dealloc_tensor(op: Operation, frame: Frame) -> Values:
    return ()


@meaning_of(bufferization.CloneOp)
def clone(op: bufferization.CloneOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.input)
    copy = allocate(source.sizes, element_type(op.input.type), track=False)
    copy.store_all(source.load_all())
    return (copy,)

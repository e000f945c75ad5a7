"""The meaning of vector ops: vectors are arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute

from tilewright.dialects import vector
from tilewright.dialects.arith.meaning import FLOAT_BINARY, INTEGER_BINARY, as_signed
from tilewright.dialects.construction import static_values
from tilewright.dialects.math.meaning import fused_multiply_add
from tilewright.dialects.numeric import Array, dtype_of, wrap_to_width
from tilewright.dialects.types import bit_width, element_type, is_float, shape_of
from tilewright.dialects.vector import CombiningKind
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, as_int, meaning_of, scalar
from tilewright.reference.memory import MemRef
from tilewright.reference.tensor_ops import mixed_ints, place_of

_INTEGER_KINDS = {
    CombiningKind.ADD: "addi",
    CombiningKind.MUL: "muli",
    CombiningKind.MINUI: "minui",
    CombiningKind.MINSI: "minsi",
    CombiningKind.MAXUI: "maxui",
    CombiningKind.MAXSI: "maxsi",
    CombiningKind.AND: "andi",
    CombiningKind.OR: "ori",
    CombiningKind.XOR: "xori",
}
_FLOAT_KINDS = {
    CombiningKind.ADD: "addf",
    CombiningKind.MUL: "mulf",
    CombiningKind.MINNUMF: "minnumf",
    CombiningKind.MAXNUMF: "maxnumf",
    CombiningKind.MINIMUMF: "minimumf",
    CombiningKind.MAXIMUMF: "maximumf",
}


def combiner(kind: CombiningKind, element: Attribute) -> Callable[[Any, Any], Array]:
    """The function of two values that a combining kind stands for."""
    if is_float(element):
        compute = FLOAT_BINARY[f"arith.{_FLOAT_KINDS[kind]}"]
        return lambda a, b: np.asarray(compute(np.asarray(a), np.asarray(b)))
    name, width = f"arith.{_INTEGER_KINDS[kind]}", bit_width(element)
    return lambda a, b: wrap_to_width(np.asarray(INTEGER_BINARY[name](np.asarray(a), np.asarray(b), width)), element)


@meaning_of(vector.BroadcastOp)
def broadcast(op: vector.BroadcastOp, frame: Frame) -> Values:
    return (np.broadcast_to(frame.get(op.source), shape_of(op.results[0].type) or ()),)


@meaning_of(vector.ShapeCastOp)
def shape_cast(op: vector.ShapeCastOp, frame: Frame) -> Values:
    return (np.asarray(frame.get(op.source)).reshape(shape_of(op.results[0].type) or ()),)


@meaning_of(vector.BitcastOp)
def bitcast(op: vector.BitcastOp, frame: Frame) -> Values:
    """The last dimension as bytes, low parts first."""
    target, shape = dtype_of(element_type(op.results[0].type)), shape_of(op.results[0].type) or ()
    source = np.ascontiguousarray(frame.get(op.source))
    if np.bool_ in (source.dtype, target):
        return (_bitcast_through_bits(source, target, shape),)
    return (source.view(target).reshape(shape),)


def _bitcast_through_bits(source: Array, target: np.dtype[Any], shape: Sequence[int]) -> Array:
    """With i1 elements: eight lanes are one byte."""
    if source.dtype == np.bool_ and target == np.bool_:
        return source.reshape(shape)
    if source.dtype == np.bool_:
        return np.packbits(source, axis=-1, bitorder="little").view(target).reshape(shape)
    return np.unpackbits(source.view(np.uint8), axis=-1, bitorder="little").astype(np.bool_).reshape(shape)


@meaning_of(vector.CreateMaskOp)
def create_mask(op: vector.CreateMaskOp, frame: Frame) -> Values:
    sizes = [as_int(value) for value in frame.get_all(op.operands)]
    return (_box_mask(sizes, shape_of(op.results[0].type) or ()),)


@meaning_of(vector.ConstantMaskOp)
def constant_mask(op: vector.ConstantMaskOp, frame: Frame) -> Values:
    return (_box_mask(static_values(op.mask_dim_sizes), shape_of(op.results[0].type) or ()),)


def _box_mask(sizes: Sequence[int], shape: Sequence[int]) -> Array:
    mask = np.zeros(shape, np.bool_)
    mask[tuple(slice(0, max(size, 0)) for size in sizes)] = True
    return mask


@meaning_of(vector.StepOp)
def step(op: vector.StepOp, frame: Frame) -> Values:
    return (np.arange(prod(shape_of(op.results[0].type) or ()), dtype=np.int64),)


@meaning_of(vector.PrintOp)
def print_vector(op: vector.PrintOp, frame: Frame) -> Values:
    frame.machine.output.append(" ".join(str(value) for value in frame.get_all(op.operands)))
    return ()


def _position(op: vector.ExtractOp | vector.InsertOp, shape: Sequence[int], frame: Frame) -> tuple[Any, ...]:
    indices = mixed_ints(op.position, frame)
    return place_of([np.int64(index) for index in indices], shape[: len(indices)], None)


@meaning_of(vector.ExtractOp)
def extract(op: vector.ExtractOp, frame: Frame) -> Values:
    source = np.asarray(frame.get(op.vector))
    return (source[_position(op, source.shape, frame)],)


@meaning_of(vector.InsertOp)
def insert(op: vector.InsertOp, frame: Frame) -> Values:
    result = np.array(frame.get(op.dest))
    result[_position(op, result.shape, frame)] = frame.get(op.source)
    return (result,)


def _ints(attr: ArrayAttr[IntegerAttr]) -> list[int]:
    return [value.value.data for value in attr]


@meaning_of(vector.ExtractStridedSliceOp)
def extract_strided_slice(op: vector.ExtractStridedSliceOp, frame: Frame) -> Values:
    places = tuple(slice(o, o + s) for o, s in zip(_ints(op.offsets), _ints(op.sizes), strict=True))
    return (np.asarray(frame.get(op.source))[places],)


@meaning_of(vector.InsertStridedSliceOp)
def insert_strided_slice(op: vector.InsertStridedSliceOp, frame: Frame) -> Values:
    part, result = np.asarray(frame.get(op.valueToStore)), np.array(frame.get(op.dest))
    sizes = (*(1,) * (result.ndim - part.ndim), *part.shape)
    places = tuple(slice(o, o + s) for o, s in zip(_ints(op.offsets), sizes, strict=True))
    result[places] = part.reshape(sizes)
    return (result,)


@meaning_of(vector.ToElementsOp)
def to_elements(op: vector.ToElementsOp, frame: Frame) -> Values:
    return list(np.asarray(frame.get(op.source)).reshape(-1))


@meaning_of(vector.FMAOp)
def fma(op: vector.FMAOp, frame: Frame) -> Values:
    return (fused_multiply_add(*(np.asarray(value) for value in frame.get_all(op.operands))),)


@meaning_of(vector.ReductionOp)
def reduction(op: vector.ReductionOp, frame: Frame) -> Values:
    """Lane after lane from the first; the accumulator, if there is one, before them."""
    element = element_type(op.vector.type)
    combine = combiner(op.kind.data, element)
    lanes = np.asarray(frame.get(op.vector)).reshape(-1)
    total = lanes[0] if op.acc is None else combine(frame.get(op.acc), lanes[0])
    for lane in lanes[1:]:
        total = combine(total, lane)
    return (np.asarray(total)[()],)


@meaning_of(vector.MultiDimReductionOp)
def multi_reduction(op: vector.MultiDimReductionOp, frame: Frame) -> Values:
    source, total = np.asarray(frame.get(op.source)), frame.get(op.acc)
    combine, dims = combiner(op.kind.data, element_type(op.source.type)), static_values(op.reduction_dims)
    parts = np.moveaxis(source, list(dims), range(len(dims)))
    for place in np.ndindex(*parts.shape[: len(dims)]):
        total = combine(total, parts[place])
    return (np.asarray(total) if np.ndim(total) else np.asarray(total)[()],)


@meaning_of(vector.ScanOp)
def scan(op: vector.ScanOp, frame: Frame) -> Values:
    source, total = np.asarray(frame.get(op.source)), frame.get(op.initial_value)
    combine, axis = combiner(op.kind.data, element_type(op.source.type)), op.reduction_dim.value.data
    inclusive = bool(op.inclusive.value.data)
    results: list[Array] = []
    for position, part in enumerate(np.moveaxis(source, axis, 0)):
        following = part if inclusive and position == 0 else combine(total, part)
        results.append(np.asarray(following if inclusive else total))
        total = following
    return np.stack(results, axis=axis), np.asarray(results[-1])


@meaning_of(vector.ShuffleOp)
def shuffle(op: vector.ShuffleOp, frame: Frame) -> Values:
    both = np.concatenate([np.atleast_1d(value) for value in frame.get_all(op.operands)])
    lanes = np.array(op.lanes, np.int64)
    result = both[np.maximum(lanes, 0)]
    result[lanes < 0] = scalar(0, element_type(op.results[0].type))
    return (result,)


@meaning_of(vector.TransposeOp)
def transpose(op: vector.TransposeOp, frame: Frame) -> Values:
    return (np.transpose(frame.get(op.vector), static_values(op.permutation)),)


@meaning_of(vector.InterleaveOp)
def interleave(op: vector.InterleaveOp, frame: Frame) -> Values:
    pair = np.stack(frame.get_all(op.operands), axis=-1)
    return (pair.reshape(shape_of(op.results[0].type) or ()),)


@meaning_of(vector.DeinterleaveOp)
def deinterleave(op: vector.DeinterleaveOp, frame: Frame) -> Values:
    source = np.asarray(frame.get(op.source))
    return source[..., 0::2], source[..., 1::2]


@meaning_of(vector.OuterProductOp)
def outer_product(op: vector.OuterProductOp, frame: Frame) -> Values:
    operands = [np.asarray(value) for value in frame.get_all(op.operands)]
    lhs, rhs = operands[0], operands[1]
    element = element_type(op.lhs.type)
    if rhs.ndim:
        lhs, rhs = np.broadcast_arrays(lhs[:, np.newaxis], rhs[np.newaxis])
    if op.kind.data == CombiningKind.ADD and len(operands) == 3 and is_float(element):
        return (fused_multiply_add(lhs, np.broadcast_to(rhs, lhs.shape), operands[2]),)
    product = combiner(CombiningKind.MUL, element)(lhs, rhs)
    return (product if len(operands) == 2 else combiner(op.kind.data, element)(product, operands[2]),)


def _row_positions(base: MemRef, indices: Sequence[Any], shape: Sequence[int], mask: Array | None) -> Array:
    """Return where the lanes of a vector lie: the trailing dimensions of the buffer from the indices on. Lanes out of
    the mask are not checked.
    """
    lanes = np.indices(shape, dtype=np.int64)
    places: list[Any] = [np.full(shape, as_int(index), np.int64) for index in indices]
    for dim in range(len(shape)):
        places[len(places) - len(shape) + dim] = places[len(places) - len(shape) + dim] + lanes[dim]
    if mask is not None:
        places = [np.where(mask, place, 0) if place.size else place for place in places]
        if not np.any(mask):
            return np.zeros(shape, np.int64)
        chosen = np.zeros(shape, np.int64)
        chosen[mask] = base.positions([place[mask] for place in places])
        return chosen
    return base.positions(places)


def _masked_read(base: MemRef, positions: Array, mask: Array, other: Array) -> Array:
    result = np.array(other)
    result[mask] = base.storage.read(positions[mask])
    return result


@meaning_of(vector.LoadOp)
def load(op: vector.LoadOp, frame: Frame) -> Values:
    base, *indices = frame.get_all(op.operands)
    return (base.storage.read(_row_positions(base, indices, shape_of(op.results[0].type) or (), None)),)


@meaning_of(vector.StoreOp)
def store(op: vector.StoreOp, frame: Frame) -> Values:
    value, base, *indices = frame.get_all(op.operands)
    base.storage.write(_row_positions(base, indices, shape_of(op.vector.type) or (), None), value)
    return ()


@meaning_of(vector.MaskedLoadOp)
def masked_load(op: vector.MaskedLoadOp, frame: Frame) -> Values:
    base, mask, other = frame.get(op.base), np.asarray(frame.get(op.mask)), frame.get(op.pass_thru)
    positions = _row_positions(base, frame.get_all(op.indices), mask.shape, mask)
    return (_masked_read(base, positions, mask, other),)


@meaning_of(vector.MaskedStoreOp)
def masked_store(op: vector.MaskedStoreOp, frame: Frame) -> Values:
    base, mask, value = frame.get(op.base), np.asarray(frame.get(op.mask)), np.asarray(frame.get(op.value_to_store))
    positions = _row_positions(base, frame.get_all(op.indices), mask.shape, mask)
    base.storage.write(positions[mask], value[mask])
    return ()


def _indexed_positions(op: vector.GatherOp | vector.ScatterOp, frame: Frame, mask: Array) -> tuple[MemRef, Array]:
    """Return where the lanes of a gather or scatter lie: the index vector moves along the last dimension."""
    base: MemRef = frame.get(op.base)
    offsets = as_signed(np.asarray(frame.get(op.index_vec)), bit_width(element_type(op.index_vec.type)))
    *outer, last = [as_int(index) for index in frame.get_all(op.indices)]
    lanes = offsets.astype(np.int64)[mask] + last
    positions = np.zeros(mask.shape, np.int64)
    positions[mask] = base.positions([*(np.full(lanes.shape, index, np.int64) for index in outer), lanes])
    return base, positions


@meaning_of(vector.GatherOp)
def gather(op: vector.GatherOp, frame: Frame) -> Values:
    mask = np.asarray(frame.get(op.mask))
    base, positions = _indexed_positions(op, frame, mask)
    return (_masked_read(base, positions, mask, frame.get(op.pass_thru)),)


@meaning_of(vector.ScatterOp)
def scatter(op: vector.ScatterOp, frame: Frame) -> Values:
    mask = np.asarray(frame.get(op.mask))
    base, positions = _indexed_positions(op, frame, mask)
    base.storage.write(positions[mask], np.asarray(frame.get(op.value_to_store))[mask])
    return ()


def _packed_positions(base: MemRef, indices: Sequence[Any], mask: Array) -> Array:
    *outer, last = [as_int(index) for index in indices]
    lanes = last + np.arange(int(mask.sum()), dtype=np.int64)
    return base.positions([*(np.full(lanes.shape, index, np.int64) for index in outer), lanes])


@meaning_of(vector.ExpandLoadOp)
def expand_load(op: vector.ExpandLoadOp, frame: Frame) -> Values:
    base, mask = frame.get(op.base), np.asarray(frame.get(op.mask))
    result = np.array(frame.get(op.pass_thru))
    result[mask] = base.storage.read(_packed_positions(base, frame.get_all(op.indices), mask))
    return (result,)


@meaning_of(vector.CompressStoreOp)
def compress_store(op: vector.CompressStoreOp, frame: Frame) -> Values:
    base, mask = frame.get(op.base), np.asarray(frame.get(op.mask))
    value = np.asarray(frame.get(op.value_to_store))[mask]
    base.storage.write(_packed_positions(base, frame.get_all(op.indices), mask), value)
    return ()


def _transfer_lanes(
    op: vector.TransferReadOp | vector.TransferWriteOp, frame: Frame, shape: Sequence[int]
) -> tuple[list[Array], Array]:
    """The index of every lane in each dimension of the source, and which lanes are inside of it and of the mask."""
    source = frame.get(op.source)
    if not isinstance(source, MemRef):
        raise reference_error(op, "transfers with tensors have no reference meaning")
    lanes = np.indices(shape, dtype=np.int64)
    indices = [np.full(shape, as_int(index), np.int64) for index in frame.get_all(op.indices)]
    for dim, expr in enumerate(op.permutation_map.data.results):
        position: int | None = getattr(expr, "position", None)
        if position is not None:
            indices[position] = indices[position] + lanes[dim]
    inside = np.ones(shape, np.bool_)
    for index, size in zip(indices, source.sizes, strict=True):
        inside = inside & (index >= 0) & (index < size)
    if op.mask is not None:
        inside = inside & np.asarray(frame.get(op.mask))
    return indices, inside


@meaning_of(vector.TransferReadOp)
def transfer_read(op: vector.TransferReadOp, frame: Frame) -> Values:
    shape = shape_of(op.results[0].type) or ()
    indices, inside = _transfer_lanes(op, frame, shape)
    source: MemRef = frame.get(op.source)
    result = np.full(shape, frame.get(op.padding))
    result[inside] = source.storage.read(source.positions([index[inside] for index in indices]))
    return (result,)


@meaning_of(vector.TransferWriteOp)
def transfer_write(op: vector.TransferWriteOp, frame: Frame) -> Values:
    value = np.asarray(frame.get(op.vector))
    indices, inside = _transfer_lanes(op, frame, value.shape)
    dest: MemRef = frame.get(op.source)
    dest.storage.write(dest.positions([index[inside] for index in indices]), value[inside])
    return ()

"""The meaning of memref and affine ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineMap

from tilewright.dialects import affine, memref
from tilewright.dialects.arith.meaning import FLOAT_BINARY, INTEGER_BINARY
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.dialects.numeric import Array, dense_values, wrap_to_width
from tilewright.dialects.types import bit_width, element_type, shape_of
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import ARGUMENTS, Frame, Values, as_int, meaning_of
from tilewright.reference.memory import AccessError, MemRef, Storage, allocate, row_major_strides
from tilewright.reference.tensor_ops import mixed_ints, sizes_of


def ranked_argument(value: Any, type_: MemRefType[Attribute], name: str) -> MemRef:
    """An array as a ranked memref: its own shape and strides."""
    storage = Storage.of_array(value, type_.element_type, name)
    strides = tuple(stride // value.itemsize for stride in value.strides)
    return MemRef(storage, 0, value.shape, strides, type_.element_type)


ARGUMENTS[MemRefType] = ranked_argument


@meaning_of(memref.AllocOp, memref.AllocaOp)
def allocation(op: memref.AllocOp | memref.AllocaOp, frame: Frame) -> Values:
    type_ = op.results[0].type
    sizes = sizes_of(type_, op.dynamic_sizes, frame)
    if any(size < 0 for size in sizes):
        raise reference_error(op, f"negative size in {sizes}")
    track = frame.machine.track_initialisation
    return (allocate(sizes, element_type(type_), track=track, name=op.results[0].name_hint or ""),)


@meaning_of(memref.DeallocOp)
def deallocation(op: memref.DeallocOp, frame: Frame) -> Values:
    storage = frame.get(op.memref).storage
    if storage.freed:
        raise reference_error(op, f"{storage.describe()} is freed twice")
    storage.freed = True
    return ()


@meaning_of(memref.AssumeAlignmentOp)
def assume_alignment(op: memref.AssumeAlignmentOp, frame: Frame) -> Values:
    return (frame.get(op.operands[0]),)


@meaning_of(memref.GlobalOp)
def global_definition(op: memref.GlobalOp, frame: Frame) -> Values:
    return ()


@meaning_of(memref.GetGlobalOp)
def get_global(op: memref.GetGlobalOp, frame: Frame) -> Values:
    machine, name = frame.machine, op.name_.string_value()
    if name not in machine.globals:
        definition = machine.functions.get(name)
        if not isinstance(definition, memref.GlobalOp):
            raise reference_error(op, f"the module has no global '{name}'")
        type_ = definition.type
        buffer = allocate(type_.get_shape(), type_.element_type, track=False, name=name)
        if isinstance(definition.initial_value, DenseIntOrFPElementsAttr):
            buffer.store_all(dense_values(definition.initial_value))
        machine.globals[name] = buffer
    return (machine.globals[name],)


def _lanes(frame: Frame, indices: Sequence[Any], *others: Any) -> tuple[list[Any], list[Any], Array | None]:
    """Indices and values of the lanes that take part, flat; and the mask, None when all do."""
    active = frame.active
    if active is None:
        return list(indices), list(others), None
    chosen = [np.broadcast_to(np.asarray(value), active.shape)[active] for value in (*indices, *others)]
    return chosen[: len(indices)], chosen[len(indices) :], active


def _spread(values: Array, active: Array | None) -> Array:
    """Values of the active lanes back in the shape of all lanes."""
    if active is None:
        return values
    result = np.zeros(active.shape, np.asarray(values).dtype)
    result[active] = values
    return result


@meaning_of(memref.LoadOp)
def load(op: memref.LoadOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.operands[0])
    indices, _, active = _lanes(frame, frame.get_all(op.operands[1:]))
    return (_spread(source.storage.read(source.positions(indices)), active),)


@meaning_of(memref.StoreOp)
def store(op: memref.StoreOp, frame: Frame) -> Values:
    dest: MemRef = frame.get(op.operands[1])
    indices, (value,), _ = _lanes(frame, frame.get_all(op.operands[2:]), frame.get(op.operands[0]))
    dest.storage.write(dest.positions(indices), value)
    return ()


@meaning_of(memref.PrefetchOp)
def prefetch(op: memref.PrefetchOp, frame: Frame) -> Values:
    return ()


@meaning_of(memref.CopyOp)
def copy(op: memref.CopyOp, frame: Frame) -> Values:
    source, target = frame.get_all(op.operands)
    if source.sizes != target.sizes:
        raise reference_error(op, f"sizes {list(source.sizes)} and {list(target.sizes)} differ")
    target.store_all(source.load_all())
    return ()


@meaning_of(memref.DimOp)
def extent(op: memref.DimOp, frame: Frame) -> Values:
    sizes, dim = frame.get(op.source).sizes, as_int(frame.get(op.index))
    if not 0 <= dim < len(sizes):
        raise reference_error(op, f"there is no dimension {dim}")
    return (np.int64(sizes[dim]),)


@meaning_of(memref.RankOp)
def rank(op: memref.RankOp, frame: Frame) -> Values:
    """Unranked memory is what an argument of a kernel points to: a buffer without dimensions."""
    is_unranked = isinstance(op.memref.type, UnrankedMemRefType)
    return (np.int64(0 if is_unranked else len(frame.get(op.memref).sizes)),)


@meaning_of(memref.CastOp)
def cast(op: memref.CastOp, frame: Frame) -> Values:
    """Checks what the type asks for. From an unranked memref to one dimension: all that can be reached."""
    source: MemRef = frame.get(op.source)
    target = op.results[0].type
    if isinstance(target, UnrankedMemRefType):
        return (source,)
    shape = shape_of(target) or ()
    if isinstance(op.source.type, UnrankedMemRefType) and not source.sizes and len(shape) == 1:
        reachable = source.storage.data.size - source.offset
        size = reachable if shape[0] == DYNAMIC_INDEX else shape[0]
        return (MemRef(source.storage, source.offset, (size,), (1,), source.element),)
    if len(shape) != len(source.sizes) or any(
        s not in (DYNAMIC_INDEX, f) for s, f in zip(shape, source.sizes, strict=True)
    ):
        raise reference_error(op, f"a memref of sizes {list(source.sizes)} is not a {target}")
    return (source,)


@meaning_of(memref.ReinterpretCastOp)
def reinterpret_cast(op: memref.ReinterpretCastOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.source)
    (offset,) = mixed_ints(op.mixed_offsets, frame)
    sizes, strides = mixed_ints(op.mixed_sizes, frame), mixed_ints(op.mixed_strides, frame)
    return (MemRef(source.storage, offset, tuple(sizes), tuple(strides), source.element),)


@meaning_of(memref.ViewOp)
def view(op: memref.ViewOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.source)
    type_, element = op.results[0].type, element_type(op.results[0].type)
    start = source.offset + as_int(frame.get(op.byte_shift))
    sizes = tuple(sizes_of(type_, op.sizes, frame))
    return (MemRef(source.storage.view(start, element), 0, sizes, row_major_strides(sizes), element),)


@meaning_of(memref.SubviewOp)
def subview(op: memref.SubviewOp, frame: Frame) -> Values:
    """Sizes are checked against the source, so that every element of the view is an element of it."""
    source: MemRef = frame.get(op.source)
    lists = (op.mixed_offsets, op.mixed_sizes, op.mixed_strides)
    offsets, sizes, strides = (mixed_ints(values, frame) for values in lists)
    for dim, (start, size, step, bound) in enumerate(zip(offsets, sizes, strides, source.sizes, strict=True)):
        if size < 0 or (size > 0 and not (start >= 0 and start + (size - 1) * step < bound)):
            raise AccessError(f"dimension {dim}: {size} elements from {start} by {step} leave a size of {bound}")
    offset = source.offset + sum(start * stride for start, stride in zip(offsets, source.strides, strict=True))
    kept = op.kept_dims
    new_strides = [step * stride for step, stride in zip(strides, source.strides, strict=True)]
    return (
        MemRef(
            source.storage,
            offset,
            tuple(sizes[dim] for dim in kept),
            tuple(new_strides[dim] for dim in kept),
            source.element,
        ),
    )


@meaning_of(memref.CollapseShapeOp)
def collapse(op: memref.CollapseShapeOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.operands[0])
    sizes: list[int] = []
    strides: list[int] = []
    for group in op.groups:
        extents = [source.sizes[dim] for dim in group]
        inner = [dim for dim in group if source.sizes[dim] != 1]
        for outer, following in pairwise(inner):
            if source.strides[outer] != source.strides[following] * source.sizes[following]:
                raise reference_error(op, f"dimensions {group} do not lie one after the other")
        sizes.append(int(np.prod(extents, dtype=np.int64)))
        strides.append(source.strides[inner[-1]] if inner else 1)
    return (MemRef(source.storage, source.offset, tuple(sizes), tuple(strides), source.element),)


@meaning_of(memref.ExpandShapeOp)
def expand(op: memref.ExpandShapeOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.operands[0])
    sizes = mixed_ints(op.mixed_output_shape, frame)
    strides = [0] * len(sizes)
    for stride, group in zip(source.strides, op.groups, strict=True):
        for dim in reversed(group):
            strides[dim] = stride
            stride *= sizes[dim]
    return (MemRef(source.storage, source.offset, tuple(sizes), tuple(strides), source.element),)


def combine(kind: AtomicRMWKind, current: Any, value: Any, element: Attribute) -> Any:
    """The new value of an element after an atomic read-modify-write."""
    names = {
        AtomicRMWKind.MAXS: "maxsi",
        AtomicRMWKind.MAXU: "maxui",
        AtomicRMWKind.MINS: "minsi",
        AtomicRMWKind.MINU: "minui",
    }
    if kind == AtomicRMWKind.ASSIGN:
        return value
    name = f"arith.{names.get(kind, kind.name.lower())}"
    compute: Callable[..., Any] = FLOAT_BINARY[name] if name in FLOAT_BINARY else INTEGER_BINARY[name]
    if name in FLOAT_BINARY:
        return compute(np.asarray(current), np.asarray(value))
    result = compute(np.asarray(current), np.asarray(value), bit_width(element))
    return wrap_to_width(np.asarray(result), element)


@meaning_of(memref.AtomicRMWOp)
def atomic(op: memref.AtomicRMWOp, frame: Frame) -> Values:
    """One lane after another, in order."""
    dest: MemRef = frame.get(op.memref)
    indices, (values,), active = _lanes(frame, frame.get_all(op.indices), frame.get(op.value))
    element, kind = element_type(op.memref.type), op.combination
    places = dest.positions(indices)
    flat_values = np.broadcast_to(np.asarray(values), places.shape).reshape(-1)
    old = np.empty(places.size, flat_values.dtype)
    for lane, place in enumerate(places.reshape(-1)):
        old[lane] = dest.storage.read(place)
        dest.storage.write(place, combine(kind, old[lane], flat_values[lane], element))
    return (_spread(old.reshape(places.shape), active),)


@meaning_of(memref.GenericAtomicRMWOp)
def generic_atomic(op: memref.GenericAtomicRMWOp, frame: Frame) -> Values:
    dest: MemRef = frame.get(op.memref)
    place = dest.positions(frame.get_all(op.indices))
    old = dest.storage.read(place)
    (new,) = frame.run_region(op.atomic_body, [old])
    dest.storage.write(place, new)
    return (old,)


@meaning_of(memref.ExtractAlignedPointerAsIndexOp)
def aligned_pointer(op: memref.ExtractAlignedPointerAsIndexOp, frame: Frame) -> Values:
    """The address of the storage, as this process sees it."""
    return (np.int64(frame.get(op.source).storage.address),)


def map_results(map_: AffineMap, operands: Sequence[Any]) -> list[np.int64]:
    """The results of an affine map."""
    values = [as_int(value) for value in operands]
    return [np.int64(expr.eval(values[: map_.num_dims], values[map_.num_dims :])) for expr in map_.results]


@meaning_of(affine.LoadOp)
def affine_load(op: affine.LoadOp, frame: Frame) -> Values:
    source: MemRef = frame.get(op.memref)
    return (source.storage.read(source.positions(map_results(op.map.data, frame.get_all(op.indices)))),)


@meaning_of(affine.StoreOp)
def affine_store(op: affine.StoreOp, frame: Frame) -> Values:
    dest: MemRef = frame.get(op.memref)
    dest.storage.write(dest.positions(map_results(op.map.data, frame.get_all(op.indices))), frame.get(op.value))
    return ()


@meaning_of(affine.ForOp)
def affine_loop(op: affine.ForOp, frame: Frame) -> Values:
    """From the largest lower bound to below the smallest upper one."""
    lower = max(map_results(op.lower_map.data, frame.get_all(op.lower_operands)))
    upper = min(map_results(op.upper_map.data, frame.get_all(op.upper_operands)))
    carried: Values = frame.get_all(op.inits)
    for counter in range(int(lower), int(upper), op.step.value.data):
        carried = frame.run_region(op.body, [np.int64(counter), *carried])
    return carried


@meaning_of(affine.ApplyOp, affine.MinOp, affine.MaxOp)
def affine_map(op: Operation, frame: Frame) -> Values:
    assert isinstance(op, affine.MapOp)
    results = map_results(op.map.data, frame.get_all(op.operands))
    return (max(results) if isinstance(op, affine.MaxOp) else min(results),)

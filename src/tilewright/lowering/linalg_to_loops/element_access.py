"""Loads and stores at computed offsets inside of bodies: gathers, scatters, and their one-element forms.

%p = memref.reinterpret_cast %base to offset: [%i], sizes: [1], strides: [1]
%v = memref.load %p[%c0]                       (predicate %live)
  ->  %v = vector.gather %flat[%c0] [%i], %live, %zero
  ->  %v = vector.maskedload %flat[%first], %live, %zero      where the lanes' offsets are contiguous
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, UnrankedMemRefType, i1, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, memref, tensor, vector
from tilewright.dialects.types import element_type
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.external_calls import call_atomic
from tilewright.lowering.linalg_to_loops.sources import Source, Splat, StridedView, offset_at
from tilewright.lowering.linalg_to_loops.strided_lanes import is_narrow, load_strided, store_strided
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of

if TYPE_CHECKING:
    from tilewright.lowering.linalg_to_loops.body_values import BodyValues
    from tilewright.lowering.linalg_to_loops.nest import Nest

Access = memref.LoadOp | memref.StoreOp | memref.AtomicRMWOp | tensor.ExtractOp


@dataclass(frozen=True, slots=True)
class Address:
    """`flat[base + sum of value * stride]`; the values are body values."""

    flat: SSAValue
    base: Index
    terms: tuple[tuple[SSAValue, Index], ...]
    stored_as_byte: bool


def address_of(values: BodyValues, op: Access) -> Address | Splat:
    """Return the address of an access."""
    if isinstance(op, tensor.ExtractOp):
        source = values.nest.around.source(op.tensor)
        if isinstance(source, Splat):
            return source
        assert isinstance(source, StridedView)
        return _in_view(source, list(op.indices))
    buffer = op.memref
    cast = buffer.owner
    if isinstance(cast, memref.ReinterpretCastOp) and cast.parent_block() is values.nest.body:
        return _in_cast(values, cast, list(op.indices))
    view = values.nest.around.view(buffer)
    if view is None:
        raise op_error(op, f"the memory of {buffer.type} is not known here", pass_name="linalg-to-loops")
    return _in_view(view, list(op.indices))


def _in_view(view: StridedView, indices: list[SSAValue]) -> Address:
    base = view.offset
    terms: list[tuple[SSAValue, Index]] = []
    for index, stride in zip(indices, view.strides, strict=True):
        if constant_of(index) != 0:
            terms.append((index, stride))
    return Address(view.flat, base, tuple(terms), view.stored_as_byte)


def _in_cast(values: BodyValues, cast: memref.ReinterpretCastOp, indices: list[SSAValue]) -> Address:
    if isinstance(cast.source.type, UnrankedMemRefType):
        flat = values.nest.around.flat(cast.source)
    else:
        view = values.nest.around.view(cast.source)
        if view is None:
            raise op_error(cast, f"the memory of {cast.source.type} is not known here", pass_name="linalg-to-loops")
        flat = view.flat
    terms: list[tuple[SSAValue, Index]] = []
    base: Index = 0
    offset = cast.mixed_offsets[0]
    if isinstance(offset, int):
        base = offset
    else:
        terms.append((offset, 1))
    for index, stride in zip(indices, cast.mixed_strides, strict=True):
        if constant_of(index) != 0:
            terms.append((index, stride))
    return Address(flat, base, tuple(terms), stored_as_byte=False)


def emit_load(values: BodyValues, op: memref.LoadOp | tensor.ExtractOp) -> SSAValue:
    """The loaded element or lanes; zero where the predicate does not hold."""
    emitter, nest = values.emitter, values.nest
    address = address_of(values, op)
    result = op.results[0]
    if isinstance(address, Splat):
        # Equal in all lanes, and yet a vector where its indices are.
        lanes_differ = values.is_lanes(nest.facts.depends[result])
        return values.spread(address.value, frozenset()) if lanes_differ else address.value
    stored = element_type(address.flat.type)
    zero = emitter.zero(stored)
    if values.is_lanes(nest.facts.depends[result]):
        mask = predicate_mask(values, op)
        nest.around.accesses.note(op.location, lane_step(nest, address), "gathered")
        offset, step = _offset_of_first(values, address, may_shuffle=mask is None)
        if offset is None:
            base, lanes = _lane_address(values, address)
            live = values.all_lanes() if mask is None else mask
            loaded = emitter.gather(address.flat, base, lanes, live, values.spread(zero, frozenset()))
        elif step != 1:
            filler = values.spread(zero, frozenset())
            loaded = load_strided(emitter, address.flat, offset, step, filler)
        elif mask is None:
            loaded = emitter.vector_load(address.flat, offset, nest.schedule.lanes)
        else:
            loaded = emitter.masked_load(address.flat, offset, mask, values.spread(zero, frozenset()))
    else:
        condition, index = predicate_scalar(values, op), _scalar_address(values, address)
        loaded = emitter.load_if(condition, lambda: emitter.load(address.flat, index), zero)
    return emitter.unpack(loaded, address.stored_as_byte)


def emit_store(values: BodyValues, op: memref.StoreOp) -> None:
    """Store an element, or scatter lanes, where the predicate holds."""
    emitter = values.emitter
    address = address_of(values, op)
    assert isinstance(address, Address)
    if values.nest.schedule.lanes > 1:
        element, mask = values.get_lanes(op.value), predicate_mask(values, op)
        values.nest.around.accesses.note(op.location, lane_step(values.nest, address), "scattered")
        offset, step = _offset_of_first(values, address, may_shuffle=mask is None)
        if offset is None:
            base, lanes = _lane_address(values, address)
            emitter.scatter(element, address.flat, base, lanes, values.all_lanes() if mask is None else mask)
        elif step != 1:
            store_strided(emitter, element, address.flat, offset, step)
        elif mask is None:
            emitter.vector_store(element, address.flat, offset)
        else:
            emitter.masked_store(element, address.flat, offset, mask)
        return
    value, index = values.get(op.value), _scalar_address(values, address)
    with emitter.when(predicate_scalar(values, op)):
        emitter.store(value, address.flat, index)


def emit_atomic(values: BodyValues, op: memref.AtomicRMWOp) -> None:
    """Update an element, or those of all lanes, where the predicate holds. Nobody reads what was there."""
    emitter = values.emitter
    address = address_of(values, op)
    assert isinstance(address, Address)
    if values.nest.schedule.lanes > 1:
        element, mask = values.get_lanes(op.value), predicate_mask(values, op)
        live = values.all_lanes() if mask is None else mask
        base, _ = _offset_of_first(values, address, may_shuffle=False)
        lanes = None
        if base is None:
            base, lanes = _lane_address(values, address)
        call_atomic(emitter, op.combination, address.flat, base, lanes, live, element)
        return
    value, index = values.get(op.value), _scalar_address(values, address)
    with emitter.when(predicate_scalar(values, op)):
        emitter.insert(memref.AtomicRMWOp(value, address.flat, [emitter.ssa(index)], op.combination))


def load_at(values: BodyValues, source: Source, indices: list[SSAValue]) -> SSAValue:
    """The element of a view at indices that are not body values."""
    assert isinstance(source, StridedView)
    emitter = values.emitter
    return emitter.unpack(emitter.load(source.flat, offset_at(emitter, source, indices)), source.stored_as_byte)


def _scalar_address(values: BodyValues, address: Address) -> Index:
    total = address.base
    for value, stride in address.terms:
        total = values.emitter.add(total, values.emitter.mul(values.get(value), stride))
    return total


def lane_step(nest: Nest, address: Address) -> int | None:
    """Return the stride between the offsets of neighbouring lanes; None where it is not known or not one."""
    step = 0
    for value, stride in address.terms:
        if nest.schedule.vector_dim in nest.facts.depends.get(value, frozenset()):
            own, scale = nest.facts.steps.of.get(value), constant_of(stride)
            if own is None or scale is None:
                return None
            step += own * scale
    return step


def _offset_of_first(values: BodyValues, address: Address, *, may_shuffle: bool) -> tuple[Index | None, int]:
    """Return the offset of the first lane, and the stride between lanes: 1, or another one that shuffles can do. None
    where there is no such stride."""
    nest = values.nest
    step, parts = lane_step(nest, address), list[tuple[int, SSAValue, Index]]()
    assert nest.schedule.vector_dim is not None and values.start_dim is not None
    if step is None or (step != 1 and not (may_shuffle and is_narrow(step))):
        return None, 0
    for value, stride in address.terms:
        dims = nest.facts.depends.get(value, frozenset())
        if nest.schedule.vector_dim in dims:
            dims = dims - {nest.schedule.vector_dim} | {values.start_dim}
        parts.append((values.depth(dims), value, stride))
    emitter, total = values.emitter, address.base
    for level, value, stride in sorted(parts, key=lambda part: part[0]):
        frame = values.frames[level]
        key = ("offset", total, value, stride)
        if (found := frame.values.get(key)) is None:
            with emitter.at(frame.cursor):
                found = emitter.ssa(emitter.add(total, emitter.mul(values.first(value), stride)))
            frame.values[key] = found
        total = found
    # Offsets are those of the first lane of a segment, or of this vector.
    if values.start_dim != nest.schedule.vector_dim:
        total = emitter.add(total, emitter.mul(values.lanes_into_segment(), step))
    return total, step


def _lane_address(values: BodyValues, address: Address) -> tuple[Index, SSAValue]:
    """A scalar base and one index per lane."""
    emitter, nest = values.emitter, values.nest
    base = address.base
    varying: list[tuple[SSAValue, Index]] = []
    if (
        len(address.terms) == 1
        and address.terms[0][1] == 1
        and (split := nest.facts.offsets.of.get(address.terms[0][0]))
    ):
        for value in split.shared:
            base = emitter.add(base, _shared_index(values, value))
        # Along a segment of one quotient all lanes may have one offset, and only the mask tells them apart.
        return base, values.get_lanes(split.lanes)
    for value, stride in address.terms:
        if values.is_lanes(nest.facts.depends.get(value, frozenset())):
            varying.append((value, stride))
        else:
            base = emitter.add(base, emitter.mul(values.get(value), stride))
    if not varying:
        return base, values.spread(emitter.constant(0, i32), frozenset())
    if len(varying) == 1 and varying[0][1] == 1 and (narrow := _narrow(varying[0][0])) is not None:
        return base, values.get(narrow)
    total: SSAValue | None = None
    for value, stride in varying:
        lanes = values.get(value)
        if stride != 1:
            lanes = emitter.arith(arith.MuliOp, lanes, values.spread(emitter.ssa(stride), frozenset()))
        total = lanes if total is None else emitter.arith(arith.AddiOp, total, lanes)
    assert total is not None
    return base, total


def _shared_index(values: BodyValues, value: SSAValue) -> SSAValue:
    """A value that all lanes share as an index, cast where it is computed."""
    frame = values.frames[values.depth(values.nest.facts.depends.get(value, frozenset()))]
    key = ("index", value)
    if (found := frame.values.get(key)) is None:
        with values.emitter.at(frame.cursor):
            found = frame.values[key] = values.emitter.index_cast(values.get(value), IndexType())
    return found


def _narrow(value: SSAValue) -> SSAValue | None:
    """The i32 that an index was cast from: half the width in a register."""
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp) and owner.input.type == i32:
        return owner.input
    return None


def predicate_scalar(values: BodyValues, op: Operation) -> SSAValue | None:
    """All conditions of an access as one i1; None where there are none."""
    total: SSAValue | None = None
    for condition, polarity in values.nest.facts.predicates.get(op, ()):
        value = values.get(condition)
        if is_constantly(value, polarity):
            continue
        if not polarity:
            value = values.emitter.arith(arith.XOrIOp, value, values.emitter.constant(1, i1))
        total = value if total is None else values.emitter.arith(arith.AndIOp, total, value)
    return total


def predicate_mask(values: BodyValues, op: Operation) -> SSAValue | None:
    """All conditions of an access, and the lanes that exist, as a mask; None where that is all lanes."""
    total = values.mask()
    for condition, polarity in values.nest.facts.predicates.get(op, ()):
        if is_constantly(values.get(condition), polarity):
            continue
        value = values.get_lanes(condition)
        if not polarity:
            value = values.emitter.arith(arith.XOrIOp, value, values.all_lanes())
        total = value if total is None else values.emitter.arith(arith.AndIOp, total, value)
    return total


def is_constantly(value: SSAValue, truth: bool) -> bool:
    """Return whether a condition is known to hold, or to fail."""
    if isinstance(value.owner, vector.BroadcastOp):
        value = value.owner.operands[0]
    number = constant_of(value)
    return number is not None and bool(number) == truth

"""What one step reads of a nest's operands and writes to its outputs: an element, or lanes of one stride.

ins(%x at (d0, d1))    ->  %v = vector.load %x[%i * 64 + %j]                    contiguous lanes
ins(%pad at (d0, d1))  ->  %v = vector.maskedload %x[...], %inside, %fill      of a padded view, what is in memory
outs(%y at (d1, d0))   ->  vector.scatter %y[...] [0, 64, 128, ...]            lanes a stride apart
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, IntegerType, LocationAttr, UnknownLoc, i1, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import arith
from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.nest import Operand, stride_along
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Splat, StridedView, Vectors, Words
from tilewright.lowering.linalg_to_loops.strided_lanes import (
    find_interleaved,
    is_narrow,
    load_neighbourhood,
    pick_lanes,
    store_interleaved,
    store_strided,
)
from tilewright.lowering.linalg_to_loops.words import gather_words, load_word, load_words
from tilewright.transforms.linalg.index_proofs import is_at_most

if TYPE_CHECKING:
    from tilewright.lowering.linalg_to_loops.body_values import BodyValues


def read_operand(values: BodyValues, operand: Operand) -> SSAValue:
    """The element, or the lanes, that the current step reads."""
    match operand.source:
        case Splat():
            return operand.source.value
        case StridedView():
            return _read_view(values, operand.source, operand, None, None)
        case PaddedView():
            return _read_padded(values, operand.source, operand)
        case Words():
            return _read_words(values, operand.source.first_bytes, operand)
        case Vectors(vectors):
            index = values.affine(operand.access[0])
            assert isinstance(index, int), "what is in registers is read by steps that are written out"
            return vectors[index // values.nest.schedule.lanes]


def _read_words(values: BodyValues, first_bytes: StridedView, operand: Operand) -> SSAValue:
    index = values.linear_index(first_bytes, operand.access)
    if not values.is_lanes(operand.dims()):
        return load_word(values.emitter, first_bytes.flat, index)
    stride, mask = stride_along(first_bytes, operand.access, values.nest.schedule.vector_dim or 0), values.mask()
    if stride == WORD_BYTES and mask is None:
        return load_words(values.emitter, first_bytes.flat, index, values.nest.schedule.lanes)
    if not first_bytes.owned:
        _note(values, operand.location, stride, "gathered")
    mask = values.all_lanes() if mask is None else mask
    return gather_words(
        values.emitter, first_bytes.flat, index, values.lane_offsets(stride), mask, values.nest.schedule.lanes
    )


def _read_view(
    values: BodyValues, view: StridedView, operand: Operand, mask: SSAValue | None, fill: SSAValue | None
) -> SSAValue:
    """Unmasked if `mask` is None and the step is a full one."""
    index = values.linear_index(view, operand.access)
    if not values.is_lanes(operand.dims()):
        return values.emitter.unpack(values.emitter.load(view.flat, index), view.stored_as_byte)
    stride = stride_along(view, operand.access, values.nest.schedule.vector_dim or 0)
    if not view.owned:
        _note(values, operand.location, stride, "gathered")
    mask = values.mask() if mask is None else mask
    stored = i8 if view.stored_as_byte else view.element
    if stride == 1 and fill is None and _holds_whole_vectors(values, view) and not _is_integer(stored):
        mask = None
    if stride == 1 and mask is None:
        lanes = values.emitter.vector_load(view.flat, index, values.nest.schedule.lanes)
        return values.emitter.unpack(lanes, view.stored_as_byte)
    if fill is None:
        zero = values.emitter.zero(stored)
        passthrough = values.spread(zero, frozenset())
    else:
        passthrough = values.emitter.pack(values.spread(fill, frozenset()), view.stored_as_byte)
    if stride == 1:
        assert mask is not None
        lanes = values.emitter.masked_load(view.flat, index, mask, passthrough)
    elif mask is None and is_narrow(stride):
        lanes = _read_interleaved(values, view, operand, stride, passthrough)
    else:
        lanes = values.emitter.gather(
            view.flat, index, values.lane_offsets(stride), mask or values.all_lanes(), passthrough
        )
    return values.emitter.unpack(lanes, view.stored_as_byte)


def _note(values: BodyValues, location: LocationAttr | None, stride: Index, verb: str) -> None:
    """Note how the memory of an argument is accessed; a copy has no location but its own."""
    own = values.emitter.location if isinstance(location, UnknownLoc) else location
    values.nest.around.accesses.note(own, stride, verb)


def _read_interleaved(
    values: BodyValues, view: StridedView, operand: Operand, stride: int, filler: SSAValue
) -> SSAValue:
    """Lanes that are `stride` elements apart, out of vectors that hold what other operands read in between, too."""
    member, views = find_interleaved(view, _read_alike(values, operand), stride)
    members, frame = sorted(views), values.frames[values.depth(operand.dims())]
    index = values.linear_index(views[0], operand.access)
    keys = [("neighbourhood", view.flat, index, *members, position) for position in range(max(1, stride))]
    if keys[0] not in frame.values:
        parts = load_neighbourhood(values.emitter, view.flat, index, stride, members, filler)
        frame.values.update(zip(keys, parts, strict=True))
    return pick_lanes(values.emitter, [frame.values[key] for key in keys], stride, member)


def _read_alike(values: BodyValues, operand: Operand) -> Iterator[StridedView]:
    """The memory of operands of which each step reads the same element, or lanes, as of this one."""
    source = operand.source
    for argument, other in zip(values.nest.body.args, values.nest.inputs, strict=False):
        if other.access != operand.access or not argument.uses.get_length():
            continue
        match other.source:
            case StridedView() as view if isinstance(source, StridedView):
                yield view
            case PaddedView(inner=StridedView() as view) as padded if isinstance(source, PaddedView):
                if (padded.low, padded.high) == (source.low, source.high):
                    yield view
            case _:
                pass


def _holds_whole_vectors(values: BodyValues, view: StridedView) -> bool:
    """Return whether the last, partial vector may be touched as a whole: its other lanes are spare room of the
    tile.
    """
    dim = values.nest.schedule.vector_dim
    return (
        view.owned
        and values.nest.has_tiles
        and dim is not None
        and values.nest.extents[dim] % values.nest.schedule.lanes == 0
    )


def _read_padded(values: BodyValues, padded: PaddedView, operand: Operand) -> SSAValue:
    vector_position: int | None = None
    inside: SSAValue | bool = True
    for position, expr in enumerate(operand.access):
        low, high = padded.low[position], padded.high[position]
        if low == 0 and high == padded.shape[position]:
            continue
        if values.is_lanes(frozenset(expr.used_dims())):
            vector_position = position
            continue
        if isinstance(expr, AffineDimExpr) and low == 0 and is_at_most(values.nest.bounds[expr.position], high):
            continue
        inside = values.emitter.both(inside, _is_inside(values, expr, low, high))
    inner = padded.inner
    if not values.is_lanes(operand.dims()):
        return _read_padded_element(values, padded, operand, inside)
    bounds: tuple[Index, Index] | None = None
    if vector_position is not None:
        bounds = _lane_bounds(values, padded, operand.access[vector_position], vector_position)
    mask = _mask_of_padding(values, operand, bounds, inside)
    if isinstance(inner, Splat):
        value = values.spread(inner.value, frozenset())
        if mask is None:
            return value
        return values.emitter.select(mask, value, values.spread(padded.fill, frozenset()))
    return _read_view(values, inner, operand, mask, padded.fill)


def _is_inside(values: BodyValues, expr: AffineExpr, low: Index, high: Index) -> SSAValue | bool:
    frame = values.frames[values.depth(frozenset(expr.used_dims()))]
    key = ("inside", expr, low, high)
    if key in frame.values:
        return frame.values[key]
    with values.emitter.at(frame.cursor):
        index = values.affine(expr)
        below = True if is_at_most(low, 0) else values.emitter.compare("sge", index, low)
        found = values.emitter.both(below, values.emitter.compare("slt", index, high))
    frame.values[key] = found  # pyright: ignore[reportArgumentType]
    return found


def _lane_bounds(values: BodyValues, padded: PaddedView, expr: AffineExpr, position: int) -> tuple[Index, Index] | None:
    """Return which lanes the padded view covers; None where the loop never leaves it."""
    assert isinstance(expr, AffineDimExpr)
    low, high = padded.low[position], padded.high[position]
    if low == 0 and (
        _is_unmasked(
            values,
        )
        or is_at_most(values.nest.bounds[expr.position], high)
    ):
        return None
    return low, high


def _is_unmasked(values: BodyValues) -> bool:
    dim = values.nest.schedule.vector_dim
    return dim is not None and values.frames[values.level_of[dim]].is_unmasked


def _mask_of_padding(
    values: BodyValues, operand: Operand, bounds: tuple[Index, Index] | None, inside: SSAValue | bool
) -> SSAValue | None:
    emitter, lanes = values.emitter, values.nest.schedule.lanes
    if bounds is None and inside is True:
        return None
    if bounds is None:
        condition = emitter.constant(int(inside), i1) if isinstance(inside, bool) else inside
        mask = emitter.broadcast(condition, lanes)
        step_mask = values.mask()
        return mask if step_mask is None else emitter.arith(arith.AndIOp, mask, step_mask)
    assert values.nest.schedule.vector_dim is not None
    low, high = bounds
    induction = values.induction(values.nest.schedule.vector_dim)
    high = emitter.select_index(inside, high, 0)
    mask = emitter.create_mask(emitter.sub(high, induction), lanes)
    if not is_at_most(low, 0):
        before = emitter.create_mask(emitter.sub(low, induction), lanes)
        ones = values.all_lanes()
        mask = emitter.arith(arith.AndIOp, mask, emitter.arith(arith.XOrIOp, before, ones))
    return mask


def _read_padded_element(values: BodyValues, padded: PaddedView, operand: Operand, inside: SSAValue | bool) -> SSAValue:
    if inside is False:
        return padded.fill
    if isinstance(padded.inner, Splat):
        value = padded.inner.value
        return value if inside is True else values.emitter.select(inside, value, padded.fill)
    if inside is True:
        return _read_view(values, padded.inner, operand, None, None)
    inner, index = padded.inner, values.linear_index(padded.inner, operand.access)
    return values.emitter.load_if(
        inside,
        lambda: values.emitter.unpack(values.emitter.load(inner.flat, index), inner.stored_as_byte),
        padded.fill,
    )


def write_output(
    values: BodyValues,
    view: StridedView,
    access: tuple[AffineExpr, ...],
    value: SSAValue,
    *,
    whole_vectors: bool = False,
    end: Index | None = None,
) -> None:
    """Store the current step's element or lanes, if allowed with the lanes that do not exist; of the vector
    dimension no lane from `end` on."""
    index = values.linear_index(view, access)
    vector_dim = values.nest.schedule.vector_dim
    value = values.emitter.pack(value, view.stored_as_byte)
    if values.nest.schedule.lanes == 1 or not any(vector_dim in expr.used_dims() for expr in access):
        values.emitter.store(value, view.flat, index)
        return
    stride = stride_along(view, access, vector_dim or 0)
    if not view.owned:
        _note(values, values.emitter.location, stride, "scattered")
    mask = values.mask() if end is None else _mask_below(values, end)
    if mask is None and is_narrow(stride):
        store_strided(values.emitter, value, view.flat, index, stride)
    elif stride != 1:
        lanes = values.lane_offsets(stride)
        values.emitter.scatter(value, view.flat, index, lanes, mask or values.all_lanes())
    elif values.frames[-1].is_streamed:
        values.emitter.stream(value, view.flat, index)
    elif mask is None or (whole_vectors and _holds_whole_vectors(values, view)):
        values.emitter.vector_store(value, view.flat, index)
    else:
        values.emitter.masked_store(value, view.flat, index, mask)


def write_interleaved(
    values: BodyValues, views: Sequence[StridedView], access: tuple[AffineExpr, ...], elements: Sequence[SSAValue]
) -> None:
    """Store the current step's lanes of several tensors that are interleaved in memory."""
    stored = zip(elements, views, strict=True)
    packed = [values.emitter.pack(element, view.stored_as_byte) for element, view in stored]
    store_interleaved(values.emitter, packed, views[0].flat, values.linear_index(views[0], access))


def _mask_below(values: BodyValues, end: Index) -> SSAValue:
    assert values.nest.schedule.vector_dim is not None
    below = values.emitter.create_mask(
        values.emitter.sub(end, values.induction(values.nest.schedule.vector_dim)), values.nest.schedule.lanes
    )
    mask = values.mask()
    return below if mask is None else values.emitter.arith(arith.AndIOp, below, mask)


def _is_integer(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType | IndexType)

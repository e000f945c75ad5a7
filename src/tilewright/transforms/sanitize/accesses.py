"""What a check asks of an access, whatever op makes it: which lanes are live, where they are, and the same access of
shadow memory.

After triton-to-unstructured there are three forms: tiles at a structured pointer (`tts.load`, `tts.store` and
their masked kin), and lanes at computed offsets (`tts.gather`, `tts.scatter`, atomics).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, tt, tts
from tilewright.dialects.tt.types import PointerType, shape_of
from tilewright.dialects.types import bit_width
from tilewright.support.records import dataclass
from tilewright.transforms.sanitize.emission import Emitter, Number

LOADS = (tts.LoadOp, tts.MaskedLoadOp, tts.GatherOp)
STORES = (tts.StoreOp, tts.MaskedStoreOp, tts.ScatterOp)
ATOMICS = (tts.AtomicRMWOp, tts.AtomicCASOp)
SUMS = (
    *(arith.AddiOp, arith.SubiOp, arith.ShRSIOp, arith.IndexCastOp, arith.ExtSIOp, arith.TruncIOp),
    *(tt.SplatOp, tt.BroadcastOp, tt.ExpandDimsOp),
)
"""What places are put together by."""


@dataclass
class Access(ABC):
    """One access of memory. Offsets and bounds are i64 and count elements from `base`."""

    op: Operation
    base: SSAValue
    shape: tuple[int, ...]

    @property
    def kind(self) -> str:
        """`load`, `store` or `atomic`."""
        return "load" if isinstance(self.op, LOADS) else "store" if isinstance(self.op, STORES) else "atomic"

    @property
    def element_bytes(self) -> int:
        return pointee_size(self.base)

    @abstractmethod
    def may_leave(self, e: Emitter, low: SSAValue, high: SSAValue) -> SSAValue:
        """A scalar that is true wherever some live lane is outside of [low, high), and cheap."""

    @abstractmethod
    def offsets(self, e: Emitter) -> SSAValue:
        """The offset of each lane."""

    @abstractmethod
    def live(self, e: Emitter) -> SSAValue | None:
        """Return which lanes touch memory; None for all."""

    @abstractmethod
    def load_from(self, e: Emitter, base: SSAValue, other: int) -> SSAValue:
        """The same elements of other memory."""

    @abstractmethod
    def store_to(self, e: Emitter, base: SSAValue, value: SSAValue) -> None:
        """Values for the same elements of other memory."""


@dataclass
class ElementAccess(Access):
    """`base[offset]` lane by lane, or one scalar."""

    offset: SSAValue
    mask: SSAValue | None

    def may_leave(self, e: Emitter, low: SSAValue, high: SSAValue) -> SSAValue:
        """Unsigned distances from the lowest element: a negative one is large."""
        distance = e.sub(e.wide(self.offset), low)
        if self.mask is not None:
            distance = e.select(self.mask, distance, 0)
        bad = e.compare("uge", e.reduce(distance, arith.MaxUIOp), e.sub(high, low))
        if self.mask is None:
            return bad
        some = self.mask if not self.shape else e.reduce(self.mask, arith.OrIOp)
        return e.insert(arith.AndIOp(bad, some))

    def offsets(self, e: Emitter) -> SSAValue:
        return e.wide(self.offset)

    def live(self, e: Emitter) -> SSAValue | None:
        return self.mask

    def load_from(self, e: Emitter, base: SSAValue, other: int) -> SSAValue:
        assert isinstance(base.type, PointerType)
        default = None if self.mask is None else e.constant(other, base.type.pointee_type)
        return e.insert(tts.GatherOp(base, self.offset, self.mask, default))

    def store_to(self, e: Emitter, base: SSAValue, value: SSAValue) -> None:
        e.builder.insert(tts.ScatterOp(base, self.offset, value, self.mask))


@dataclass
class Dimension:
    """One dimension of a tile: where its lanes are and which are live."""

    size: int
    stride: Number
    offset: Number
    wrap: Number
    start: Number
    count: Number
    rows: SSAValue | None = None
    """Of a gathered dimension: the index of each slice, in place of its number."""
    kept: SSAValue | None = None
    """Of a gathered dimension: which slices are live."""


@dataclass
class TileAccess(Access):
    """A tile at a structured pointer. The lanes of a box, and of a mask within it, are live."""

    pointer: tts.MakeTensorPtrOp | tts.MakeGatherScatterTensorPtrOp
    dimensions: list[Dimension]
    mask: SSAValue | None

    def may_leave(self, e: Emitter, low: SSAValue, high: SSAValue) -> SSAValue:
        """The corners of the box: extremes of a sum are sums of extremes."""
        least: SSAValue | None = None
        most: SSAValue | None = None
        some: SSAValue | None = None
        for dimension in self.dimensions:
            lower, upper = _extremes(e, dimension)
            least = lower if least is None else e.add(least, lower)
            most = upper if most is None else e.add(most, upper)
            if not isinstance(dimension.count, int):
                some = e.both(some, e.compare("sgt", e.wide(dimension.count), 0))
        assert least is not None and most is not None
        outside = e.either(e.compare("slt", least, low), e.compare("sge", most, high))
        result = e.both(outside, some)
        assert result is not None
        return result

    def offsets(self, e: Emitter) -> SSAValue:
        total: SSAValue | None = None
        for index, dimension in enumerate(self.dimensions):
            lanes = e.counting(self.shape, index)
            if dimension.rows is not None:
                lanes = e.wide(_along(e, dimension.rows, index, len(self.shape)))
            place = e.add(e.mul(lanes, _wide(e, dimension.stride)), _wide(e, dimension.offset))
            place = e.spread(_wrapped(e, place, dimension.wrap), self.shape)
            total = place if total is None else e.add(total, place)
        assert total is not None
        return total

    def live(self, e: Emitter) -> SSAValue | None:
        parts: list[SSAValue | None] = []
        for index, dimension in enumerate(self.dimensions):
            lanes = e.counting(self.shape, index)
            start, count = _wide(e, dimension.start), _wide(e, dimension.count)
            inside: SSAValue | None = None
            if start != 0:
                inside = e.compare("sge", lanes, start)
            if not (start == 0 and count == dimension.size):
                end = count if start == 0 else e.add(start, count)
                inside = e.both(inside, e.compare("slt", lanes, end))
            if dimension.kept is not None:
                inside = e.both(inside, _along(e, dimension.kept, index, len(self.shape)))
            if inside is not None:
                parts.append(e.spread(inside, self.shape))
        if self.mask is not None:
            parts.append(e.spread(self.mask, self.shape))
        return e.both(*parts)

    def _pointer_into(self, e: Emitter, base: SSAValue) -> SSAValue:
        made = self.pointer
        sizes = [dimension.size for dimension in self.dimensions]
        if isinstance(made, tts.MakeTensorPtrOp):
            pointer = tts.MakeTensorPtrOp(base, sizes, made.mixed_strides, made.mixed_offsets, made.mixed_shape)
        else:
            pointer = tts.MakeGatherScatterTensorPtrOp(
                base,
                made.gather_scatter_offset,
                made.gather_scatter_dim.value.data,
                sizes,
                made.mixed_strides,
                made.mixed_offsets,
                made.gather_scatter_mask,
            )
        return e.insert(pointer)

    def load_from(self, e: Emitter, base: SSAValue, other: int) -> SSAValue:
        assert isinstance(base.type, PointerType)
        pointer = self._pointer_into(e, base)
        match self.op:
            case tts.MaskedLoadOp() | tts.MaskedStoreOp():
                default = e.constant(other, base.type.pointee_type)
                op = self.op
                load = tts.MaskedLoadOp(pointer, op.mixed_mask_starts(), op.mixed_mask_dims(), op.mask, default)
            case tts.LoadOp() | tts.StoreOp():
                default = e.constant(other, base.type.pointee_type) if self.op.has_mask else None
                load = tts.LoadOp(pointer, self.op.mixed_mask_dims, default)
            case _:
                raise AssertionError(self.op.name)
        return e.insert(load)

    def store_to(self, e: Emitter, base: SSAValue, value: SSAValue) -> None:
        pointer = self._pointer_into(e, base)
        match self.op:
            case tts.MaskedLoadOp() | tts.MaskedStoreOp():
                op = self.op
                store = tts.MaskedStoreOp(pointer, value, op.mixed_mask_starts(), op.mixed_mask_dims(), op.mask)
            case tts.LoadOp() | tts.StoreOp():
                store = tts.StoreOp(pointer, value, self.op.mixed_mask_dims)
            case _:
                raise AssertionError(self.op.name)
        e.builder.insert(store)


def pointee_size(pointer: SSAValue) -> int:
    """Bytes of what a scalar pointer points to."""
    assert isinstance(pointer.type, PointerType)
    pointee = pointer.type.pointee_type
    return 8 if isinstance(pointee, PointerType) else max(8, bit_width(pointee)) // 8


def describe_access(op: Operation) -> Access | str | None:
    """The access that an op makes, None for other ops; a text says why an access cannot be described."""
    access = _describe(op)
    if isinstance(access, Access) and any(map(is_by_address, _places(access))):
        return "its address is an integer, or was read from memory"
    return access


def _places(access: Access) -> list[Number]:
    """Return what is added to the argument that an access is based on."""
    owner = access.base.owner
    further: list[Number] = [owner.offset] if isinstance(owner, tt.AddPtrOp) else []
    match access:
        case ElementAccess():
            return [access.offset, *further]
        case TileAccess():
            return [*(dimension.offset for dimension in access.dimensions), *further]
        case _:
            return further


def is_by_address(place: Number) -> bool:
    """Return whether a place is where an address points to that does not come from an argument: triton-to-unstructured
    counts from any argument to such, by `shrsi (subi %address, (splat (ptr_to_int %argument))), 2`, to which more is
    added.
    """
    work: list[Number] = [place]
    seen: set[Operation] = set()
    while work:
        value = work.pop()
        op = None if isinstance(value, int) else value.owner
        if isinstance(op, tt.PtrToIntOp):
            return True
        if isinstance(op, SUMS) and op not in seen:
            seen.add(op)
            work.extend(op.operands)
    return False


def _describe(op: Operation) -> Access | str | None:
    match op:
        case tts.GatherOp() | tts.ScatterOp():
            return ElementAccess(op, op.ptr, shape_of(op.offset.type), op.offset, op.mask)
        case tts.AtomicRMWOp():
            return ElementAccess(op, op.base, shape_of(op.offset.type), op.offset, op.mask)
        case tts.AtomicCASOp():
            return ElementAccess(op, op.base, shape_of(op.offset.type), op.offset, None)
        case tts.LoadOp() | tts.StoreOp():
            counts = op.mixed_mask_dims
            return _tile_access(op, op.ptr, [0] * len(counts), counts, None)
        case tts.MaskedLoadOp() | tts.MaskedStoreOp():
            return _tile_access(op, op.ptr, op.mixed_mask_starts(), op.mixed_mask_dims(), op.mask)
        case tt.LoadOp() | tt.StoreOp() | tt.AtomicRMWOp() | tt.AtomicCASOp():  # the others are expanded
            return "its address has no form that can be checked"
        case _:
            return None


def _tile_access(
    op: Operation, pointer: SSAValue, starts: Sequence[Number], counts: Sequence[Number], mask: SSAValue | None
) -> Access | str:
    made = pointer.owner
    if isinstance(made, tts.MakeTensorPtrOp) and not len(made.order):
        sizes = [int(size) for size in made.sizes.get_values()]
        wraps, rows, kept = made.mixed_shape, {}, {}
    elif isinstance(made, tts.MakeGatherScatterTensorPtrOp):
        sizes = [int(size) for size in made.sizes.get_values()]
        dim = made.gather_scatter_dim.value.data
        wraps, rows, kept = [0] * len(sizes), {dim: made.gather_scatter_offset}, {dim: made.gather_scatter_mask}
        if made.gather_scatter_mask is not None and counts:
            counts = [sizes[n] if n == dim else count for n, count in enumerate(counts)]
    else:
        return "its pointer is carried by control flow"
    dimensions = [
        Dimension(
            size=size,
            stride=made.mixed_strides[n],
            offset=made.mixed_offsets[n],
            wrap=wraps[n],
            start=starts[n] if starts else 0,
            count=counts[n] if counts else size,
            rows=rows.get(n),
            kept=kept.get(n),
        )
        for n, size in enumerate(sizes)
    ]
    return TileAccess(op, made.base, tuple(sizes), made, dimensions, mask)


def _wide(e: Emitter, number: Number) -> Number:
    return number if isinstance(number, int) else e.wide(number)


def _along(e: Emitter, value: SSAValue, dim: int, rank: int) -> SSAValue:
    """A 1D tile laid along one dimension."""
    for axis in range(rank):
        if axis != dim:
            value = e.insert(tt.ExpandDimsOp(value, axis))
    return value


def _wrapped(e: Emitter, place: SSAValue, wrap: Number) -> SSAValue:
    """`place remsi wrap`; a bound of 0 at run time means that the place is 0."""
    if wrap == 0:
        return place
    bound = _wide(e, wrap)
    if isinstance(bound, int):
        return e.binary(arith.RemSIOp, place, bound)
    is_zero = e.compare("eq", bound, 0)
    return e.binary(arith.RemSIOp, place, e.select(is_zero, e.constant(1), bound))


def _extremes(e: Emitter, dimension: Dimension) -> tuple[SSAValue, SSAValue]:
    """Bounds of what a dimension adds to the offset of a live lane, if there is one."""
    stride, offset = _wide(e, dimension.stride), _wide(e, dimension.offset)
    if dimension.rows is not None:
        return _gathered_extremes(e, dimension, stride, offset)
    start, count = _wide(e, dimension.start), _wide(e, dimension.count)
    first = e.add(offset, e.mul(start, stride)) if start != 0 else e.like(offset, e.constant(0).type)
    last = e.add(first, e.mul(e.sub(count, 1) if not isinstance(count, int) else count - 1, stride))
    if isinstance(stride, int) and stride >= 0:
        lower, upper = first, last
    else:
        lower, upper = e.minimum(first, last), e.maximum(first, last)
    return (lower, upper) if dimension.wrap == 0 else _wrapped_extremes(e, lower, upper, offset, stride, dimension)


def _wrapped_extremes(
    e: Emitter, lower: SSAValue, upper: SSAValue, offset: Number, stride: Number, dimension: Dimension
) -> tuple[SSAValue, SSAValue]:
    """Remainders reach at most the bound less one step, where bound and offset are multiples of the step."""
    bound = e.like(_wide(e, dimension.wrap), lower.type)
    size = e.maximum(bound, e.sub(0, bound))
    step = e.like(stride, lower.type)
    step = e.maximum(e.maximum(step, e.sub(0, step)), 1)
    rest = e.binary(arith.OrIOp, e.binary(arith.RemSIOp, bound, step), e.binary(arith.RemSIOp, offset, step))
    most = e.sub(size, e.select(e.compare("eq", rest, 0), step, 1))
    most = e.maximum(most, 0)
    least = e.select(e.compare("slt", lower, 0), e.sub(0, most), 0)
    return e.maximum(least, e.minimum(lower, 0)), e.minimum(most, e.maximum(upper, 0))


def _gathered_extremes(e: Emitter, dimension: Dimension, stride: Number, offset: Number) -> tuple[SSAValue, SSAValue]:
    assert dimension.rows is not None
    places = e.add(e.mul(e.wide(dimension.rows), stride), offset)
    shape = shape_of(dimension.rows.type)
    lanes = e.counting(shape, 0)
    count = _wide(e, dimension.count)
    inside = None if count == dimension.size else e.compare("slt", lanes, count)
    inside = e.both(inside, dimension.kept)
    if inside is None:
        return e.reduce(places, arith.MinSIOp), e.reduce(places, arith.MaxSIOp)
    highest = (1 << 62) - 1
    lower = e.reduce(e.select(inside, places, highest), arith.MinSIOp)
    upper = e.reduce(e.select(inside, places, -highest), arith.MaxSIOp)
    # Without a live slice the extremes cross: then nothing is accessed, and 0 is as good as any place.
    none = e.compare("sgt", lower, upper)
    zero = e.constant(0)
    return e.select(none, zero, lower), e.select(none, zero, upper)

"""Mask states become the operands of masked accesses."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tilewright.analysis.index_algebra import IndexAlgebra
from tilewright.analysis.mask import UNBOUNDED, Bound, Comparison, Condition, DimBounds, LaneMask, MaskState
from tilewright.dialects import arith, tt
from tilewright.dialects.tt.types import shape_of, tensor_type
from tilewright.lowering.tt_to_structured.emission import Index, IndexEmitter
from tilewright.lowering.tt_to_structured.placement import Placement
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class EmittedMask:
    """First live lane and number of live lanes of each dimension, and the lane mask if there is one."""

    starts: tuple[Index, ...]
    dims: tuple[Index, ...]
    lanes: SSAValue | None

    @property
    def is_prefix_box(self) -> bool:
        """True if `tts.load` and `tts.store` can say it."""
        return self.lanes is None and all(isinstance(start, int) and start == 0 for start in self.starts)

    def keeps_all(self, sizes: tuple[int, ...]) -> bool:
        """Return whether no lane of a tile of these sizes is dead."""
        counts = zip(self.dims, sizes, strict=True)
        return self.is_prefix_box and all(isinstance(dim, int) and dim == size for dim, size in counts)


class MaskEmitter:
    """Emits masks of one function, each state once. With `unsafe`, bounds are taken never to lie below lane 0."""

    def __init__(self, algebra: IndexAlgebra, emitter: IndexEmitter, placement: Placement, *, unsafe: bool) -> None:
        self._algebra = algebra
        self._emitter = emitter
        self._placement = placement
        self._unsafe = unsafe
        self._made: dict[tuple[MaskState, tuple[int, ...]], EmittedMask] = {}

    def mask(self, state: MaskState, shape: tuple[int, ...]) -> EmittedMask:
        """The mask of an access of that shape."""
        found = self._made.get((state, shape))
        if found is None:
            found = self._made[state, shape] = self._emit(state, shape)
        return found

    def _emit(self, state: MaskState, shape: tuple[int, ...]) -> EmittedMask:
        spans = [self._span(bounds, size) for bounds, size in zip(state.bounds, shape, strict=True)]
        starts = [start for start, _ in spans]
        dims = [count for _, count in spans]
        if state.conditions:
            dims[0] = self._unless(self._all_conditions(state.conditions), dims[0])
        return EmittedMask(tuple(starts), tuple(dims), self._all_lanes(state.lanes))

    # Boxes

    def _span(self, bounds: DimBounds, size: int) -> tuple[Index, Index]:
        """`(start, count)` with `0 <= start`, `0 <= count` and `start + count <= size`."""
        if bounds == UNBOUNDED:
            return 0, size
        if not bounds.lowers:
            return 0, self._smallest([self._count(bound, size) for bound in bounds.uppers])
        start = self._largest([self._clamped(bound, size) for bound in bounds.lowers])
        end: Index = size
        if bounds.uppers:
            end = self._smallest([self._clamped(bound, size) for bound in bounds.uppers])
        return start, self._at_least_zero(self._minus(end, start))

    def _count(self, bound: Bound, size: int) -> Index:
        """Return how many lanes from lane 0 on lie below a bound.

        With the values that lanes compare with from `origin` to `end = origin + size`, that is
        `max(min(limit, end), origin) - origin`."""
        if bound.step != 1:
            return self._clamped(bound, size)
        origin = self._emitter.index(bound.origin)
        end = self._emitter.index(self._algebra.add(bound.origin, self._algebra.constant(size)))
        last = self._min(end, self._emitter.index(bound.limit))
        if not self._unsafe:
            last = self._max(last, origin)
        return self._minus(last, origin)

    def _clamped(self, bound: Bound, size: int) -> Index:
        """The lane number of a bound, moved into [0, size]."""
        lane = self._emitter.index(self._algebra.subtract(bound.limit, bound.origin))
        if bound.step != 1:
            lane = self._ceil_div(lane, bound.step)
        return self._min(self._max(lane, 0), size)

    def _ceil_div(self, lane: Index, step: int) -> Index:
        if isinstance(lane, int):
            return -(-lane // step)
        return self._emitter.binary(arith.CeilDivSIOp, lane, self._placement.constant(step))

    def _value(self, index: Index) -> SSAValue:
        return self._placement.constant(index) if isinstance(index, int) else index

    def _min(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return lhs if lhs is rhs else self._emitter.binary(arith.MinSIOp, self._value(lhs), self._value(rhs))

    def _max(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return lhs if lhs is rhs else self._emitter.binary(arith.MaxSIOp, self._value(lhs), self._value(rhs))

    def _minus(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if rhs == 0 and isinstance(rhs, int):
            return lhs
        return 0 if lhs is rhs else self._emitter.binary(arith.SubiOp, self._value(lhs), self._value(rhs))

    def _at_least_zero(self, index: Index) -> Index:
        return self._max(index, 0)

    def _smallest(self, indices: list[Index]) -> Index:
        result = indices[0]
        for index in indices[1:]:
            result = self._min(result, index)
        return result

    def _largest(self, indices: list[Index]) -> Index:
        result = indices[0]
        for index in indices[1:]:
            result = self._max(result, index)
        return result

    # Conditions

    def _unless(self, condition: SSAValue, count: Index) -> Index:
        if isinstance(count, int) and count == 0:
            return 0
        return self._emitter.select(condition, self._value(count), self._placement.constant(0))

    def _all_conditions(self, conditions: tuple[Condition | Comparison, ...]) -> SSAValue:
        result: SSAValue | None = None
        for condition in conditions:
            value = self._condition(condition)
            result = value if result is None else self._emitter.binary(arith.AndIOp, result, value)
        assert result is not None
        return result

    def _condition(self, condition: Condition | Comparison) -> SSAValue:
        if isinstance(condition, Comparison):
            lhs, rhs = self._emitter.value(condition.lhs), self._emitter.value(condition.rhs)
            return self._placement.place(arith.CmpiOp(lhs, rhs, condition.predicate)).results[0]
        value = self._emitter.scalar(condition.value)
        if not condition.negated:
            return value
        return self._emitter.binary(arith.XOrIOp, value, self._placement.constant(-1, i1))

    # Lane masks

    def _all_lanes(self, masks: tuple[LaneMask, ...]) -> SSAValue | None:
        result: SSAValue | None = None
        for mask in masks:
            value = self._lane_mask(mask)
            result = value if result is None else self._both(result, value)
        return result

    def _lane_mask(self, mask: LaneMask) -> SSAValue:
        value = self._placement.current(mask.value)
        if mask.negated:
            ones = self._placement.place(arith.constant_splat(-1, value.type)).results[0]
            value = self._emitter.binary(arith.XOrIOp, value, ones)
        for kind, argument in mask.shape_changes:
            op = tt.ExpandDimsOp(value, argument[0]) if kind == "expand" else tt.TransOp(value, argument)
            value = self._placement.place(op).results[0]
        return value

    def _both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        extents = zip(shape_of(lhs.type), shape_of(rhs.type), strict=True)
        shape = tuple(max(left, right) for left, right in extents)
        values = (self._broadcast(lhs, shape), self._broadcast(rhs, shape))
        return self._emitter.binary(arith.AndIOp, *values)

    def _broadcast(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        if shape_of(value.type) == shape:
            return value
        return self._placement.place(tt.BroadcastOp(value, tensor_type(i1, shape))).result

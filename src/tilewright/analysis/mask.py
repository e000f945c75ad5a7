"""The mask analysis: which lanes of an access are live.

A mask is split into a conjunction of

- per dimension bounds on the lane number, `lower <= i < upper`, each a symbolic index: the box;
- scalar conditions that hold for all lanes or none;
- lane masks: what has no such form, as the i1 tensor that the program computes anyway.

The split always succeeds: at worst the whole mask is one lane mask.

```python
# offs_m[:, None] < m  and  keep[None, :]  and  flag
MaskState(bounds=(DimBounds(uppers=(Bound(m, start),)), DimBounds()), conditions=(flag,), lanes=(keep[None, :],))
```
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field, replace
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import SSAValue

from tilewright.analysis.index_algebra import Expr, constant_part, constant_value
from tilewright.analysis.lanes import BlockPointer, Lanes, Unknown
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.analysis.pointer_rules import is_nonnegative
from tilewright.analysis.splats import is_splat_tree
from tilewright.dialects import arith, tt
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.types import bit_width, element_type
from tilewright.support.records import dataclass

MAX_DEPTH = 60
"""Longest chain of mask ops that is followed; what lies deeper is taken as a lane mask."""

LARGEST = 1 << 62
"""Constants beyond this are not compared in index arithmetic, where one more could overflow."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A lane number: `limit - origin` divided by `step`, rounded up (`origin` is the value that lane 0 compares
    with)."""

    limit: Expr
    origin: Expr
    step: int = 1


@dataclass(frozen=True, slots=True)
class DimBounds:
    """Lanes of one dimension: at least all `lowers`, below all `uppers`."""

    lowers: tuple[Bound, ...] = ()
    uppers: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A scalar i1 (or the number in all lanes of an i1 tensor) that has to be true, or false when `negated`."""

    value: SSAValue
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A scalar comparison of two numbers by `slt`, `sle`, `eq` or `ne`."""

    predicate: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class LaneMask:
    """An i1 tensor, seen through shape changes: ("expand", axis) or ("permute", order). Extents of 1 broadcast."""

    value: SSAValue
    negated: bool = False
    shape_changes: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class MaskState:
    """The conjunction of its parts; `bounds` has one entry for each dimension."""

    bounds: tuple[DimBounds, ...]
    conditions: tuple[Condition | Comparison, ...] = ()
    lanes: tuple[LaneMask, ...] = ()

    @property
    def is_always_true(self) -> bool:
        """True if no lane is masked off."""
        return not self.conditions and not self.lanes and all(b == UNBOUNDED for b in self.bounds)


T = TypeVar("T")
UNBOUNDED = DimBounds()

SIGNED = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}
NEGATED = {"slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle", "eq": "ne", "ne": "eq"}
MIRRORED = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle", "eq": "eq", "ne": "ne"}
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@dataclass(slots=True)
class MaskAnalysis:
    """Splits masks; shares the states of index tensors with a pointer analysis."""

    pointers: PointerAnalysis
    _known: dict[tuple[SSAValue, bool], MaskState] = field(default_factory=dict[tuple[SSAValue, bool], MaskState])

    def state(self, mask: SSAValue, *, negated: bool = False, depth: int = 0) -> MaskState:
        """The split of an i1 tensor (of its complement when `negated`)."""
        found = self._known.get((mask, negated))
        if found is None:
            found = self._split(mask, negated, depth + 1) if depth < MAX_DEPTH else self._as_lane_mask(mask, negated)
            self._known[mask, negated] = found
        return found

    def _split(self, mask: SSAValue, negated: bool, depth: int) -> MaskState:
        op = mask.owner
        match op:
            case arith.ConstantOp():
                return self._split_constant(mask, negated)
            case tt.SplatOp():
                return MaskState(_unbounded(mask), (Condition(op.operands[0], negated),))
            case arith.AndIOp() if not negated:
                return conjunction([self.state(operand, depth=depth) for operand in op.operands])
            case arith.OrIOp() if negated:
                return conjunction([self.state(operand, negated=True, depth=depth) for operand in op.operands])
            case arith.XOrIOp() if (constant := arith.find_constant_int(op.operands[1])) is not None:
                return self.state(op.operands[0], negated=negated != bool(constant), depth=depth)
            case tt.ExpandDimsOp():
                return self._expand(mask, op, negated, depth)
            case tt.BroadcastOp():
                return self._broadcast(mask, op.operands[0], negated, depth)
            case tt.TransOp():
                return self._transpose(op, negated, depth)
            case arith.CmpiOp():
                return self._split_comparison(mask, op, negated)
            case _:
                return self._as_lane_mask(mask, negated)

    def _as_lane_mask(self, mask: SSAValue, negated: bool) -> MaskState:
        if is_splat_tree(mask):
            return MaskState(_unbounded(mask), (Condition(mask, negated),))
        return MaskState(_unbounded(mask), (), (LaneMask(mask, negated),))

    def _split_constant(self, mask: SSAValue, negated: bool) -> MaskState:
        constant = arith.find_constant_int(mask)
        if constant is None:
            return self._as_lane_mask(mask, negated)
        bounds = _unbounded(mask)
        if bool(constant) == negated:
            zero = self.pointers.algebra.zero
            bounds = (DimBounds(uppers=(Bound(zero, zero),)), *bounds[1:])
        return MaskState(bounds)

    # Shapes

    def _expand(self, mask: SSAValue, op: tt.ExpandDimsOp, negated: bool, depth: int) -> MaskState:
        source = op.operands[0]
        state = self.state(source, negated=negated, depth=depth)
        axis = op.properties["axis"]
        assert isinstance(axis, IntegerAttr)
        number = axis.value.data
        bounds = (*state.bounds[:number], UNBOUNDED, *state.bounds[number:])
        lanes = tuple(
            LaneMask(mask, lane.negated)
            if lane.value is source and not lane.shape_changes
            else replace(lane, shape_changes=(*lane.shape_changes, ("expand", (number,))))
            for lane in state.lanes
        )
        return MaskState(bounds, state.conditions, lanes)

    def _broadcast(self, mask: SSAValue, source: SSAValue, negated: bool, depth: int) -> MaskState:
        state = self.state(source, negated=negated, depth=depth)
        grown = [old != new for old, new in zip(shape_of(source.type), shape_of(mask.type), strict=True)]
        if any(grows and bound != UNBOUNDED for grows, bound in zip(grown, state.bounds, strict=True)):
            return self._as_lane_mask(mask, negated)
        return state

    def _transpose(self, op: tt.TransOp, negated: bool, depth: int) -> MaskState:
        state = self.state(op.operands[0], negated=negated, depth=depth)
        attribute = op.properties["order"]
        assert isinstance(attribute, DenseArrayBase)
        order = tuple(int(dim) for dim in attribute.get_values())
        lanes = tuple(replace(lane, shape_changes=(*lane.shape_changes, ("permute", order))) for lane in state.lanes)
        return MaskState(tuple(state.bounds[dim] for dim in order), state.conditions, lanes)

    # Comparisons

    def _split_comparison(self, mask: SSAValue, op: arith.CmpiOp, negated: bool) -> MaskState:
        lhs, rhs = (self.pointers.lanes_of(operand) for operand in op.operands)
        predicate = self._signed_predicate(op, lhs, rhs)
        if predicate is None or isinstance(lhs, Unknown) or isinstance(rhs, Unknown):
            return self._as_lane_mask(mask, negated)
        extra: list[MaskState] = []
        if predicate == "in range":
            if negated:
                return self._as_lane_mask(mask, negated)
            zero = self.pointers.lanes.splat(self.pointers.lanes.scalar(self.pointers.algebra.zero), lhs.shape)
            lower = self._compare(lhs, "sge", zero)
            if lower is None:
                return self._as_lane_mask(mask, negated)
            extra.append(lower)
            predicate = SIGNED[_predicate_of(op)]
        compared = self._compare(lhs, NEGATED[predicate] if negated else predicate, rhs)
        return self._as_lane_mask(mask, negated) if compared is None else conjunction([compared, *extra])

    def _signed_predicate(self, op: arith.CmpiOp, lhs: Lanes | Unknown, rhs: Lanes | Unknown) -> str | None:
        """The signed predicate that means the same here; "in range" for `0 <= lhs <(=) rhs`; None if there is none."""
        predicate = _predicate_of(op)
        if bit_width(element_type(op.operands[0].type)) < 32 or isinstance(lhs, Unknown) or isinstance(rhs, Unknown):
            return None
        if predicate not in SIGNED:
            return predicate
        left, right = is_nonnegative(self.pointers, lhs), is_nonnegative(self.pointers, rhs)
        if left and right:
            return SIGNED[predicate]
        return "in range" if right and predicate in ("ult", "ule") else None

    def _compare(self, lhs: Lanes, predicate: str, rhs: Lanes) -> MaskState | None:
        """Lanes where a comparison holds, if at most one dimension matters and it advances by a known step."""
        if lhs.shape != rhs.shape or lhs.base is not None or rhs.base is not None:
            return None
        if lhs.gathers or rhs.gathers or any(dim.wrap is not None for dim in (*lhs.dims, *rhs.dims)):
            return None
        index = self.pointers.algebra
        steps = [index.subtract(a.stride, b.stride) for a, b in zip(lhs.dims, rhs.dims, strict=True)]
        varying = [n for n, step in enumerate(steps) if step is not index.zero and lhs.dims[n].size > 1]
        first = tuple(index.total((state.uniform, *(dim.offset for dim in state.dims))) for state in (lhs, rhs))
        if any(abs(constant_part(number)) > LARGEST for number in first):
            return None
        nothing = tuple(UNBOUNDED for _ in lhs.dims)
        if not varying:
            return self._compare_numbers(predicate, first[0], first[1], nothing)
        step = constant_value(steps[varying[0]])
        if len(varying) > 1 or step is None:
            return None
        bounds = self._solve(predicate, first[0], first[1], step)
        if bounds is None:
            return None
        number = varying[0]
        return MaskState((*nothing[:number], bounds, *nothing[number + 1 :]))

    def _compare_numbers(self, predicate: str, lhs: Expr, rhs: Expr, bounds: tuple[DimBounds, ...]) -> MaskState:
        """A comparison that does not depend on the lane."""
        if predicate in ("sgt", "sge"):
            predicate, lhs, rhs = MIRRORED[predicate], rhs, lhs
        left, right = constant_value(lhs), constant_value(rhs)
        if left is None or right is None:
            return MaskState(bounds, (Comparison(predicate, lhs, rhs),))
        if {"slt": left < right, "sle": left <= right, "eq": left == right, "ne": left != right}[predicate]:
            return MaskState(bounds)
        zero = self.pointers.algebra.zero
        return MaskState((DimBounds(uppers=(Bound(zero, zero),)), *bounds[1:]))

    def _solve(self, predicate: str, lhs: Expr, rhs: Expr, step: int) -> DimBounds | None:
        """Lanes i with `lhs + i * step <predicate> rhs`."""
        index = self.pointers.algebra
        if step < 0:
            return self._solve(MIRRORED[predicate], index.scale(lhs, -1), index.scale(rhs, -1), -step)
        at_least = Bound(rhs, lhs, step)
        beyond = Bound(index.add(rhs, index.one), lhs, step)
        match predicate:
            case "slt":
                return DimBounds(uppers=(at_least,))
            case "sle":
                return DimBounds(uppers=(beyond,))
            case "sge":
                return DimBounds(lowers=self._needed(at_least))
            case "sgt":
                return DimBounds(lowers=self._needed(beyond))
            case "eq" if step == 1:
                return DimBounds(lowers=self._needed(at_least), uppers=(beyond,))
            case _:
                return None

    # Block pointers

    def inside_parent(self, block: BlockPointer, checked: Collection[int]) -> MaskState:
        """The lanes of a block that lie inside its parent tensor, in the dimensions that are `checked`."""
        zero = self.pointers.algebra.zero
        bounds = tuple(
            DimBounds(self._needed(Bound(zero, dim.start)), (Bound(dim.extent, dim.start),))
            if index in checked
            else UNBOUNDED
            for index, dim in enumerate(block.dims)
        )
        return MaskState(bounds)

    def _needed(self, lower: Bound) -> tuple[Bound, ...]:
        """A lower bound, unless it is provably at or below lane 0."""
        slack = self.pointers.algebra.subtract(lower.origin, lower.limit)
        return () if self.pointers.signs.is_nonnegative(slack) else (lower,)


def _unbounded(mask: SSAValue) -> tuple[DimBounds, ...]:
    return (UNBOUNDED,) * len(shape_of(mask.type))


def _predicate_of(op: arith.CmpiOp) -> str:
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return PREDICATES[predicate.value.data]


def conjunction(states: Sequence[MaskState]) -> MaskState:
    """Lanes that are live in all states of one rank."""
    bounds = tuple(
        DimBounds(_unique(b for bound in dim for b in bound.lowers), _unique(b for bound in dim for b in bound.uppers))
        for dim in zip(*(state.bounds for state in states), strict=True)
    )
    conditions = _unique(condition for state in states for condition in state.conditions)
    return MaskState(bounds, conditions, _unique(lane for state in states for lane in state.lanes))


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))

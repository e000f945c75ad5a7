"""Comparisons of indices with limits, where their results are known: everywhere, before a lane, for whole tiles.

    select(%start + %i < %n, %x, -inf)  for all i up to an extent

Bounds make some comparisons statically known. Others are checked at run time before a loop: whether no index of a
whole dimension is past its limit (loop versioning), or how many whole vectors of lanes are before it (the main loop).
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import arith, linalg
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import Nest
from tilewright.lowering.linalg_to_loops.sources import PaddedView
from tilewright.support.cpu_costs import FEW_VECTORS
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most, is_same

FALSE_PAST_BOUND = {2: False, 5: True}
"""Value of `index <predicate> bound` past the bound: slt is false there, sge is true."""


@dataclass(frozen=True, slots=True)
class _LimitedLane:
    """What `shift + index <predicate> limit` compares, and its result where the index is small enough."""

    dim: int
    shift: SSAValue | None
    limit: SSAValue
    result_below: bool


def known_comparisons(emitter: LoopEmitter, nest: Nest) -> dict[SSAValue, bool]:
    """Find the comparisons of lane indices with limits that hold, or fail, in every iteration within the nest's bounds.

    for %i = 0 to min(%n, 64) { select(%i < %n, %x, 0) }      ->      { %x }
    """
    known: dict[SSAValue, bool] = {}
    for op in nest.body.ops:
        found = find_limited_lane(nest, op)
        if found is None:
            continue
        limit = lane_bound(emitter, found.limit, found.shift, nest.extents[found.dim])
        if is_at_most(nest.bounds[found.dim], limit):
            known[op.results[0]] = found.result_below
    return known


@dataclass(frozen=True, slots=True)
class UnmaskedPart:
    """The whole vectors before `bound`: the results of some comparisons are known there, and no lane is past the
    end of a padded view that is read or of an output that is cut."""

    bound: Index
    comparisons: dict[SSAValue, SSAValue]


def find_unmasked_part(emitter: LoopEmitter, nest: Nest) -> UnmaskedPart | None:
    """The part of the vector dimension where no lane is beyond a limit; it gets a loop without the comparisons.

    for %j = 0 to 128 step 16 { select(%start + lanes(%j) < %n, %x, -inf) }
      ->
    %unmasked = clamp(%n - %start, 0, 128) & -16
    for %j = 0 to %unmasked step 16 { %x };  for %j = %unmasked to 128 step 16 { select(...) }
    """
    dim = nest.schedule.vector_dim
    if dim is None or is_at_most(nest.bounds[dim], nest.schedule.lanes):
        return None
    if is_at_most(nest.bounds[dim], nest.schedule.lanes * nest.schedule.unroll) and not has_short_rows(nest):
        return None
    comparisons: dict[SSAValue, SSAValue] = {}
    bound: Index = nest.bounds[dim]
    for op in nest.body.ops:
        found = find_limited_lane(nest, op)
        if found is None or found.dim != dim:
            continue
        result = op.results[0]
        holds = emitter.constant(int(found.result_below), result.type)
        comparisons[result] = emitter.broadcast(holds, nest.schedule.lanes)
        bound = emitter.min(bound, lane_bound(emitter, found.limit, found.shift, nest.extents[dim]))
    ends = _ends_of_rows(nest, dim)
    for end in ends:
        bound = emitter.min(bound, emitter.max(end, 0))
    if not comparisons and not ends:
        return None
    return UnmaskedPart(emitter.align_down(bound, nest.schedule.lanes * nest.schedule.unroll), comparisons)


@dataclass(frozen=True, slots=True)
class VersionCheck:
    """A test before a loop: where it succeeds, the comparisons hold, or fail, for all indices, and a short row is
    unmasked as a whole."""

    condition: SSAValue | bool
    comparisons: dict[SSAValue, bool]
    unmasked: UnmaskedPart | None


def find_version_check(emitter: LoopEmitter, nest: Nest, unmasked: UnmaskedPart | None) -> VersionCheck | None:
    """The test whether a loop needs no comparisons; None where there are none that it would settle.

    for %i = 0 to 64 { for %j = 0 to 64 step 16 { select(%start + %i < %n, %x, -inf) } }
      ->
    if %n - %start >= 64 { for %i { for %j { %x } } } else { for %i { for %j { select(...) } } }

    Lanes of long rows have a front of their own for that.
    """
    if not _writes_in_loops(nest):
        return None
    condition: SSAValue | bool = True
    comparisons: dict[SSAValue, bool] = {}
    for op in nest.body.ops:
        found = find_limited_lane(nest, op)
        if found is None or found.dim == nest.schedule.vector_dim:
            continue
        bound = nest.bounds[found.dim]
        limit = lane_bound(emitter, found.limit, found.shift, nest.extents[found.dim])
        if not isinstance(bound, int) or is_at_most(bound, limit):
            continue
        condition = emitter.both(condition, emitter.compare("sge", limit, bound))
        comparisons[op.results[0]] = found.result_below
    short = unmasked if unmasked is not None and has_short_rows(nest) else None
    if short is not None:
        assert nest.schedule.vector_dim is not None
        extent = nest.bounds[nest.schedule.vector_dim]
        condition = emitter.both(condition, emitter.compare("eq", short.bound, extent))
        short = UnmaskedPart(extent, short.comparisons)
    return VersionCheck(condition, comparisons, short) if comparisons or short is not None else None


def has_short_rows(nest: Nest) -> bool:
    """Return whether the rows of vectors that a loop goes over are so short that the front is all of a row, or not
    used.
    """
    dim = nest.schedule.vector_dim
    if (
        dim is None
        or len(nest.schedule.order) < 2
        or nest.schedule.order[-1] != dim
        or any(output.dest is None for output in nest.outputs)
    ):
        return False
    extent = nest.bounds[dim]
    step = nest.schedule.lanes * nest.schedule.unroll
    return isinstance(extent, int) and extent % step == 0 and extent <= FEW_VECTORS * nest.schedule.lanes


def _writes_in_loops(nest: Nest) -> bool:
    """Return whether there are loops around rows, whose only results are what they write."""
    return len(nest.schedule.order) > 1 and all(output.dest is not None for output in nest.outputs)


def _ends_of_rows(nest: Nest, dim: int) -> list[Index]:
    """Return where the padded views that a nest reads along a dimension, and the outputs that are cut, end within its
    bounds.
    """
    ends: list[Index] = []
    for operand in nest.inputs:
        source = operand.source
        if isinstance(source, PaddedView):
            for expr, low, high in zip(operand.access, source.low, source.high, strict=True):
                if low == 0 and expr == AffineDimExpr(dim) and not is_at_most(nest.bounds[dim], high):
                    add_bound(ends, high)
    for output in nest.outputs:
        if output.is_cut and not is_at_most(nest.bounds[dim], output.bounds[dim]):
            add_bound(ends, output.bounds[dim])
    return ends


def find_limited_lane(nest: Nest, op: Operation) -> _LimitedLane | None:
    """The comparison that an op is, if it is one of an index with a limit and not statically known yet."""
    if not isinstance(op, arith.CmpiOp) or op.predicate.value.data not in FALSE_PAST_BOUND:
        return None
    lane = _lane_of(nest, op.lhs)
    if lane is None or not nest.facts.depends[op.result] or not is_outside(nest, op.rhs):
        return None
    return _LimitedLane(*lane, op.rhs, not FALSE_PAST_BOUND[op.predicate.value.data])


def _lane_of(nest: Nest, value: SSAValue) -> tuple[int, SSAValue | None] | None:
    """The dimension whose index a value is, and what is added to it."""
    shift: SSAValue | None = None
    while isinstance(op := value.owner, Operation) and op.parent_block() is nest.body:
        match op:
            case linalg.IndexOp():
                return op.dim.value.data, shift
            case arith.IndexCastOp() | arith.ExtSIOp():
                value = op.operands[0]
            case arith.AddiOp() if shift is None and any(is_outside(nest, operand) for operand in op.operands):
                outside = 1 if is_outside(nest, op.operands[1]) else 0
                value, shift = op.operands[1 - outside], op.operands[outside]
            case _:
                return None
    return None


def is_outside(nest: Nest, value: SSAValue) -> bool:
    return value.owner is not nest.body and not (
        isinstance(value.owner, Operation) and value.owner.parent_block() is nest.body
    )


def lane_bound(emitter: LoopEmitter, limit: SSAValue, shift: SSAValue | None, extent: int) -> Index:
    """clamp(limit - shift, 0, extent)."""
    number = constant_of(limit)
    bound: Index = _as_index(emitter, limit) if number is None else number
    if shift is not None:
        bound = emitter.sub(bound, _as_index(emitter, shift))
    return emitter.max(emitter.min(bound, extent), 0)


def _as_index(emitter: LoopEmitter, value: SSAValue) -> SSAValue:
    return value if value.type == INDEX else emitter.value(arith.IndexCastOp, (value,), INDEX)


def add_bound(bounds: list[Index], bound: Index) -> None:
    if not any(is_same(bound, known) for known in bounds):
        bounds.append(bound)

"""Reductions over padded rows: the lanes behind a mask's bound all hold one value, which is combined in once.

    sum over 1024 lanes of exp(x - m), x padded with -inf behind %n
      ->  sum over %n lanes, plus (1024 - %n) * exp(-inf - m)

So no lane that the mask proves dead is ever executed, and the result is that of the unnarrowed program up to the order
of the additions. Minimum, maximum, and, or: the padded value is combined once, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import arith, linalg
from tilewright.dialects.types import is_integer
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.combiners import Combiner, is_identity
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter, default_flags
from tilewright.lowering.linalg_to_loops.nest_plan import Nest, Operand
from tilewright.lowering.linalg_to_loops.provable import constant_of, is_at_most, is_same
from tilewright.lowering.linalg_to_loops.sources import Box, Uniform

_FALSE_BEHIND = {2: False, 5: True}
"""Value of `index <predicate> bound` behind the bound: slt is false there, sge is true."""


FEW_VECTORS = 8
"""Vectors of a row up to which the ends of two loops over it cost as much as what they save."""


@dataclass(frozen=True, slots=True)
class Padding:
    """Behind `bound`, `count` lanes have the same value."""

    bound: Index
    count: Index
    comparisons: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def combine(self, emitter: LoopEmitter, combiner: Combiner, accumulator: SSAValue, padded: SSAValue) -> SSAValue:
        """The accumulator of the lanes in front with the `count` lanes behind."""
        if is_identity(combiner, padded):
            return accumulator
        element = padded.type
        contribution = padded
        if not combiner.idempotent:
            count = emitter.index_cast(self.count, i32 if not is_integer(element) else element)
            if combiner.op_class is arith.AddfOp:
                times = emitter.value(arith.SIToFPOp, (count,), element)
                contribution = emitter.arith(arith.MulfOp, padded, times)
            else:
                contribution = emitter.arith(arith.MuliOp, padded, count)
        op_class = combiner.op_class
        combined = emitter.value(op_class, (accumulator, contribution), element, default_flags(op_class))
        some = emitter.compare("sgt", self.count, 0)
        if isinstance(some, bool):
            return combined if some else accumulator
        return emitter.select(some, combined, accumulator)


def find_padding(emitter: LoopEmitter, nest: Nest) -> Padding | None:
    """How far the vector dimension of a reduction really has to run; None where no bound is known."""
    dim = nest.vector_dim
    assert dim is not None
    for output in nest.outputs:
        if output.reduces and not _can_repeat(output.combiner):
            return None
    bounds: list[Index] = []
    for argument, operand in zip(nest.body.args, nest.inputs, strict=False):
        if dim not in operand.dims() or not argument.uses.get_length():
            continue
        bound = _operand_bound(operand, dim)
        if bound is None:
            return None
        _add_bound(bounds, bound)
    comparisons: dict[SSAValue, bool] = {}
    for op in nest.body.ops:
        if isinstance(op, linalg.IndexOp) and op.dim.value.data == dim:
            found = _comparison_bounds(emitter, nest, op, comparisons)
            if found is None:
                return None
            for bound in found:
                _add_bound(bounds, bound)
    if not bounds:
        return None
    total = bounds[0]
    for bound in bounds[1:]:
        total = emitter.max(total, bound)
    for output in nest.outputs:
        if not output.reduces and not is_at_most(output.bounds[dim], total):
            return None
    return Padding(total, emitter.sub(nest.extents[dim], total), comparisons)


def settled_comparisons(emitter: LoopEmitter, nest: Nest) -> dict[SSAValue, bool]:
    """The comparisons of lane numbers with limits that hold, or fail, in every iteration within the nest's bounds.

    for %i = 0 to min(%n, 64) { select(%i < %n, %x, 0) }      ->      { %x }
    """
    settled: dict[SSAValue, bool] = {}
    for op in nest.body.ops:
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data not in _FALSE_BEHIND:
            continue
        lane = _lane_of(nest, op.lhs)
        if lane is None or not _is_outside(nest, op.rhs):
            continue
        dim, shift = lane
        limit = _lane_bound(emitter, op.rhs, shift, nest.extents[dim])
        if is_at_most(nest.bounds[dim], limit):
            settled[op.result] = not _FALSE_BEHIND[op.predicate.value.data]
    return settled


@dataclass(frozen=True, slots=True)
class Front:
    """The whole vectors in front of `bound`: the results of some comparisons are known there, and no lane is behind the
    end of a box that is read or of an output that is cut."""

    bound: Index
    comparisons: dict[SSAValue, SSAValue]


def find_front(emitter: LoopEmitter, nest: Nest) -> Front | None:
    """The part of the vector dimension where no lane is beyond a limit; it gets a loop without the comparisons.

    for %j = 0 to 128 step 16 { select(%start + lanes(%j) < %n, %x, -inf) }
      ->
    %front = clamp(%n - %start, 0, 128) & -16
    for %j = 0 to %front step 16 { %x };  for %j = %front to 128 step 16 { select(...) }
    """
    dim = nest.vector_dim
    if dim is None or nest.folds() or is_at_most(nest.bounds[dim], nest.lanes):
        return None
    if is_at_most(nest.bounds[dim], nest.lanes * nest.unroll) and not has_short_rows(nest):
        return None
    comparisons: dict[SSAValue, SSAValue] = {}
    bound: Index = nest.bounds[dim]
    for op in nest.body.ops:
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data not in _FALSE_BEHIND:
            continue
        lane = _lane_of(nest, op.lhs)
        if lane is None or lane[0] != dim or not nest.depends[op.result] or not _is_outside(nest, op.rhs):
            continue
        holds = emitter.constant(int(not _FALSE_BEHIND[op.predicate.value.data]), op.result.type)
        comparisons[op.result] = emitter.broadcast(holds, nest.lanes)
        bound = emitter.min(bound, _lane_bound(emitter, op.rhs, lane[1], nest.extents[dim]))
    ends = _ends_of_rows(nest, dim)
    for end in ends:
        bound = emitter.min(bound, emitter.max(end, 0))
    if not comparisons and not ends:
        return None
    return Front(emitter.align_down(bound, nest.lanes * nest.unroll), comparisons)


def has_short_rows(nest: Nest) -> bool:
    """Whether a loop over rows of a few vectors each is to be chosen by whether the front is all of a row.

    for %i { for %j = 0 to %front { %x };  for %j = %front to 64 { select(...) } }
      ->
    if %front == 64 { for %i { for %j = 0 to 64 { %x } } } else { for %i { for %j = 0 to 64 { select(...) } } }
    """
    dim = nest.vector_dim
    if (
        dim is None
        or len(nest.order) < 2
        or nest.order[-1] != dim
        or any(output.dest is None for output in nest.outputs)
    ):
        return False
    extent = nest.bounds[dim]
    step = nest.lanes * nest.unroll
    return isinstance(extent, int) and extent % step == 0 and extent <= FEW_VECTORS * nest.lanes


def _ends_of_rows(nest: Nest, dim: int) -> list[Index]:
    """Where the boxes that a nest reads along a dimension, and the outputs that are cut, end within its bounds."""
    ends: list[Index] = []
    for operand in nest.inputs:
        source = operand.source
        if isinstance(source, Box):
            for expr, low, high in zip(operand.access, source.low, source.high, strict=True):
                if low == 0 and expr == AffineDimExpr(dim) and not is_at_most(nest.bounds[dim], high):
                    _add_bound(ends, high)
    for output in nest.outputs:
        if output.is_cut and not is_at_most(nest.bounds[dim], output.bounds[dim]):
            _add_bound(ends, output.bounds[dim])
    return ends


def _lane_of(nest: Nest, value: SSAValue) -> tuple[int, SSAValue | None] | None:
    """The dimension whose lane number a value is, and what is added to it."""
    shift: SSAValue | None = None
    while isinstance(op := value.owner, Operation) and op.parent_block() is nest.body:
        match op:
            case linalg.IndexOp():
                return op.dim.value.data, shift
            case arith.IndexCastOp() | arith.ExtSIOp():
                value = op.operands[0]
            case arith.AddiOp() if shift is None and any(_is_outside(nest, operand) for operand in op.operands):
                outside = 1 if _is_outside(nest, op.operands[1]) else 0
                value, shift = op.operands[1 - outside], op.operands[outside]
            case _:
                return None
    return None


def padded_element(values: BodyValues, padding: Padding, number: int) -> SSAValue:
    """What one lane behind the bound contributes to output `number`."""
    nest = values.nest
    dim = nest.vector_dim
    inputs = [
        Operand(Uniform(operand.source.fill), ())
        if dim in operand.dims() and isinstance(operand.source, Box)
        else operand
        for operand in nest.inputs
    ]
    depends = {value: dims - {dim} for value, dims in nest.depends.items()}
    scalar_nest = replace(nest, inputs=inputs, lanes=1, vector_dim=None, depends=depends)
    level = values.level_of[dim] if dim is not None else len(values.frames)
    frames = [
        Frame(
            frame.cursor,
            frame.dim,
            frame.induction,
            {key: known for key, known in frame.values.items() if _is_shared(nest, key)},
        )
        for frame in values.frames[:level]
    ]
    for comparison, result in padding.comparisons.items():
        frames[0].values[comparison] = values.emitter.constant(int(result), comparison.type)
    yield_op = nest.body.last_op
    assert yield_op is not None
    combining = yield_op.operands[number].owner
    assert isinstance(combining, Operation)
    accumulator = nest.body.args[len(nest.inputs) + number]
    element = next(operand for operand in combining.operands if operand is not accumulator)
    return BodyValues(values.emitter, scalar_nest, frames).get(element)


def _is_shared(nest: Nest, key: object) -> bool:
    return isinstance(key, SSAValue) and nest.vector_dim not in nest.depends.get(
        cast("SSAValue", key), frozenset((nest.vector_dim,))
    )


def _can_repeat(combiner: Combiner | None) -> bool:
    return combiner is not None and (combiner.idempotent or combiner.op_class in (arith.AddfOp, arith.AddiOp))


def _add_bound(bounds: list[Index], bound: Index) -> None:
    if not any(is_same(bound, known) for known in bounds):
        bounds.append(bound)


def _operand_bound(operand: Operand, dim: int) -> Index | None:
    source = operand.source
    if not isinstance(source, Box):
        return None
    positions = [place for place, expr in enumerate(operand.access) if dim in expr.used_dims()]
    if len(positions) != 1 or not isinstance(operand.access[positions[0]], AffineDimExpr):
        return None
    place = positions[0]
    return None if source.high[place] == source.shape[place] else source.high[place]


def _comparison_bounds(
    emitter: LoopEmitter, nest: Nest, index: linalg.IndexOp, comparisons: dict[SSAValue, bool]
) -> list[Index] | None:
    """Bounds of all comparisons that the lane number goes into; None if it goes anywhere else."""
    dim = index.dim.value.data
    bounds: list[Index] = []
    pending: list[tuple[SSAValue, SSAValue | None]] = [(index.result, None)]
    while pending:
        value, shift = pending.pop()
        for use in value.uses:
            user = use.operation
            if isinstance(user, arith.IndexCastOp | arith.ExtSIOp):
                pending.append((user.results[0], shift))
            elif isinstance(user, arith.AddiOp) and shift is None:
                other = user.operands[1 - use.index]
                if not _is_outside(nest, other):
                    return None
                pending.append((user.result, other))
            elif isinstance(user, arith.CmpiOp) and use.index == 0 and user.predicate.value.data in _FALSE_BEHIND:
                other = user.rhs
                if constant_of(other) is None and not _is_outside(nest, other):
                    return None
                bounds.append(_lane_bound(emitter, other, shift, nest.extents[dim]))
                comparisons[user.result] = _FALSE_BEHIND[user.predicate.value.data]
            else:
                return None
    return bounds


def _is_outside(nest: Nest, value: SSAValue) -> bool:
    return value.owner is not nest.body and not (
        isinstance(value.owner, Operation) and value.owner.parent_block() is nest.body
    )


def _lane_bound(emitter: LoopEmitter, limit: SSAValue, shift: SSAValue | None, extent: int) -> Index:
    """clamp(limit - shift, 0, extent)."""
    number = constant_of(limit)
    bound: Index = _as_index(emitter, limit) if number is None else number
    if shift is not None:
        bound = emitter.sub(bound, _as_index(emitter, shift))
    return emitter.max(emitter.min(bound, extent), 0)


def _as_index(emitter: LoopEmitter, value: SSAValue) -> SSAValue:
    return value if value.type == INDEX else emitter.value(arith.IndexCastOp, (value,), INDEX)

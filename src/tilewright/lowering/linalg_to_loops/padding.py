"""Reductions over padded rows: the lanes past a mask's bound all hold one value, which is combined in once.

    sum over 1024 lanes of exp(x - m), x padded with -inf past %n
      ->  sum over %n lanes, plus (1024 - %n) * exp(-inf - m)

So no lane that the mask proves dead is ever executed, and the result is that of the unnarrowed program up to the order
of the additions. Minimum, maximum, and, or: the padded value is combined once, which is exact.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import cast

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.analysis.combiners import Combiner, is_identity
from tilewright.dialects import arith, linalg
from tilewright.dialects.types import is_integer
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.comparisons import FALSE_PAST_BOUND, add_bound, is_outside, lane_bound
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, default_flags
from tilewright.lowering.linalg_to_loops.nest import Nest, Operand
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Splat
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most


@dataclass(frozen=True, slots=True)
class Padding:
    """From `bound` on, `count` lanes have the same value."""

    bound: Index
    count: Index
    comparisons: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def combine(self, emitter: LoopEmitter, combiner: Combiner, accumulator: SSAValue, padded: SSAValue) -> SSAValue:
        """The accumulator of the lanes below the bound with the `count` lanes past it."""
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
    """Return how far the vector dimension of a reduction really has to run; None where no bound is known."""
    dim = nest.schedule.vector_dim
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
        add_bound(bounds, bound)
    comparisons: dict[SSAValue, bool] = {}
    for op in nest.body.ops:
        if isinstance(op, linalg.IndexOp) and op.dim.value.data == dim:
            found = _comparison_bounds(emitter, nest, op, comparisons)
            if found is None:
                return None
            for bound in found:
                add_bound(bounds, bound)
    if not bounds:
        return None
    total = bounds[0]
    for bound in bounds[1:]:
        total = emitter.max(total, bound)
    for output in nest.outputs:
        if not output.reduces and not is_at_most(output.bounds[dim], total):
            return None
    return Padding(total, emitter.sub(nest.extents[dim], total), comparisons)


def padded_element(values: BodyValues, padding: Padding, index: int) -> SSAValue:
    """Return what one lane past the bound contributes to output `index`."""
    nest = values.nest
    dim = nest.schedule.vector_dim
    inputs = [
        Operand(Splat(operand.source.fill), ())
        if dim in operand.dims() and isinstance(operand.source, PaddedView)
        else operand
        for operand in nest.inputs
    ]
    depends = {value: dims - {dim} for value, dims in nest.facts.depends.items()}
    scalar_nest = replace(
        nest,
        inputs=inputs,
        facts=replace(nest.facts, depends=depends),
        schedule=replace(nest.schedule, lanes=1, vector_dim=None),
    )
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
    combining = yield_op.operands[index].owner
    assert isinstance(combining, Operation)
    accumulator = nest.body.args[len(nest.inputs) + index]
    element = next(operand for operand in combining.operands if operand is not accumulator)
    return BodyValues(values.emitter, scalar_nest, frames).get(element)


def _is_shared(nest: Nest, key: object) -> bool:
    return isinstance(key, SSAValue) and nest.schedule.vector_dim not in nest.facts.depends.get(
        cast("SSAValue", key), frozenset((nest.schedule.vector_dim,))
    )


def _can_repeat(combiner: Combiner | None) -> bool:
    return combiner is not None and (combiner.idempotent or combiner.op_class in (arith.AddfOp, arith.AddiOp))


def _operand_bound(operand: Operand, dim: int) -> Index | None:
    source = operand.source
    if not isinstance(source, PaddedView):
        return None
    positions = [position for position, expr in enumerate(operand.access) if dim in expr.used_dims()]
    if len(positions) != 1 or not isinstance(operand.access[positions[0]], AffineDimExpr):
        return None
    position = positions[0]
    return None if source.high[position] == source.shape[position] else source.high[position]


def _comparison_bounds(
    emitter: LoopEmitter, nest: Nest, index: linalg.IndexOp, comparisons: dict[SSAValue, bool]
) -> list[Index] | None:
    """Bounds of all comparisons that read the lane index; None if anything else does."""
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
                if not is_outside(nest, other):
                    return None
                pending.append((user.result, other))
            elif isinstance(user, arith.CmpiOp) and use.index == 0 and user.predicate.value.data in FALSE_PAST_BOUND:
                other = user.rhs
                if constant_of(other) is None and not is_outside(nest, other):
                    return None
                bounds.append(lane_bound(emitter, other, shift, nest.extents[dim]))
                comparisons[user.result] = FALSE_PAST_BOUND[user.predicate.value.data]
            else:
                return None
    return bounds

"""Scaled numbers of which a mask replaces some by a constant where a condition says so, as `triton-guard-masks` leaves
them, and what `triton-scale-after-max` makes of them.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_pure
from tilewright.support.records import dataclass
from tilewright.transforms.tt.branch_slices import clone_ops


@dataclass(frozen=True)
class MaskedScores:
    """`select(mask, product, least)` in one branch of a conditional whose other branch gives the product. `made` are
    the ops of that branch that the mask takes.
    """

    branch: scf.IfOp
    is_masked_if: bool
    """Whether the selection is in the first branch."""
    made: tuple[Operation, ...]
    mask: SSAValue
    product: SSAValue
    least: float


def find_masked_scores(value: SSAValue) -> MaskedScores | None:
    """The parts of numbers that a mask replaced some of; None where they have another form."""
    branch = value.owner
    if not isinstance(branch, scf.IfOp) or len(branch.results) != 1 or not branch.false_region.blocks:
        return None
    blocks = (branch.true_region.block, branch.false_region.block)
    results = (branch.then_yielded[0], branch.else_yielded[0])
    for number in (0, 1):
        selection, product = results[number].owner, results[1 - number]
        if not isinstance(selection, arith.SelectOp) or selection.parent is not blocks[number]:
            continue
        mask, chosen, otherwise = selection.operands
        least = splat_of(otherwise)
        made = [op for op in blocks[number].ops if op not in (selection, blocks[number].last_op)]
        is_plain = blocks[1 - number].first_op is blocks[1 - number].last_op and all(map(is_pure, made))
        if is_plain and chosen is product and isinstance(least, float):
            return MaskedScores(branch, number == 0, tuple(made), mask, product, least)
    return None


def scale_in_branches(
    scores: MaskedScores, reduce: tt.ReduceOp, source: SSAValue, factor: SSAValue
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The largest of each row, numbers, and the factor that they are still to be multiplied by: where the mask counts
    scaled ones, some of which it replaced, and 1; elsewhere the `source` and its factor.
    """

    def plain(builder: OpBuilder) -> list[SSAValue]:
        return [scaled(builder, reduced(builder, reduce, source), factor), source, factor]

    def masked(builder: OpBuilder, mask: SSAValue) -> list[SSAValue]:
        least = _constant(builder, source.type, scores.least)
        replaced = builder.result(arith.SelectOp(mask, scaled(builder, source, factor), least))
        return [reduced(builder, reduce, replaced), replaced, builder.result(arith.constant_float(1.0, factor.type))]

    types = [reduce.results[0].type, source.type, factor.type]
    largest, numbers, left = _in_branches(scores, OpBuilder.before(scores.branch), types, plain, masked)
    return largest, numbers, left


def reduced(builder: OpBuilder, reduce: tt.ReduceOp, source: SSAValue) -> SSAValue:
    """Reduce other numbers in the same way."""
    return builder.result(tt.ReduceOp([source], reduce.axis.value.data, reduce.combine_op.clone()))


def scaled(builder: OpBuilder, value: SSAValue, factor: SSAValue) -> SSAValue:
    """Multiply numbers by a scalar."""
    scale = builder.result(tt.SplatOp(factor, value.type)) if is_tensor(value.type) else factor
    return builder.result(arith.MulfOp(value, scale))


def _in_branches(
    scores: MaskedScores,
    builder: OpBuilder,
    types: list[Attribute],
    plain: Callable[[OpBuilder], list[SSAValue]],
    masked: Callable[[OpBuilder, SSAValue], list[SSAValue]],
) -> list[SSAValue]:
    """The values that `masked` makes where the mask counts, and `plain` elsewhere."""
    with_mask, without = Block(), Block()
    inside, values = OpBuilder.at_end(with_mask, builder.location), dict[SSAValue, SSAValue]()
    clone_ops(inside, scores.made, values)
    inside.insert(scf.YieldOp(*masked(inside, values.get(scores.mask, scores.mask))))
    inside = OpBuilder.at_end(without, builder.location)
    inside.insert(scf.YieldOp(*plain(inside)))
    blocks = (with_mask, without) if scores.is_masked_if else (without, with_mask)
    return list(builder.insert(scf.IfOp(scores.branch.cond, types, *blocks)).results)


def _constant(builder: OpBuilder, type: Attribute, value: float) -> SSAValue:
    return builder.result(arith.constant_splat(value, type))

"""Scaled numbers of which a mask replaces some by a constant where a condition says so, as `triton-guard-masks` leaves
them, and what `triton-scale-after-max` makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.types import element_type
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


def reduce_masked(scores: MaskedScores, reduce: tt.ReduceOp, source: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The largest of the `source` of each row that the mask lets through, -inf if there is none, and what the mask puts
    in place of some: its constant, or -inf where it replaces nothing in a row.
    """
    type = reduce.results[0].type

    def plain(builder: OpBuilder) -> list[SSAValue]:
        return [_reduced(builder, reduce, source), _constant(builder, type, -float("inf"))]

    def masked(builder: OpBuilder, mask: SSAValue) -> list[SSAValue]:
        far = _constant(builder, source.type, -float("inf"))
        least = _constant(builder, source.type, scores.least)
        live = builder.result(arith.SelectOp(mask, source, far))
        replaced = builder.result(arith.SelectOp(mask, far, least))
        return list(_reduced_together(builder, reduce, live, replaced))

    first, second = _in_branches(scores, OpBuilder.before(reduce), [type, type], plain, masked)
    return first, second


def subtract_masked(scores: MaskedScores, difference: arith.SubfOp) -> None:
    """Subtract in both branches, next to the product, which makes one fused operation of the two."""
    far, product = difference.operands[1], scores.product.owner
    assert isinstance(product, arith.MulfOp)

    def plain(builder: OpBuilder) -> list[SSAValue]:
        scaled = builder.result(arith.MulfOp(*product.operands))
        return [builder.result(arith.SubfOp(scaled, far))]

    def masked(builder: OpBuilder, mask: SSAValue) -> list[SSAValue]:
        [live] = plain(builder)
        least = _constant(builder, far.type, scores.least)
        replaced = builder.result(arith.SubfOp(least, far))
        return [builder.result(arith.SelectOp(mask, live, replaced))]

    [made] = _in_branches(scores, OpBuilder.before(difference), [far.type], plain, masked)
    made.name_hint = difference.results[0].name_hint
    difference.results[0].replace_all_uses_with(made)
    difference.detach()
    difference.erase()


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


def _reduced(builder: OpBuilder, reduce: tt.ReduceOp, source: SSAValue) -> SSAValue:
    return builder.result(tt.ReduceOp([source], reduce.axis.value.data, reduce.combine_op.clone()))


def _reduced_together(builder: OpBuilder, reduce: tt.ReduceOp, *sources: SSAValue) -> Sequence[SSAValue]:
    """The reductions of several tensors by one op, so that all have the layout of the first."""
    [op, _] = reduce.combine_op.block.ops
    element = element_type(sources[0].type)
    body = Block(arg_types=[element] * (2 * len(sources)))
    inside = OpBuilder.at_end(body, reduce.location)
    pairs = zip(body.args[: len(sources)], body.args[len(sources) :], strict=True)
    inside.insert(
        tt.ReduceReturnOp([inside.result(op.clone(dict(zip(op.operands, pair, strict=True)))) for pair in pairs])
    )
    return builder.insert(tt.ReduceOp(sources, reduce.axis.value.data, Region(body))).results


def _constant(builder: OpBuilder, type: Attribute, value: float) -> SSAValue:
    return builder.result(arith.constant_splat(value, type))

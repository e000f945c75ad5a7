"""Canonicalization rules of loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects import scf
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern


def is_defined_outside(value: SSAValue, region: Region) -> bool:
    """Return whether a value comes from outside a region, and so is the same in every iteration of a loop over it."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        if block.parent is region:
            return False
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return True


def keep_operands(op: Operation, keep: Sequence[bool], rewriter: RuleRewriter) -> None:
    """Drop operands of an op, and have what defines them looked at again, as it may be dead now."""
    dropped = [value for value, kept in zip(op.operands, keep, strict=True) if not kept]
    op.operands = [value for value, kept in zip(op.operands, keep, strict=True) if kept]
    for value in dropped:
        if isinstance(value.owner, Operation):
            rewriter.notify_op_modified(value.owner)


def rebuild_for(op: scf.ForOp, keep: Sequence[bool], rewriter: RuleRewriter) -> scf.ForOp:
    """Put in place of `op` a loop that carries only the values to `keep`; what is dropped must have no use left.

    The body moves; results of dropped values must be replaced by the caller beforehand."""
    block = op.body.block
    terminator = block.last_op
    assert isinstance(terminator, scf.YieldOp)
    keep_operands(terminator, keep, rewriter)
    for argument, kept in zip(tuple(block.args[1:]), keep, strict=True):
        if not kept:
            block.erase_arg(argument)
    loop = op.carrying([value for value, kept in zip(op.iter_args, keep, strict=True) if kept])
    remaining = iter(loop.results)
    results = [next(remaining) if kept else None for kept in keep]
    rewriter.replace(op, loop, results)
    return loop


class DropCarriedValues(RewriteRule):
    """for .. iter_args(%a = %x) { .. yield %a } = for .. { .. } with %x in place of %a and of the result; likewise when
    the body yields %x, when nothing uses %a and the result, and for a value carried twice. Removes carried values."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: RuleRewriter, /) -> None:
        arguments, inits = op.region_iter_args, op.iter_args
        if not arguments or not isinstance(op.body.block.last_op, scf.YieldOp):
            return
        replaced = [False] * len(arguments)
        seen: dict[tuple[int, int], int] = {}
        for index, (argument, init, result) in enumerate(zip(arguments, inits, op.results, strict=True)):
            value = op.yielded[index]  # which may have been an earlier argument until now
            twin = seen.setdefault((id(init), id(value)), index)
            if value is argument or value is init:
                rewriter.replace_all_uses_with(argument, init)
                rewriter.replace_all_uses_with(result, init)
            elif twin != index:
                rewriter.replace_all_uses_with(argument, arguments[twin])
                rewriter.replace_all_uses_with(result, op.results[twin])
            else:
                continue
            replaced[index] = True
        # Only now is it known who is used: a twin has taken over the uses of later ones.
        keep = [
            not gone and (argument.first_use is not None or result.first_use is not None)
            for gone, argument, result in zip(replaced, arguments, op.results, strict=True)
        ]
        if not all(keep):
            rebuild_for(op, keep, rewriter)


def constant_trip_count(op: scf.ForOp) -> int | None:
    """Return how often the body runs, when the bounds are constants; None when they are not."""
    lower, upper = find_constant_int(op.lb), find_constant_int(op.ub)
    if op.lb is op.ub:
        return 0
    if lower is None or upper is None or op.unsigned_cmp is not None:
        return None
    if upper <= lower:
        return 0
    step = find_constant_int(op.step)
    if step is None or step <= 0:
        return None
    return -((lower - upper) // step)


class InlineTrivialLoop(RewriteRule):
    """A loop that runs 0 times gives its initial values; one that runs once is its body. Removes a loop."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: RuleRewriter, /) -> None:
        match constant_trip_count(op):
            case 0:
                rewriter.replace(op, (), op.iter_args)
            case 1:
                inline_single_block(op, op.body, (op.lb, *op.iter_args), rewriter)
            case _:
                return


def inline_single_block(op: Operation, region: Region, arguments: Sequence[SSAValue], rewriter: RuleRewriter) -> None:
    """Put the ops of a one-block region in place of `op`, whose results become what the region's terminator gives."""
    block = region.block
    terminator = block.last_op
    assert terminator is not None
    for argument, value in zip(block.args, arguments, strict=True):
        rewriter.replace_all_uses_with(argument, value)
    values = tuple(terminator.operands)
    terminator.detach()
    terminator.erase()
    assert op.parent is not None
    for inner in tuple(block.ops):
        inner.detach()
        op.parent.insert_op_before(inner, op)
        rewriter.notify_op_modified(inner)
    rewriter.replace(op, (), values)


class DropWhileResults(RewriteRule):
    """What `scf.condition` passes on but neither the 'after' region nor a user of the loop reads need not be passed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.WhileOp, rewriter: RuleRewriter, /) -> None:
        after = op.after_region.block
        condition = op.before_region.block.last_op
        if not isinstance(condition, scf.ConditionOp):
            return
        keep = [
            argument.first_use is not None or result.first_use is not None
            for argument, result in zip(after.args, op.results, strict=True)
        ]
        if all(keep):
            return
        keep_operands(condition, [True, *keep], rewriter)
        for argument, kept in zip(tuple(after.args), keep, strict=True):
            if not kept:
                after.erase_arg(argument)
        _rebuild_while(op, tuple(op.arguments), [value.type for value in condition.arguments], keep, rewriter)


class DropWhileInvariants(RewriteRule):
    """An argument of the 'before' region that every iteration hands back unchanged is its initial value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.WhileOp, rewriter: RuleRewriter, /) -> None:
        before, after = op.before_region.block, op.after_region.block
        condition, step = before.last_op, after.last_op
        if not isinstance(condition, scf.ConditionOp) or not isinstance(step, scf.YieldOp):
            return
        passed = tuple(condition.arguments)
        keep: list[bool] = []
        for argument, init, value in zip(before.args, op.arguments, step.arguments, strict=True):
            handed_back = (
                value is init
                or value is argument
                or (
                    isinstance(value, BlockArgument)
                    and value.block is after
                    and passed[value.index] in (argument, init)
                )
            )
            if handed_back:
                rewriter.replace_all_uses_with(argument, init)
            keep.append(not handed_back and (argument.first_use is not None))
        if all(keep):
            return
        keep_operands(step, keep, rewriter)
        for argument, kept in zip(tuple(before.args), keep, strict=True):
            if not kept:
                before.erase_arg(argument)
        inits = tuple(value for value, kept in zip(op.arguments, keep, strict=True) if kept)
        _rebuild_while(op, inits, list(op.result_types), [True] * len(op.results), rewriter)


class ForwardWhileInvariants(RewriteRule):
    """A value from outside the loop that `scf.condition` passes on is known to the 'after' region and the users."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.WhileOp, rewriter: RuleRewriter, /) -> None:
        condition = op.before_region.block.last_op
        if not isinstance(condition, scf.ConditionOp):
            return
        for value, argument, result in zip(condition.arguments, op.after_region.block.args, op.results, strict=True):
            if is_defined_outside(value, op.before_region):
                rewriter.replace_all_uses_with(argument, value)
                rewriter.replace_all_uses_with(result, value)


def _rebuild_while(
    op: scf.WhileOp,
    inits: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    keep_results: Sequence[bool],
    rewriter: RuleRewriter,
) -> None:
    before, after = op.detach_region(op.before_region), op.detach_region(op.regions[0])
    loop = scf.WhileOp.create(
        operands=inits,
        result_types=result_types,
        properties=op.properties,
        attributes=op.attributes,
        regions=(before, after),
        location=op.location,
    )
    remaining = iter(loop.results)
    rewriter.replace(op, loop, [next(remaining) if kept else None for kept in keep_results])


LOOP_RULES: tuple[RewriteRule, ...] = (
    InlineTrivialLoop(),
    DropCarriedValues(),
    ForwardWhileInvariants(),
    DropWhileInvariants(),
    DropWhileResults(),
)
"""Every rule of this file, in the order to try them."""

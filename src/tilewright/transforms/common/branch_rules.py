"""Canonicalization rules of conditionals and branches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from tilewright.dialects import arith, cf, scf
from tilewright.dialects.arith import constant_bool, find_constant_int
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.loop_rules import inline_single_block, is_defined_outside, keep_operands

FEW_USES = 8
"""Up to so many uses of a value are looked at one by one; beyond, a branch is searched for them, so that many
conditionals on one condition cost what they hold, not the square of their number."""


def _uses_inside(value: SSAValue, region: Region) -> list[Use]:
    uses = list(islice(value.uses, FEW_USES + 1))
    if len(uses) <= FEW_USES:
        return [use for use in uses if _is_inside(use.operation, region)]
    return [
        Use(op, index) for op in ops_within(region) for index, operand in enumerate(op.operands) if operand is value
    ]


def _is_inside(op: Operation, region: Region) -> bool:
    holder = region.parent_op()
    current: Operation | None = op
    while current is not None and current is not holder:
        if current.parent_region() is region:
            return True
        if holder is not None and current.parent is holder.parent:
            return False  # beside the op that holds the region: no need to look at all that is around both
        current = current.parent_op()
    return False


class InlineConstantIf(RewriteRule):
    """if true { a } else { b } = a, and if false = b. Removes a conditional."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: RuleRewriter, /) -> None:
        condition = find_constant_int(op.cond)
        if condition is None:
            return
        region = op.true_region if condition else op.false_region
        if region.blocks.first is None:
            rewriter.erase(op)
        else:
            inline_single_block(op, region, (), rewriter)


class ReplaceIfResults(RewriteRule):
    """if c { yield x } else { yield x } = x; yields of values from outside the branches are a select; unused results
    go. Removes results, and with the last of them an empty conditional."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: RuleRewriter, /) -> None:
        if not op.results:
            return
        keep: list[bool] = []
        for result, then, otherwise in zip(op.results, op.then_yielded, op.else_yielded, strict=True):
            if result.first_use is not None:
                replacement = self._find_replacement(op, then, otherwise, rewriter)
                if replacement is not None:
                    rewriter.replace_all_uses_with(result, replacement)
            keep.append(result.first_use is not None)
        if not all(keep):
            _rebuild_if(op, keep, rewriter)

    @staticmethod
    def _find_replacement(op: scf.IfOp, then: SSAValue, otherwise: SSAValue, rewriter: RuleRewriter) -> SSAValue | None:
        if not is_defined_outside(then, op.true_region) or not is_defined_outside(otherwise, op.false_region):
            return None
        if then is otherwise:
            return then
        if then.type == i1:
            constants = find_constant_int(then), find_constant_int(otherwise)
            if None not in constants and bool(constants[0]) and not constants[1]:
                return op.cond
        select = arith.SelectOp(op.cond, then, otherwise)
        rewriter.insert(select)
        return select.results[0]


def _rebuild_if(op: scf.IfOp, keep: Sequence[bool], rewriter: RuleRewriter) -> None:
    """Put in place of `op` a conditional with only the results to `keep`."""
    for region in (op.true_region, op.false_region):
        terminator = region.block.last_op
        assert terminator is not None
        keep_operands(terminator, keep, rewriter)
    then, otherwise = op.detach_region(op.true_region), op.detach_region(op.regions[0])
    conditional = scf.IfOp.create(
        operands=(op.cond,),
        result_types=[result.type for result, kept in zip(op.results, keep, strict=True) if kept],
        properties=op.properties,
        attributes=op.attributes,
        regions=(then, otherwise),
        location=op.location,
    )
    remaining = iter(conditional.results)
    rewriter.replace(op, conditional, [next(remaining) if kept else None for kept in keep])


class DropEmptyElse(RewriteRule):
    """if c { a } else { } = if c { a }. Removes a block."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: RuleRewriter, /) -> None:
        block = op.false_region.blocks.first
        if op.results or block is None or not isinstance(block.first_op, scf.YieldOp):
            return
        op.false_region.erase_block(block, safe_erase=False)
        rewriter.notify_op_modified(op)


class KnowConditionInBranches(RewriteRule):
    """Within the then-branch of `if c`, c is true; within the else-branch it is false. Replaces uses of c."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: RuleRewriter, /) -> None:
        if find_constant_int(op.cond) is not None:
            return
        for region, known in ((op.true_region, True), (op.false_region, False)):
            uses = _uses_inside(op.cond, region)
            if uses:
                _replace_uses(uses, constant_bool(known), region.block, rewriter)


def _replace_uses(uses: Sequence[Use], constant: Operation, block: Block, rewriter: RuleRewriter) -> None:
    assert block.first_op is not None
    constant.location = block.first_op.location
    block.insert_op_before(constant, block.first_op)
    rewriter.handle_operation_insertion(constant)
    for use in uses:
        use.operation.operands[use.index] = constant.results[0]
        rewriter.notify_op_modified(use.operation)


class SimplifyConditionalBranch(RewriteRule):
    """cond_br true, ^a, ^b = br ^a; cond_br c, ^a(x), ^a(y) = br ^a(select(c, x, y)). Removes an edge."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.ConditionalBranchOp, rewriter: RuleRewriter, /) -> None:
        condition = find_constant_int(op.cond)
        if condition is not None:
            taken = (op.then_block, op.then_arguments) if condition else (op.else_block, op.else_arguments)
            rewriter.replace(op, cf.BranchOp(taken[0], *taken[1]))
        elif op.then_block is op.else_block:
            values = [
                self._select(op.cond, then, otherwise, rewriter)
                for then, otherwise in zip(op.then_arguments, op.else_arguments, strict=True)
            ]
            rewriter.replace(op, cf.BranchOp(op.then_block, *values))

    @staticmethod
    def _select(condition: SSAValue, then: SSAValue, otherwise: SSAValue, rewriter: RuleRewriter) -> SSAValue:
        if then is otherwise:
            return then
        select = arith.SelectOp(condition, then, otherwise)
        rewriter.insert(select)
        return select.results[0]


def _skip_empty(block: Block, arguments: Sequence[SSAValue]) -> tuple[Block, list[SSAValue]] | None:
    """Return where a branch to an otherwise empty block `^b(%x): cf.br ^c(..)` really goes; None when it stays.

    The block's arguments must have no use but that branch."""
    branch = block.first_op
    if not isinstance(branch, cf.BranchOp) or branch.successor is block:
        return None
    if any(use.operation is not branch for argument in block.args for use in argument.uses):
        return None
    passed: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    return branch.successor, [passed.get(value, value) for value in branch.arguments]


class SkipEmptyBlocks(RewriteRule):
    """br ^b where ^b holds only br ^c = br ^c; likewise for both targets of cond_br. Shortens a path."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.BranchOp | cf.ConditionalBranchOp, rewriter: RuleRewriter, /) -> None:
        if isinstance(op, cf.BranchOp):
            target = _skip_empty(op.successor, op.arguments)
            if target is not None:
                rewriter.replace(op, cf.BranchOp(target[0], *target[1]))
            return
        then = _skip_empty(op.then_block, op.then_arguments)
        otherwise = _skip_empty(op.else_block, op.else_arguments)
        if then is None and otherwise is None:
            return
        then = then or (op.then_block, list(op.then_arguments))
        otherwise = otherwise or (op.else_block, list(op.else_arguments))
        rewriter.replace(op, cf.ConditionalBranchOp(op.cond, *then, *otherwise))


BRANCH_RULES: tuple[RewriteRule, ...] = (
    InlineConstantIf(),
    ReplaceIfResults(),
    DropEmptyElse(),
    KnowConditionInBranches(),
    SimplifyConditionalBranch(),
    SkipEmptyBlocks(),
)
"""Every rule of this file, in the order to try them."""

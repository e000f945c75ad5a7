"""Handing further values on to a merge: operands of loops, yields and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import cf, scf
from tilewright.dialects.construction import segment_sizes
from tilewright.ir.appending import append_operands

Parts = Callable[[SSAValue, Operation], Sequence[SSAValue]]
"""Makes the values that stand for a source, before the op that hands it on."""


def pass_to_merge(value: SSAValue, parts: Parts) -> None:
    """Hands the parts of every source of a merged value on to the merge, after what is handed on already."""
    if isinstance(value, OpResult):
        assert isinstance(value.op, scf.IfOp)
        for region in value.op.regions:
            _append(_last(region.block), value.index, parts)
        return
    assert isinstance(value, BlockArgument)
    block, op = value.owner, value.owner.parent_op()
    if block.parent is not None and block.parent.blocks.first is not block:
        _pass_to_block(block, value.index, parts)
        return
    match op:
        case scf.ForOp():
            _append(op, 2 + value.index, parts)
            _append(_last(block), value.index - 1, parts)
        case scf.WhileOp() if block is op.regions[0].block:
            _append(op, value.index, parts)
            _append(_last(op.regions[1].block), value.index, parts)
        case scf.WhileOp():
            _append(_last(op.regions[0].block), 1 + value.index, parts)
        case _:
            raise AssertionError("no merge")


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _append(giver: Operation, index: int, parts: Parts) -> None:
    append_operands(giver, parts(giver.operands[index], giver))


def _pass_to_block(block: Block, index: int, parts: Parts) -> None:
    for use in list(block.uses):
        branch = use.operation
        match branch:
            case cf.BranchOp():
                _append(branch, index, parts)
            case cf.ConditionalBranchOp():
                then, other = list(branch.then_arguments), list(branch.else_arguments)
                side = then if use.index == 0 else other
                side.extend(parts(side[index], branch))
                branch.operands = [branch.cond, *then, *other]
                branch.properties["operandSegmentSizes"] = segment_sizes(1, len(then), len(other))
            case _:
                raise AssertionError("no branch")

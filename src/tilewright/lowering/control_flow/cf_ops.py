"""cf, and ub's unreachable, as branches of LLVM: what a branch passes on is incoming to the phis of its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Block, SSAValue

from tilewright.dialects import cf, ub
from tilewright.dialects.construction import static_values
from tilewright.lowering.control_flow.state import AnyLowering, scalar


def lower_branch(op: cf.BranchOp, low: AnyLowering) -> None:
    """The operands are what the phis of the target get from here."""
    target = op.successors[0]
    _pass_arguments(low, target, op.operands)
    low.text.branch(low.labels[target])


def lower_conditional_branch(op: cf.ConditionalBranchOp, low: AnyLowering) -> None:
    """A block between for one of two edges that lead to the same target."""
    then, otherwise = op.successors
    condition = scalar(low, op.operands[0])
    if then is otherwise:
        label = low.text.new_label("edge")
        target = low.labels[otherwise]
        low.text.branch_if(condition, target, label)
        _pass_arguments(low, then, op.then_arguments)
        low.text.start(label)
        _pass_arguments(low, otherwise, op.else_arguments)
        low.text.branch(target)
        return
    _pass_arguments(low, then, op.then_arguments)
    _pass_arguments(low, otherwise, op.else_arguments)
    low.text.branch_if(condition, low.labels[then], low.labels[otherwise])


def lower_switch(op: cf.SwitchOp, low: AnyLowering) -> None:
    """One edge block per case, so that two cases may share a target."""
    text = low.text
    ((type, flag),) = low.flat(op.operands[0])
    values = [] if op.case_values is None else [int(cast(int, value)) for value in op.case_values.get_values()]
    counts = list(static_values(op.case_operand_segments))
    edges = [text.new_label("edge") for _ in values]
    default = text.new_label("edge")
    text.switch(type, flag, default, zip(values, edges, strict=True))
    operands = list(op.case_operands)
    text.start(default)
    _pass_arguments(low, op.successors[0], op.default_operands)
    text.branch(low.labels[op.successors[0]])
    for edge, count, target in zip(edges, counts, op.successors[1:], strict=True):
        text.start(edge)
        _pass_arguments(low, target, operands[:count])
        del operands[:count]
        text.branch(low.labels[target])


def _pass_arguments(low: AnyLowering, target: Block, values: Sequence[SSAValue]) -> None:
    for phi, (_, operand) in zip(low.block_phis[target], low.flat_all(values), strict=True):
        phi.add(operand, low.text.label)


def lower_unreachable(op: ub.UnreachableOp, low: AnyLowering) -> None:
    """LLVM's instruction of that name."""
    low.text.unreachable()

"""cf to branches; `cf.assert` to a call that records the failure, and a return.

After a failed assertion the program ends at once, the rest of the grid is stopped, and the launch raises
`DeviceAssertionError`. A caller of a function that may fail looks at the launch's stop flag afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import cf, ub
from tilewright.dialects.construction import static_values
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, FunctionLowering, Rule

ASSERT_FAILED = "tilewright_assert_failed"


def lower_branch(low: FunctionLowering, op: Operation) -> None:
    target = op.successors[0]
    _pass_arguments(low, target, op.operands)
    low.fn.branch(low.labels[target])


def lower_conditional_branch(low: FunctionLowering, op: Operation) -> None:
    branch = cast(cf.ConditionalBranchOp, op)
    then, otherwise = op.successors
    condition = low.get(op.operands[0])
    if then is otherwise:
        label = low.fn.new_label("edge")
        target = low.labels[otherwise]
        low.fn.branch_if(condition, target, label)
        _pass_arguments(low, then, branch.then_arguments)
        low.fn.start(label)
        _pass_arguments(low, otherwise, branch.else_arguments)
        low.fn.branch(target)
        return
    _pass_arguments(low, then, branch.then_arguments)
    _pass_arguments(low, otherwise, branch.else_arguments)
    low.fn.branch_if(condition, low.labels[then], low.labels[otherwise])


def lower_switch(low: FunctionLowering, op: Operation) -> None:
    """One edge block per case, so that two cases may share a target."""
    switch = cast(cf.SwitchOp, op)
    fn = low.fn
    type = low.type_of(op.operands[0]).text
    values = [] if switch.case_values is None else [int(cast(int, v)) for v in switch.case_values.get_values()]
    counts = list(static_values(switch.case_operand_segments))
    edges = [fn.new_label("edge") for _ in values]
    default = fn.new_label("edge")
    table = " ".join(f"{type} {value}, label %{edge}" for value, edge in zip(values, edges, strict=True))
    fn.terminate(f"switch {type} {low.get(op.operands[0])}, label %{default} [ {table} ]")
    operands = list(switch.case_operands)
    fn.start(default)
    _pass_arguments(low, op.successors[0], switch.default_operands)
    fn.branch(low.labels[op.successors[0]])
    for edge, count, target in zip(edges, counts, op.successors[1:], strict=True):
        fn.start(edge)
        _pass_arguments(low, target, operands[:count])
        del operands[:count]
        fn.branch(low.labels[target])


def _pass_arguments(low: FunctionLowering, target: Block, values: Sequence[SSAValue]) -> None:
    for phi, (_, operand) in zip(low.block_phis[target], low.flat_all(values), strict=True):
        phi.add(operand, low.fn.label)


def lower_assert(low: FunctionLowering, op: Operation) -> None:
    assertion = cast(cf.AssertOp, op)
    fn = low.fn
    message = fn.module.string(assertion.msg.data.encode())
    failed, passed = fn.new_label("failed"), fn.new_label("passed")
    weights = fn.module.metadata('!{!"branch_weights", i32 2000, i32 1}')
    fn.branch_if(low.get(op.operands[0]), passed, failed, metadata=f"!prof {weights}")
    fn.start(failed)
    fn.call("void", ASSERT_FAILED, [("ptr", ARENA), ("ptr", message)])
    fn.branch(low.exit_label())
    fn.start(passed)


def lower_poison(low: FunctionLowering, op: Operation) -> None:
    """Zero, not poison: lanes that are thrown away must not make anything else undefined."""
    type = low.type_of(op.results[0])
    zero = "zeroinitializer" if type.lanes else ("0.0" if type.scalar.is_float and not type.scalar.format else "0")
    low.set(op.results[0], zero)


RULES: dict[type[Operation], Rule] = {
    cf.BranchOp: lower_branch,
    cf.ConditionalBranchOp: lower_conditional_branch,
    cf.SwitchOp: lower_switch,
    cf.AssertOp: lower_assert,
    ub.PoisonOp: lower_poison,
}

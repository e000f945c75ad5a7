"""How values flow through control flow: from the operands of loops, branches, terminators, and calls to block arguments
and results.

```mlir
%r = scf.for ... iter_args(%x = %init) { ...  scf.yield %y }     // %init and %y each flow to %x and to %r
cf.br ^bb1(%a : i32)                                             // %a flows to the argument of ^bb1
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.call_graph import CallGraph
from tilewright.dialects import cf, scf, tt, ttg

Flow = tuple[SSAValue, SSAValue]
"""A value, and what it becomes."""


def _pairs(sources: Sequence[SSAValue], *targets: Sequence[SSAValue]) -> list[Flow]:
    return [pair for target in targets for pair in zip(sources, target, strict=True)]


def _of_for(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, scf.ForOp)
    return _pairs(op.iter_args, op.region_iter_args, op.results)


def _of_while(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, scf.WhileOp)
    return _pairs(op.arguments, op.before_region.block.args)


def _of_condition(op: Operation, graph: CallGraph) -> list[Flow]:
    loop = op.parent_op()
    assert isinstance(loop, scf.WhileOp)
    return _pairs(op.operands[1:], loop.results, loop.after_region.block.args)


def _of_yield(op: Operation, graph: CallGraph) -> list[Flow]:
    parent = op.parent_op()
    match parent:
        case scf.ForOp():
            return _pairs(op.operands, parent.region_iter_args, parent.results)
        case scf.WhileOp():
            return _pairs(op.operands, parent.before_region.block.args)
        case scf.IfOp() | scf.ExecuteRegionOp() | scf.IndexSwitchOp():
            return _pairs(op.operands, parent.results)
        case _:
            return []


def _to_parent(op: Operation, graph: CallGraph) -> list[Flow]:
    parent = op.parent_op()
    return [] if parent is None else _pairs(op.operands, parent.results)


def _nothing(op: Operation, graph: CallGraph) -> list[Flow]:
    """Results come from the terminators of the regions."""
    return []


def _of_branch(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, cf.BranchOp)
    return _pairs(op.arguments, op.successor.args)


def _of_conditional_branch(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, cf.ConditionalBranchOp)
    return _pairs(op.then_arguments, op.then_block.args) + _pairs(op.else_arguments, op.else_block.args)


def _of_switch(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, cf.SwitchOp)
    cases = [pair for _, block, operands in op.cases for pair in _pairs(operands, block.args)]
    return _pairs(op.default_operands, op.default_block.args) + cases


def _of_call(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, tt.CallOp)
    function = graph.callee(op)
    return [] if function is None else _pairs(op.operands, function.args)


def _of_return(op: Operation, graph: CallGraph) -> list[Flow]:
    function = op.parent_op()
    assert isinstance(function, tt.FuncOp)
    return _pairs(op.operands, *(call.results for call in graph.callers(function)))


def _of_specialize(op: Operation, graph: CallGraph) -> list[Flow]:
    assert isinstance(op, ttg.WarpSpecializeOp)
    blocks = [region.blocks.first for region in op.partitions]
    return _pairs(op.operands, *(block.args for block in blocks if block is not None))


_FLOWS: dict[type[Operation], Callable[[Operation, CallGraph], list[Flow]]] = {
    scf.ForOp: _of_for,
    scf.WhileOp: _of_while,
    scf.ConditionOp: _of_condition,
    scf.YieldOp: _of_yield,
    scf.IfOp: _nothing,
    scf.ExecuteRegionOp: _nothing,
    scf.IndexSwitchOp: _nothing,
    cf.BranchOp: _of_branch,
    cf.ConditionalBranchOp: _of_conditional_branch,
    cf.SwitchOp: _of_switch,
    tt.CallOp: _of_call,
    tt.ReturnOp: _of_return,
    ttg.WarpSpecializeOp: _of_specialize,
    ttg.WarpYieldOp: _to_parent,
    ttg.MaskOp: _nothing,
    ttg.MaskReturnOp: _to_parent,
}


def flows_of(op: Operation, graph: CallGraph) -> list[Flow] | None:
    """Return what an op hands on to which values; None of an op that computes its results, or does not say where they
    come from.
    """
    flow = _FLOWS.get(type(op))
    return None if flow is None else flow(op, graph)

"""Which values matter: a backward walk from everything that the world can see.

Unlike "has a use", this looks through loops: a value that a loop carries only to compute itself does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects import cf, func, scf, tt
from tilewright.ir.effects import may_write
from tilewright.ir.walking import is_subclass, ops_within
from tilewright.transforms.common.regions import passed_by
from tilewright.transforms.common.symbol_dce import is_private, symbol_name

Func = tt.FuncOp | func.FuncOp
Call = tt.CallOp | func.CallOp
CARRIERS = (scf.ForOp, scf.IfOp, scf.WhileOp)
FORWARDING = (*CARRIERS, tt.CallOp, func.CallOp)
"""Ops of whose operands not all matter where one result does."""


class ValueLiveness:
    """Live values and ops of a module.

    An op is live when it may write memory, or when one of its results is live. What a loop, a conditional or a branch
    forwards is live only where the value that it becomes is live.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._values: set[SSAValue] = set()
        self._ops: set[Operation] = set()
        self._regions: set[Region] = set()
        self._work: list[SSAValue] = []
        self._functions = {symbol_name(op): op for op in module.ops if isinstance(op, Func)}
        self._calls: dict[str, list[Call]] = {}
        for op in ops_within(module):
            if isinstance(op, Call):
                self._calls.setdefault(op.callee.string_value(), []).append(op)
        for function in self._functions.values():
            self._seed(function)
        while self._work:
            self._visit_value(self._work.pop())

    def is_live(self, value: SSAValue) -> bool:
        """Return whether the value matters."""
        return value in self._values

    def is_live_op(self, op: Operation) -> bool:
        """Return whether the op must stay."""
        return op in self._ops

    def calls_of(self, function: Func) -> list[Call]:
        """The calls of a function in the module."""
        return self._calls.get(symbol_name(function) or "", [])

    def can_change(self, function: Func) -> bool:
        """Return whether arguments and results of a function may go: nothing outside the module can call it."""
        return is_private(function) and function.body.blocks.first is not None

    def _seed(self, function: Func) -> None:
        if not self.can_change(function):
            for block in function.body.blocks:
                last = block.last_op
                if isinstance(last, tt.ReturnOp | func.ReturnOp):
                    self._mark_all(last.operands)
        for op in ops_within(function.body):
            if isinstance(op, cf.ConditionalBranchOp):
                self._mark(op.cond)  # blocks stay, so what chooses between them does
            if may_write(op) and not _is_terminator_or_carrier(type(op)):
                self._mark_op(op)

    def _mark(self, value: SSAValue) -> None:
        if value not in self._values:
            self._values.add(value)
            self._work.append(value)

    def _mark_all(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self._mark(value)

    def _mark_op(self, op: Operation) -> None:
        """The op stays: so do its operands, and what decides whether it runs."""
        if op in self._ops:
            return
        self._ops.add(op)
        if is_subclass(type(op), FORWARDING):
            self._mark_forwarding(op)
        else:
            self._mark_all(op.operands)
            for region in op.regions:
                for inner in ops_within(region):
                    self._ops.add(inner)
                    self._mark_all(inner.operands)
        self._mark_surroundings(op)

    def _mark_forwarding(self, op: Operation) -> None:
        """Of what an op hands on, only what decides whether it does."""
        match op:
            case scf.ForOp():
                self._mark_all((op.lb, op.ub, op.step))
            case scf.IfOp():
                self._mark(op.cond)
            case scf.WhileOp():
                condition = op.before_region.block.last_op
                assert condition is not None
                self._mark(condition.operands[0])
            case tt.CallOp() | func.CallOp():
                self._mark_call(op)
            case _:
                pass

    def _mark_call(self, call: Call) -> None:
        callee = self._functions.get(call.callee.string_value())
        if callee is None or not self.can_change(callee):
            self._mark_all(call.operands)

    def _mark_surroundings(self, op: Operation) -> None:
        region = op.parent_region()
        if region is None or region in self._regions:
            return
        self._regions.add(region)
        parent = region.parent
        if parent is None or isinstance(parent, ModuleOp):
            return
        for block in region.blocks:
            last = block.last_op
            if last is not None and last.successors and not isinstance(last, cf.BranchOp | cf.ConditionalBranchOp):
                self._mark_all(last.operands)
        if not isinstance(parent, Func):
            self._mark_op(parent)

    def _visit_value(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            self._visit_result(value.op, value.index)
        elif isinstance(value, BlockArgument):
            self._visit_argument(value.block, value.index)

    def _visit_result(self, op: Operation, index: int) -> None:
        self._mark_op(op)
        if not is_subclass(type(op), FORWARDING):
            return
        match op:
            case scf.ForOp():
                self._mark_all((op.iter_args[index], op.yielded[index]))
            case scf.IfOp():
                self._mark_all((op.then_yielded[index], op.else_yielded[index]))
            case scf.WhileOp():
                condition = op.before_region.block.last_op
                assert condition is not None
                self._mark(condition.operands[index + 1])
            case tt.CallOp() | func.CallOp():
                self._visit_call_result(op, index)
            case _:
                pass

    def _visit_call_result(self, call: Call, index: int) -> None:
        callee = self._functions.get(call.callee.string_value())
        if callee is None:
            return
        for block in callee.body.blocks:
            last = block.last_op
            if isinstance(last, tt.ReturnOp | func.ReturnOp):
                self._mark(last.operands[index])

    def _visit_argument(self, block: Block, index: int) -> None:
        op = block.parent_op()
        region = block.parent
        assert op is not None and region is not None
        if block is not region.blocks.first:
            self._visit_branch_argument(block, index)
            return
        match op:
            case scf.ForOp():
                self._mark_op(op)
                if index:
                    self._mark_all((op.iter_args[index - 1], op.yielded[index - 1]))
            case scf.WhileOp():
                self._mark_op(op)
                if region is op.before_region:
                    step = op.after_region.block.last_op
                    assert step is not None
                    self._mark_all((op.arguments[index], step.operands[index]))
                else:
                    condition = op.before_region.block.last_op
                    assert condition is not None
                    self._mark(condition.operands[index + 1])
            case tt.FuncOp() | func.FuncOp():
                for call in self.calls_of(op):
                    self._mark(call.operands[index])
            case _:
                self._mark_op(op)

    def _visit_branch_argument(self, block: Block, index: int) -> None:
        for predecessor in block.predecessors():
            branch = predecessor.last_op
            passed = passed_by(branch, block, index)
            if passed is None:
                passed = () if branch is None else branch.operands
            self._mark_all(passed)


@cache
def _is_terminator_or_carrier(cls: type[Operation]) -> bool:
    return is_subclass(cls, CARRIERS) or cls.has_trait(IsTerminator, value_if_unregistered=False)

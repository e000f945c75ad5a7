"""scf and cf to blocks and phis. A tensor that a loop carries is one phi per register.

Loops have the test at the bottom, and a guard at the top unless the bounds show that the body runs at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from tilewright.codegen.llvm_text import Phi
from tilewright.dialects import cf, scf, tt, ub
from tilewright.dialects.construction import static_values
from tilewright.lowering.ttg_to_llvm.function_lowering import FunctionLowering, flat_types, lowers, unflatten
from tilewright.lowering.ttg_to_llvm.values import is_literal

Pairs = Sequence[tuple[str, str]]
"""(type, operand) pairs, as `FunctionLowering.flat` gives them."""


@lowers(scf.ForOp)
def lower_for(op: scf.ForOp, fn: FunctionLowering) -> None:
    text = fn.text
    lower, upper, step = (fn.scalar(operand) for operand in op.operands[:3])
    type = fn.element(op.operands[0]).text
    predicate = "ult" if op.unsigned_cmp is not None else "slt"
    initial = fn.flat_all(op.operands[3:])
    body, done = text.new_label("loop"), text.new_label("done")
    before = text.label
    runs = is_literal(lower) and is_literal(upper) and 0 <= int(lower) < int(upper)
    if runs:
        text.branch(body)
    else:
        text.branch_if(text.value(f"icmp {predicate} {type} {lower}, {upper}"), body, done)
    text.start(body)
    counter = text.phi(type, "i")
    counter.add(lower, before)
    block = op.regions[0].block
    carried = fn.phis(argument.type for argument in block.args[1:])
    _add_incoming(carried, initial, before)
    fn.set(block.args[0], counter.name)
    fn.bind_flat(block.args[1:], iter([phi.name for phi in carried]))
    yielded = fn.flat_all(fn.lower_region(op.regions[0]))
    text.debug_suffix = fn.debug_suffix(op)
    following = text.value(f"add {'nuw' if op.unsigned_cmp is not None else 'nsw'} {type} {counter.name}, {step}")
    again = text.value(f"icmp {predicate} {type} {following}, {upper}")
    latch = text.label
    text.branch_if(again, body, done)
    counter.add(following, latch)
    _add_incoming(carried, yielded, latch)
    text.start(done)
    results = fn.phis(result.type for result in op.results)
    if not runs:
        _add_incoming(results, initial, before)
    _add_incoming(results, yielded, latch)
    fn.bind_flat(op.results, iter([phi.name for phi in results]))


def _add_incoming(phis: Sequence[Phi], values: Pairs, label: str) -> None:
    for phi, (_, operand) in zip(phis, values, strict=True):
        phi.add(operand, label)


@lowers(scf.WhileOp)
def lower_while(op: scf.WhileOp, fn: FunctionLowering) -> None:
    text = fn.text
    before, after = op.regions[0].block, op.regions[1].block
    initial = fn.flat_all(op.operands)
    test, body, done = text.new_label("while"), text.new_label("do"), text.new_label("done")
    entered_from = text.label
    text.branch(test)
    text.start(test)
    carried = fn.phis(argument.type for argument in before.args)
    _add_incoming(carried, initial, entered_from)
    fn.bind_flat(before.args, iter([phi.name for phi in carried]))
    condition, *passed = fn.lower_region(op.regions[0])
    registers = [operand for _, operand in fn.flat_all(passed)]
    text.branch_if(fn.scalar(condition), body, done)
    text.start(body)
    fn.bind_flat(after.args, iter(registers))
    yielded = fn.flat_all(fn.lower_region(op.regions[1]))
    _add_incoming(carried, yielded, text.label)
    text.branch(test)
    text.start(done)
    fn.bind_flat(op.results, iter(registers))


@lowers(scf.IfOp)
def lower_if(op: scf.IfOp, fn: FunctionLowering) -> None:
    text = fn.text
    has_else = bool(op.regions[1].blocks)
    then, done = text.new_label("then"), text.new_label("endif")
    otherwise = text.new_label("else") if has_else else done
    text.branch_if(fn.scalar(op.operands[0]), then, otherwise)
    text.start(then)
    ends = [(fn.flat_all(fn.lower_region(op.regions[0])), text.label)]
    text.branch(done)
    if has_else:
        text.start(otherwise)
        ends.append((fn.flat_all(fn.lower_region(op.regions[1])), text.label))
        text.branch(done)
    text.start(done)
    _merge(fn, op.results, ends)


def _merge(fn: FunctionLowering, results: Sequence[SSAValue], ends: Sequence[tuple[Pairs, str]]) -> None:
    """Phis for results that several branches give."""
    if not results:
        return
    phis = fn.phis(result.type for result in results)
    for values, label in ends:
        _add_incoming(phis, values, label)
    fn.bind_flat(results, iter([phi.name for phi in phis]))


@lowers(scf.IndexSwitchOp)
def lower_index_switch(op: scf.IndexSwitchOp, fn: FunctionLowering) -> None:
    text = fn.text
    default, done = text.new_label("default"), text.new_label("endswitch")
    values = [int(value) for value in op.cases.get_values()]
    labels = [text.new_label("case") for _ in values]
    table = " ".join(f"i64 {value}, label %{label}" for value, label in zip(values, labels, strict=True))
    text.terminate(f"switch i64 {fn.scalar(op.operands[0])}, label %{default} [ {table} ]")
    ends: list[tuple[Pairs, str]] = []
    for label, region in zip((default, *labels), op.regions, strict=True):
        text.start(label)
        ends.append((fn.flat_all(fn.lower_region(region)), text.label))
        text.branch(done)
    text.start(done)
    _merge(fn, op.results, ends)


@lowers(scf.ExecuteRegionOp)
def lower_execute_region(op: scf.ExecuteRegionOp, fn: FunctionLowering) -> None:
    values = fn.flat_all(fn.lower_region(op.regions[0]))
    fn.bind_flat(op.results, iter([operand for _, operand in values]))


@lowers(scf.YieldOp, scf.ConditionOp, tt.ReduceReturnOp, tt.ScanReturnOp, tt.MapElementwiseReturnOp)
def lower_terminator(op: Operation, fn: FunctionLowering) -> None:
    """The op around it reads its operands."""


# ----------------------------------------------------------------------------------------------------- cf: branches


@lowers(cf.BranchOp)
def lower_branch(op: cf.BranchOp, fn: FunctionLowering) -> None:
    target = op.successors[0]
    _pass_arguments(fn, target, op.operands)
    fn.text.branch(fn.labels[target])


@lowers(cf.ConditionalBranchOp)
def lower_conditional_branch(op: cf.ConditionalBranchOp, fn: FunctionLowering) -> None:
    then, otherwise = op.successors
    condition = fn.scalar(op.operands[0])
    if then is otherwise:
        label = fn.text.new_label("edge")
        target = fn.labels[otherwise]
        fn.text.branch_if(condition, target, label)
        _pass_arguments(fn, then, op.then_arguments)
        fn.text.start(label)
        _pass_arguments(fn, otherwise, op.else_arguments)
        fn.text.branch(target)
        return
    _pass_arguments(fn, then, op.then_arguments)
    _pass_arguments(fn, otherwise, op.else_arguments)
    fn.text.branch_if(condition, fn.labels[then], fn.labels[otherwise])


@lowers(cf.SwitchOp)
def lower_switch(op: cf.SwitchOp, fn: FunctionLowering) -> None:
    """One edge block per case, so that two cases may share a target."""
    text = fn.text
    type = fn.element(op.operands[0]).text
    values = [] if op.case_values is None else [int(cast(int, v)) for v in op.case_values.get_values()]
    counts = list(static_values(op.case_operand_segments))
    edges = [text.new_label("edge") for _ in values]
    default = text.new_label("edge")
    table = " ".join(f"{type} {value}, label %{edge}" for value, edge in zip(values, edges, strict=True))
    text.terminate(f"switch {type} {fn.scalar(op.operands[0])}, label %{default} [ {table} ]")
    operands = list(op.case_operands)
    text.start(default)
    _pass_arguments(fn, op.successors[0], op.default_operands)
    text.branch(fn.labels[op.successors[0]])
    for edge, count, target in zip(edges, counts, op.successors[1:], strict=True):
        text.start(edge)
        _pass_arguments(fn, target, operands[:count])
        del operands[:count]
        text.branch(fn.labels[target])


def _pass_arguments(fn: FunctionLowering, target: Block, values: Sequence[SSAValue]) -> None:
    for phi, (_, operand) in zip(fn.block_phis[target], fn.flat_all(values), strict=True):
        phi.add(operand, fn.text.label)


@lowers(ub.PoisonOp)
def lower_poison(op: ub.PoisonOp, fn: FunctionLowering) -> None:
    """Zero, not poison: lanes that are thrown away must not make anything else undefined."""
    type = op.results[0].type
    fn.set(op.results[0], unflatten(type, iter([_zero(text) for text in flat_types(type)])))


def _zero(text: str) -> str:
    return "null" if text.startswith("ptr") else ("0" if text.startswith("i") else "zeroinitializer")

"""scf to blocks and phis.

Loops have the test at the bottom, and a guard at the top unless the bounds show that the body runs at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.llvm_text import Phi
from tilewright.dialects import scf
from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering, Rule

VECTORIZE_ATTRIBUTE = "tilewright.vectorize"
"""Unit attribute on scf.for: a scalar loop nest that LLVM's vectoriser should see."""


def lower_for(low: FunctionLowering, op: Operation) -> None:
    loop = cast(scf.ForOp, op)
    if isinstance(op.attributes.get(VECTORIZE_ATTRIBUTE), UnitAttr):
        low.module.wants_full_optimisation = True
    fn = low.fn
    lb, ub, step = op.operands[0], op.operands[1], op.operands[2]
    type = low.type_of(lb).text
    low_text, high_text, step_text = low.get(lb), low.get(ub), low.get(step)
    predicate = "ult" if loop.unsigned_cmp is not None else "slt"
    initial = low.flat_all(op.operands[3:])
    body, done = fn.new_label("loop"), fn.new_label("done")
    before = fn.label
    runs = _runs_at_least_once(low_text, high_text)
    if runs:
        fn.branch(body)
    else:
        fn.branch_if(fn.value(f"icmp {predicate} {type} {low_text}, {high_text}"), body, done)
    fn.start(body)
    counter = fn.phi(type, "i")
    counter.add(low_text, before)
    block = op.regions[0].block
    carried = low.phis(argument.type for argument in block.args[1:])
    _add_incoming(carried, initial, before)
    low.set(block.args[0], counter.name)
    low.bind_flat(block.args[1:], iter([phi.name for phi in carried]))
    yielded = low.flat_all(low.lower_region(op.regions[0]))
    following = fn.value(f"add {'nuw' if loop.unsigned_cmp is not None else 'nsw'} {type} {counter.name}, {step_text}")
    again = fn.value(f"icmp {predicate} {type} {following}, {high_text}")
    latch = fn.label
    fn.branch_if(again, body, done)
    counter.add(following, latch)
    _add_incoming(carried, yielded, latch)
    fn.start(done)
    results = low.phis(result.type for result in op.results)
    if not runs:
        _add_incoming(results, initial, before)
    _add_incoming(results, yielded, latch)
    low.bind_flat(op.results, iter([phi.name for phi in results]))


def _runs_at_least_once(low_text: str, high_text: str) -> bool:
    return low_text[0] != "%" and high_text[0] != "%" and 0 <= int(low_text) < int(high_text)


def _add_incoming(phis: Sequence[Phi], values: Sequence[tuple[str, str]], label: str) -> None:
    for phi, (_, operand) in zip(phis, values, strict=True):
        phi.add(operand, label)


def lower_while(low: FunctionLowering, op: Operation) -> None:
    fn = low.fn
    before, after = op.regions[0].block, op.regions[1].block
    initial = low.flat_all(op.operands)
    test, body, done = fn.new_label("while"), fn.new_label("do"), fn.new_label("done")
    entered_from = fn.label
    fn.branch(test)
    fn.start(test)
    carried = low.phis(argument.type for argument in before.args)
    _add_incoming(carried, initial, entered_from)
    low.bind_flat(before.args, iter([phi.name for phi in carried]))
    condition, *passed = low.lower_region(op.regions[0])
    registers = [operand for _, operand in low.flat_all(passed)]
    fn.branch_if(low.get(condition), body, done)
    fn.start(body)
    low.bind_flat(after.args, iter(registers))
    yielded = low.flat_all(low.lower_region(op.regions[1]))
    _add_incoming(carried, yielded, fn.label)
    fn.branch(test)
    fn.start(done)
    low.bind_flat(op.results, iter(registers))


def lower_if(low: FunctionLowering, op: Operation) -> None:
    fn = low.fn
    has_else = bool(op.regions[1].blocks)
    then, done = fn.new_label("then"), fn.new_label("endif")
    otherwise = fn.new_label("else") if has_else else done
    fn.branch_if(low.get(op.operands[0]), then, otherwise)
    fn.start(then)
    ends = [(low.flat_all(low.lower_region(op.regions[0])), fn.label)]
    fn.branch(done)
    if has_else:
        fn.start(otherwise)
        ends.append((low.flat_all(low.lower_region(op.regions[1])), fn.label))
        fn.branch(done)
    fn.start(done)
    _merge(low, op.results, ends)


def _merge(
    low: FunctionLowering, results: Sequence[SSAValue], ends: Sequence[tuple[Sequence[tuple[str, str]], str]]
) -> None:
    """Phis for results that several branches give."""
    if not results:
        return
    phis = low.phis(result.type for result in results)
    for values, label in ends:
        _add_incoming(phis, values, label)
    low.bind_flat(results, iter([phi.name for phi in phis]))


def lower_index_switch(low: FunctionLowering, op: Operation) -> None:
    switch = cast(scf.IndexSwitchOp, op)
    fn = low.fn
    default, done = fn.new_label("default"), fn.new_label("endswitch")
    values = [int(value) for value in switch.cases.get_values()]
    labels = [fn.new_label("case") for _ in values]
    table = " ".join(f"i64 {value}, label %{label}" for value, label in zip(values, labels, strict=True))
    fn.terminate(f"switch i64 {low.get(op.operands[0])}, label %{default} [ {table} ]")
    ends: list[tuple[Sequence[tuple[str, str]], str]] = []
    for label, region in zip((default, *labels), op.regions, strict=True):
        fn.start(label)
        ends.append((low.flat_all(low.lower_region(region)), fn.label))
        fn.branch(done)
    fn.start(done)
    _merge(low, op.results, ends)


def lower_terminator(low: FunctionLowering, op: Operation) -> None:
    """scf.yield and scf.condition: the op around them reads their operands."""


RULES: dict[type[Operation], Rule] = {
    scf.ForOp: lower_for,
    scf.WhileOp: lower_while,
    scf.IfOp: lower_if,
    scf.IndexSwitchOp: lower_index_switch,
    scf.YieldOp: lower_terminator,
    scf.ConditionOp: lower_terminator,
}

"""scf as blocks and phis.

Loops have the test at the bottom, and a guard at the top unless the bounds show that the body runs at least once. Those
that run once at most, as the rest of a tile that fills no vector, are branches.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilewright.dialects import arith, scf
from tilewright.lowering.control_flow.state import AnyLowering, Parts, add_incoming, lower_joined, merge, scalar


def lower_for(op: scf.ForOp, low: AnyLowering) -> None:
    """The counter is one more phi; the body is one block, or several where it branches."""
    text = low.text
    ((type, lower),), ((_, upper),), ((_, step),) = (low.flat(operand) for operand in op.operands[:3])
    predicate = "ult" if op.unsigned_cmp is not None else "slt"
    initial = low.flat_all(op.operands[3:])
    if runs_at_most_once(op):
        _lower_single_round(op, low, lower, text.icmp(predicate, type, lower, upper))
        return
    low.enter_for(op)
    body, done = text.new_label("loop"), text.new_label("done")
    before = text.label
    runs = _runs_at_least_once(lower, upper)
    if runs:
        text.branch(body)
    else:
        text.branch_if(text.icmp(predicate, type, lower, upper), body, done)
    text.start(body)
    counter = text.phi(type, "i")
    counter.add(lower, before)
    first, *arguments = op.regions[0].block.args
    carried = low.phis(argument.type for argument in arguments)
    add_incoming(carried, initial, before)
    low.bind_flat([first], iter([low.counter_in(op, counter.name)]))
    low.bind_phis(arguments, carried)
    low.enter_round_of_for(op)
    yielded = low.flat_all(low.lower_region(op.regions[0]))
    low.locate(op)
    following = text.binary("add nuw" if op.unsigned_cmp is not None else "add nsw", type, counter.name, step)
    again = text.icmp(predicate, type, following, upper)
    latch = text.label
    text.branch_if(again, body, done)
    counter.add(following, latch)
    add_incoming(carried, yielded, latch)
    text.start(done)
    results = low.phis(result.type for result in op.results)
    if not runs:
        add_incoming(results, initial, before)
    add_incoming(results, yielded, latch)
    low.bind_phis(op.results, results)


def _lower_single_round(op: scf.ForOp, low: AnyLowering, lower: str, runs: str) -> None:
    """A loop whose body runs once or not at all is a branch: nothing is carried, and LLVM has no loop to look at."""
    text, initial = low.text, low.flat_all(op.operands[3:])
    body, done, before = text.new_label("once"), text.new_label("done"), text.label
    text.branch_if(runs, body, done)
    text.start(body)
    first, *arguments = op.regions[0].block.args
    low.bind_flat([first], iter([lower]))
    low.bind_flat(arguments, iter([operand for _, operand in initial]))
    yielded = low.flat_all(low.lower_region(op.regions[0]))
    low.locate(op)
    end = text.label
    text.branch(done)
    text.start(done)
    merge(low, op.results, [(initial, before), (yielded, end)])


def runs_at_most_once(op: scf.ForOp) -> bool:
    """Return whether a loop begins less than a step before its end: at the end rounded down to a multiple of the step,
    `n & -s`, or that many whole steps after another place, `a + ((n - a) & -s)`.
    """
    lower, upper, step = op.operands[:3]
    steps = _constant_of(step)
    if steps is None or steps <= 0 or steps & (steps - 1):
        return False
    start, distance = None, lower
    if isinstance(lower.owner, arith.AddiOp):
        start, distance = lower.owner.operands
    rounded = distance.owner
    if not isinstance(rounded, arith.AndIOp) or _constant_of(rounded.operands[1]) != -steps:
        return False
    if start is None:
        return rounded.operands[0] is upper
    whole = rounded.operands[0].owner
    return isinstance(whole, arith.SubiOp) and whole.operands[0] is upper and whole.operands[1] is start


def _constant_of(value: SSAValue) -> int | None:
    attribute = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def _runs_at_least_once(lower: str, upper: str) -> bool:
    return not lower.startswith("%") and not upper.startswith("%") and 0 <= int(lower) < int(upper)


def lower_while(op: scf.WhileOp, low: AnyLowering) -> None:
    """The test is a block of its own: its values are used after the loop too."""
    text = low.text
    before, after = op.regions[0].block, op.regions[1].block
    initial = low.flat_all(op.operands)
    test, body, done = text.new_label("while"), text.new_label("do"), text.new_label("done")
    low.enter_while(op)
    entered_from = text.label
    text.branch(test)
    text.start(test)
    carried = low.phis(argument.type for argument in before.args)
    add_incoming(carried, initial, entered_from)
    low.bind_phis(before.args, carried)
    low.enter_round(op)
    condition, *passed = low.lower_region(op.regions[0])
    operands = [operand for _, operand in low.flat_all(passed)]
    text.branch_if(scalar(low, condition), body, done)
    text.start(body)
    low.bind_flat(after.args, iter(operands))
    yielded = low.flat_all(low.lower_region(op.regions[1]))
    add_incoming(carried, yielded, text.label)
    text.branch(test)
    text.start(done)
    low.bind_flat(op.results, iter(operands))
    low.leave_while(op)


def lower_if(op: scf.IfOp, low: AnyLowering) -> None:
    """Results are phis of what the branches yield."""
    text = low.text
    has_else = bool(op.regions[1].blocks)
    then, done = text.new_label("then"), text.new_label("endif")
    otherwise = text.new_label("else") if has_else else done
    text.branch_if(scalar(low, op.operands[0]), then, otherwise)
    text.start(then)
    ends = [(low.flat_all(low.lower_region(op.regions[0])), text.label)]
    text.branch(done)
    if has_else:
        text.start(otherwise)
        ends.append((low.flat_all(low.lower_region(op.regions[1])), text.label))
        text.branch(done)
    text.start(done)
    merge(low, op.results, ends)


def lower_index_switch(op: scf.IndexSwitchOp, low: AnyLowering) -> None:
    """One block per case."""
    text = low.text
    default, done = text.new_label("default"), text.new_label("endswitch")
    values = [int(value) for value in op.cases.get_values()]
    labels = [text.new_label("case") for _ in values]
    text.switch("i64", scalar(low, op.operands[0]), default, zip(values, labels, strict=True))
    ends: list[tuple[Parts, str]] = []
    for label, region in zip((default, *labels), op.regions, strict=True):
        text.start(label)
        ends.append((low.flat_all(low.lower_region(region)), text.label))
        text.branch(done)
    text.start(done)
    merge(low, op.results, ends)


def lower_execute_region(op: scf.ExecuteRegionOp, low: AnyLowering) -> None:
    """The region stands where the op does."""
    lower_joined(op.regions[0], op.results, scf.YieldOp, low)

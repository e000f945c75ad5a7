"""scf and cf as blocks and phis of LLVM text: what every lowering to LLVM does alike.

A value is carried by one phi for each of its parts: a scalar or vector by one, a memref by pointer, sizes and strides,
a tensor in registers by one per register. Which parts a value has is what a lowering says; everything else is here.

Loops have the test at the bottom, and a guard at the top unless the bounds show that the body runs at least once. Those
that run once at most, as the rest of a tile that fills no vector, are branches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.codegen.llvm_text import FunctionText, Phi
from tilewright.dialects import arith, cf, scf, ub
from tilewright.dialects.construction import static_values

Parts = Sequence[tuple[str, str]]
"""(type, operand) pairs that carry values."""

Text = TypeVar("Text", bound=FunctionText)


class ControlFlowLowering(ABC, Generic[Text]):
    """The state of lowering one function, as far as control flow needs it."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.labels: dict[Block, str] = {}
        self.block_phis: dict[Block, list[Phi]] = {}

    @abstractmethod
    def flat(self, value: SSAValue) -> list[tuple[str, str]]:
        """The (type, operand) pairs that carry a value through branches, loops and calls."""

    @abstractmethod
    def flat_types(self, type: Attribute) -> list[str]:
        """The LLVM types that carry a value of an MLIR type."""

    @abstractmethod
    def bind_flat(self, values: Iterable[SSAValue], operands: Iterator[str]) -> None:
        """Bind values to operands in the order of `flat_all`."""

    @abstractmethod
    def lower_block(self, block: Block) -> None:
        """Lower all ops of a block in order."""

    def locate(self, op: Operation) -> None:
        """The instructions that follow belong to `op`."""

    def enter_while(self, op: scf.WhileOp) -> None:
        """A loop without a known end begins."""

    def enter_round(self, op: scf.WhileOp) -> None:
        """A round of it begins, in which a program may be waiting for another."""

    def enter_for(self, op: scf.ForOp) -> None:
        """A loop over a range begins."""

    def enter_round_of_for(self, op: scf.ForOp) -> None:
        """A round of it begins."""

    def counter_in(self, op: scf.ForOp, counter: str) -> str:
        """The register that the body of a loop knows the counter by; its first block has its phis already."""
        return counter

    def leave_while(self, op: scf.WhileOp) -> None:
        """It has ended."""

    def flat_all(self, values: Iterable[SSAValue]) -> list[tuple[str, str]]:
        """`flat` of several values, one after the other."""
        return [pair for value in values for pair in self.flat(value)]

    def phis(self, types: Iterable[Attribute]) -> list[Phi]:
        """One phi for each part of values of the given types."""
        return [self.text.phi(text) for type in types for text in self.flat_types(type)]

    def detached_phis(self, types: Iterable[Attribute]) -> list[Phi]:
        """The same, for a block that is started later."""
        return [self.text.detached_phi(text) for type in types for text in self.flat_types(type)]

    def bind_phis(self, values: Iterable[SSAValue], phis: Sequence[Phi]) -> None:
        """Bind values to the phis of all their parts."""
        self.bind_flat(values, iter([phi.name for phi in phis]))

    def lower_region(self, region: Region) -> list[SSAValue]:
        """Lower a region of one block; returns the operands of its terminator."""
        block = region.block
        self.lower_block(block)
        terminator = block.last_op
        assert terminator is not None
        return list(terminator.operands)

    def lower_blocks(self, first: Block, ended: Callable[[Block], None] = lambda block: None) -> None:
        """Lower `first` here, and all blocks that it reaches after it; `ended` is told the end of each."""
        first, *others = reverse_postorder(first)
        for block in others:
            self.labels[block] = self.text.new_label("bb")
            self.block_phis[block] = self.detached_phis(argument.type for argument in block.args)
        self.lower_block(first)
        ended(first)
        for block in others:
            self.text.start(self.labels[block])
            self.text.place_phis(self.block_phis[block])
            self.bind_phis(block.args, self.block_phis[block])
            self.lower_block(block)
            ended(block)


AnyLowering = ControlFlowLowering[Any]


def reverse_postorder(first: Block) -> list[Block]:
    """The blocks that are reached from `first`, every dominator before what it dominates."""
    order: list[Block] = []
    seen = {first}
    stack: list[tuple[Block, Iterator[Block]]] = [(first, _successors(first))]
    while stack:
        block, successors = stack[-1]
        following = next((b for b in successors if b not in seen), None)
        if following is None:
            stack.pop()
            order.append(block)
        else:
            seen.add(following)
            stack.append((following, _successors(following)))
    return order[::-1]


def _successors(block: Block) -> Iterator[Block]:
    last = block.last_op
    return iter(() if last is None else tuple(last.successors))


# ---------------------------------------------------------------------------------------------------------------- scf


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
    _add_incoming(carried, initial, before)
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
    _add_incoming(carried, yielded, latch)
    text.start(done)
    results = low.phis(result.type for result in op.results)
    if not runs:
        _add_incoming(results, initial, before)
    _add_incoming(results, yielded, latch)
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
    _merge(low, op.results, [(initial, before), (yielded, end)])


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


def _add_incoming(phis: Sequence[Phi], values: Parts, label: str) -> None:
    for phi, (_, operand) in zip(phis, values, strict=True):
        phi.add(operand, label)


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
    _add_incoming(carried, initial, entered_from)
    low.bind_phis(before.args, carried)
    low.enter_round(op)
    condition, *passed = low.lower_region(op.regions[0])
    operands = [operand for _, operand in low.flat_all(passed)]
    text.branch_if(_scalar(low, condition), body, done)
    text.start(body)
    low.bind_flat(after.args, iter(operands))
    yielded = low.flat_all(low.lower_region(op.regions[1]))
    _add_incoming(carried, yielded, text.label)
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
    text.branch_if(_scalar(low, op.operands[0]), then, otherwise)
    text.start(then)
    ends = [(low.flat_all(low.lower_region(op.regions[0])), text.label)]
    text.branch(done)
    if has_else:
        text.start(otherwise)
        ends.append((low.flat_all(low.lower_region(op.regions[1])), text.label))
        text.branch(done)
    text.start(done)
    _merge(low, op.results, ends)


def lower_index_switch(op: scf.IndexSwitchOp, low: AnyLowering) -> None:
    """One block per case."""
    text = low.text
    default, done = text.new_label("default"), text.new_label("endswitch")
    values = [int(value) for value in op.cases.get_values()]
    labels = [text.new_label("case") for _ in values]
    text.switch("i64", _scalar(low, op.operands[0]), default, zip(values, labels, strict=True))
    ends: list[tuple[Parts, str]] = []
    for label, region in zip((default, *labels), op.regions, strict=True):
        text.start(label)
        ends.append((low.flat_all(low.lower_region(region)), text.label))
        text.branch(done)
    text.start(done)
    _merge(low, op.results, ends)


def _merge(low: AnyLowering, results: Sequence[SSAValue], ends: Sequence[tuple[Parts, str]]) -> None:
    """Phis for results that several branches give."""
    phis = low.phis(result.type for result in results)
    for values, label in ends:
        _add_incoming(phis, values, label)
    low.bind_phis(results, phis)


def lower_execute_region(op: scf.ExecuteRegionOp, low: AnyLowering) -> None:
    """The region stands where the op does."""
    lower_joined(op.regions[0], op.results, scf.YieldOp, low)


def lower_joined(region: Region, results: Sequence[SSAValue], end: type[Operation], low: AnyLowering) -> None:
    """A region of one block stands here; from several, every terminator of class `end` leads to the block after it."""
    text = low.text
    if len(region.blocks) == 1:
        values = low.flat_all(low.lower_region(region))
        low.bind_flat(results, iter([operand for _, operand in values]))
        return
    done = text.new_label("endregion")
    ends: list[tuple[Parts, str]] = []

    def leave(block: Block) -> None:
        if isinstance(block.last_op, end):
            ends.append((low.flat_all(block.last_op.operands), text.label))
            text.branch(done)

    low.lower_blocks(region.blocks[0], leave)
    text.start(done)
    _merge(low, results, ends)


def lower_region_end(op: Operation, low: AnyLowering) -> None:
    """A terminator whose operands are read by the op around it."""


def _scalar(low: AnyLowering, value: SSAValue) -> str:
    ((_, operand),) = low.flat(value)
    return operand


# ----------------------------------------------------------------------------------------------------------------- cf


def lower_branch(op: cf.BranchOp, low: AnyLowering) -> None:
    """The operands are what the phis of the target get from here."""
    target = op.successors[0]
    _pass_arguments(low, target, op.operands)
    low.text.branch(low.labels[target])


def lower_conditional_branch(op: cf.ConditionalBranchOp, low: AnyLowering) -> None:
    """A block between for one of two edges that lead to the same target."""
    then, otherwise = op.successors
    condition = _scalar(low, op.operands[0])
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


CONTROL_FLOW: dict[type[Operation], Callable[[Any, AnyLowering], None]] = {
    scf.ForOp: lower_for,
    scf.WhileOp: lower_while,
    scf.IfOp: lower_if,
    scf.IndexSwitchOp: lower_index_switch,
    scf.ExecuteRegionOp: lower_execute_region,
    scf.YieldOp: lower_region_end,
    scf.ConditionOp: lower_region_end,
    cf.BranchOp: lower_branch,
    cf.ConditionalBranchOp: lower_conditional_branch,
    cf.SwitchOp: lower_switch,
    ub.UnreachableOp: lower_unreachable,
}
"""The rule of each op."""

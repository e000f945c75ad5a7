"""What the rules of scf and cf share: the state of a function, and the phis where several blocks meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.codegen.llvm_text import FunctionText, Phi
from tilewright.dialects import scf

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


def add_incoming(phis: Sequence[Phi], values: Parts, label: str) -> None:
    for phi, (_, operand) in zip(phis, values, strict=True):
        phi.add(operand, label)


def merge(low: AnyLowering, results: Sequence[SSAValue], ends: Sequence[tuple[Parts, str]]) -> None:
    """Phis for results that several branches give."""
    phis = low.phis(result.type for result in results)
    for values, label in ends:
        add_incoming(phis, values, label)
    low.bind_phis(results, phis)


def scalar(low: AnyLowering, value: SSAValue) -> str:
    ((_, operand),) = low.flat(value)
    return operand


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
    merge(low, results, ends)


def lower_region_end(op: Operation, low: AnyLowering) -> None:
    """A terminator whose operands are read by the op around it."""

"""Live ranges of values, as intervals of op numbers.

An op has its number after the ops in its regions, so that an op with regions comes after all that it holds. A value
that is used inside of a loop, and made outside of it, lives until the loop ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import tt
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Interval:
    """Numbers from `start` to below `stop`."""

    start: int
    stop: int

    def overlaps(self, other: Interval) -> bool:
        """Return whether two intervals have a number in common."""
        return self.start < other.stop and other.start < self.stop

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(min(self.start, other.start), max(self.stop, other.stop))


class Liveness:
    """Numbers of the ops of a function, and intervals of its values."""

    def __init__(self, function: tt.FuncOp) -> None:
        self.number: dict[Operation, int] = {}
        self._first: dict[Block, int] = {}
        self._number_region(function.body)
        self.whole = Interval(0, len(self.number) + 1)
        """The interval of what lives as long as the function runs."""

    def _number_region(self, region: Region) -> None:
        for block in region.blocks:
            self._first[block] = len(self.number)
            for op in block.ops:
                for inner in op.regions:
                    self._number_region(inner)
                self.number[op] = len(self.number)

    def of(self, value: SSAValue) -> Interval:
        """From where a value is made to after its last use."""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
        assert block is not None
        start = self._first[block] if isinstance(value.owner, Block) else self.number[value.owner]
        interval = Interval(start, start + 1)
        for use in value.uses:
            interval = self._until(interval, block, use.operation)
        return interval

    def of_all(self, values: Iterable[SSAValue]) -> Interval | None:
        """The hull of the intervals of some values; None of none."""
        found: Interval | None = None
        for value in values:
            interval = self.of(value)
            found = interval if found is None else found.hull(interval)
        return found

    def _until(self, interval: Interval, defining: Block, user: Operation) -> Interval:
        """An interval with all that runs between the defining block and a use."""
        region = defining.parent
        while user.parent_region() is not region:
            parent = user.parent_op()
            assert parent is not None, "a use outside of the region where the value is made"
            user = parent
        used_in = user.parent_block()
        assert used_in is not None
        interval = interval.hull(Interval(interval.start, self.number[user] + 1))
        if used_in is defining:
            return interval
        for block in _blocks_between(defining, used_in):
            interval = interval.hull(self._whole_block(block))
        return interval.hull(Interval(self._first[used_in], self.number[user] + 1))

    def _whole_block(self, block: Block) -> Interval:
        last = block.last_op
        return Interval(self._first[block], self._first[block] if last is None else self.number[last] + 1)


def _blocks_between(defining: Block, used_in: Block) -> set[Block]:
    """The blocks that a value passes through whole: what reaches the use without passing the definition again."""
    passed: set[Block] = set()
    work = list(used_in.predecessors())
    while work:
        block = work.pop()
        if block is defining or block in passed:
            continue
        passed.add(block)
        work.extend(block.predecessors())
    return passed

"""The writes of a block by position and by memory, for passes that check for many loads what may write in between."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from xdsl.ir import Block, Operation, SSAValue

from tilewright.transforms.linalg.effects import Writers
from tilewright.transforms.linalg.loads import Disjointness


class WriteIndex:
    """Made once for a block, of which one question costs no more than a search in a sorted list.

    It holds while loads are forwarded: what goes then writes to a buffer that nothing else reads, and what comes stands
    beside what it replaces.
    """

    def __init__(self, block: Block, memory: Disjointness, writers: Writers) -> None:
        self._memory = memory
        self._positions: dict[Operation, int] = {}
        self._ops: list[Operation] = []
        self._anywhere: list[int] = []
        """Places of ops that may write to any memory."""
        self._known: dict[SSAValue, list[int]] = {}
        """Positions of the ops that write to the memory of a pointer argument or buffer."""
        self._outside: list[int] = []
        """Places of ops that write to memory that is not allocated in the kernel."""
        self._nameless: list[int] = []
        """The same, for memory that belongs to none of the kernel's arguments either."""
        for position, op in enumerate(block.ops):
            self._positions[op] = position
            self._ops.append(op)
            if writers.may_write(op):
                self._add(writers.written(op), position)

    def _add(self, roots: Mapping[SSAValue, None] | None, position: int) -> None:
        if roots is None:
            self._anywhere.append(position)
            return
        for root in roots:
            self._known.setdefault(root, []).append(position)
        outside = [root for root in roots if not self._memory.is_allocated(root)]
        if outside:
            self._outside.append(position)
        if not all(map(self._memory.is_argument, outside)):
            self._nameless.append(position)

    def position(self, op: Operation) -> float:
        """Return where an op of the block stands; new ones stand between what they have before them and what is
        next.
        """
        walked, found = 0, self._positions.get(op)
        before: Operation | None = op
        while found is None and before is not None:
            walked, before = walked + 1, before.prev_op
            found = -1 if before is None else self._positions.get(before)
        assert found is not None
        return found + walked / (walked + 1)

    def is_new(self, op: Operation) -> bool:
        """Return whether an op came after the index was made."""
        return op not in self._positions

    def first_disturbing(self, start: Operation, end: Operation, root: SSAValue) -> Operation | None:
        """The first op after one of the block, and not after another, that may write to the memory of a pointer
        argument or buffer."""
        low, high = self.position(start), self.position(end)
        following = [found for positions in self._disturbing(root) if (found := _next(positions, low)) is not None]
        first = min(following, default=None)
        return None if first is None or first > high else self._ops[first]

    def _disturbing(self, root: SSAValue) -> list[list[int]]:
        """Places of the ops that may write there."""
        known = self._known.get(root, [])
        if self._memory.is_allocated(root):
            return [self._anywhere, known]
        if self._memory.noalias and self._memory.is_argument(root):
            return [self._anywhere, known, self._nameless]
        return [self._anywhere, self._outside]


def _next(positions: list[int], low: float) -> int | None:
    index = bisect_right(positions, low)
    return positions[index] if index < len(positions) else None

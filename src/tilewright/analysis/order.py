"""Program order: numbers that grow along dominance.

Where a value dominates another, its position is the smaller one. Among values that are all visible at one point, the
one with the largest position is defined last, and code that needs all of them can be put right after it.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue


class ProgramOrder:
    """Positions of the values of one function, taken once before anything is rewritten.

    Results of an op with regions come after everything inside it; block arguments come at the start of their block.
    """

    __slots__ = ("_after", "_count", "_start")

    def __init__(self, root: Operation) -> None:
        self._after: dict[Operation, int] = {}
        self._start: dict[Block, int] = {}
        self._count = 0
        self._number(root)

    def _number(self, root: Operation) -> None:
        pending: list[Operation | Block | tuple[Operation]] = [root]
        while pending:
            item = pending.pop()
            self._count += 1
            match item:  # operations last: asking of anything else whether it is one takes `abc` a millisecond
                case Block():
                    self._start[item] = self._count
                    pending.extend(reversed(tuple(item.ops)))
                case (op,):
                    self._after[op] = self._count
                case Operation() if item.regions:
                    pending.append((item,))
                    for region in reversed(item.regions):
                        pending.extend(reversed(blocks_in_order(region)))
                case Operation():
                    self._after[item] = self._count

    def position(self, value: SSAValue) -> int:
        """Return when a value becomes available; 0 for a value of outside."""
        if isinstance(value, OpResult):
            return self._after.get(value.op, 0)
        owner = value.owner
        return self._start.get(owner, 0) if isinstance(owner, Block) else 0

    def position_after(self, op: Operation) -> int:
        """Return when the results of an op become available."""
        return self._after.get(op, 0)

    def position_of_start(self, block: Block) -> int:
        """Return when the arguments of a block become available."""
        return self._start.get(block, 0)

    def position_of_entry(self, op: Operation) -> int:
        """A bound for an op with regions: what is available before the op has a smaller or equal position."""
        starts = [self._start[block] for region in op.regions for block in region.blocks if block in self._start]
        return min(starts) - 1 if starts else self._after.get(op, 0)


def blocks_in_order(region: Region) -> list[Block]:
    """The blocks of a region so that each one comes after all that dominate it (reverse postorder), then unreachable
    ones."""
    blocks = list(region.blocks)
    if len(blocks) <= 1:
        return blocks
    finished: list[Block] = []
    seen: set[Block] = {blocks[0]}
    path = [(blocks[0], iter(_successors(blocks[0])))]
    while path:
        block, successors = path[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            finished.append(block)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(_successors(following))))
    return [*reversed(finished), *(block for block in blocks if block not in seen)]


def _successors(block: Block) -> tuple[Block, ...]:
    last = block.last_op
    return tuple(last.successors) if last is not None else ()

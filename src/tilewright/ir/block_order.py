"""Which of two ops stands first, answered from numbers that are kept: walking from one to the other, as
`is_before_in_block` does, costs as much as lies in between, or up to the end of the block.

```python
order = BlockOrder(block)
order.is_before(load, store)
op.detach(); block.insert_op_before(op, place); order.forget(op)
```
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, Region

GAP = 1 << 256
"""Between the numbers of two neighbours: as many ops as it has bits find room at one place, before all numbers are
given anew."""


class BlockOrder:
    """The order of the ops of one block. New ops find their place by themselves; `forget` those that move."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._numbers: dict[Operation, int] = {}
        self._number_all()

    def is_before(self, first: Operation, second: Operation) -> bool:
        """Return whether an op stands before another of this block."""
        return self._number(first) < self._number(second)

    def number(self, op: Operation) -> int:
        """A number that grows along the block; it holds until the next op is asked about that is new."""
        return self._number(op)

    def forget(self, op: Operation) -> None:
        """Look for an op at its new place."""
        self._numbers.pop(op, None)

    def _number(self, op: Operation) -> int:
        found = self._numbers.get(op)
        return self._number_new(op) if found is None else found

    def _number_new(self, op: Operation) -> int:
        """Number an op, and the new ones before it, between those that have numbers."""
        assert op.parent_block() is self._block, "the order is that of one block"
        new = [op]
        before = op.prev_op
        while before is not None and before not in self._numbers:
            new.append(before)
            before = before.prev_op
        following = op.next_op
        while following is not None and following not in self._numbers:
            following = following.next_op
        low = 0 if before is None else self._numbers[before]
        high = low + 2 * GAP * len(new) if following is None else self._numbers[following]
        step = (high - low) // (len(new) + 1)
        if step < 1:
            self._number_all()
            return self._numbers[op]
        for place, inner in enumerate(reversed(new), 1):
            self._numbers[inner] = low + step * place
        return self._numbers[op]

    def _number_all(self) -> None:
        self._numbers = {op: index * GAP for index, op in enumerate(self._block.ops, 1)}


class ProgramOrder:
    """The order of ops in all blocks that are asked about."""

    def __init__(self) -> None:
        self._blocks: dict[Block, BlockOrder] = {}
        self._places: dict[Region, dict[Block, int]] = {}

    def of_block(self, block: Block) -> BlockOrder:
        """The order of the ops of one block."""
        if block not in self._blocks:
            self._blocks[block] = BlockOrder(block)
        return self._blocks[block]

    def sorted(self, ops: Iterable[Operation]) -> list[Operation]:
        """Ops in the order in which `walk` meets them: each before what it holds."""
        listed = list(ops)
        for op in listed:
            self._key(op)  # numbers what is new, which may change the numbers of a block
        return sorted(listed, key=self._key)

    def _key(self, op: Operation) -> tuple[int, ...]:
        found: list[int] = []
        current: Operation | None = op
        while current is not None and (block := current.parent_block()) is not None:
            found.append(self.of_block(block).number(current))
            region = block.parent_region()
            holder = None if region is None else region.parent_op()
            if region is not None and holder is not None:
                found.append(self._place(block, region))
                found.append(0 if len(holder.regions) == 1 else holder.get_region_index(region))
            current = holder
        return tuple(reversed(found))

    def _place(self, block: Block, region: Region) -> int:
        """Return which of its region's blocks a block is."""
        if block.prev_block is None:
            return 0
        if region not in self._places:
            self._places[region] = {inner: place for place, inner in enumerate(region.blocks)}
        return self._places[region][block]

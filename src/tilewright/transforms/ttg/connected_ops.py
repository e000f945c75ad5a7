"""Which ops compute with each other: the parts of a module that values connect."""

from __future__ import annotations

from collections.abc import Set

from xdsl.ir import Operation, OpResult

from tilewright.ir.walking import ops_within


class ConnectedOps:
    """Ops linked by the values that they make and use, whatever way; an op with regions reaches all that it holds.

    What a loop carries links nothing by itself: the loop does, which makes its initial values and holds its body.
    """

    def __init__(self, root: Operation) -> None:
        self._parent: dict[Operation, Operation] = {}
        holders: list[Operation] = []
        for op in ops_within(root):
            if op is root:
                continue
            self._parent.setdefault(op, op)
            for operand in op.operands:
                if isinstance(operand, OpResult):
                    self._join(op, operand.op)
            if op.regions:
                holders.append(op)
        self._inside: dict[Operation, set[Operation]] = {}
        for holder in holders:
            reached = self._inside.setdefault(self._find(holder), set())
            # What these hold in turn is reached by way of them.
            reached.update(self._find(op) for region in holder.regions for block in region.blocks for op in block.ops)

    def part(self, op: Operation) -> Operation:
        """The part that an op belongs to, by an op that stands for it."""
        return self._find(op)

    def reached(self, part: Operation) -> Set[Operation]:
        """The parts that a part reaches, itself among them."""
        reached: set[Operation] = set()
        pending = [part]
        while pending:
            part = pending.pop()
            if part not in reached:
                reached.add(part)
                pending.extend(self._inside.get(part, ()))
        return reached

    def _find(self, op: Operation) -> Operation:
        parent = self._parent.setdefault(op, op)
        while parent is not op:
            grand = self._parent[parent]
            self._parent[op] = grand
            op, parent = parent, grand
        return op

    def _join(self, left: Operation, right: Operation) -> None:
        left, right = self._find(left), self._find(right)
        if left is not right:
            self._parent[left] = right

"""Moving the ops that compute a value up to an op before them."""

from __future__ import annotations

from dataclasses import field

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import bufferization
from tilewright.dialects.types import is_tensor
from tilewright.ir.block_order import ProgramOrder
from tilewright.ir.effects import is_pure
from tilewright.ir.walking import ops_within
from tilewright.support.cpu_costs import MOST_MOVED_OPS
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import VIEWS, root_of_memref
from tilewright.transforms.linalg.loads import Disjointness, find_load


@dataclass(frozen=True, slots=True)
class Hoisting:
    """Moves scalar arithmetic, views, and loads of tiles that no op in between may write to."""

    memory: Disjointness
    order: ProgramOrder = field(default_factory=ProgramOrder)
    """Kept while ops move by way of this."""

    def is_known_at(self, value: SSAValue, op: Operation) -> bool:
        """Return whether a value is defined before an op: in its block, or around it."""
        owner, block = value.owner, op.parent_block()
        assert block is not None
        if isinstance(owner, Block) or owner.parent_block() is not block:
            return True
        return self.order.of_block(block).is_before(owner, op)

    def is_possible(self, value: SSAValue, anchor: Operation, depth: int = MOST_MOVED_OPS) -> bool:
        """Return whether a value is available at `anchor`, or all ops that compute it can move there."""
        if self.is_known_at(value, anchor):
            return True
        ops = self._parts(value)
        if depth == 0 or not ops or not all(self.is_possible(outer, anchor, depth - 1) for outer in _operands(ops)):
            return False
        return all(self._is_undisturbed(op, anchor) for op in ops if isinstance(op, bufferization.ToTensorOp))

    def perform(self, value: SSAValue, anchor: Operation) -> None:
        """Move the ops that compute a value before `anchor`."""
        block = anchor.parent_block()
        assert block is not None
        if self.is_known_at(value, anchor):
            return
        ops = self._parts(value)
        for outer in _operands(ops):
            self.perform(outer, anchor)
        for op in ops:
            op.detach()
            block.insert_op_before(op, anchor)
            self.order.of_block(block).forget(op)

    def _parts(self, value: SSAValue) -> list[Operation]:
        """The ops that make a value and move as one, in order; none where they cannot."""
        op = value.owner
        if isinstance(op, Block):
            return []
        if isinstance(op, bufferization.ToTensorOp):
            load = find_load(op)
            return [] if load is None else load.ops()
        may_move = not op.regions and not is_tensor(value.type) and (isinstance(op, VIEWS) or is_pure(op))
        return [op] if may_move else []

    def _is_undisturbed(self, op: bufferization.ToTensorOp, anchor: Operation) -> bool:
        """Return whether nothing between `anchor` and a load may write what it reads."""
        load = find_load(op)
        assert load is not None
        root, step = root_of_memref(load.copy.source), anchor
        while step is not load.copy:
            if self.memory.may_disturb(step, root):
                return False
            step = step.next_op
            assert step is not None
        return True


def _operands(ops: list[Operation]) -> list[SSAValue]:
    """Return what ops read that none of them makes."""
    inside = {inner for op in ops for inner in ops_within(op)}
    read = (operand for inner in inside for operand in inner.operands)
    return [value for value in dict.fromkeys(read) if value.owner not in inside]

"""Building IR: an insertion point and a source location that every inserted op receives."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint

from tilewright.ir.locations import has_location

OpT = TypeVar("OpT", bound=Operation)


class OpBuilder:
    """Inserts ops one after another at a point, and stamps them with the current location.

    ```python
    builder = OpBuilder.before(op)  # takes op's location too
    two = builder.insert(constant_index(2))
    double = builder.insert(arith.MuliOp(x, two.result))
    ```
    """

    __slots__ = ("_before", "_block", "location")

    def __init__(self, point: InsertPoint, location: LocationAttr = UNKNOWN_LOC) -> None:
        self._block: Block = point.block
        self._before: Operation | None = point.insert_before
        self.location: LocationAttr = location

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr = UNKNOWN_LOC) -> OpBuilder:
        """A builder that appends to a block."""
        return cls(InsertPoint(block), location)

    @classmethod
    def at_start(cls, block: Block, location: LocationAttr = UNKNOWN_LOC) -> OpBuilder:
        """A builder that inserts before the ops that a block has now."""
        return cls(InsertPoint.at_start(block), location)

    @classmethod
    def before(cls, op: Operation, location: LocationAttr | None = None) -> OpBuilder:
        """A builder that inserts before `op`, with `op`'s location unless another is given."""
        return cls(InsertPoint.before(op), op.location if location is None else location)

    @classmethod
    def after(cls, op: Operation, location: LocationAttr | None = None) -> OpBuilder:
        """A builder that inserts after `op`, with `op`'s location unless another is given."""
        return cls(InsertPoint.after(op), op.location if location is None else location)

    @property
    def block(self) -> Block:
        """The block that ops go into."""
        return self._block

    @property
    def point(self) -> InsertPoint:
        """The insertion point; assign to it to move the builder."""
        return InsertPoint(self._block, self._before)

    @point.setter
    def point(self, point: InsertPoint) -> None:
        self._block = point.block
        self._before = point.insert_before

    def insert(self, op: OpT) -> OpT:
        """Insert one op and return it. An op that already knows its location keeps it."""
        if self._before is None:
            self._block.add_op(op)
        else:
            self._block.insert_op_before(op, self._before)
        if not has_location(op):
            op.location = self.location
        return op

    def insert_all(self, ops: Sequence[Operation]) -> None:
        """Insert ops in order."""
        for op in ops:
            self.insert(op)

    def move_to_end(self, block: Block) -> None:
        """Continue at the end of a block."""
        self._block, self._before = block, None

    def move_before(self, op: Operation) -> None:
        """Continue before `op`."""
        self.point = InsertPoint.before(op)

    @contextmanager
    def at(self, place: InsertPoint | Block, location: LocationAttr | None = None) -> Generator[OpBuilder]:
        """Work elsewhere (a point, or the end of a block) for the length of a `with`, then come back."""
        saved = self._block, self._before, self.location
        self.point = InsertPoint(place) if isinstance(place, Block) else place
        if location is not None:
            self.location = location
        try:
            yield self
        finally:
            self._block, self._before, self.location = saved

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[OpBuilder]:
        """Use another location for the length of a `with`."""
        saved, self.location = self.location, location
        try:
            yield self
        finally:
            self.location = saved

"""Building IR: a cursor, and a source location that every inserted op receives."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from tilewright.ir.locations import has_location
from tilewright.support.records import dataclass

OpT = TypeVar("OpT", bound=Operation)


@dataclass(slots=True)
class Cursor:
    """A point in a block: before `anchor`, or at its end. Shared by all who insert there: moving it moves them all."""

    block: Block
    anchor: Operation | None = None

    @classmethod
    def at_start(cls, block: Block) -> Cursor:
        """Before the ops that a block has now."""
        return cls(block, block.first_op)

    @classmethod
    def before(cls, op: Operation) -> Cursor:
        """Before an op of a block."""
        assert op.parent is not None
        return cls(op.parent, op)

    @classmethod
    def after(cls, value: Operation | Block) -> Cursor:
        """After an op of a block, or at the start of a block: where what an op, or a block by its arguments, makes
        can be used."""
        if isinstance(value, Block):
            return cls.at_start(value)
        assert value.parent is not None
        return cls(value.parent, value.next_op)

    def insert(self, op: Operation) -> None:
        """Put an op there."""
        if self.anchor is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.anchor)


class OpBuilder:
    """Inserts ops one after another at a cursor, and stamps them with the current location.

    ```python
    builder = OpBuilder.before(op)  # takes op's location too
    two = builder.result(constant_index(2))
    double = builder.result(arith.MuliOp(x, two))
    ```
    """

    __slots__ = ("cursor", "location")

    def __init__(self, cursor: Cursor, location: LocationAttr = UNKNOWN_LOC) -> None:
        self.cursor = cursor
        self.location: LocationAttr = location

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr = UNKNOWN_LOC) -> OpBuilder:
        """A builder that appends to a block."""
        return cls(Cursor(block), location)

    @classmethod
    def at_start(cls, block: Block, location: LocationAttr = UNKNOWN_LOC) -> OpBuilder:
        """A builder that inserts before the ops that a block has now."""
        return cls(Cursor.at_start(block), location)

    @classmethod
    def before(cls, op: Operation, location: LocationAttr | None = None) -> OpBuilder:
        """A builder that inserts before `op`, with `op`'s location unless another is given."""
        return cls(Cursor.before(op), op.location if location is None else location)

    @classmethod
    def after(cls, op: Operation | Block, location: LocationAttr | None = None) -> OpBuilder:
        """A builder that inserts after `op` (see `Cursor.after`), with `op`'s location unless another is given."""
        if location is None:
            location = UNKNOWN_LOC if isinstance(op, Block) else op.location
        return cls(Cursor.after(op), location)

    @property
    def block(self) -> Block:
        """The block that ops go into."""
        return self.cursor.block

    def insert(self, op: OpT) -> OpT:
        """Insert one op and return it. An op that already knows its location keeps it."""
        self.cursor.insert(op)
        if not has_location(op):
            op.location = self.location
        return op

    def result(self, op: Operation) -> SSAValue:
        """Insert one op and return its first result."""
        return self.insert(op).results[0]

    def insert_all(self, ops: Iterable[Operation]) -> None:
        """Insert ops in order."""
        for op in ops:
            self.insert(op)

    def move_to_end(self, block: Block) -> None:
        """Continue at the end of a block."""
        self.cursor = Cursor(block)

    def move_before(self, op: Operation) -> None:
        """Continue before `op`."""
        self.cursor = Cursor.before(op)

    @contextmanager
    def at(self, place: Cursor | Block, location: LocationAttr | None = None) -> Generator[OpBuilder]:
        """Work elsewhere (a cursor, or the end of a block) for the length of a `with`, then come back."""
        saved = self.cursor, self.location
        self.cursor = Cursor(place) if isinstance(place, Block) else place
        if location is not None:
            self.location = location
        try:
            yield self
        finally:
            self.cursor, self.location = saved

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[OpBuilder]:
        """Use another location for the length of a `with`."""
        saved, self.location = self.location, location
        try:
            yield self
        finally:
            self.location = saved

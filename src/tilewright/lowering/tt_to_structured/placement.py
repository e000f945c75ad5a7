"""Where new ops go: each right after the last of its operands.

An op placed that way can be used wherever its operands can, so that every expression needs to be emitted only once,
and what a loop does not change lands before the loop without a pass that hoists it.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.analysis.order import ProgramOrder
from tilewright.dialects import arith
from tilewright.ir.locations import has_location
from tilewright.lowering.scalar_builder import INDEX

OpT = TypeVar("OpT", bound=Operation)


class Placement:
    """Inserts ops into one function after what they depend on, and remembers where everything is."""

    def __init__(self, entry: Block, order: ProgramOrder) -> None:
        self._entry = entry
        self._order = order
        self._places: dict[SSAValue, tuple[int, Operation | Block]] = {}
        self._last: dict[Operation | Block, Operation] = {}
        self._constants: dict[tuple[int, Attribute], SSAValue] = {}
        self._replaced: dict[SSAValue, SSAValue] = {}
        self.location: LocationAttr = UNKNOWN_LOC
        """Where new ops come from: set it to the location of what they are made for."""

    def place_of(self, value: SSAValue) -> tuple[int, Operation | Block]:
        """Return when a value becomes available, and the op or block start that provides it."""
        known = self._places.get(value)
        if known is None:
            current = self.current(value)
            known = self._order.position(value), current.owner
            self._places[value] = known
        return known

    def current(self, value: SSAValue) -> SSAValue:
        """Return what stands for a value of the original program now."""
        return self._replaced.get(value, value)

    def replace(self, value: SSAValue, by: SSAValue) -> None:
        """All uses of a value go to another one at the same place, also those of expressions not yet emitted."""
        self._places[by] = self._order.position(value), by.owner
        self._replaced[value] = by
        value.replace_all_uses_with(by)

    def forget(self, op: Operation, by: Operation) -> None:
        """An op of the original program gives its place to another one."""
        last = self._last.pop(op, None)
        if last is not None:
            self._last[by] = last
        for old, new in zip(op.results, by.results, strict=True):
            position, _ = self.place_of(old)
            self._places[old] = self._places[new] = position, by

    def note(self, value: SSAValue, position: int) -> None:
        """Tells where a value is that someone else made."""
        self._places[value] = position, value.owner

    def place(self, op: OpT) -> OpT:
        """Inserts an op after the last of its operands (at the start of the function if it has none)."""
        places = [self.place_of(operand) for operand in op.operands]
        place = max(places, key=_position, default=(0, self._entry))
        self.insert_after(op, place[1])
        for result in op.results:
            self._places[result] = place
        return op

    def insert_after(self, op: Operation, anchor: Operation | Block) -> None:
        """Inserts after an op, or at the start of a block, after all that was put there before."""
        last = self._last.get(anchor)
        if last is not None and last.parent is not None:
            last.parent.insert_op_after(op, last)
        elif isinstance(anchor, Block):
            _insert_at_start(op, anchor)
        else:
            assert anchor.parent is not None
            anchor.parent.insert_op_after(op, anchor)
        self._last[anchor] = op
        if not has_location(op):
            op.location = self.location

    def insert_before(self, op: Operation, anchor: Operation) -> Operation:
        """Inserts before an op of the original program."""
        assert anchor.parent is not None
        anchor.parent.insert_op_before(op, anchor)
        if not has_location(op):
            op.location = self.location
        for result in op.results:
            self._places[result] = self._order.position_after(anchor), anchor
        return op

    def constant(self, value: int, type: Attribute = INDEX) -> SSAValue:
        """The function's one constant of that number and type; numbers are taken modulo the width."""
        found = self._constants.get((value, type))
        if found is None:
            op = arith.constant_int(value, type)  # pyright: ignore[reportArgumentType]
            self.insert_after(op, self._entry)
            found = op.results[0]
            self._places[found] = 0, self._entry
            self._constants[value, type] = found
        return found


def _position(place: tuple[int, Operation | Block]) -> int:
    return place[0]


def _insert_at_start(op: Operation, block: Block) -> None:
    first = block.first_op
    if first is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, first)

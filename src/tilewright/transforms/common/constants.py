"""The constants of isolated regions: one op per value, at the start of the entry block."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import ConstantLike, IsolatedFromAbove


@cache
def is_constant_class(cls: type[Operation]) -> bool:
    """Return whether the ops of a class are constants: no operands, one result, the value in a property."""
    traits = getattr(cls, "traits", ())
    return any(isinstance(trait, ConstantLike) for trait in traits)


@cache
def is_isolated_class(cls: type[Operation]) -> bool:
    return any(isinstance(trait, IsolatedFromAbove) for trait in getattr(cls, "traits", ()))


def insertion_block(op: Operation) -> Block:
    """The block that the constants for `op` live in: the entry of the closest region that sees nothing from outside."""
    block = op.parent
    assert block is not None
    region = block.parent
    while region is not None:
        parent = region.parent
        if parent is None or is_isolated_class(type(parent)) or parent.parent is None:
            break
        region = parent.parent.parent
    assert isinstance(region, Region) and region.blocks.first is not None
    return region.blocks.first


class ConstantPool:
    """Moves each constant that it is shown to the front of its isolated region, and merges equal ones.

    A constant that is at the block's start already, or after another one of the pool, stays where it is.
    """

    def __init__(self) -> None:
        self._by_value: dict[tuple[Block, type[Operation], Attribute, Attribute], Operation] = {}
        self._pooled: set[Operation] = set()

    def add(self, op: Operation, replace: Callable[[Operation, Operation], None]) -> None:
        """Pool a constant op; `replace(op, other)` is called instead when an equal one exists."""
        block = insertion_block(op)
        key = (block, type(op), op.properties["value"], op.results[0].type)
        other = self._by_value.get(key)
        if other is op:
            return
        if other is not None and other.parent is not None:
            replace(op, other)
            return
        is_placed = op.parent is block and (op.prev_op is None or op.prev_op in self._pooled)
        if not is_placed and block.first_op is not op:
            op.detach()
            assert block.first_op is not None
            block.insert_op_before(op, block.first_op)
        self._by_value[key] = op
        self._pooled.add(op)

"""Ops out of a block for a while, and back to their places."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager

from xdsl.ir import Block, Operation


@contextmanager
def detached(block: Block, ops: Collection[Operation]) -> Generator[None]:
    """Without these ops of a block; afterwards each comes after the op that it came after, if that is left."""
    before = list(block.ops)
    for op in ops:
        op.detach()
    try:
        yield
    finally:
        previous: Operation | None = None
        for op in before:
            if op in ops:
                _insert_after(block, previous, op)
            previous = op if op.parent is block else previous


def _insert_after(block: Block, previous: Operation | None, op: Operation) -> None:
    if previous is not None:
        block.insert_op_after(op, previous)
    elif block.first_op is not None:
        block.insert_op_before(op, block.first_op)
    else:
        block.add_op(op)

"""All ops of a block into another one at once: linking them one by one takes five calls an op."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, Operation


def move_ops_before(block: Block, op: Operation) -> None:
    """Move the ops of a block, which `op` is not inside of, in their order before `op`."""
    _move(block, op)


def _move(block: Any, op: Any) -> None:
    first, last, parent = block._first_op, block._last_op, op.parent
    if first is None:
        return
    inner = first
    while inner is not None:
        inner.parent = parent
        inner = inner._next_op
    previous = op._prev_op
    first._prev_op = previous
    if previous is None:
        parent._first_op = first
    else:
        previous._next_op = first
    last._next_op = op
    op._prev_op = last
    block._first_op = block._last_op = None

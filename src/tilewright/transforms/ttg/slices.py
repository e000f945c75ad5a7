"""Which ops of a block a value comes from, and which use it: the slices that choices of layouts look at."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.dialects import tt, ttg, ttng

MatrixProduct = tt.DotOp | tt.DotScaledOp | ttng.WarpGroupDotOp
"""Every op that multiplies matrices."""

LEFT, RIGHT = 0, 1


def defining_op(value: SSAValue) -> Operation | None:
    """The op that a value is a result of; None for arguments of blocks."""
    return value.op if isinstance(value, OpResult) else None


def before_conversions(value: SSAValue) -> SSAValue:
    """The value before the layout conversions that it went through."""
    while isinstance(op := defining_op(value), ttg.ConvertLayoutOp):
        value = op.src
    return value


def _holder_in(block: Block, op: Operation) -> Operation | None:
    """The op of `block` that is `op` or holds it; None where it is elsewhere."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def backward_slice(value: SSAValue, block: Block) -> Iterator[Operation]:
    """The ops of `block` that a value depends on, the closest first. What it was in the iteration before does not
    count.
    """
    seen: set[int] = set()
    stack = [value]
    while stack:
        op = defining_op(stack.pop())
        if op is None or op.parent is not block or id(op) in seen:
            continue
        seen.add(id(op))
        yield op
        stack.extend(op.operands)


def products_fed_by(product: Operation) -> Iterator[tuple[MatrixProduct, int]]:
    """The matmuls of the same block that use the result of `product` as an operand, and which operand (0 for
    A, 1 for B); directly or after other ops.
    """
    block = product.parent
    assert block is not None
    seen: set[int] = set()
    stack = list(product.results)
    while stack:
        for use in stack.pop().uses:
            user = use.operation
            if isinstance(user, MatrixProduct):
                if user.parent is block and use.index in (LEFT, RIGHT):
                    yield user, use.index
                continue
            holder = _holder_in(block, user)
            if holder is not None and id(holder) not in seen:
                seen.add(id(holder))
                stack.extend(holder.results)


def chained_operand(product: MatrixProduct) -> int | None:
    """Return which operand links a matmul with another one of its block: 0 where one's result becomes (part of)
    the other's A, 1 for B, None if there is no such pair. A of `softmax(q @ k) @ v` is chained.
    """
    for _, operand in products_fed_by(product):
        return operand
    block = product.parent
    assert block is not None
    for operand in (LEFT, RIGHT):
        if any(isinstance(op, MatrixProduct) for op in backward_slice(product.operands[operand], block)):
            return operand
    return None

"""Ops of a block that only one branch of a new conditional needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.ir.builder import OpBuilder


def slice_of(values: Iterable[SSAValue], block: Block, is_wanted: Callable[[Operation], bool]) -> list[Operation]:
    """The wanted ops of a block that some values need, in order; what an unwanted op makes is not looked into."""
    found: set[Operation] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        op = value.op if isinstance(value, OpResult) else None
        if op is None or op in found or op.parent is not block or not is_wanted(op):
            continue
        found.add(op)
        stack.extend(op.operands)
    return [op for op in block.ops if op in found]


def clone_ops(builder: OpBuilder, ops: Iterable[Operation], values: dict[SSAValue, SSAValue]) -> None:
    """Copy ops; `values` says what stands for what they use, and gets what stands for their results."""
    for op in ops:
        copy = builder.insert(op.clone(values))
        values.update(zip(op.results, copy.results, strict=True))


def erase_unused(ops: Iterable[Operation]) -> None:
    """Erase those of some pure ops that nothing uses any more; users come after what they use."""
    for op in reversed(list(ops)):
        if all(result.first_use is None for result in op.results):
            op.detach()
            op.erase()

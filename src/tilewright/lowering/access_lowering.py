"""The walk that both memory lowerings share: one lowering function for each op class, what cannot be addressed stays
with a remark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import func, tt
from tilewright.ir.lowerings import Lowerings
from tilewright.ir.passes import PassContext
from tilewright.ir.walking import find_ops
from tilewright.lowering.memory_builder import MemoryBuilder, NotAddressable

AccessLowerings = Lowerings[[MemoryBuilder], Sequence[SSAValue]]
"""From op class to a function that gives a value for each result (nothing where the results have no uses)."""
AccessLowering: TypeAlias = Callable[[Any, MemoryBuilder], Sequence[SSAValue]]
AccessTable: TypeAlias = Mapping[type[Operation], AccessLowering]


def lower_accesses(module: ModuleOp, table: AccessTable, context: PassContext) -> None:
    """Lower the ops of a table in every function of a module."""
    for op in module.ops:
        if isinstance(op, func.FuncOp | tt.FuncOp) and (entry := op.body.blocks.first) is not None:
            memory = MemoryBuilder(entry)
            for block in op.body.blocks:
                _lower_block(block, table, memory, context)


def _lower_block(block: Block, table: AccessTable, memory: MemoryBuilder, context: PassContext) -> None:
    op = block.first_op
    while op is not None:
        following = op.next_op
        for region in op.regions:
            for inner in region.blocks:
                _lower_block(inner, table, memory, context)
        lower = table.get(type(op))
        if lower is not None:
            _lower_access(op, lower, memory, context)
        op = following


def _lower_access(op: Operation, lower: AccessLowering, memory: MemoryBuilder, context: PassContext) -> None:
    memory.ops.move_before(op)
    memory.ops.location = op.location
    try:
        values = lower(op, memory)
    except NotAddressable as reason:
        context.remark(op, str(reason))
        return
    for old, new in zip(op.results, values, strict=False):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def erase_unused(module: ModuleOp, classes: tuple[type[Operation], ...]) -> None:
    """Erase the ops of the given pure classes whose results are unused, users before producers."""
    for op in reversed(find_ops(module, *classes)):
        if not any(result.uses for result in op.results):
            op.detach()
            op.erase()

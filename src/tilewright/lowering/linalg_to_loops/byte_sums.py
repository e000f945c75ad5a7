"""Sums of products of bytes, as the passes over them find them: a tree of additions, and what it adds up."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import arith, linalg_ext
from tilewright.dialects.types import element_type, shape_of
from tilewright.ir.walking import find_ops
from tilewright.support.facts import TargetFacts


def find_sums(module: ModuleOp, facts: TargetFacts) -> Iterator[tuple[arith.AddiOp, Block]]:
    """Yield the last addition of each sum in blocks with byte products, in the order of the program, with its block.

    Vectors are registers whose bytes the machine multiplies. A sum may be replaced before the next one is asked for.
    """
    blocks = {block: None for op in find_ops(module, linalg_ext.DotBytesOp) if (block := op.parent_block())}
    for block in blocks:
        for op in list(block.ops):
            if isinstance(op, arith.AddiOp) and op.parent_block() is block and _is_last(op):
                lanes = shape_of(op.result.type)
                if lanes and element_type(op.result.type) == i32 and facts.has_byte_registers(32 * lanes[0]):
                    yield op, block


def _is_last(op: arith.AddiOp) -> bool:
    """Return whether a sum is no part of another one."""
    user = only_user(op)
    return not isinstance(user, arith.AddiOp) or user.parent_block() is not op.parent_block()


def only_user(op: Operation) -> Operation | None:
    """Return what reads the result of an op, if only one operand is it."""
    uses = list(op.results[0].uses)
    return uses[0].operation if len(uses) == 1 else None


def terms_of(op: arith.AddiOp) -> Iterator[SSAValue]:
    """Yield what a sum and the sums that are parts of it add up."""
    pending = [*op.operands]
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, arith.AddiOp) and owner.parent_block() is op.parent_block() and only_user(owner):
            pending += owner.operands
        else:
            yield value


def replace_sum(op: arith.AddiOp, value: SSAValue) -> None:
    """Replace a sum by a value; what only the sum read is erased, too."""
    op.result.replace_all_uses_with(value)
    dead: list[Operation] = [op]
    while dead:
        gone = dead.pop()
        operands = [operand.owner for operand in gone.operands]
        gone.detach()
        gone.erase()
        dead += dict.fromkeys(
            owner
            for owner in operands
            if isinstance(owner, arith.AddiOp | linalg_ext.DotBytesOp) and not owner.results[0].uses.get_length()
        )

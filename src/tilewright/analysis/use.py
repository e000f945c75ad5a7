"""The use analysis: whether values feed addresses, data, or both.

A value is used as *data* if it reaches something that the world can see (a store, a call, a branch) other than as
part of an address; as *meta* if it feeds addresses or masks of accesses; a value may be both (mixed) or neither
(dead). After accesses have been rewritten, address arithmetic that is left over has no use, also where loops carry
it round and round.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from tilewright.analysis.origins import merge_sources
from tilewright.dialects import cf, scf, tt
from tilewright.ir.effects import may_write
from tilewright.ir.walking import ops_within


class Use(Flag):
    """What a value is used for."""

    DEAD = 0
    META = 1
    DATA = 2
    MIXED = 3


ADDRESS_OPERANDS: dict[type[Operation], tuple[int, ...]] = {
    tt.LoadOp: (0, 1),
    tt.StoreOp: (0, 2),
    tt.AtomicRMWOp: (0, 2),
    tt.AtomicCASOp: (0,),
    tt.AtomicLoadOp: (0, 1),
    tt.AtomicStoreOp: (0, 2),
    tt.AtomicPollOp: (0,),
}
"""Operand numbers that are addresses and masks, for accesses of the `tt` dialect."""


def find_uses(function: Operation) -> dict[SSAValue, Use]:
    """The use of every value of a function that has one; values that are not in the answer are dead."""
    uses: dict[SSAValue, Use] = {}
    pending: list[tuple[SSAValue, Use]] = []
    for op in ops_within(function)[1:]:
        pending.extend(_roots(op))
    while pending:
        value, use = pending.pop()
        known = uses.get(value)
        if known is use or known is Use.MIXED or use is Use.DEAD:
            continue
        uses[value] = use if known is None else Use.MIXED
        pending.extend(_sources(value, use))
    return uses


def _roots(op: Operation) -> Iterable[tuple[SSAValue, Use]]:
    """Operands that are needed whatever becomes of the results: of what acts on the world, and of control flow."""
    match op:
        case scf.ForOp():
            return ((operand, Use.DATA) for operand in op.operands[:3])
        case scf.IfOp() | scf.ConditionOp() | cf.ConditionalBranchOp():
            return ((op.operands[0], Use.DATA),)
        case scf.WhileOp() | cf.BranchOp():
            return ()
        case scf.YieldOp() if isinstance(op.parent_op(), scf.ForOp | scf.IfOp | scf.WhileOp):
            return ()
        case _ if is_action(op):
            return _operand_uses(op, Use.DATA)
        case _:
            return ()


def is_action(op: Operation) -> bool:
    """Return whether an op does something by itself: writes, or ends a block."""
    return op.has_trait(IsTerminator) or may_write(op)


def _operand_uses(op: Operation, use: Use) -> Iterable[tuple[SSAValue, Use]]:
    meta = ADDRESS_OPERANDS.get(type(op), ())
    for index, operand in enumerate(op.operands):
        yield operand, Use.META if index in meta else use


def _sources(value: SSAValue, use: Use) -> Iterable[tuple[SSAValue, Use]]:
    merged = merge_sources(value)
    if merged is not None:
        yield from ((source, use) for source in merged if source is not None)
    elif isinstance(value, OpResult):
        yield from _operand_uses(value.op, use)

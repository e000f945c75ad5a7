"""The use analysis: what values are for.

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
from tilewright.dialects import scf, tt
from tilewright.ir.effects import may_write


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
}
"""Operand numbers that are addresses and masks, for accesses of the `tt` dialect."""


def find_uses(function: Operation) -> dict[SSAValue, Use]:
    """The use of every value of a function that has one; values that are not in the answer are dead."""
    uses: dict[SSAValue, Use] = {}
    pending: list[tuple[SSAValue, Use]] = []
    for op in function.walk():
        if op is not function and _is_root(op):
            pending.extend(_operand_uses(op, Use.DATA))
    while pending:
        value, use = pending.pop()
        known = uses.get(value, Use.DEAD)
        if known | use == known:
            continue
        uses[value] = known | use
        pending.extend(_sources(value, use))
    return uses


def _is_root(op: Operation) -> bool:
    """Whether an op does something by itself, so that its operands are needed whatever becomes of its results."""
    if isinstance(op, scf.YieldOp):
        parent = op.parent_op()
        return not isinstance(parent, scf.ForOp | scf.IfOp | scf.WhileOp)
    if isinstance(op, scf.ConditionOp):
        return False
    if isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp):
        return False
    return bool(op.regions) or may_write(op) or op.has_trait(IsTerminator)


def _operand_uses(op: Operation, use: Use) -> Iterable[tuple[SSAValue, Use]]:
    meta = ADDRESS_OPERANDS.get(type(op), ())
    for number, operand in enumerate(op.operands):
        yield operand, Use.META if number in meta else use


def _sources(value: SSAValue, use: Use) -> Iterable[tuple[SSAValue, Use]]:
    merged = merge_sources(value)
    if merged is not None:
        yield from ((source, use) for source in merged if source is not None)
    if isinstance(value, OpResult) and merged is None:
        yield from _operand_uses(value.op, use)

"""Ops that run only where a predicate holds: what a pipelined loop does for iterations that may not exist.

What touches no memory runs anyway: nobody looks at its results. Accesses get masks, TMA copies and barriers have a
predicate of their own, and what has neither goes into an `scf.if`.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.analysis.membar.accesses import ORDERED
from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.tt.types import PointerType, is_tensor, mask_like
from tilewright.dialects.types import element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.ir.walking import ops_within

OpT = TypeVar("OpT", bound=Operation)

DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)

UNPREDICATED = (
    ttg.AsyncCommitGroupOp,
    ttg.AsyncWaitOp,
    ttg.LocalAllocOp,
    ttg.LocalLoadOp,
    ttg.LocalStoreOp,
    ttng.AsyncCopyMbarrierArriveOp,
    ttng.WarpGroupDotOp,
    ttng.WarpGroupDotWaitOp,
    ttng.FenceAsyncSharedOp,
)
"""Ops that may run for iterations that do not exist: they touch buffers of the pipeline alone, or keep count of
groups of copies, which are made in every round.
"""


def predicate(builder: OpBuilder, op: Operation, condition: SSAValue) -> Operation:
    """Insert `op` so that it has effects only where `condition` holds; returns the op that has its results."""
    if isinstance(op, DIVISIONS):
        _divide(builder, op, condition)
        return builder.insert(op)
    for inner in ops_within(op) if op.regions else ():
        if isinstance(inner, DIVISIONS):
            _divide(OpBuilder.before(inner), inner, condition)
    if isinstance(op, UNPREDICATED) or is_memory_free(op) or _counts_every_round(op):
        return builder.insert(op)
    match op:
        case tt.LoadOp():
            return builder.insert(_masked_load(builder, op, condition))
        case ttg.AsyncCopyGlobalToLocalOp():
            return builder.insert(_masked_copy(builder, op, condition))
        case ttng.BarrierExpectOp() | ttng.AsyncTMACopyGlobalToLocalOp():
            op.operands = (*op.operands[:-1], _both(builder, condition, op.pred))
            return builder.insert(op)
        case ttng.WaitBarrierOp():
            return builder.insert(_predicated_wait(builder, op, condition))
        case ttng.ArriveBarrierOp():
            return builder.insert(_predicated_arrival(builder, op, condition))
        case _:
            return guarded(builder, op, condition)


def _counts_every_round(op: Operation) -> bool:
    """Return whether an op waits for copies that are made, of nothing if need be, in every round."""
    return isinstance(op, ttng.WaitBarrierOp) and ORDERED in op.attributes


def _both(builder: OpBuilder, condition: SSAValue, other: SSAValue | None) -> SSAValue:
    """`condition & other` in the type of `other`."""
    if other is None:
        return condition
    if is_tensor(other.type):
        condition = builder.result(tt.SplatOp(condition, other.type))
    elif arith.find_constant_int(other) not in (None, 0):
        return condition
    return builder.result(arith.AndIOp(condition, other))


def _mask(builder: OpBuilder, pointers: SSAValue, mask: SSAValue | None, condition: SSAValue) -> SSAValue:
    if mask is not None:
        return _both(builder, condition, mask)
    type = mask_like(pointers.type)
    return builder.result(tt.SplatOp(condition, type)) if is_tensor(type) else condition


def _masked_load(builder: OpBuilder, op: tt.LoadOp, condition: SSAValue) -> tt.LoadOp:
    mask = _mask(builder, op.ptr, op.mask, condition)
    masked = tt.LoadOp(op.ptr, mask, op.other)
    masked.properties = op.properties | {"operandSegmentSizes": masked.properties["operandSegmentSizes"]}
    return _instead(masked, op)


def _masked_copy(
    builder: OpBuilder, op: ttg.AsyncCopyGlobalToLocalOp, condition: SSAValue
) -> ttg.AsyncCopyGlobalToLocalOp:
    mask = _mask(builder, op.src, op.mask, condition)
    masked = ttg.AsyncCopyGlobalToLocalOp(op.src, op.result, mask, op.other)
    masked.properties = op.properties | {"operandSegmentSizes": masked.properties["operandSegmentSizes"]}
    return _instead(masked, op)


def _predicated_wait(builder: OpBuilder, op: ttng.WaitBarrierOp, condition: SSAValue) -> ttng.WaitBarrierOp:
    both = _both(builder, condition, op.pred)
    return _instead(ttng.WaitBarrierOp(op.alloc, op.phase, both, tuple(op.deps)), op)


def _predicated_arrival(builder: OpBuilder, op: ttng.ArriveBarrierOp, condition: SSAValue) -> ttng.ArriveBarrierOp:
    both = _both(builder, condition, op.pred)
    return _instead(ttng.ArriveBarrierOp(op.alloc, op.count.value.data, both), op)


def _instead(new: OpT, old: Operation) -> OpT:
    """Return what an op that was never inserted leaves to its replacement; the old one is dropped."""
    new.attributes = dict(old.attributes)
    new.location = old.location
    for mine, theirs in zip(new.results, old.results, strict=True):
        mine.name_hint = theirs.name_hint
    old.erase(safe_erase=False)
    return new


def _divide(builder: OpBuilder, op: Operation, condition: SSAValue) -> None:
    """x / d becomes x / (condition ? d : 1): a divisor of an iteration that does not exist may be 0."""
    divisor = op.operands[1]
    if arith.find_constant_int(divisor) not in (None, 0):
        return
    one = builder.result(arith.constant_splat(1, divisor.type))
    safe = builder.result(arith.SelectOp(condition, divisor, one))
    op.operands = (op.operands[0], safe)


def guarded(builder: OpBuilder, op: Operation, condition: SSAValue) -> scf.IfOp:
    """Insert an op under a conditional, whose results are zero where it does not run."""
    then = Block()
    inner = OpBuilder.at_end(then, op.location)
    inner.insert(op)
    inner.insert(scf.YieldOp(*op.results))
    types = [result.type for result in op.results]
    otherwise: Block | None = None
    if types:
        otherwise = Block()
        inner = OpBuilder.at_end(otherwise, op.location)
        inner.insert(scf.YieldOp(*[_zero(inner, type) for type in types]))
    return builder.insert(scf.IfOp(condition, types, then, otherwise))


def _zero(builder: OpBuilder, type: Attribute) -> SSAValue:
    element = element_type(type)
    if not isinstance(element, PointerType):
        return builder.result(arith.constant_splat(0, type))
    integers = with_element_type(type, i64) if is_tensor(type) else i64
    assert isinstance(element_type(integers), IntegerType)
    zero = builder.result(arith.constant_splat(0, integers))
    return builder.result(tt.IntToPtrOp(zero, type))

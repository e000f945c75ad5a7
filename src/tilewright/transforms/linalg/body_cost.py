"""What computing one element, or one vector, of a structured op costs."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from tilewright.dialects import arith, linalg, memref, tensor
from tilewright.dialects.arithmetic import takes_many_instructions
from tilewright.ir.walking import is_subclass
from tilewright.support.cpu_costs import DIVISION, EXPENSIVE, HEAVY, NARROWING

LOADS = (memref.LoadOp, tensor.ExtractOp)
WRITES = (memref.StoreOp, memref.AtomicRMWOp)
ACCESSES = (*LOADS, *WRITES)
"""Ops of a body that touch memory at an index of their own."""

_INTEGER_DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)
_FLOAT_DIVISIONS = (arith.DivfOp, arith.RemFOp)
_DIVISIONS = (*_INTEGER_DIVISIONS, *_FLOAT_DIVISIONS)


def body_cost(op: Operation) -> int:
    """Rough cycles of one element; what must not be repeated costs `EXPENSIVE`."""
    return EXPENSIVE if op.regions or is_expensive(op) else _cost_of_class(type(op))


@cache
def _cost_of_class(cls: type[Operation]) -> int:
    if is_subclass(cls, (linalg.YieldOp, linalg.IndexOp, arith.ConstantOp, arith.IndexCastOp)):
        return 0
    return EXPENSIVE if is_subclass(cls, (*LOADS, *_INTEGER_DIVISIONS)) else 1


def is_expensive(op: Operation) -> bool:
    """Return whether an op on floats takes many cycles."""
    return takes_many_instructions(op) or is_subclass(type(op), _FLOAT_DIVISIONS)


def vector_cost(op: Operation) -> int:
    """Rough cycles of one vector op."""
    free = (arith.ConstantOp, linalg.YieldOp, linalg.IndexOp, arith.IndexCastOp, arith.ExtFOp)
    if isinstance(op, free):
        return 0
    if op.regions or isinstance(op, ACCESSES):
        return HEAVY
    if isinstance(op, arith.TruncFOp):
        return NARROWING
    if takes_many_instructions(op):
        return HEAVY
    return DIVISION if isinstance(op, _DIVISIONS) else 1

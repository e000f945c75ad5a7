"""What computing one element of a structured op costs."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from tilewright.dialects import arith, linalg, memref, tensor
from tilewright.dialects.arithmetic import takes_many_instructions
from tilewright.ir.walking import is_subclass
from tilewright.support.cpu_costs import EXPENSIVE


def body_cost(op: Operation) -> int:
    """Rough cycles of one element; what must not be repeated costs `EXPENSIVE`."""
    return EXPENSIVE if op.regions or is_expensive(op) else _cost_of_class(type(op))


@cache
def _cost_of_class(cls: type[Operation]) -> int:
    if is_subclass(cls, (linalg.YieldOp, linalg.IndexOp, arith.ConstantOp, arith.IndexCastOp)):
        return 0
    slow = (memref.LoadOp, tensor.ExtractOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)
    return EXPENSIVE if is_subclass(cls, slow) else 1


def is_expensive(op: Operation) -> bool:
    """Return whether an op on floats takes many cycles."""
    return takes_many_instructions(op) or is_subclass(type(op), (arith.DivfOp, arith.RemFOp))

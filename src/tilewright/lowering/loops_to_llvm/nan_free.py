"""Which values are never NaN, as far as running maxima and minima need to know.

`maxnumf(x, acc)` is one instruction when acc cannot be NaN (``x > acc ? x : acc`` drops a NaN x) and four otherwise. An
accumulator that starts from a number and is only ever combined by maxnumf, minnumf or select with itself cannot be NaN.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr
from xdsl.ir import Operation

from tilewright.dialects import arith
from tilewright.lowering.loops_to_llvm.lane_facts import LaneFact

_KEEPS_A_NUMBER = (arith.MaxnumfOp, arith.MinnumfOp)


class NanFree(LaneFact):
    """No lane is ever NaN."""

    def proves(self, op: Operation) -> bool:
        match op:
            case arith.ConstantOp():
                return _is_number(op)
            case _ if isinstance(op, _KEEPS_A_NUMBER):
                return self.holds(op.operands[0]) or self.holds(op.operands[1])
            case arith.MaximumfOp() | arith.MinimumfOp():
                return self.holds(op.operands[0]) and self.holds(op.operands[1])
            case _:
                return False


def _is_number(op: arith.ConstantOp) -> bool:
    match op.value:
        case FloatAttr() as attr:
            return not math.isnan(attr.value.data)
        case DenseIntOrFPElementsAttr() as attr:
            return not any(isinstance(v, float) and math.isnan(v) for v in attr.get_values())
        case _:
            return False

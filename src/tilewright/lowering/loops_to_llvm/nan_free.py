"""Which values are never NaN, as far as running maxima and minima need to know.

`maxnumf(x, acc)` is one instruction when acc cannot be NaN (``x > acc ? x : acc`` drops a NaN x) and four otherwise. An
accumulator that starts from a number and is only ever combined by maxnumf, minnumf or select with itself cannot be NaN.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, vector

_KEEPS_A_NUMBER = (arith.MaxnumfOp, arith.MinnumfOp)


class NanFree:
    """Answers for the values of one function, remembered."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}

    def holds(self, value: SSAValue) -> bool:
        """Whether no lane of a float value is ever NaN."""
        found = self._known.get(value)
        if found is None:
            # Induction over iterations: a carried value is assumed free of NaN while its own update is looked at.
            self._known[value] = True
            found = self._prove(value)
            if not found:
                self._known = {key: known for key, known in self._known.items() if not known}
            self._known[value] = found
        return found

    def _prove(self, value: SSAValue) -> bool:
        if isinstance(value, BlockArgument):
            return self._prove_carried(value)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case arith.ConstantOp():
                return _is_number(op)
            case vector.BroadcastOp():
                return self.holds(op.operands[0])
            case arith.SelectOp():
                return self.holds(op.operands[1]) and self.holds(op.operands[2])
            case arith.SIToFPOp() | arith.UIToFPOp():
                return True
            case scf.ForOp():
                return self.holds(op.regions[0].block.args[1 + value.index])
            case scf.IfOp() if op.regions[1].blocks:
                return all(self.holds(_yielded(region.block.last_op, value.index)) for region in op.regions)
            case _ if isinstance(op, _KEEPS_A_NUMBER):
                return self.holds(op.operands[0]) or self.holds(op.operands[1])
            case arith.MaximumfOp() | arith.MinimumfOp():
                return self.holds(op.operands[0]) and self.holds(op.operands[1])
            case _:
                return False

    def _prove_carried(self, value: BlockArgument) -> bool:
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index == 0:
            return False
        position = value.index - 1
        return self.holds(loop.operands[3 + position]) and self.holds(_yielded(value.block.last_op, position))


def _yielded(terminator: Operation | None, position: int) -> SSAValue:
    assert terminator is not None
    return terminator.operands[position]


def _is_number(op: arith.ConstantOp) -> bool:
    match op.value:
        case FloatAttr() as attr:
            return not math.isnan(attr.value.data)
        case DenseIntOrFPElementsAttr() as attr:
            return not any(isinstance(v, float) and math.isnan(v) for v in attr.get_values())
        case _:
            return False

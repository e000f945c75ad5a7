"""Reductions that choose between elements start as the first ones, and need nobody to say what these are.

%first = tensor.extract %x[%c0];  %start = tensor.insert %first into %e[]
linalg.reduce ins(%x) outs(%start) {tilewright.starts_at_first}
  ->
linalg.reduce ins(%x) outs(%e) {tilewright.starts_at_first}
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import func, linalg, tensor
from tilewright.ir.walking import ops_within
from tilewright.lowering.linalg_to_loops.combination import combination_of_choice
from tilewright.transforms.linalg.effects import may_write

_PICKING = (tensor.ExtractOp, tensor.InsertOp, tensor.ExtractSliceOp, tensor.ExpandShapeOp, tensor.CollapseShapeOp)


def forget_starts(function: func.FuncOp) -> None:
    """Leave out the starts of reductions whose combination is known to choose, and what was only computed for them."""
    for op in ops_within(function):
        if not isinstance(op, linalg.StructuredOp) or STARTS_AT_FIRST not in op.attributes:
            continue
        if combination_of_choice(op) is None:
            del op.attributes[STARTS_AT_FIRST]
            continue
        first = len(op.inputs)
        for number, start in enumerate(list(op.outputs), first):
            if not isinstance(start.owner, tensor.EmptyOp):
                op.operands[number] = _empty_before(op, start)
                _erase_unread(start)


def _empty_before(op: Operation, value: SSAValue) -> SSAValue:
    block = op.parent_block()
    assert block is not None
    empty = tensor.EmptyOp.create(result_types=[value.type])
    empty.location = op.location
    block.insert_op_before(empty, op)
    return empty.results[0]


def _erase_unread(value: SSAValue) -> None:
    """Erase what was only computed for `value`, if nothing reads it any more."""
    op = value.owner
    if not isinstance(op, Operation) or any(result.uses.get_length() for result in op.results):
        return
    if not isinstance(op, _PICKING) and not (isinstance(op, linalg.StructuredOp) and not may_write(op)):
        return
    operands = list(op.operands)
    op.detach()
    op.erase()
    for operand in operands:
        _erase_unread(operand)

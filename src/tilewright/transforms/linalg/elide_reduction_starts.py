"""The pass `linalg-elide-reduction-starts`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.analysis.combination import combination_of_choice
from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import linalg, tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.linalg.effects import may_write

_PICKING = (tensor.ExtractOp, tensor.InsertOp, tensor.ExtractSliceOp, tensor.ExpandShapeOp, tensor.CollapseShapeOp)


@register_pass
class LinalgElideReductionStartsPass(Pass):
    """Starts reductions that choose between elements from their first elements, so that no start value is needed.

    ```mlir
    %first = tensor.extract %x[%c0] : tensor<64xf32>
    %start = tensor.insert %first into %e[] : tensor<f32>
    %r = linalg.reduce ins(%x) outs(%start) dimensions = [0] {tilewright.starts_at_first} { arith.maxnumf }
    // becomes
    %r = linalg.reduce ins(%x) outs(%e) dimensions = [0] {tilewright.starts_at_first} { arith.maxnumf }
    ```
    If it is not clear what a body chooses from, the reduction loses the attribute and keeps its start value.
    """

    name = "linalg-elide-reduction-starts"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            if not isinstance(op, linalg.StructuredOp) or STARTS_AT_FIRST not in op.attributes:
                continue
            if combination_of_choice(op) is None:
                context.remark(op, "the reduction keeps its start: its body does not choose between two elements")
                del op.attributes[STARTS_AT_FIRST]
                continue
            for index, start in enumerate(list(op.outputs), len(op.inputs)):
                if not isinstance(start.owner, tensor.EmptyOp):
                    op.operands[index] = _empty_before(op, start)
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

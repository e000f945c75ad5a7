"""The pass `linalg-reduce-assertions`."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, cf, linalg, tensor
from tilewright.dialects.types import is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class LinalgReduceAssertionsPass(Pass):
    """Turns per-element assertions about a tile into one assertion that all elements hold, which can be vectorised.

    ```mlir
    linalg.generic ins(%m : tensor<16xi1>) { ^bb0(%in: i1): cf.assert %in, "bad"; linalg.yield }
    // becomes
    %start = linalg.fill ins(%true : i1) outs(%e : tensor<i1>) -> tensor<i1>
    %all = linalg.reduce { arith.andi } ins(%m : tensor<16xi1>) outs(%start : tensor<i1>) dimensions = [0]
    %holds = tensor.extract %all[] : tensor<i1>
    cf.assert %holds, "bad"
    ```
    The message does not name the element, so the user sees the same error.
    """

    name = "linalg-reduce-assertions"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(find_ops(module, linalg.GenericOp)):
            assertion = find_assertion(op)
            if assertion is not None:
                replace_assertion(op, assertion)


def find_assertion(op: linalg.GenericOp) -> cf.AssertOp | None:
    """The assertion on the elements of its one input that is all that a generic does."""
    first = op.body.block.first_op
    if not isinstance(first, cf.AssertOp) or not isinstance(first.next_op, linalg.YieldOp):
        return None
    if op.results or len(op.operands) != 1 or first.operands[0] not in op.body.block.args:
        return None
    return first


def replace_assertion(op: linalg.GenericOp, assertion: cf.AssertOp) -> None:
    """Reduce the conditions of all elements, and assert the result."""
    condition, block = op.operands[0], op.parent_block()
    assert block is not None and is_tensor(condition.type)

    def insert(new: Operation) -> SSAValue | None:
        new.location = assertion.location
        block.insert_op_before(new, op)
        return new.results[0] if new.results else None

    true = insert(arith.ConstantOp.create(result_types=[i1], properties={"value": IntegerAttr(1, i1)}))
    empty = insert(tensor.EmptyOp.create(result_types=[TensorType(i1, ())]))
    assert true is not None and empty is not None
    start = insert(linalg.FillOp(true, empty))
    assert start is not None
    body = Block(arg_types=[i1, i1])
    both = arith.AndIOp(*body.args)
    body.add_ops([both, linalg.YieldOp.create(operands=list(both.results))])
    dims = tuple(range(len(condition.type.get_shape())))
    result = insert(linalg.ReduceOp([condition], [start], dims, Region(body)))
    assert result is not None
    holds = insert(tensor.ExtractOp.create(operands=[result], result_types=[i1]))
    assert holds is not None
    insert(cf.AssertOp.create(operands=[holds], properties=dict(assertion.properties)))
    op.detach()
    op.erase()

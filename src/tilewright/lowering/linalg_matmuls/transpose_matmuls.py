"""The pass `linalg-transpose-matmuls`."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import WHOLE_BLOCK, MatmulKernel
from tilewright.dialects import bufferization, linalg, tensor
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.builder import Cursor, OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_matmuls.adjoining_dims import end_together, find_adjoining_dims
from tilewright.lowering.linalg_matmuls.matmul_operands import is_zero_tile
from tilewright.lowering.linalg_matmuls.panel_plans import block_of, find_invariant_loop, plan_block_panels
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.microkernel_attributes import find_routine, microkernel_attributes
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts


@register_pass
class LinalgTransposeMatmulsPass(Pass):
    """Computes C = A B as C^T = B^T A^T if B can then be read in place and A, which a loop does not change, is packed
    once.

    ```mlir
    scf.for ... {
      %kt = linalg.transpose %k                                  // the columns of %kt are contiguous
      %s = linalg.matmul ins(%q, %kt : tensor<32x64xf32>, tensor<64x16xf32>) outs(%zero : tensor<32x16xf32>)
    }
    // becomes
    %qt = linalg.transpose %q
    scf.for ... {
      %kt = linalg.transpose %k
      %a = linalg.transpose %kt
      %st = linalg.matmul ins(%a, %qt : tensor<16x64xf32>, tensor<64x32xf32>) outs(%zt : tensor<16x32xf32>)
      %s = linalg.transpose %st
    }
    ```
    Transposes are free: they only reorder strides. A result that is read together with a row-major tile, stored, or
    carried by a loop is left alone, with a remark.
    """

    name = "linalg-transpose-matmuls"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, linalg.MatmulOp):
            kernel = find_routine(op)
            if isinstance(kernel, MatmulKernel) and is_zero_tile(op.outputs[0]):
                kernel = replace(kernel, rows=WHOLE_BLOCK, for_few_rows=False)
                if not _gains(op, kernel, context.facts or DEFAULT_FACTS):
                    continue
                if _meets_rows(op.results[0]):
                    context.remark(op, "it is not computed as its transpose: something reads its result by rows")
                else:
                    _transpose(op, kernel)


def _gains(op: linalg.MatmulOp, kernel: MatmulKernel, facts: TargetFacts) -> bool:
    """Return whether B is read in place as the other operand, and A packed once for a loop."""
    lhs, rhs = op.inputs
    adjoining = find_adjoining_dims(rhs)
    if 0 not in adjoining or 1 in adjoining or end_together(lhs, rhs) or find_invariant_loop(op, lhs) is None:
        return False
    plan = plan_block_panels(kernel, tensor_shape(lhs)[::-1], facts)
    return plan is not None and plan.reads_any_a


def _meets_rows(value: SSAValue, depth: int = 12) -> bool:
    """Return whether something reads a tile element by element together with one whose rows are contiguous, or stores
    it.
    """
    if depth == 0:
        return True
    for use in value.uses:
        user = use.operation
        if isinstance(user, linalg.MatmulOp) and use.index < 2:
            continue
        if isinstance(user, linalg.TransposeOp):
            if _meets_rows(user.results[0], depth - 1):
                return True
            continue
        if not isinstance(user, linalg.StructuredOp) or user.parent_block() is not block_of(value):
            return True
        if any(_is_load(other) for other in user.inputs):
            return True
        shape = tensor_shape(value)
        for result in user.results:
            if len(tensor_shape(result)) == len(shape) and _meets_rows(result, depth - 1):
                return True
    return False


def _is_load(value: SSAValue) -> bool:
    """Return whether a matrix comes from memory."""
    owner = value.owner
    while isinstance(owner, tensor.PadOp | tensor.ExtractSliceOp):
        owner = owner.operands[0].owner
    return isinstance(owner, bufferization.ToTensorOp) and is_tensor(value.type) and len(tensor_shape(value)) >= 2


def _transpose(op: linalg.MatmulOp, kernel: MatmulKernel) -> None:
    (lhs, rhs), block = op.inputs, op.parent_block()
    assert block is not None
    builder = OpBuilder(Cursor.after(lhs.owner))
    builder.location = op.location
    a = _transposed(builder, lhs)
    builder.cursor = Cursor(block, op)
    b, init = _transposed(builder, rhs), _transposed(builder, op.outputs[0])
    new = builder.insert(linalg.MatmulOp([b, a], [init]))
    new.attributes = {**op.attributes, **microkernel_attributes(kernel)}
    op.results[0].replace_all_uses_with(_transposed(builder, new.results[0]))
    op.detach()
    op.erase()


def _transposed(builder: OpBuilder, value: SSAValue) -> SSAValue:
    empty = builder.result(tensor.EmptyOp((), TensorType(element_type(value.type), tensor_shape(value)[::-1])))
    return builder.result(linalg.TransposeOp(value, empty, (1, 0)))

"""The pass `linalg-transpose-matmuls`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import WHOLE_BLOCK, MatmulKernel
from tilewright.dialects import bufferization, linalg, memref, scf, tensor
from tilewright.dialects.types import element_type, is_memref, is_tensor
from tilewright.ir.builder import Cursor, OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_matmuls.matmul_operands import is_zero, is_zero_tile
from tilewright.lowering.linalg_to_loops.dot_operands import block_of, find_invariant_loop, plan_block_panels
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.linalg_to_loops.provable import constant_of, is_same
from tilewright.lowering.linalg_to_loops.sources import contiguous_strides
from tilewright.lowering.microkernel_attributes import find_routine, microkernel_attributes
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts
from tilewright.transforms.linalg.structured import shape_or_scalar


@register_pass
class LinalgTransposeMatmulsPass(Pass):
    """C = A B is computed as C^T = B^T A^T where B is read in place then, and A, which a loop does not change, is
    packed once.

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
    Transposes cost nothing: they are strides in another order. A result that something reads together with a tile that
    lies by rows, or that is stored or carried, stays as it is, with a remark.
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
    adjoining = _unit_dims(rhs)
    if 0 not in adjoining or 1 in adjoining or _end_together(lhs, rhs) or find_invariant_loop(op, lhs) is None:
        return False
    plan = plan_block_panels(kernel, tensor_shape(lhs)[::-1], facts, is_transposed=0 not in _unit_dims(lhs))
    return plan is not None and plan.reads_any_a


def _unit_dims(value: SSAValue) -> frozenset[int]:
    """The dimensions in which neighbours adjoin in memory, as far as that is known; computed tiles lie by rows."""
    match value.owner:
        case linalg.TransposeOp() as op:
            inner = _unit_dims(op.inputs[0])
            return frozenset(dim for dim, old in enumerate(op.dims) if old in inner)
        case tensor.PadOp() | tensor.ExtractSliceOp() as op:
            return _unit_dims(op.source)
        case bufferization.ToTensorOp() as op:
            return _unit_dims_of_view(op.memref)
        case linalg.FillOp() | tensor.EmptyOp() | tensor.SplatOp():
            return frozenset()
        case _:
            return _unit(contiguous_strides(tensor_shape(value)))


def _unit_dims_of_view(view: SSAValue) -> frozenset[int]:
    match view.owner:
        case memref.CastOp() | memref.SubviewOp() as op if is_memref(op.source.type):
            return _unit_dims_of_view(op.source)
        case memref.ReinterpretCastOp() as op:
            return _unit(op.mixed_strides)
        case scf.IfOp() as op:
            ends = [region.block.last_op for region in op.regions]
            chosen = [end.operands[op.results.index(view)] for end in ends if end is not None]  # pyright: ignore[reportArgumentType]
            return frozenset[int].intersection(*map(_unit_dims_of_view, chosen))
        case memref.AllocOp():
            return _unit(contiguous_strides(shape_or_scalar(view.type)))
        case _:
            return frozenset()


def _unit(strides: Sequence[Index]) -> frozenset[int]:
    return frozenset(dim for dim, stride in enumerate(strides) if constant_of(stride) == 1)


def _end_together(lhs: SSAValue, rhs: SSAValue) -> bool:
    """Return whether both operands are padded from the same k on: their sums have fewer terms then."""
    pads = [_padding(lhs, 1), _padding(rhs, 0)]
    return None not in pads and pads[0] != 0 and is_same(pads[0] or 0, pads[1] or 0)


def _padding(value: SSAValue, dim: int) -> Index | None:
    """How many elements of a dimension are zeros past the end; None where it is not padded with zeros."""
    while isinstance(op := value.owner, linalg.TransposeOp):
        value, dim = op.inputs[0], op.dims[dim]
    if not isinstance(op, tensor.PadOp):
        return None
    end = op.region.block.last_op
    assert end is not None
    return op.mixed_high[dim] if is_zero(end.operands[0]) else None


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


__all__ = ["LinalgTransposeMatmulsPass"]

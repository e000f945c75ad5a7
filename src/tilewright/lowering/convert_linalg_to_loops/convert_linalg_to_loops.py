"""The pass `convert-linalg-to-loops`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import gpu, linalg, llvm, memref
from tilewright.dialects.linalg import StructuredOp
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.convert_linalg_to_loops.affine_maps import emit_subscripts
from tilewright.lowering.convert_linalg_to_loops.expand_ops import EXPANDED
from tilewright.lowering.convert_linalg_to_loops.lower_affine import AFFINE
from tilewright.lowering.convert_linalg_to_loops.rules import Rules, replace_ops
from tilewright.lowering.scalar_builder import Index, ScalarBuilder


@register_pass
class ConvertLinalgToLoopsPass(Pass):
    """Turns linalg ops on memrefs into loops that load, compute, and store one element at a time.

    ```mlir
    linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4x8xf32>) outs(%s : memref<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
    // becomes
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %in = memref.load %x[%i, %j] : memref<4x8xf32>
        %out = memref.load %s[%i] : memref<4xf32>
        %0 = arith.addf %in, %out : f32
        memref.store %0, %s[%i] : memref<4xf32>
      }
    }
    ```
    The loops follow the order of the op's iterators. Affine ops become arithmetic, `scf.parallel` becomes loops, and
    `math.ipowi` and `math.sincos` are expanded. Assumptions are dropped, and so are barriers, because a single thread
    runs a program. The result is at the loops stage.
    """

    name = "convert-linalg-to-loops"
    title = "ConvertLinalgToLoopsPass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        replace_ops(module, LOWERINGS)


LOWERINGS = Rules(AFFINE | EXPANDED)
lowers = LOWERINGS.lowers


@lowers(gpu.BarrierOp, llvm.AssumeOp)
def leave_out(op: Operation, builder: ScalarBuilder) -> Sequence[SSAValue]:
    """There is nothing to do for it."""
    return ()


@lowers(*linalg.STRUCTURED)
def lower_structured(op: StructuredOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    """Loops; the ops of the body move into the innermost one."""
    if any(is_tensor(value.type) for value in op.operands):
        raise op_error(op, "is on tensors: run one-shot-bufferize first", pass_name=ConvertLinalgToLoopsPass.name)
    _loops(builder, op, _extents(builder, op), [])
    return ()


def _extents(builder: ScalarBuilder, op: StructuredOp) -> list[Index]:
    """The trip count of every loop."""
    extents: list[Index] = list(op.static_loop_ranges())
    for operand, map_ in zip(op.operands, op.maps, strict=True):
        for dim, expr in enumerate(map_.results):
            if isinstance(expr, AffineDimExpr) and extents[expr.position] == DYNAMIC_INDEX:
                extents[expr.position] = builder.result(memref.DimOp(operand, builder.index(dim)))
    return extents


def _loops(builder: ScalarBuilder, op: StructuredOp, extents: Sequence[Index], indices: list[SSAValue]) -> None:
    if len(indices) == len(extents):
        _step(builder, op, indices)
        return

    def body(arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
        _loops(builder, op, extents, [*indices, arguments[0]])
        return ()

    builder.for_loop(0, extents[len(indices)], (), body)


def _step(builder: ScalarBuilder, op: StructuredOp, indices: Sequence[SSAValue]) -> None:
    """One element: the operands that the body reads, the body, the destinations."""
    block = op.body.block
    subscripts = [emit_subscripts(builder, map_, indices) if map_.results else [] for map_ in op.maps]
    for argument, operand, indices_of in zip(block.args, op.operands, subscripts, strict=True):
        if argument.uses.get_length():
            is_element = is_memref(operand.type)
            value = builder.result(memref.LoadOp(operand, indices_of)) if is_element else operand
            argument.replace_all_uses_with(value)
    for inner in list(block.ops):
        if isinstance(inner, linalg.IndexOp):
            inner.result.replace_all_uses_with(indices[inner.dim.value.data])
        elif not isinstance(inner, linalg.YieldOp):
            inner.detach()
            builder.insert(inner)
    first = len(op.operands) - len(op.outputs)
    terminator = block.last_op
    assert terminator is not None
    for value, target, indices_of in zip(terminator.operands, op.outputs, subscripts[first:], strict=True):
        builder.insert(memref.StoreOp(value, target, indices_of))

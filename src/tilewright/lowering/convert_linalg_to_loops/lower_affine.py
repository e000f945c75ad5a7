"""The pass `lower-affine`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import affine, arith, memref, scf
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.convert_linalg_to_loops.affine_maps import emit_extreme, emit_subscripts
from tilewright.lowering.convert_linalg_to_loops.rules import Rules, replace_ops
from tilewright.lowering.scalar_builder import ScalarBuilder

AFFINE = Rules()
lowers = AFFINE.lowers


@register_pass
class LowerAffinePass(Pass):
    """Lowers affine loops, accesses, and maps to scf, memref, and index arithmetic.

    ```mlir
    affine.for %i = 0 to %n {
      affine.store %x, %m[%i * 2] : memref<?xf32>
    }
    // becomes
    scf.for %i = %c0 to %n step %c1 {
      %0 = arith.muli %i, %c2 : index
      memref.store %x, %m[%0] : memref<?xf32>
    }
    ```
    """

    name = "lower-affine"
    title = "LowerAffinePass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        replace_ops(module, AFFINE)


@lowers(affine.LoadOp)
def lower_load(op: affine.LoadOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return (builder.result(memref.LoadOp(op.memref, emit_subscripts(builder, op.map.data, op.indices))),)


@lowers(affine.StoreOp)
def lower_store(op: affine.StoreOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    builder.insert(memref.StoreOp(op.value, op.memref, emit_subscripts(builder, op.map.data, op.indices)))
    return ()


@lowers(affine.ApplyOp)
def lower_apply(op: affine.ApplyOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return emit_subscripts(builder, op.map.data, op.operands)


@lowers(affine.MinOp)
def lower_min(op: affine.MinOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return (emit_extreme(builder, arith.MinSIOp, op.map.data, op.operands),)


@lowers(affine.MaxOp)
def lower_max(op: affine.MaxOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return (emit_extreme(builder, arith.MaxSIOp, op.map.data, op.operands),)


@lowers(affine.ForOp)
def lower_loop(op: affine.ForOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    """The loop in scf, with the body of the affine one."""
    lower = emit_extreme(builder, arith.MaxSIOp, op.lower_map.data, op.lower_operands)
    upper = emit_extreme(builder, arith.MinSIOp, op.upper_map.data, op.upper_operands)
    last = op.body.block.last_op
    assert last is not None
    op.body.block.insert_op_before(scf.YieldOp(*last.operands), last)
    last.detach()
    last.erase()
    body = op.detach_region(op.body)
    return builder.insert(scf.ForOp(lower, upper, builder.index(op.step.value.data), op.inits, body)).results

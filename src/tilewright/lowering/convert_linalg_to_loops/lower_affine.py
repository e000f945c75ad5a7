"""The pass `lower-affine`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import affine, arith, func, memref, scf
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.convert_linalg_to_loops.affine_maps import emit_extreme, emit_subscripts
from tilewright.lowering.scalar_builder import ScalarBuilder

AFFINE = affine.ForOp | affine.MapOp | affine.LoadOp | affine.StoreOp


@register_pass
class LowerAffinePass(Pass):
    """Affine loops, accesses and maps become scf, memref and arithmetic on indices.

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
        for function in module.ops:
            if isinstance(function, func.FuncOp) and (entry := function.body.blocks.first) is not None:
                builder = ScalarBuilder(entry)
                for op in ops_within(function.body):
                    if isinstance(op, AFFINE):
                        builder.move_before(op)
                        builder.location = op.location
                        lower_affine(builder, op)
                        op.detach()
                        op.erase(safe_erase=False)


def lower_affine(builder: ScalarBuilder, op: Operation) -> None:
    """Emit what an affine op does at the insertion point and give its users the results."""
    match op:
        case affine.ForOp():
            results = _emit_loop(builder, op)
        case affine.LoadOp():
            subscripts = emit_subscripts(builder, op.map.data, op.indices)
            results = [builder.result(memref.LoadOp(op.memref, subscripts))]
        case affine.StoreOp():
            builder.insert(memref.StoreOp(op.value, op.memref, emit_subscripts(builder, op.map.data, op.indices)))
            results = []
        case affine.MapOp():
            choose = arith.MinSIOp if isinstance(op, affine.MinOp) else arith.MaxSIOp
            results = [emit_extreme(builder, choose, op.map.data, op.operands)]
        case _:
            return
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)


def _emit_loop(builder: ScalarBuilder, op: affine.ForOp) -> Sequence[SSAValue]:
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

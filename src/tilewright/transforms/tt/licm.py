"""`triton-licm`: loop-invariant code motion that also moves loads whose result no iteration can change."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.types import is_tensor, mask_like
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_inside_out
from tilewright.transforms.common.loop_invariant_code_motion import hoist_from
from tilewright.transforms.common.loop_rules import is_defined_outside

LICM_ANNOTATION = "llvm.loop_annotation"
"""Attribute of loops that forbid code motion (`tl.range(..., disable_licm=True)`)."""


def _is_hoistable_load(op: Operation, loop: scf.ForOp) -> bool:
    if not isinstance(op, tt.LoadOp) or op.mask is None or op.is_volatile.value.data:
        return False
    return all(is_defined_outside(operand, loop.body) for operand in op.operands)


def _hoist_loads(loop: scf.ForOp) -> bool:
    """Move invariant masked loads before a loop that writes nothing. They are masked off when the loop does not run."""
    loads = [op for op in loop.body.block.ops if _is_hoistable_load(op, loop)]
    if not loads or any(may_write(op) for op in loop.body.block.ops):
        return False
    builder = OpBuilder.before(loop)
    predicate = "ult" if loop.unsigned_cmp is not None else "slt"
    runs = builder.result(arith.CmpiOp(loop.lb, loop.ub, predicate))
    for op in loads:
        assert isinstance(op, tt.LoadOp)
        _guard(builder, op, runs)
        op.detach()
        builder.insert(op)
    return True


def _guard(builder: OpBuilder, load: tt.LoadOp, runs: SSAValue) -> None:
    assert load.mask is not None
    type = mask_like(load.ptr.type)
    condition = builder.result(tt.SplatOp(runs, type)) if is_tensor(type) else runs
    mask = builder.result(arith.AndIOp(condition, load.mask))
    operands = list(load.operands)
    operands[1] = mask
    load.operands = operands


def hoist(module: ModuleOp) -> bool:
    """Hoist out of every loop that allows it, innermost first; returns whether anything moved."""
    changed = False
    for loop in [op for op in ops_inside_out(module) if isinstance(op, scf.ForOp | scf.WhileOp)]:
        if LICM_ANNOTATION in loop.attributes:
            continue
        changed |= bool(hoist_from(loop))
        if isinstance(loop, scf.ForOp) and _hoist_loads(loop):
            changed = True
            hoist_from(loop)
    return changed


@register_pass
class TritonLicmPass(Pass):
    """Hoists loop-invariant ops out of loops, including masked loads if the loop writes nothing.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
      %v = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>>
      %n = arith.addf %acc, %v : tensor<64xf32>
      scf.yield %n : tensor<64xf32>
    }
    ```
    After:
    ```mlir
    %runs = arith.cmpi slt, %lb, %ub : i32
    %0 = tt.splat %runs : i1 -> tensor<64xi1>
    %1 = arith.andi %0, %m : tensor<64xi1>
    %v = tt.load %p, %1, %o : tensor<64x!tt.ptr<f32>>
    scf.for %i = %lb to %ub step %s iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
      %n = arith.addf %acc, %v : tensor<64xf32>
      scf.yield %n : tensor<64xf32>
    }
    ```
    """

    name = "triton-licm"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        hoist(module)

"""The pass `linalg-expand-selects`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import arith, scf
from tilewright.dialects.types import is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class LinalgExpandSelectsPass(Pass):
    """Turns a selection between two tiles by a scalar into a branch, so that only one of them is computed or copied.

    ```mlir
    %r = arith.select %c, %a, %b : tensor<64xf32>
    // becomes
    %r = scf.if %c -> (tensor<64xf32>) {
      scf.yield %a : tensor<64xf32>
    } else {
      scf.yield %b : tensor<64xf32>
    }
    ```
    """

    name = "linalg-expand-selects"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, arith.SelectOp):
            if is_tensor(op.results[0].type) and not is_tensor(op.operands[0].type):
                expand(op)


def expand(op: arith.SelectOp) -> None:
    """Replace a selection by a branch."""
    condition, then, otherwise = op.operands
    block = op.parent_block()
    assert block is not None
    branch = scf.IfOp(condition, (then.type,), (scf.YieldOp(then),), (scf.YieldOp(otherwise),))
    branch.location = op.location
    block.insert_op_before(branch, op)
    op.results[0].replace_all_uses_with(branch.results[0])
    op.detach()
    op.erase()

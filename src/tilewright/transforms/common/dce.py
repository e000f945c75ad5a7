"""`dce`: ops whose results are unused."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.ir.effects import is_trivially_dead
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within


def eliminate_dead_code(root: Operation) -> bool:
    """Erase ops inside `root` whose results are unused and which write nothing; returns whether any went."""
    changed = False
    for op in reversed(ops_within(root)):
        if op is not root and op.parent is not None and is_trivially_dead(op):
            op.detach()
            op.erase(safe_erase=False)
            changed = True
    return changed


@register_pass
class DeadCodeEliminationPass(Pass):
    """Erases ops whose results are unused and which write nothing.

    Before:
    ```mlir
    %0 = arith.addi %a, %b : i32
    %1 = arith.muli %0, %b : i32
    tt.return
    ```
    After:
    ```mlir
    tt.return
    ```
    """

    name = "dce"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        eliminate_dead_code(module)

"""`loop-invariant-code-motion`: what is the same in every iteration is computed once, before the loop."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import scf
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_inside_out, ops_within

LOOPS = (scf.ForOp, scf.WhileOp, scf.ParallelOp)


def _is_outside(value: SSAValue, regions: set[int]) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None and block.parent is not None:
        if id(block.parent) in regions:
            return False
        parent = block.parent.parent
        block = None if parent is None else parent.parent
    return True


def _uses_only_outside_values(op: Operation, regions: set[int]) -> bool:
    inner = {id(region) for nested in ops_within(op) for region in nested.regions}
    return all(
        _is_outside(operand, regions) or (inner and not _is_outside(operand, inner))
        for nested in ops_within(op)
        for operand in nested.operands
    )


def hoist_from(loop: Operation) -> list[Operation]:
    """Move invariant pure ops of a loop's bodies before it, in order; returns them. Every op is looked at once."""
    regions = {id(region) for region in loop.regions}
    moved: list[Operation] = []
    assert loop.parent is not None
    for region in loop.regions:
        for block in region.blocks:
            for op in tuple(block.ops):
                if op.next_op is None or not is_pure(op) or not _uses_only_outside_values(op, regions):
                    continue
                op.detach()
                loop.parent.insert_op_before(op, loop)
                moved.append(op)
    return moved


def hoist_loop_invariants(root: Operation) -> bool:
    """Hoist out of every loop inside `root`, innermost loops first; returns whether anything moved."""
    changed = False
    for op in [op for op in ops_inside_out(root) if isinstance(op, LOOPS)]:
        changed |= bool(hoist_from(op))
    return changed


@register_pass
class LoopInvariantCodeMotionPass(Pass):
    """Moves pure ops whose operands come from outside a loop to before the loop.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s {
      %0 = arith.muli %a, %b : index
      "test.use"(%0) : (index) -> ()
    }
    ```
    After:
    ```mlir
    %0 = arith.muli %a, %b : index
    scf.for %i = %lb to %ub step %s {
      "test.use"(%0) : (index) -> ()
    }
    ```
    """

    name = "loop-invariant-code-motion"
    title = "LoopInvariantCodeMotion"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        hoist_loop_invariants(module)

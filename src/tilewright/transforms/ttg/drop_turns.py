"""`tritongpu-drop-turns`: warp groups that wait for each other within a turn take none."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.analysis.scratch import scratch_bytes
from tilewright.dialects import ttg, ttng
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within


@register_pass
class DropTurnsPass(Pass):
    """Removes the turns of two warp groups where elements move from one group to the other while a group has the turn:
    it would wait for the group that waits for the turn. `tritongpu-take-turns` cannot tell, as most conversions that it
    sees are gone when conversions have their places.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s {
      ttng.await_turn
      %q = ttg.convert_layout %p : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #ttg.dot_op<{parent = #mma1, ...}>>
      ttng.pass_turn %more after %q
    ```
    After:
    ```mlir
    scf.for %i = %lb to %ub step %s {
      %q = ttg.convert_layout %p : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #ttg.dot_op<{parent = #mma1, ...}>>
    ```
    """

    name = "tritongpu-drop-turns"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for roles in [op for op in ops_within(module) if isinstance(op, ttg.WarpSpecializeOp)]:
            turns = [op for op in ops_within(roles) if isinstance(op, ttng.AwaitTurnOp | ttng.PassTurnOp)]
            meeting = next((op for turn in turns for op in _with_the_turn(turn) if _meets_all_warps(op)), None)
            if meeting is None:
                continue
            context.remark(meeting, f"warp groups take no turns: they meet at '{meeting.name}' in the middle of one")
            for op in turns:
                op.detach()
                op.erase()


def _with_the_turn(start: Operation) -> Iterator[Operation]:
    """The ops from where a group has the turn to where it passes it on."""
    following = start.next_op if isinstance(start, ttng.AwaitTurnOp) and start.closes is None else None
    while following is not None and not isinstance(following, ttng.PassTurnOp):
        yield from following.walk()
        following = following.next_op


def _meets_all_warps(op: Operation) -> bool:
    is_written = isinstance(op, ttg.LocalStoreOp) or (isinstance(op, ttg.LocalAllocOp) and op.src is not None)
    return is_written or scratch_bytes(op) > 0

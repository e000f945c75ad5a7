"""`tritongpu-specialize-warps`: one warp copies what a loop multiplies, the kernel's own warps multiply."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import scf, tt, ttg
from tilewright.dialects.ttg.verification import TARGET
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.modes import AUTO, NEVER
from tilewright.transforms.tt.tma.gain import SHARED_BYTES
from tilewright.transforms.ttg.allocate_warp_groups import HOPPER
from tilewright.transforms.ttg.capability import compute_capability
from tilewright.transforms.ttg.pipeliner.schedule import MEET_AT_MBARRIERS, Schedule
from tilewright.transforms.ttg.specialization.decision import CannotSpecialize, plan_roles
from tilewright.transforms.ttg.specialization.roles import specialize


@register_pass
class SpecializeWarpsPass(Pass):
    """Loops whose matrix products read blocks that TMA copies get a warp that does nothing but start these copies, into
    a ring of buffers for each product. The kernel's own warps wait for a buffer to be full, multiply, and say when they
    have read it, so that none of them waits for another.

    Before:
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%acc = %zero) -> (...) : i32 {
      %x = tt.descriptor_load %d[%row, %i] {loop.cluster = 1 : i32, loop.stage = 0 : i32}
      %a = ttg.local_alloc %x {loop.cluster = 0 : i32, loop.stage = 2 : i32}
      %n = ttng.warp_group_dot %a, %b, %acc {loop.cluster = 0 : i32, loop.stage = 2 : i32}
      scf.yield %n
    }
    ```
    After:
    ```mlir
    %r = ttg.warp_specialize(%ring, %full, %empty, %d, ...) attributes {requestedRegisters = array<i32: 24>}
    default {
      %l = scf.for %i = %lb to %ub step %s iter_args(%acc = %zero, %slot = %c-1, %turn = %c0) -> (...) : i32 {
        ttng.wait_barrier %full[%slot1], %turn1
        %a = ttg.memdesc_index %ring[%slot1]
        %n = ttng.warp_group_dot %a, %b, %acc
        ttng.arrive_barrier %empty[%slot1], 1 {perWarp}
        scf.yield %n, %slot1, %turn1
      }
      ttg.warp_yield %l
    }
    partition0(...) num_warps(1) {
      scf.for %i = %lb to %ub step %s iter_args(%slot = %c-1, %turn = %c1) -> (...) : i32 {
        ttng.wait_barrier %empty[%slot1], %turn1
        ttng.barrier_expect %full[%slot1], 16384, %true
        ttng.async_tma_copy_global_to_local %d[%row, %i] %ring[%slot1], %full[%slot1], %true
        scf.yield %slot1, %turn1
      }
      ttg.warp_return
    } : ...
    ```
    In a loop over programs that warp goes on with the blocks of the next one, and copies before them what a program
    loads once for all products of its loop, into a ring of one buffer.

    The schedule of what is left of the loop stays; `tritongpu-pipeline` moves each arrival to where the products that
    read the buffer are done. Loops that are left alone get a remark with the reason.
    """

    name = "tritongpu-specialize-warps"

    mode: str = AUTO
    """Which loops: those where it was measured to gain (`auto`), all that can be (`always`), or `never`."""
    reserved_bytes: int = 0
    """Shared memory that copies and results leave to what else a program needs."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER or TARGET not in module.attributes or compute_capability(module) < HOPPER:
            return
        if any(isinstance(op, ttg.WarpSpecializeOp) for op in ops_within(module)):
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp)]:
            self._run_on_function(function, context)

    def _run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        loops = [op for op in ops_within(function) if isinstance(op, scf.ForOp)]
        scheduled = [(loop, schedule) for loop in loops if (schedule := Schedule.find(loop)) is not None]
        for loop, schedule in scheduled:
            try:
                if len(scheduled) > 1:
                    raise CannotSpecialize("the kernel has several loops with copies that run ahead")
                plan = plan_roles(loop, schedule, self.mode, SHARED_BYTES - self.reserved_bytes)
            except CannotSpecialize as reason:
                context.remark(loop, f"the warps of this loop all do the same: {reason}")
                continue
            loop.attributes.pop(MEET_AT_MBARRIERS, None)
            specialize(plan)

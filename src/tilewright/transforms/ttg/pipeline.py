"""`tritongpu-pipeline`: scheduled loops work on several iterations at once."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import scf
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.pipeliner.async_dots import make_dots_asynchronous
from tilewright.transforms.ttg.pipeliner.expand import expand
from tilewright.transforms.ttg.pipeliner.lower_loads import LoadLowering
from tilewright.transforms.ttg.pipeliner.schedule import NUM_STAGES, Schedule, erase_schedule
from tilewright.transforms.ttg.pipeliner.stores import pipeline_stores
from tilewright.transforms.ttg.pipeliner.waits import join_waits, relax_waits


@register_pass
class PipelinePass(Pass):
    """Loads of scheduled loops become asynchronous copies into several buffers in shared memory, and rounds of the new
    loops run each stage for another iteration. `wgmma` of loops become asynchronous.

    Before:
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%acc = %zero, %p = %pa) -> (...) : i32 {
      %x = tt.load %p {loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x {loop.cluster = 0 : i32, loop.stage = 2 : i32} : ... -> tensor<128x64xf16, #dot_op>
      ...
    } {tt.scheduled_max_stage = 2 : i32}
    ```
    After:
    ```mlir
    %b = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
    // copies of iterations 0 and 1, masked by whether these exist
    %r = scf.for %i = %lb to %ub step %s iter_args(%acc = %zero, ...) -> (...) : i32 {
      %w = ttg.async_wait %t {num = 1 : i32}
      %v = ttg.memdesc_index %b[%out]
      %a = ttg.local_load %v token %w : ... -> tensor<128x64xf16, #dot_op>
      ...
      %t2 = ttg.async_copy_global_to_local %p2, %v2 mask %exists : ...
      %g = ttg.async_commit_group tokens %t2
    }
    %e = ttg.async_wait {num = 0 : i32}
    ```
    """

    name = "tritongpu-pipeline"

    num_stages: int = 3
    """With 1, stores through descriptors wait in loops that do not say `tt.num_stages` themselves."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        axis_info: ModuleAxisInfo | None = None
        with_stores: list[scf.ForOp] = []
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            own, schedule = integer_attribute(loop, NUM_STAGES), Schedule.find(loop)
            if schedule is not None:
                axis_info = axis_info or ModuleAxisInfo(module)
                lowering = LoadLowering(loop, schedule, axis_info)
                loop = expand(lowering.run(), schedule)
                lowering.free_buffers(loop)
                erase_schedule(loop)
            if (self.num_stages if own is None else own) > 1:
                with_stores.append(loop)
        loops = make_dots_asynchronous(module)
        join_waits(module)
        relax_waits(module)
        for loop in with_stores:
            pipeline_stores(loops[loop], module)

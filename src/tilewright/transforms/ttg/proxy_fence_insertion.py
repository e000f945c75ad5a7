"""`triton-nvidia-gpu-proxy-fence-insertion`: what threads wrote to shared memory is visible to asynchronous units."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.membar.proxy_fences import ProxyFences
from tilewright.dialects import ttng
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass


@register_pass
class ProxyFenceInsertionPass(Pass):
    """Inserts a fence where an asynchronous unit (TMA or `wgmma`) would touch bytes that threads have written, with no
    fence on the way: the unit could miss what they wrote, or what it writes could be overwritten later.

    Before:
    ```mlir
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %desc[%i, %j] %m : ...
    ```
    After:
    ```mlir
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %desc[%i, %j] %m : ...
    ```
    Buffers are at their `allocation.offset`, or where `allocate-shared-memory` would put them. Partitions of a
    `ttg.warp_specialize` do not see each other's writes: their fences are the kernel's.
    """

    name = "triton-nvidia-gpu-proxy-fence-insertion"
    takes: ClassVar[tuple[str, ...]] = ("open_ttg",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for place in ProxyFences(ModuleAllocation(module, keep_offsets=True)).places:
            fence = ttng.FenceAsyncSharedOp()
            fence.location = place.location
            OpBuilder.before(place).insert(fence)

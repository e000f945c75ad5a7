"""`membar`: barriers between accesses of shared memory by different threads."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.membar import Membar, MembarFilter, find_filter
from tilewright.dialects import ttg
from tilewright.dialects.ttg.verification import TARGET
from tilewright.ir.passes import Pass, PassContext, register_pass


def filter_of(module: ModuleOp) -> MembarFilter:
    """The filter of the target that a module is for."""
    target = module.attributes.get(TARGET)
    kind = target.data.partition(":")[0] if isinstance(target, StringAttr) else ""
    return find_filter(kind)


def insert_barriers(allocation: ModuleAllocation, skips: MembarFilter) -> None:
    """Puts a barrier everywhere where the analysis wants one."""
    for place in Membar(allocation, skips).places:
        barrier = ttg.LocalBarrierOp()
        barrier.location = place.location
        Rewriter.insert_op(barrier, InsertPoint.before(place))


@register_pass
class MembarPass(Pass):
    """Inserts barriers wherever a thread might touch shared memory that another thread is not done with.

    Before:
    ```mlir
    ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #other>
    ```
    After:
    ```mlir
    ttg.local_store %x, %m : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ttg.barrier local
    %y = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #other>
    ```
    Buffers are at their `allocation.offset`, or where `allocate-shared-memory` would put them.
    """

    name = "membar"
    takes: ClassVar[tuple[str, ...]] = ("open_ttg",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        insert_barriers(ModuleAllocation(module, keep_offsets=True), filter_of(module))

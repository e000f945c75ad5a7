"""`allocate-shared-memory`: every buffer in shared memory gets its place."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tilewright.analysis.allocation import OFFSET, SCRATCH_ALIGNMENT, BufferKind, ModuleAllocation
from tilewright.analysis.scratch import scratch_bytes
from tilewright.analysis.shared_views import buffer_bytes
from tilewright.dialects import tt, ttg
from tilewright.dialects.construction import i32_attr
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.verification import program_shape
from tilewright.ir.diagnostics import op_place
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.errors import OutOfSharedMemory
from tilewright.support.facts import GpuFacts

SHARED = "ttg.shared"
WORKER_STATE = "ttg.worker_state"
"""Of modules with `ttg.warp_specialize`: the byte of shared memory at which the kernel's warps say what others run."""
WORKER_STATE_BYTES = 16
MEETING_BYTES = 8
"""Behind that, in programs of several CTAs: an mbarrier for each role of warps, the kernel's own first, at which they
meet those of the other CTAs."""


def find_shared_limit(context: PassContext) -> int | None:
    """Bytes of shared memory that the target gives a CTA; None where no target is known."""
    return context.facts.shared_bytes_limit if isinstance(context.facts, GpuFacts) else None


@register_pass
class AllocateSharedMemoryPass(Pass):
    """Assigns shared-memory offsets to buffers, reusing memory for buffers that are live at different times.

    Before:
    ```mlir
    %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %y = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #other>
    %z = ttg.local_load %a : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #other>
    ```
    After: the ops say at which byte of the function's shared memory their buffers start, the module how many bytes a
    kernel needs.
    ```mlir
    module attributes {ttg.shared = 4096 : i32} {
      %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : ...
      %y = ttg.convert_layout %x {allocation.offset = 2048 : i32} : ...
      %z = ttg.local_load %a : ...
    ```
    Raises OutOfSharedMemory if a kernel needs more than the limit.
    """

    name = "allocate-shared-memory"
    takes: ClassVar[tuple[str, ...]] = ("open_ttg",)
    limit: int = 0
    """Bytes that a CTA may have; 0: as many as the target has."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        allocation = ModuleAllocation(module)
        limit = self.limit or find_shared_limit(context)
        total = allocation.shared_bytes
        if has_workers(module):
            module.attributes[WORKER_STATE] = i32_attr(-(-total // WORKER_STATE_BYTES) * WORKER_STATE_BYTES)
            total = with_worker_state(total, module)
        if limit is not None and total > limit:
            raise _out_of_memory(allocation, total, limit)
        for function in allocation.functions.values():
            for buffer in function.buffers:
                buffer.owner.attributes[OFFSET] = i32_attr(buffer.offset)
        module.attributes[SHARED] = i32_attr(total)


def needed_bytes(module: ModuleOp, *, enough: int = 0) -> int:
    """Count the bytes of shared memory that a kernel needs, or more, as many as `enough` at most: for that it need not
    be found when each buffer is live.
    """
    state = with_worker_state(0, module) if has_workers(module) else 0
    all_at_once = state + WORKER_STATE_BYTES
    for op in ops_within(module):
        if isinstance(op, tt.CallOp):
            all_at_once = enough + 1
        elif isinstance(op, ttg.LocalAllocOp):
            all_at_once += buffer_bytes(as_memdesc(op.result.type)) + op.alignment_bytes()
        elif size := scratch_bytes(op):
            all_at_once += size + SCRATCH_ALIGNMENT
        if all_at_once > enough:
            total = ModuleAllocation(module).shared_bytes
            return with_worker_state(total, module) if state else total
    return all_at_once


def has_workers(module: ModuleOp) -> bool:
    """Return whether warps besides a kernel's own run what it says."""
    return any(isinstance(op, ttg.WarpSpecializeOp) for op in ops_within(module))


def with_worker_state(total: int, module: ModuleOp) -> int:
    """The bytes that a kernel needs with workers, beside so many for its buffers."""
    state = WORKER_STATE_BYTES + count_meetings(module) * MEETING_BYTES
    return -(-total // WORKER_STATE_BYTES) * WORKER_STATE_BYTES + state


def count_meetings(module: ModuleOp) -> int:
    """Count the roles of warps that meet those of other CTAs at mbarriers."""
    shape = program_shape(module)
    if shape is None or shape.blocks == 1:
        return 0
    return 1 + sum(len(op.num_warps) for op in ops_within(module) if isinstance(op, ttg.WarpSpecializeOp))


def set_minimum_shared_memory(module: ModuleOp, minimum: int) -> None:
    """Make the kernel of a module whose buffers are placed take at least so many bytes: Triton's `min_shared_mem`."""
    placed = cast("IntegerAttr[Any]", module.attributes[SHARED]).value.data
    module.attributes[SHARED] = i32_attr(max(placed, minimum))


def _out_of_memory(allocation: ModuleAllocation, total: int, limit: int) -> OutOfSharedMemory:
    """The error, at the largest buffer of all functions: lowering that one helps most."""
    buffers = [buffer for function in allocation.functions.values() for buffer in function.buffers]
    largest = max((b for b in buffers if b.kind is not BufferKind.VIRTUAL), key=lambda buffer: buffer.size)
    place = op_place(largest.owner)
    return OutOfSharedMemory(total, limit, "shared memory", largest.size, place)

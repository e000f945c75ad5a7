"""`allocate-shared-memory`: every buffer in shared memory gets its place."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tilewright.analysis.allocation import OFFSET, BufferKind, ModuleAllocation
from tilewright.dialects import ttg
from tilewright.dialects.construction import i32_attr
from tilewright.ir.diagnostics import op_place
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.errors import OutOfSharedMemory
from tilewright.support.facts import GpuFacts

SHARED = "ttg.shared"
WORKER_STATE = "ttg.worker_state"
"""Of modules with `ttg.warp_specialize`: the byte of shared memory at which the kernel's warps say what others run."""
WORKER_STATE_BYTES = 16


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
        if any(isinstance(op, ttg.WarpSpecializeOp) for op in ops_within(module)):
            state = -(-total // WORKER_STATE_BYTES) * WORKER_STATE_BYTES
            module.attributes[WORKER_STATE] = i32_attr(state)
            total = state + WORKER_STATE_BYTES
        if limit is not None and total > limit:
            raise _out_of_memory(allocation, total, limit)
        for function in allocation.functions.values():
            for buffer in function.buffers:
                buffer.owner.attributes[OFFSET] = i32_attr(buffer.offset)
        module.attributes[SHARED] = i32_attr(total)


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

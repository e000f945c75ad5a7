"""`triton-nvidia-gpu-fence-insertion`: what threads wrote to shared memory is visible to `wgmma`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import ttg, ttng
from tilewright.dialects.ttg.types import MemDescType
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

VIEWS = (
    ttg.MemDescIndexOp,
    ttg.MemDescReinterpretOp,
    ttg.MemDescReshapeOp,
    ttg.MemDescSubsliceOp,
    ttg.MemDescTransOp,
)


def _buffer_of(value: SSAValue) -> ttg.LocalAllocOp | None:
    """The allocation that a buffer is a view of; None where it is carried by a loop or chosen by a branch."""
    while isinstance(value, OpResult) and isinstance(value.op, VIEWS):
        value = value.op.operands[0]
    return value.op if isinstance(value, OpResult) and isinstance(value.op, ttg.LocalAllocOp) else None


def _is_stored_to(buffer: SSAValue) -> bool:
    """Return whether threads write a buffer, or a view of it, after its allocation."""
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, ttg.LocalStoreOp) or (isinstance(op, VIEWS) and _is_stored_to(op.results[0])):
            return True
    return False


def _fence_place(dot: ttng.WarpGroupDotOp, operand: SSAValue) -> Operation | None:
    """The op before which a fence has to stand for an operand of a product: the product, or what follows an
    allocation outside of its block that threads fill once. None where threads do not write the operand.
    """
    alloc = _buffer_of(operand)
    if alloc is None:
        return dot
    if _is_stored_to(alloc.result):
        return dot
    if alloc.src is None:
        return None
    return dot if alloc.parent is dot.parent else alloc.next_op


@register_pass
class FenceInsertionPass(Pass):
    """Inserts a fence between ordinary writes to shared memory and the `wgmma` that reads it. If the buffer is filled
    before a loop, the fence goes before the loop.

    Before:
    ```mlir
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %d = ttng.warp_group_dot %a, %m, %c : ...
    ```
    After:
    ```mlir
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %a, %m, %c : ...
    ```
    """

    name = "triton-nvidia-gpu-fence-insertion"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for dot in [op for op in ops_within(module) if isinstance(op, ttng.WarpGroupDotOp)]:
            for operand in (dot.a, dot.b):
                place = _fence_place(dot, operand) if isinstance(operand.type, MemDescType) else None
                if place is not None and not isinstance(place.prev_op, ttng.FenceAsyncSharedOp):
                    OpBuilder.before(place).insert(ttng.FenceAsyncSharedOp())

"""Stores through descriptors in a loop run on into the next iteration.

```mlir
scf.for ... {
  tt.descriptor_store %d[%i, %j], %x : !tt.tensordesc<128x64xf16, #shared>, tensor<128x64xf16, #blocked>
}
```
becomes
```mlir
%m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
scf.for ... {
  ttng.async_tma_store_wait {pendings = 0 : i32, read_only}   // the copy of the iteration before has read the buffer
  ttg.local_store %x, %m : ...
  ttng.fence_async_shared {bCluster = false}
  ttng.async_tma_copy_local_to_global %d[%i, %j] %m : ...
}
ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
ttg.local_dealloc %m : ...
```
There is one buffer for all stores of a type: each waits for the one before, and shared memory is what loops lack first.
The result of a loop over programs that does not fit beside other buffers is stored in parts (`store_parts`).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import scf, ttg, ttng
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.ttg.verification import program_shape, warps_around
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.ttg.pipeliner.store_parts import plan_parts, store_in_parts
from tilewright.transforms.ttg.tma_stores import DescriptorWrite, block_type, buffer_type, copy_out, written_value


def _writes_of(block: Block) -> Iterator[DescriptorWrite]:
    """The stores of a loop's body, those of inner loops left out: they are waited for around their own loop."""
    for op in block.ops:
        if isinstance(op, DescriptorWrite) and find_shared_layout(block_type(op.desc)[1]) is not None:
            yield op
        if not isinstance(op, scf.ForOp | scf.WhileOp):
            for region in op.regions:
                for inner in region.blocks:
                    yield from _writes_of(inner)


def pipeline_stores(loop: scf.ForOp, module: ModuleOp) -> None:
    """Have the stores of a loop wait for each other instead of each for itself."""
    shape = program_shape(module)
    writes = list(_writes_of(loop.body.block))
    if not writes or shape is None:
        return
    before, after = OpBuilder.before(loop), OpBuilder.after(loop)
    after.insert(ttng.TMAStoreWaitOp(0, read_only=True))
    parts = plan_parts(loop, writes)
    if parts is not None:
        made = [before.result(ttg.LocalAllocOp(parts.type)) for _ in range(parts.buffers)]
        store_in_parts(parts, made)
        for buffer in made:
            after.insert(ttg.LocalDeallocOp(buffer))
        return
    buffers: dict[MemDescType, SSAValue] = {}
    for op in writes:
        type = buffer_type(op, mutable=True)
        if type not in buffers:
            buffers[type] = before.result(ttg.LocalAllocOp(type))
            after.insert(ttg.LocalDeallocOp(buffers[type]))
        _replace(op, buffers[type], warps_around(op, shape))


def _replace(op: DescriptorWrite, buffer: SSAValue, num_warps: int) -> Operation:
    builder = OpBuilder.before(op)
    value = written_value(builder, op)
    builder.insert(ttng.TMAStoreWaitOp(0, read_only=True))
    builder.insert(ttg.LocalStoreOp(value, buffer))
    builder.insert(ttng.FenceAsyncSharedOp())
    copy = copy_out(builder, op, buffer, num_warps)
    op.detach()
    op.erase()
    return copy

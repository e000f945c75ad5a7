"""Results that are stored in parts, one after the other, through buffers that hold two of them.

```mlir
tt.descriptor_store %d[%i, %j], %x : !tt.tensordesc<128x256xf16, #shared>, tensor<128x256xf16, #mma>
```
becomes four times, for the columns 0, 64, 128 and 192 on,
```mlir
ttng.async_tma_store_wait {pendings = 1 : i32, read_only}   // the part before the last has been read
ttg.local_store %part, %m : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
ttng.fence_async_shared {bCluster = false}
ttng.async_tma_copy_local_to_global %d[%i, %column] %m : !tt.tensordesc<128x256xf16, #shared>, ...
```
with `%m` one buffer and the other in turn. A part is in registers that the whole has it in: columns of a result of
`wgmma`, or rows of one that is transposed, for which the launcher makes the tensor map for boxes of so many rows.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.construction import i32_attr
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.function import is_function_argument
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttg.types import MemDescType, memdesc_type
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import ops_within
from tilewright.layouts.shared import NvmmaSharedLayout
from tilewright.support.records import dataclass
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.tt.tma.gain import SHARED_BYTES, result_bytes
from tilewright.transforms.tt.tma.promotion import set_argument
from tilewright.transforms.tt.tma.recipe import COPY_ROWS
from tilewright.transforms.ttg.pipeliner.k_slices import Part, is_cut_by_registers
from tilewright.transforms.ttg.slices import before_conversions
from tilewright.transforms.ttg.tma_stores import DescriptorWrite, buffer_type

BUFFERS = (2, 1)
"""Buffers for parts: one is written while the other is copied, unless parts for two are too small."""
ROWS_OF_ATOM = 8
"""Rows after which the pattern of a swizzle begins again."""


@dataclass(frozen=True)
class StoreParts:
    """A store in `count` parts through so many buffers of a type; `value` is what is stored, `first` the first part."""

    op: tt.DescriptorStoreOp
    value: SSAValue
    first: Part
    count: int
    buffers: int
    type: MemDescType


def plan_parts(loop: scf.ForOp, writes: list[DescriptorWrite]) -> StoreParts | None:
    """Return how to cut the only store of a loop over programs, of which there is no room for the whole; None if there
    is, or where threads share out each part.
    """
    function = loop.parent_op()
    while function is not None and not isinstance(function, tt.FuncOp):
        function = function.parent_op()
    if function is None or TILES not in loop.attributes or len(writes) != 1:
        return None
    [op] = writes
    whole = buffer_type(op, mutable=True)
    if not isinstance(op, tt.DescriptorStoreOp) or len(whole.get_shape()) != 2 or whole.get_shape() != _shape(op.src):
        return None
    allocs = [each for each in ops_within(function.body) if isinstance(each, ttg.LocalAllocOp)]
    used = sum(_bytes(as_memdesc(alloc.result.type)) for alloc in allocs)
    size = result_bytes(_bytes(whole), SHARED_BYTES - used)
    if size is None or size == _bytes(whole):
        return None
    value, parts = before_conversions(op.src), _bytes(whole) // size
    for count in BUFFERS:
        part = _first_part(op, value, whole, parts * count)
        if part is not None:
            type = memdesc_type(part.of(whole.get_shape()), whole.element_type, whole.encoding, mutable=True)
            return StoreParts(op, value, part, parts * count, count, type)
    return None


def _first_part(op: tt.DescriptorStoreOp, value: SSAValue, whole: MemDescType, count: int) -> Part | None:
    """Cut columns, or else rows, each part in registers that the whole has it in."""
    shape, layout = whole.get_shape(), find_shared_layout(whole.encoding)
    if not isinstance(layout, NvmmaSharedLayout) or layout.transposed:
        return None
    least = (ROWS_OF_ATOM, max(layout.swizzle_bytes * 8 // layout.element_bits, 1))
    for dim in (1, 0):
        part = Part(dim, 0, shape[dim] // count)
        if part.size % least[dim] or not part.size or not is_cut_by_registers(as_tensor(value.type), part):
            continue
        if dim == 1 or (is_function_argument(op.desc) and op.desc.has_one_use()):
            return part
    return None


def store_in_parts(plan: StoreParts, buffers: list[SSAValue]) -> None:
    """Put the copies of all parts in place of a store."""
    op, part = plan.op, plan.first
    builder, indices = OpBuilder.before(op), list(op.indices)
    axis = len(indices) - len(plan.type.get_shape()) + part.dim
    if part.dim == 0:
        set_argument(op.desc, COPY_ROWS, i32_attr(part.size))
    for n, value in enumerate(_cut(builder, plan.value, part.dim, plan.count)):
        buffer, coordinates = buffers[n % len(buffers)], list(indices)
        if n:
            step = builder.result(arith.constant_int(n * part.size, i32))
            coordinates[axis] = builder.result(arith.AddiOp(coordinates[axis], step))
        builder.insert(ttng.TMAStoreWaitOp(len(buffers) - 1, read_only=True))
        builder.insert(ttg.LocalStoreOp(value, buffer))
        builder.insert(ttng.FenceAsyncSharedOp())
        builder.insert(ttng.AsyncTMACopyLocalToGlobalOp(op.desc, tuple(coordinates), buffer))
    op.detach()
    op.erase()


def _cut(builder: OpBuilder, value: SSAValue, dim: int, count: int) -> list[SSAValue]:
    """Return equal parts of a matrix along a dimension, halved again and again."""
    if count == 1:
        return [value]
    shape = _shape(value)
    halved = (*shape[:dim], 2, shape[dim] // 2, *shape[dim + 1 :])
    order = [*(axis for axis in range(len(halved)) if axis != dim), dim]
    apart = builder.result(tt.ReshapeOp(value, inference.reshape(value.type, halved)))
    halves = builder.insert(tt.SplitOp(builder.result(tt.TransOp(apart, order))))
    return [part for half in halves.results for part in _cut(builder, half, dim, count // 2)]


def _shape(value: SSAValue) -> tuple[int, ...]:
    return as_tensor(value.type).get_shape()


def _bytes(type: MemDescType) -> int:
    return prod(type.get_shape()) * bit_width(type.element_type) // 8

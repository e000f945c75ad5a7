"""`triton-nvidia-tma-lowering`: accesses through descriptors become bulk copies that are waited for in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, ModuleOp, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, tt, ttg, ttng
from tilewright.dialects.tt.descriptor import has_block_shape
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy, PaddingOption
from tilewright.dialects.tt.types import TensorDescType
from tilewright.dialects.ttg.shared_encodings import encoding_of_rank, find_shared_layout, shared_encoding_of
from tilewright.dialects.ttg.types import memdesc_type
from tilewright.dialects.ttg.verification import program_shape, warps_around
from tilewright.dialects.types import as_tensor, bit_width, is_unsigned_integer
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.shared import MAX_TMA_BOX, NvmmaSharedLayout, SwizzledSharedLayout
from tilewright.transforms.ttg.optimize_descriptor_encoding import assign_encodings
from tilewright.transforms.ttg.pipeliner.copies import element_bits
from tilewright.transforms.ttg.tma_stores import (
    DescriptorWrite,
    block_type,
    buffer_type,
    copy_out,
    rows_by_warp,
    written_value,
)

DESCRIPTOR_BYTES = 128
SWIZZLE_MODES = {0: 0, 32: 1, 64: 2, 128: 3}
"""Codes of the swizzle widths in a hardware descriptor."""

BARRIER = memdesc_type((1,), i64, shared_encoding_of(SwizzledSharedLayout(1, 1, 1, (0,))))

Shape = tuple[int, ...]


def _layout_of(descriptor: SSAValue) -> NvmmaSharedLayout:
    assert isinstance(descriptor.type, TensorDescType)
    layout = find_shared_layout(descriptor.type.block_type.encoding)
    assert isinstance(layout, NvmmaSharedLayout)
    return layout


# Loads.

StartCopy = Callable[[OpBuilder, SSAValue, SSAValue, SSAValue], Operation]
"""Makes the copy, from barrier, buffer and predicate."""


def _load(
    op: tt.DescriptorLoadOp | tt.DescriptorGatherOp, descriptor: SSAValue, shape: Shape, start: StartCopy
) -> None:
    """Copy into a buffer, wait at a barrier of its own, and read the buffer."""
    builder = OpBuilder.before(op)
    result = as_tensor(op.result.type)
    encoding = encoding_of_rank(block_type(descriptor)[1], len(shape))
    buffer = builder.result(ttg.LocalAllocOp(memdesc_type(shape, result.element_type, encoding)))
    barrier = builder.result(ttg.LocalAllocOp(BARRIER))
    true = builder.result(arith.constant_bool(True))
    builder.insert(ttng.InitBarrierOp(barrier, 1))
    builder.insert(ttng.BarrierExpectOp(barrier, prod(shape) * element_bits(result.element_type) // 8, true))
    builder.insert(start(builder, barrier, buffer, true))
    phase = builder.result(arith.constant_int(0, i32))
    builder.insert(ttng.WaitBarrierOp(barrier, phase))
    builder.insert(ttng.InvalBarrierOp(barrier))
    if shape != result.get_shape():
        buffer = builder.result(ttg.MemDescReshapeOp(buffer, result.get_shape()))
    loaded = builder.result(ttg.LocalLoadOp(buffer, result))
    loaded.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(loaded)
    op.detach()
    op.erase()


def _lower_load(op: tt.DescriptorLoadOp) -> None:
    def start(builder: OpBuilder, barrier: SSAValue, buffer: SSAValue, true: SSAValue) -> Operation:
        cache, evict = CacheModifier.of(op.cache), EvictionPolicy.of(op.evict)
        return ttng.AsyncTMACopyGlobalToLocalOp(
            op.desc, tuple(op.indices), barrier, buffer, true, cache=cache, evict=evict
        )

    shape = as_tensor(op.result.type).get_shape() if has_block_shape(op.result, op.desc) else block_type(op.desc)[0]
    _load(op, op.desc, shape, start)


def _lower_gather(op: tt.DescriptorGatherOp, num_warps: int) -> None:
    def start(builder: OpBuilder, barrier: SSAValue, buffer: SSAValue, true: SSAValue) -> Operation:
        rows = rows_by_warp(builder, op.x_offsets, num_warps)
        return ttng.AsyncTMAGatherOp(op.desc, rows, op.y_offset, barrier, buffer, true)

    _load(op, op.desc, as_tensor(op.result.type).get_shape(), start)


# Stores.


def _lower_store(op: DescriptorWrite, num_warps: int) -> None:
    """Write a buffer, make that visible to the copy engine, copy, and wait until the buffer was read."""
    builder = OpBuilder.before(op)
    buffer = builder.result(ttg.LocalAllocOp(buffer_type(op, mutable=False), written_value(builder, op)))
    builder.insert(ttng.FenceAsyncSharedOp())
    copy_out(builder, op, buffer, num_warps)
    builder.insert(ttng.TMAStoreWaitOp(0, read_only=True))
    op.detach()
    op.erase()


# Descriptors.


def _element_code(element: Attribute) -> int:
    """The code of an element type in `tensormap.replace`: 8-bit and 16-bit integers are bits, 8-bit floats too."""
    match element:
        case Float16Type():
            return 6
        case Float32Type():
            return 7
        case Float64Type():
            return 9
        case BFloat16Type():
            return 10
        case IntegerType() if element.width.data >= 32 and not is_unsigned_integer(element):
            return {32: 3, 64: 5}[element.width.data]
        case _:
            return {8: 0, 16: 1, 32: 2, 64: 4}[bit_width(element)]


def _box(descriptor: SSAValue) -> Sequence[int]:
    """Return what one copy moves: a row of the swizzle's width at most, 256 in each other dimension."""
    shape, layout = block_type(descriptor)[0], _layout_of(descriptor)
    widest = layout.swizzle_bytes * 8 // layout.element_bits if layout.swizzle_bytes else MAX_TMA_BOX
    return (*(min(extent, MAX_TMA_BOX) for extent in shape[:-1]), min(shape[-1], widest))


def _lower_descriptor(op: tt.MakeTensorDescOp) -> None:
    """Write the hardware descriptor to memory of this program."""
    builder = OpBuilder.before(op)
    assert isinstance(op.result.type, TensorDescType)
    element = op.result.type.block_type.element_type

    def constants(values: Sequence[int]) -> list[SSAValue]:
        return [builder.result(arith.constant_int(value, i32)) for value in values]

    memory = builder.result(ttg.GlobalScratchAllocOp(DESCRIPTOR_BYTES, DESCRIPTOR_BYTES))
    size = builder.result(arith.constant_int(element_bits(element) // 8, i64))
    strides = [builder.result(arith.MuliOp(stride, size)) for stride in tuple(op.strides)[:-1]]
    box = _box(op.result)
    create = ttng.TensormapCreateOp(
        memory,
        op.base,
        constants(box[::-1]),
        tuple(op.shape)[::-1],
        strides[::-1],
        constants([1] * len(box)),
        elem_type=_element_code(element),
        swizzle_mode=SWIZZLE_MODES[_layout_of(op.result).swizzle_bytes],
        fill_mode=int(PaddingOption.of(op.padding) is PaddingOption.NAN),
    )
    builder.insert(create)
    builder.insert(ttng.TensormapFenceproxyAcquireOp(memory))
    descriptor = builder.result(ttng.ReinterpretTensorDescOp(memory, op.result.type))
    op.result.replace_all_uses_with(descriptor)
    op.detach()
    op.erase()


@register_pass
class TMALoweringPass(Pass):
    """Lowers loads through descriptors to a copy into a buffer and a wait at a barrier, and stores to a write to a
    buffer and a copy from there. Descriptors that the kernel creates are written to memory.

    Before:
    ```mlir
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
    ```
    After:
    ```mlir
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.init_barrier %b, 1 : ...
    ttng.barrier_expect %b, 16384, %true : ...
    ttng.async_tma_copy_global_to_local %d[%i, %j] %m, %b, %true : ...
    ttng.wait_barrier %b, %c0 : ...
    ttng.inval_barrier %b : ...
    %x = ttg.local_load %m : ... -> tensor<128x64xf16, #blocked>
    ```
    """

    name = "triton-nvidia-tma-lowering"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None:
            context.fail(module, "the module does not state 'ttg.num-warps'")
        assign_encodings(module)
        for op in ops_within(module):
            match op:
                case tt.DescriptorLoadOp():
                    _lower_load(op)
                case tt.DescriptorGatherOp():
                    _lower_gather(op, warps_around(op, shape))
                case tt.DescriptorStoreOp() | tt.DescriptorReduceOp() | tt.DescriptorScatterOp():
                    _lower_store(op, warps_around(op, shape))
                case tt.MakeTensorDescOp():
                    _lower_descriptor(op)
                case _:
                    continue

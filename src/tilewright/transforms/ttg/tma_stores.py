"""Writes through descriptors as copies out of a buffer in shared memory: what lowering them in place and pipelining
them have in common.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import tt, ttg, ttng
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.descriptor import has_block_shape
from tilewright.dialects.tt.enums import DescriptorReduceKind
from tilewright.dialects.tt.types import TensorDescType, tensor_type
from tilewright.dialects.ttg.encodings import encoding_of
from tilewright.dialects.ttg.shared_encodings import encoding_of_rank
from tilewright.dialects.ttg.types import MemDescType, memdesc_type
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.layouts.distributed import BlockedLayout, SliceLayout

ROWS_PER_THREAD = 4
"""Row numbers that a warp holds side by side for a gather or scatter."""

DescriptorWrite = tt.DescriptorStoreOp | tt.DescriptorReduceOp | tt.DescriptorScatterOp
"""Ops that write memory through a descriptor."""


def block_type(descriptor: SSAValue) -> tuple[tuple[int, ...], Attribute]:
    """Shape and shared-memory encoding of a descriptor's blocks."""
    assert isinstance(descriptor.type, TensorDescType)
    block = descriptor.type.block_type
    return block.get_shape(), block.encoding


def buffer_type(op: DescriptorWrite, *, mutable: bool) -> MemDescType:
    """The type of a buffer that holds what an op writes, laid out as the descriptor says."""
    source = as_tensor(op.src.type)
    shape, encoding = block_type(op.desc)
    if isinstance(op, tt.DescriptorScatterOp) or has_block_shape(op.src, op.desc):
        shape = source.get_shape()
        encoding = encoding_of_rank(encoding, len(shape))
    return memdesc_type(shape, source.element_type, encoding, mutable=mutable)


def written_value(builder: OpBuilder, op: DescriptorWrite) -> SSAValue:
    """Return what an op writes, in the shape of its buffer."""
    source, shape = as_tensor(op.src.type), buffer_type(op, mutable=False).get_shape()
    if shape == source.get_shape():
        return op.src
    return builder.result(tt.ReshapeOp(op.src, inference.reshape(source, shape)))


def copy_out(builder: OpBuilder, op: DescriptorWrite, buffer: SSAValue, num_warps: int) -> Operation:
    """Start the copy from a buffer that does what an op does."""
    match op:
        case tt.DescriptorReduceOp():
            kind = DescriptorReduceKind.of(op.kind)
            return builder.insert(ttng.AsyncTMAReduceOp(op.desc, tuple(op.indices), buffer, kind=kind))
        case tt.DescriptorStoreOp():
            return builder.insert(ttng.AsyncTMACopyLocalToGlobalOp(op.desc, tuple(op.indices), buffer))
        case tt.DescriptorScatterOp():
            rows = rows_by_warp(builder, op.x_offsets, num_warps)
            return builder.insert(ttng.AsyncTMAScatterOp(op.desc, rows, op.y_offset, buffer))


def rows_by_warp(builder: OpBuilder, rows: SSAValue, num_warps: int) -> SSAValue:
    """Row numbers, dealt to warps four at a time and equal in the lanes of each."""
    type = as_tensor(rows.type)
    parent = BlockedLayout((1, ROWS_PER_THREAD), (32, 1), (1, num_warps), (1, 0))
    dealt = tensor_type(type.element_type, type.get_shape(), encoding_of(SliceLayout(0, parent)))
    return builder.result(ttg.ConvertLayoutOp(rows, dealt))

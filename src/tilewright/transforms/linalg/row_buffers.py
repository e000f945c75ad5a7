"""Buffers whose elements lie as those of the memory that is copied into them."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from tilewright.dialects import bufferization, linalg, memref
from tilewright.dialects.types import is_memref
from tilewright.transforms.linalg.structured import shape_or_scalar


def lay_out_as_rows(op: bufferization.ToTensorOp) -> None:
    """Lay out a buffer that is filled row by row as the rows are, where these do not follow its last dimension:
    each row of a transposed tile is then copied in one piece, not with a stride.

    ```mlir
    %buf = memref.alloc() : memref<32x8xf32>
    scf.for %i = ... {
      %row = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 1], strides: [1, 96]
      %place = memref.subview %buf[0, %i] [32, 1] [1, 1]
      memref.copy %row, %place
    }
    // becomes
    %memory = memref.alloc() : memref<8x32xf32>
    %buf = memref.reinterpret_cast %memory to offset: [0], sizes: [32, 8], strides: [1, 32]
    ```
    """
    buffer = op.memref.owner
    if not isinstance(buffer, memref.AllocOp):
        return
    rank = buffer.memref.type.get_num_dims()
    dimensions: set[int | None] = set()
    for use in buffer.memref.uses:
        user = use.operation
        if user is op or isinstance(user, linalg.FillOp):
            continue
        if not isinstance(user, memref.SubviewOp):
            return
        for inner in user.result.uses:
            if not isinstance(inner.operation, memref.CopyOp) or inner.index != 1:
                return
            dimensions.add(_contiguous_dimension(inner.operation.source, rank))
    dimension = next(iter(dimensions)) if len(dimensions) == 1 else None
    if dimension is not None and dimension != rank - 1:
        laid_out_along(dimension, buffer)


def _contiguous_dimension(view: SSAValue, rank: int) -> int | None:
    """The dimension, of those with several elements, whose neighbours adjoin in memory; None where there is none, or
    the view has not all dimensions."""
    if not is_memref(view.type) or view.type.get_num_dims() != rank:
        return None
    strides = memref.strides_and_offset(view.type)[0]
    found = [dim for dim, size in enumerate(view.type.get_shape()) if size != 1 and strides[dim] == 1]
    return found[0] if len(found) == 1 else None


def laid_out_along(dimension: int, buffer: memref.AllocOp) -> SSAValue:
    """A view of a new buffer in which neighbours along a dimension adjoin, in place of a buffer and its views."""
    shape = shape_or_scalar(buffer.memref.type)
    others = [dim for dim in range(len(shape)) if dim != dimension]
    strides, size = [1] * len(shape), shape[dimension]
    for dim in reversed(others):
        strides[dim], size = size, size * shape[dim]
    type_ = MemRefType(buffer.memref.type.element_type, [*(shape[dim] for dim in others), shape[dimension]])
    block = buffer.parent_block()
    assert block is not None
    memory = memref.AllocOp.create(result_types=[type_], properties=buffer.properties)
    view = memref.ReinterpretCastOp(memory.memref, 0, shape, strides)
    block.insert_ops_before([memory, view], buffer)
    for op in [use.operation for use in buffer.memref.uses]:
        if isinstance(op, memref.SubviewOp):
            moved = memref.SubviewOp(view.result, op.mixed_offsets, op.mixed_sizes, op.mixed_strides)
            moved.location = op.location
            parent = op.parent_block()
            assert parent is not None
            parent.insert_op_before(moved, op)
            op.result.replace_all_uses_with(moved.result)
            op.detach()
            op.erase()
    buffer.memref.replace_all_uses_with(view.result)
    buffer.detach()
    buffer.erase()
    return view.result

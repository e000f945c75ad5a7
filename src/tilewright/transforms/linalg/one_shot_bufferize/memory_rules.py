"""Where tensors meet memory: what is read is copied, unless nothing writes it any more."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, memref
from tilewright.dialects.slices import SlicingOp
from tilewright.dialects.types import as_memref, has_static_shape
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.one_shot_bufferize.buffers import buffer_type
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer, lowers


@lowers(bufferization.AllocTensorOp)
def bufferize_alloc_tensor(op: bufferization.AllocTensorOp, f: Bufferizer) -> None:
    """A buffer, filled if the op says from what."""
    if op.copy is not None:
        f.buffers.copy(f.buffers.of(op.copy), f.buffers.of(op.tensor))
    f.retire(op)


@lowers(bufferization.ToTensorOp)
def bufferize_to_tensor(op: bufferization.ToTensorOp, f: Bufferizer) -> None:
    """A copy of what the memory holds here; the memory itself where nothing writes it any more."""
    if _is_final(op):
        f.buffers.bind(op.tensor, op.memref)
    elif has_static_shape(op.tensor.type):
        f.buffers.copy(op.memref, f.buffers.of(op.tensor))
    elif _is_read_before_writes(op):
        f.buffers.bind(op.tensor, op.memref)
    else:
        f.fail(op, "reads memory of extents that are known at run time only, which may be written before it is used")
    f.retire(op)


def _is_final(op: bufferization.ToTensorOp) -> bool:
    """Return whether a local buffer is written before it becomes a tensor, in the same block, and never after."""
    source = op.memref
    if not isinstance(source.owner, memref.AllocOp | memref.AllocaOp) or as_memref(source.type) != buffer_type(
        op.tensor.type
    ):
        return False
    return all(_ends_before(user, op) for user in _users(source) if user is not op)


def _users(value: SSAValue) -> Iterator[Operation]:
    for use in value.uses:
        user = use.operation
        yield user
        if isinstance(user, SlicingOp | memref.CastOp | memref.CollapseShapeOp | memref.ExpandShapeOp):
            yield from _users(user.results[0])


def _ends_before(user: Operation, op: Operation) -> bool:
    """Return whether an op of a block, or of a region inside of it, is done when `op` of the same block runs."""
    if isinstance(user, memref.DeallocOp):
        return True
    holder: Operation | None = user
    while holder is not None and holder.parent is not op.parent:
        holder = holder.parent_op()
    return holder is not None and holder.is_before_in_block(op)


def _is_read_before_writes(op: bufferization.ToTensorOp) -> bool:
    """Return whether all uses of a tensor follow in its block, with no op between that writes memory."""
    users = {use.operation for use in op.tensor.uses}
    following = op.next_op
    while following is not None and users:
        users.discard(following)
        if users and may_write(following):
            return False
        following = following.next_op
    return not users


@lowers(bufferization.ToBufferOp)
def bufferize_to_buffer(op: bufferization.ToBufferOp, f: Bufferizer) -> None:
    """The buffer, or a copy of it if it may be written."""
    buffer = f.buffers.of(op.tensor)
    if op.read_only is None:
        own = f.buffers.new(op.tensor.type)
        f.buffers.copy(buffer, own)
        buffer = own
    if buffer.type != op.buffer.type:
        buffer = f.builder.result(memref.CastOp(buffer, op.buffer.type))
    f.replace(op, (buffer,))


@lowers(bufferization.MaterializeInDestinationOp)
def bufferize_materialize(op: bufferization.MaterializeInDestinationOp, f: Bufferizer) -> None:
    """A copy."""
    target = f.buffers.of(op.results[0]) if op.results else op.dest
    f.buffers.copy(f.buffers.of(op.source), target)
    f.retire(op)


@lowers(bufferization.CloneOp)
def bufferize_clone(op: bufferization.CloneOp, f: Bufferizer) -> None:
    """A copy in a buffer of the function."""
    type_ = as_memref(op.output.type)
    if not has_static_shape(type_):
        f.fail(op, "copies memory whose extents are known at run time only")
    buffer = f.buffers.allocate(type_)
    f.buffers.copy(op.input, buffer)
    f.replace(op, (buffer,))


@lowers(memref.AllocOp, memref.AllocaOp)
def hoist_allocation(op: memref.AllocOp | memref.AllocaOp, f: Bufferizer) -> None:
    """A local buffer is one of the function's: in loops it is the same one each time."""
    type_ = as_memref(op.memref.type)
    if not has_static_shape(type_):
        f.fail(op, "allocates memory whose extents are known at run time only")
    if isinstance(op, memref.AllocaOp) and op.parent is f.function.body.blocks.first:
        return
    f.replace(op, (f.buffers.allocate(type_),))


@lowers(bufferization.DeallocTensorOp, memref.DeallocOp)
def forget(op: Operation, f: Bufferizer) -> None:
    """Buffers of the function are never given back."""
    f.retire(op)

"""Between tensors and memory: loads, stores, copies, local buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, gpu, llvm, memref
from tilewright.dialects.types import is_memref
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers
from tilewright.lowering.linalg_to_loops.nest import ANY_EXTENT
from tilewright.lowering.linalg_to_loops.sources import Source, StridedView
from tilewright.lowering.linalg_to_loops.store_targets import target_of
from tilewright.lowering.linalg_to_loops.stores import store_box
from tilewright.transforms.linalg.structured import shape_or_scalar


@lowers(bufferization.ToTensorOp)
def lower_to_tensor(op: bufferization.ToTensorOp, lowering: FunctionLowering) -> None:
    """The memory itself is read, where the tensor is used."""
    lowering.define(op, lowering.view_for(op, op.memref))


def memref_sizes(value: SSAValue) -> list[Index] | None:
    """The extents of a view."""
    match value.owner:
        case memref.SubviewOp() as op:
            return [op.mixed_sizes[dim] for dim in op.kept_dims]
        case memref.ReinterpretCastOp() as op:
            return list(op.mixed_sizes)
        case _:
            assert is_memref(value.type)
            return None if DYNAMIC_INDEX in shape_or_scalar(value.type) else list(shape_or_scalar(value.type))


@lowers(memref.AllocOp)
def lower_alloc(op: memref.AllocOp, lowering: FunctionLowering) -> None:
    """Local buffers live in the arena."""
    lowering.view_for(op, op.memref)
    lowering.values.dead.append(op)


@lowers(memref.CopyOp)
def lower_copy(op: memref.CopyOp, lowering: FunctionLowering) -> None:
    """A loop that copies full vectors."""
    source, dest = lowering.memory.view(op.source), lowering.memory.view(op.target)
    sizes = memref_sizes(op.source) or memref_sizes(op.target)
    if source is None or dest is None or sizes is None:
        return
    copy_view(lowering, source, dest, sizes, extents_of(source.shape, dest.shape))
    lowering.values.dead.append(op)


def extents_of(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The static extents where either side has them."""
    return tuple(other if size == DYNAMIC_INDEX else size for size, other in zip(left, right, strict=True))


def copy_view(
    lowering: FunctionLowering, source: Source, dest: StridedView, sizes: Sequence[Index], extents: tuple[int, ...]
) -> None:
    """Copy up to `sizes`; a dynamic extent counts as large for the choice of vectors."""
    shape = tuple(ANY_EXTENT if size == DYNAMIC_INDEX else size for size in extents)
    if isinstance(source, StridedView):
        source = with_shape(source, shape)
    lowering.copy(source, with_shape(dest, shape), sizes)


def with_shape(view: StridedView, shape: tuple[int, ...]) -> StridedView:
    """The same memory, other extents."""
    return StridedView(view.flat, view.offset, view.strides, shape, view.element, view.root, view.owned)


@lowers(gpu.BarrierOp, llvm.AssumeOp)
def lower_nothing(op: Operation, lowering: FunctionLowering) -> None:
    """Barriers (one thread runs the whole program, in order) and assumptions become nothing."""
    lowering.values.dead.append(op)


@lowers(memref.DeallocOp)
def lower_dealloc(op: memref.DeallocOp, lowering: FunctionLowering) -> None:
    """The arena is not freed."""
    lowering.values.dead.append(op)


@lowers(bufferization.MaterializeInDestinationOp)
def lower_materialize(op: bufferization.MaterializeInDestinationOp, lowering: FunctionLowering) -> None:
    """Elements are computed straight into the destination where nothing that is read there can be overwritten."""
    if op not in lowering.values.written:
        target = target_of(lowering, op)
        store_box(lowering, op, target.value, target.view, target.starts, target.sizes)
    lowering.values.dead.append(op)

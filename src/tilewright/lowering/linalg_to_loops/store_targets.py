"""Which elements a store of a tensor writes, and where."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import bufferization, tensor
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, tensor_shape
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class StoreTarget:
    """What a store writes: the box of `value` at `starts` to the same indices of `view`."""

    value: SSAValue
    view: StridedView
    starts: Sequence[Index]
    sizes: Sequence[Index]


def target_of(lowering: FunctionLowering, op: bufferization.MaterializeInDestinationOp) -> StoreTarget:
    """The elements of a store and their indices; slices that keep the dimensions are looked through."""
    value, sizes, offsets = op.source, None, None
    slice_op = value.owner
    dest = lowering.view_for(op, op.dest)
    # A slice that drops dimensions is a source like any other.
    if isinstance(slice_op, tensor.ExtractSliceOp) and len(slice_op.mixed_sizes) == len(dest.shape):
        sizes = list(slice_op.mixed_sizes)
        offsets = list(slice_op.mixed_offsets)
        value = slice_op.source
    shape = tensor_shape(value)
    if sizes is None:
        sizes = list(shape)
    offset = dest.offset
    for start, stride in zip(offsets or [], dest.strides, strict=False):
        offset = lowering.emitter.sub(offset, lowering.emitter.mul(start, stride))
    whole = StridedView(dest.flat, offset, dest.strides, shape, dest.element, dest.root, dest.owned)
    starts = [0 if start == 0 else start for start in offsets or [0] * len(shape)]
    return StoreTarget(value, whole, starts, sizes)

"""Which dimensions of a tensor are contiguous in memory, as far as linalg tells: computed tiles are row-major."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import bufferization, linalg, memref, scf, tensor
from tilewright.dialects.types import is_memref
from tilewright.lowering.linalg_matmuls.matmul_operands import is_zero
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.linalg_to_loops.sources import contiguous_strides
from tilewright.transforms.linalg.index_proofs import constant_of, is_same
from tilewright.transforms.linalg.structured import shape_or_scalar


def find_adjoining_dims(value: SSAValue) -> frozenset[int]:
    """Find the dimensions that are contiguous in memory, as far as that is known."""
    match value.owner:
        case linalg.TransposeOp() as op:
            inner = find_adjoining_dims(op.inputs[0])
            return frozenset(dim for dim, old in enumerate(op.dims) if old in inner)
        case tensor.PadOp() | tensor.ExtractSliceOp() as op:
            return find_adjoining_dims(op.source)
        case tensor.CollapseShapeOp() as op:
            inner, shape = find_adjoining_dims(op.src), tensor_shape(op.src)
            return frozenset(dim for dim, group in enumerate(op.groups) if _last_of(group, shape) in inner)
        case bufferization.ToTensorOp() as op:
            return _of_view(op.memref)
        case linalg.FillOp() | tensor.EmptyOp() | tensor.SplatOp():
            return frozenset()
        case _:
            return _unit(contiguous_strides(tensor_shape(value)))


def _last_of(group: Sequence[int], shape: Sequence[int]) -> int:
    """The dimension of a group along which neighbours of the collapsed one lie: the last with several elements."""
    return next((dim for dim in reversed(group) if shape[dim] != 1), group[-1])


def _of_view(view: SSAValue) -> frozenset[int]:
    match view.owner:
        case memref.CastOp() | memref.SubviewOp() as op if is_memref(op.source.type):
            return _of_view(op.source)
        case memref.ReinterpretCastOp() as op:
            return _unit(op.mixed_strides)
        case scf.IfOp() as op:
            ends = [region.block.last_op for region in op.regions]
            chosen = [end.operands[op.results.index(view)] for end in ends if end is not None]  # pyright: ignore[reportArgumentType]
            return frozenset[int].intersection(*map(_of_view, chosen))
        case memref.AllocOp():
            return _unit(contiguous_strides(shape_or_scalar(view.type)))
        case _:
            return frozenset()


def _unit(strides: Sequence[Index]) -> frozenset[int]:
    return frozenset(dim for dim, stride in enumerate(strides) if constant_of(stride) == 1)


def end_together(lhs: SSAValue, rhs: SSAValue) -> bool:
    """Return whether both operands are padded from the same index of K on: their sums have fewer terms then."""
    pads = [_padding(lhs, 1), _padding(rhs, 0)]
    return None not in pads and pads[0] != 0 and is_same(pads[0] or 0, pads[1] or 0)


def _padding(value: SSAValue, dim: int) -> Index | None:
    """Count the zeros past the end of a dimension; None if it is not padded with zeros."""
    while isinstance(op := value.owner, linalg.TransposeOp):
        value, dim = op.inputs[0], op.dims[dim]
    if not isinstance(op, tensor.PadOp):
        return None
    end = op.region.block.last_op
    assert end is not None
    return op.mixed_high[dim] if is_zero(end.operands[0]) else None


def is_never_whole(value: SSAValue) -> bool:
    """Return whether some elements of a matrix are always padding."""
    while isinstance(op := value.owner, linalg.TransposeOp | tensor.CollapseShapeOp):
        value = op.operands[0]
    if not isinstance(op, tensor.PadOp):
        return False
    return any(isinstance(size, int) and size > 0 for size in (*op.mixed_low, *op.mixed_high))

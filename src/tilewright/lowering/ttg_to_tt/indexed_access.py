"""Accesses to buffers at run-time indices, as loads, stores and atomics at tensors of pointers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, tt, ttg
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.types import as_tensor, bit_width, element_type
from tilewright.ir.builder import OpBuilder
from tilewright.lowering.ttg_to_tt.shared_memory import Buffers, element_strides, lowers


@lowers(ttg.LocalGatherOp)
def lower_gather(op: ttg.LocalGatherOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    pointers = _pointers(op, op.src, op.indices, op.axis.value.data, buffers, b)
    return (b.result(tt.LoadOp(pointers)),)


@lowers(ttg.LocalScatterOp)
def lower_scatter(op: ttg.LocalScatterOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    b.insert(tt.StoreOp(_pointers(op, op.dst, op.indices, op.axis.value.data, buffers, b), op.values))
    return ()


@lowers(ttg.LocalAtomicScatterRMWOp)
def lower_atomic_scatter(op: ttg.LocalAtomicScatterRMWOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """One thread runs the program, but an element may be named several times."""
    pointers = _pointers(op, op.dst, op.indices, op.axis.value.data, buffers, b)
    kind = op.atomic_rmw_op.value.data
    made = tt.AtomicRMWOp(pointers, op.values, op.mask, atomic_rmw_op=kind, sem="relaxed", scope="cta")
    return (b.result(made),)


def _pointers(
    op: Operation, buffer: SSAValue, indices: SSAValue, axis: int, buffers: Buffers, b: OpBuilder
) -> SSAValue:
    """A pointer to the element that each index names."""
    strides, shape = element_strides(buffers.type_of(op, buffer)), as_tensor(indices.type).get_shape()
    kind = tensor_type(i32, shape)
    index = _as_i32(indices, b)
    offset = b.result(arith.MuliOp(index, b.result(arith.constant_splat(strides[axis], kind))))
    for dim, size in enumerate(shape):
        if dim != axis and size > 1:
            along = _along(dim, shape, b)
            step = b.result(arith.constant_splat(strides[dim], kind))
            offset = b.result(arith.AddiOp(offset, b.result(arith.MuliOp(along, step))))
    splat = b.result(tt.SplatOp(buffer, tensor_type(buffer.type, shape)))
    return b.result(tt.AddPtrOp(splat, offset))


def _along(dim: int, shape: Sequence[int], b: OpBuilder) -> SSAValue:
    """The coordinate along a dimension, for every element of a shape."""
    line = b.result(tt.MakeRangeOp(0, shape[dim]))
    for other in range(len(shape)):
        if other != dim:
            line = b.result(tt.ExpandDimsOp(line, other))
    return b.result(tt.BroadcastOp(line, tensor_type(i32, shape)))


def _as_i32(indices: SSAValue, b: OpBuilder) -> SSAValue:
    kind, width = tensor_type(i32, as_tensor(indices.type).get_shape()), bit_width(element_type(indices.type))
    if width == i32.width.data:
        return indices
    return b.result((arith.TruncIOp if width > i32.width.data else arith.ExtUIOp)(indices, kind))

"""Shared memory without layouts: ops on buffers as ops on pointers to memory that the function has for itself.

A buffer is a pointer to its first element; where the others lie follows from its type alone, so that control flow and
calls may carry it: the elements of the allocated shape in the order of the encoding, without swizzles and gaps. Views
are pointers, too; loads and stores go through `tt.make_tensor_ptr`. Every buffer lies at the start of the function's
entry block, as on a GPU, where it lives as long as the CTA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, tt, ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import pointer_type, tensor_type
from tilewright.dialects.ttg.shared_encodings import shared_layout_of
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.lowerings import Lowerings
from tilewright.layouts.shared import OFFSET
from tilewright.lowering.ttg_to_tt.function_memory import PASS, allocate, function_of
from tilewright.lowering.ttg_to_tt.partitions import Partitions
from tilewright.support.records import dataclass


def element_strides(type: MemDescType) -> tuple[int, ...]:
    """Return how far apart neighbours of a dimension lie, in elements."""
    layout, shape = shared_layout_of(type.encoding), type.get_shape()
    allocated = type.get_alloc_shape()[-layout.rank :]
    fastest = _dims_in_order(layout.to_linear(allocated).bases_of(OFFSET), layout.rank)
    strides, step = [0] * layout.rank, 1
    for dim in fastest:
        strides[dim], step = step, step * allocated[dim]
    return (*(prod(allocated) for _ in shape[: -layout.rank]), *strides)


def _dims_in_order(bases: Sequence[Sequence[int]], rank: int) -> list[int]:
    """Dimensions, the fastest first: by the first offset that moves along them, and among those of one offset by how
    the others move along them, so that permuting the dimensions of a layout permutes their order."""

    def key(dim: int) -> tuple[int, list[int]]:
        moves = [basis[dim] for basis in bases]
        return next((index for index, move in enumerate(moves) if move), len(moves)), moves

    return sorted(range(rank), key=key)


def element_positions(type: MemDescType) -> Any:
    """Return where every element of a view lies, in elements from its first, as an int64 array of the view's shape."""
    shape = type.get_shape()
    axes = (np.arange(extent) for extent in shape)
    offsets = np.zeros((), np.int64)
    for grid, stride in zip(np.meshgrid(*axes, indexing="ij", sparse=True), element_strides(type), strict=True):
        offsets = offsets + grid * stride
    return np.broadcast_to(offsets, shape)


@dataclass
class Buffers:
    """The types that buffers had, by op: operands first, then results."""

    types: Mapping[Operation, Sequence[Attribute]]
    partitions: Partitions

    def is_buffer(self, op: Operation, value: SSAValue) -> bool:
        """Return whether an operand or result of an op was a buffer."""
        return isinstance(self._type_of(op, value), MemDescType)

    def type_of(self, op: Operation, value: SSAValue) -> MemDescType:
        """The type of a buffer that an op takes or gives, from before types became those of pointers."""
        kind = self._type_of(op, value)
        assert isinstance(kind, MemDescType)
        return kind

    def _type_of(self, op: Operation, value: SSAValue) -> Attribute:
        return self.types[op][[*op.operands, *op.results].index(value)]

    def load(self, op: Operation, buffer: SSAValue, b: OpBuilder) -> SSAValue:
        """The elements of a view, as a tensor."""
        return b.result(tt.LoadOp(_block(buffer, self.type_of(op, buffer), b)))

    def store(self, op: Operation, value: SSAValue, buffer: SSAValue, b: OpBuilder) -> None:
        """A tensor into a view."""
        b.insert(tt.StoreOp(_block(buffer, self.type_of(op, buffer), b), value))


LOWERINGS = Lowerings[[Buffers, OpBuilder], Sequence[SSAValue]]()
lowers = LOWERINGS.lowers


def _block(pointer: SSAValue, type: MemDescType, b: OpBuilder) -> SSAValue:
    def numbers(values: Sequence[int], kind: Any) -> list[SSAValue]:
        return [b.result(arith.constant_int(value, kind)) for value in values]

    shape, strides = type.get_shape(), element_strides(type)
    order = sorted(range(len(shape)), key=lambda dim: strides[dim])
    made = tt.MakeTensorPtrOp(
        pointer, numbers(shape, i64), numbers(strides, i64), numbers([0] * len(shape), i32), shape, order=order
    )
    return b.result(made)


@lowers(ttg.LocalAllocOp)
def lower_alloc(op: ttg.LocalAllocOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """Memory at the start of the function; what may hold barriers is zero, which no initialised barrier is."""
    type = buffers.type_of(op, op.result)
    element = type.element_type
    if element == i1:
        raise op_error(op, "buffers of int1 are for GPUs and the simulated GPU; use int8", pass_name=PASS)
    pointer = allocate(function_of(op), element, type.num_elements, op.location)
    if op.src is not None:
        b.insert(tt.StoreOp(_block(pointer, type, b), op.src))
    elif element == i64:
        zero = b.result(arith.constant_splat(0, tensor_type(i64, type.get_shape())))
        b.insert(tt.StoreOp(_block(pointer, type, b), zero))
    return (pointer,)


@lowers(ttg.LocalLoadOp)
def lower_load(op: ttg.LocalLoadOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    return (buffers.load(op, op.src, b),)


@lowers(ttg.LocalStoreOp)
def lower_store(op: ttg.LocalStoreOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    buffers.store(op, op.src, op.dst, b)
    return ()


@lowers(ttg.MemDescIndexOp)
def lower_index(op: ttg.MemDescIndexOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    stride = b.result(arith.constant_int(element_strides(buffers.type_of(op, op.src))[0], i32))
    offset = b.result(arith.MuliOp(op.index, stride))
    return (b.result(tt.AddPtrOp(op.src, offset)),)


@lowers(ttg.MemDescSubsliceOp)
def lower_subslice(op: ttg.MemDescSubsliceOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    strides = element_strides(buffers.type_of(op, op.src))
    start = sum(first * stride for first, stride in zip(static_values(op.offsets), strides, strict=True))
    return (b.result(tt.AddPtrOp(op.src, b.result(arith.constant_int(start, i32)))),)


@lowers(ttg.MemDescTransOp)
def lower_transpose(op: ttg.MemDescTransOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    positions = np.transpose(element_positions(buffers.type_of(op, op.src)), static_values(op.order))
    return _same_memory(op, positions, buffers)


@lowers(ttg.MemDescReshapeOp)
def lower_reshape(op: ttg.MemDescReshapeOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    shape = buffers.type_of(op, op.result).get_shape()
    return _same_memory(op, element_positions(buffers.type_of(op, op.src)).reshape(shape), buffers)


def _same_memory(op: ttg.MemDescTransOp | ttg.MemDescReshapeOp, positions: Any, buffers: Buffers) -> Sequence[SSAValue]:
    """The same pointer, if the view's elements lie where its type says."""
    if not (positions == element_positions(buffers.type_of(op, op.result))).all():
        reason = "a view whose elements are not in the order of its layout is for GPUs and the simulated GPU"
        raise op_error(op, reason, pass_name=PASS)
    return (op.src,)


@lowers(ttg.MemDescReinterpretOp)
def lower_reinterpret(op: ttg.MemDescReinterpretOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """The bytes seen otherwise: only where dropping the two layouts has moved none of them."""
    source, result = (buffers.type_of(op, value) for value in (op.src, op.result))
    if not all(map(_is_plain, (source, result))):
        reason = "reading the bytes of a buffer with swizzles or gaps as another type is for GPUs and the simulated GPU"
        raise op_error(op, reason, pass_name=PASS)
    if source.element_type == result.element_type:
        return (op.src,)
    return (b.result(tt.BitcastOp(op.src, pointer_type(result.element_type))),)


def _is_plain(type: MemDescType) -> bool:
    layout, shape = shared_layout_of(type.encoding), type.get_shape()
    if layout.rank != len(shape) or type.alloc_shape != type.shape or bit_width(type.element_type) % 8:
        return False
    return bool((layout.offsets(shape) == element_positions(type)).all())


@lowers(ttg.AsyncCopyGlobalToLocalOp)
def lower_async_copy(op: ttg.AsyncCopyGlobalToLocalOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """The copy at once: a program that waits as it has to sees no difference."""
    other = op.other
    if op.mask is not None and other is None:
        kind = buffers.type_of(op, op.result)
        other = b.result(arith.constant_splat(0, tensor_type(kind.element_type, kind.get_shape())))
    buffers.store(op, b.result(tt.LoadOp(op.src, op.mask, other)), op.result, b)
    return ()

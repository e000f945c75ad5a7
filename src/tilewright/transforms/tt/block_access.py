"""Addresses and bounds of the elements of a block, as tensors: how a block access becomes a plain masked one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith import constant_splat
from tilewright.dialects.tt.types import is_tensor, tensor_type
from tilewright.ir.builder import OpBuilder


class BlockAccess:
    """The block of `block_shape` whose element (i0, i1, ..) is `base + sum_d (offset_d + i_d) * stride_d`.

    `index(d)` is the tensor of `offset_d + i_d`, with extent 1 in all other dimensions.
    """

    def __init__(
        self,
        builder: OpBuilder,
        block_shape: Sequence[int],
        offsets: Sequence[SSAValue] = (),
        indices: Sequence[SSAValue | None] = (),
    ) -> None:
        """The block whose first element has the given i64 offsets; or one whose indices are known."""
        self._builder = builder
        self._shape = tuple(block_shape)
        self._offsets = tuple(offsets)
        self._indices: list[SSAValue | None] = list(indices) or [None] * len(self._shape)

    def index(self, dim: int) -> SSAValue:
        """The indices along a dimension, made on first use."""
        index = self._indices[dim]
        if index is None:
            counted = _counting_from(self._builder, self._offsets[dim], self._shape[dim])
            index = self._indices[dim] = _spread(self._builder, counted, dim, len(self._shape))
        return index

    @classmethod
    def rows(cls, builder: OpBuilder, rows: SSAValue, column: SSAValue, columns: int) -> BlockAccess:
        """The block of the given rows (a 1D tensor of i32), each from an i64 column on."""
        assert is_tensor(rows.type)
        shape = (rows.type.get_shape()[0], columns)
        spread = _spread(builder, rows, 0, 2)
        assert is_tensor(spread.type)
        wide = builder.result(arith.ExtSIOp(spread, tensor_type(i64, spread.type.get_shape())))
        column_indices = _spread(builder, _counting_from(builder, column, columns), 1, 2)
        return cls(builder, shape, indices=(wide, column_indices))

    def pointers(self, base: SSAValue, strides: Sequence[SSAValue]) -> SSAValue:
        """The tensor of pointers to the elements; strides are i64 scalars."""
        insert = self._builder.insert
        pointers = insert(tt.SplatOp(base, tensor_type(base.type, self._shape))).results[0]
        for dim, stride in enumerate(strides):
            index = self.index(dim)
            scaled = insert(arith.MuliOp(index, insert(tt.SplatOp(stride, index.type)))).results[0]
            pointers = insert(tt.AddPtrOp(pointers, self._broadcast(scaled))).results[0]
        return pointers

    def mask(self, extents: Sequence[SSAValue], dims: Sequence[int]) -> SSAValue | None:
        """Return where `0 <= index_d < extent_d` in all of `dims`; None for no dims. Extents are i64 scalars."""
        insert = self._builder.insert
        mask: SSAValue | None = None
        for dim in dims:
            index = self.index(dim)
            zero = insert(constant_splat(0, index.type))
            not_before = insert(arith.CmpiOp(index, zero, "sge"))
            extent = insert(tt.SplatOp(extents[dim], index.type))
            not_past = insert(arith.CmpiOp(index, extent, "slt"))
            inside = self._broadcast(insert(arith.AndIOp(not_before, not_past)).results[0])
            mask = inside if mask is None else insert(arith.AndIOp(mask, inside)).results[0]
        return mask

    def _broadcast(self, value: SSAValue) -> SSAValue:
        assert is_tensor(value.type)
        if value.type.get_shape() == self._shape:
            return value
        wide = tensor_type(value.type.element_type, self._shape)
        return self._builder.result(tt.BroadcastOp(value, wide))


def _counting_from(builder: OpBuilder, offset: SSAValue, extent: int) -> SSAValue:
    """`offset, offset + 1, .., offset + extent - 1` as a 1D tensor of i64."""
    type = tensor_type(i64, (extent,))
    start = builder.insert(tt.SplatOp(offset, type))
    steps = builder.insert(arith.ExtSIOp(builder.insert(tt.MakeRangeOp(0, extent)), type))
    return builder.result(arith.AddiOp(start, steps))


def _spread(builder: OpBuilder, value: SSAValue, dim: int, rank: int) -> SSAValue:
    """A 1D tensor laid along `dim` of a tensor of the given rank, all other extents being 1."""
    for axis in range(rank):
        if axis != dim:
            value = builder.result(tt.ExpandDimsOp(value, axis))
    return value


def widened(builder: OpBuilder, values: Sequence[SSAValue]) -> list[SSAValue]:
    """i32 scalars sign-extended to i64."""
    return [value if value.type == i64 else builder.result(arith.ExtSIOp(value, i64)) for value in values]

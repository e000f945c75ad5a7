"""Accesses whose mask is more than a box at the origin: `tts.masked_load` and `tts.masked_store`.

`tts.load` and `tts.store` keep lanes `[0, dims_d)` of every dimension, which is all that triton-shared can say.
These two ops say the general case: a box that may start anywhere, and a lane mask for what is no box (a causal mask,
a loaded mask). The pointer stays structured, so that a back end still reads and writes contiguous rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    MixedIndex,
    Value,
    init_op,
    join_mixed,
    segment_sizes,
    split_mixed,
    static_values,
    value_of,
)
from tilewright.dialects.tt.traits import ReadEffect, WriteEffect
from tilewright.dialects.tt.types import pointee_like, shape_of
from tilewright.dialects.types import element_type


class MaskedAccess(IRDLOperation):
    """What masked loads and stores share.

    Lane `(i0, ..., ik)` is live when, for every dimension d, `start_d <= i_d < start_d + dim_d`, and `mask` is true
    there.

    - `mask_starts` and `mask_dims` are mixed lists of one entry for each dimension of the tile. It always holds that
      `0 <= start_d`, `0 <= dim_d` and `start_d + dim_d <= size_d`: they can be the offsets and sizes of a subview as
      they are. An empty box (some `dim_d = 0`) means that no lane is live.
    - `mask`, if there, is a tensor of i1 with the rank of the tile, where every extent is that of the tile or 1; an
      extent of 1 is broadcast along the tile (`tensor<1x64xi1>` on a 32x64 tile masks columns). The lanes of the
      mask outside the box may be true.

    No address of a dead lane may be read or written.
    """

    if TYPE_CHECKING:  # every masked op defines these
        static_mask_starts: DenseArrayBase
        mask_starts: Sequence[SSAValue]
        static_mask_dims: DenseArrayBase
        mask_dims: Sequence[SSAValue]

    def mixed_mask_starts(self) -> list[int | SSAValue]:
        """First live lane of each dimension."""
        return join_mixed(self.static_mask_starts, self.mask_starts)

    def mixed_mask_dims(self) -> list[int | SSAValue]:
        """Number of lanes of each dimension from the first live one."""
        return join_mixed(self.static_mask_dims, self.mask_dims)

    def verify_mask(self, tile: Attribute, mask: SSAValue | None) -> None:
        """Checks lengths and extents against the type of the tile."""
        if not isinstance(tile, TensorType):
            raise VerifyException(f"{self.name} accesses tensors, got {tile}")
        shape = tile.get_shape()
        for what in ("mask_starts", "mask_dims"):
            static: DenseArrayBase = getattr(self, f"static_{what}")
            dynamic: Sequence[SSAValue] = getattr(self, what)
            values = static_values(static)
            if len(values) != len(shape):
                raise VerifyException(f"{self.name}: {what} has {len(values)} entries for a tile of rank {len(shape)}")
            if values.count(DYNAMIC_INDEX) != len(dynamic):
                slots = values.count(DYNAMIC_INDEX)
                raise VerifyException(f"{self.name}: {what} has {len(dynamic)} operands for {slots} dynamic entries")
        if mask is None:
            return
        extents = shape_of(mask.type) if element_type(mask.type) == i1 else ()
        if len(extents) != len(shape) or any(e not in (1, s) for e, s in zip(extents, shape, strict=True)):
            raise VerifyException(f"{self.name}: mask {mask.type} does not broadcast to {tile}")


@irdl_op_definition
class MaskedLoadOp(MaskedAccess):
    """Loads the live lanes of a tile; dead lanes are `other`.

    ```mlir
    %v = "tts.masked_load"(%p, %lo, %n, %keep, %zero) <{
             operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>,
             static_mask_starts = array<i64: 0, -9223372036854775808>,
             static_mask_dims = array<i64: 32, -9223372036854775808>}>
         : (tensor<32x64x!tt.ptr<f32>>, index, index, tensor<32x1xi1>, f32) -> tensor<32x64xf32>
    ```
    `ptr` is any structured pointer: the result of `tts.make_tptr` (tensor of pointers or block pointer) or of
    `tts.make_gather_scatter_tptr`. `other` is a scalar of the element type, or a tensor of the result type whose
    lane is taken lane by lane. Without `other` dead lanes are zero (as for `tts.load` here: memory that nobody wrote
    is never read).
    """

    name = "tts.masked_load"

    ptr = operand_def()
    mask_starts = var_operand_def(IndexType)
    mask_dims = var_operand_def(IndexType)
    mask = opt_operand_def(TensorType)
    other = opt_operand_def()
    static_mask_starts = prop_def(DenseArrayBase.constr(i64))
    static_mask_dims = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadEffect())

    def __init__(
        self,
        ptr: Value,
        mask_starts: Sequence[MixedIndex],
        mask_dims: Sequence[MixedIndex],
        mask: Value | None = None,
        other: Value | None = None,
    ) -> None:
        static_starts, starts = split_mixed(mask_starts)
        static_dims, dims = split_mixed(mask_dims)
        masks = [] if mask is None else [value_of(mask)]
        others = [] if other is None else [value_of(other)]
        ptr = value_of(ptr)
        init_op(
            self,
            [ptr, *starts, *dims, *masks, *others],
            [pointee_like(ptr.type)],
            {
                "static_mask_starts": static_starts,
                "static_mask_dims": static_dims,
                "operandSegmentSizes": segment_sizes(1, len(starts), len(dims), len(masks), len(others)),
            },
        )

    def verify_(self) -> None:
        tile = pointee_like(self.ptr.type)
        if tile != self.result.type:
            raise VerifyException(f"tts.masked_load through {self.ptr.type} yields {tile}, not {self.result.type}")
        self.verify_mask(tile, self.mask)
        if self.other is not None and self.other.type not in (tile, self.result.type.element_type):
            raise VerifyException(f"tts.masked_load: other is {self.other.type}, expected {tile} or its element type")


@irdl_op_definition
class MaskedStoreOp(MaskedAccess):
    """Stores the live lanes of a tile; the memory of dead lanes keeps its contents.

    ```mlir
    "tts.masked_store"(%p, %v, %n, %keep) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>,
        static_mask_starts = array<i64: 0>, static_mask_dims = array<i64: -9223372036854775808>}>
        : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index, tensor<64xi1>) -> ()
    ```
    """

    name = "tts.masked_store"

    ptr = operand_def()
    value = operand_def(TensorType)
    mask_starts = var_operand_def(IndexType)
    mask_dims = var_operand_def(IndexType)
    mask = opt_operand_def(TensorType)
    static_mask_starts = prop_def(DenseArrayBase.constr(i64))
    static_mask_dims = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WriteEffect())

    def __init__(
        self,
        ptr: Value,
        value: Value,
        mask_starts: Sequence[MixedIndex],
        mask_dims: Sequence[MixedIndex],
        mask: Value | None = None,
    ) -> None:
        static_starts, starts = split_mixed(mask_starts)
        static_dims, dims = split_mixed(mask_dims)
        masks = [] if mask is None else [value_of(mask)]
        init_op(
            self,
            [value_of(ptr), value_of(value), *starts, *dims, *masks],
            (),
            {
                "static_mask_starts": static_starts,
                "static_mask_dims": static_dims,
                "operandSegmentSizes": segment_sizes(1, 1, len(starts), len(dims), len(masks)),
            },
        )

    def verify_(self) -> None:
        tile = pointee_like(self.ptr.type)
        if tile != self.value.type:
            raise VerifyException(f"tts.masked_store through {self.ptr.type} takes {tile}, not {self.value.type}")
        self.verify_mask(tile, self.mask)

"""Accesses whose mask is more than a box at the origin: `tts.masked_load` and `tts.masked_store`.

`tts.load` and `tts.store` keep lanes `[0, dims_d)` of every dimension, which is all that triton-shared can say. These
two ops say the general case: a box that may start anywhere, and a lane mask for anything that is not a box (a causal
mask, a loaded mask). The pointer stays structured, so that a back end still reads and writes contiguous rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    join_mixed,
    static_values,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    MixedOperands,
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    internal_prop_def,
    mixed_operand_def,
    operand_def,
    opt_operand_def,
)
from tilewright.dialects.tt.traits import ReadEffect, WriteEffect
from tilewright.dialects.tt.types import pointee_like, shape_of
from tilewright.dialects.types import element_type


class MaskedAccess(Op):
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

    def mixed_mask_starts(self) -> list[int | SSAValue]:
        """First live lane of each dimension."""
        assert isinstance(self, (MaskedLoadOp, MaskedStoreOp))
        return join_mixed(self.static_mask_starts, self.mask_starts)

    def mixed_mask_dims(self) -> list[int | SSAValue]:
        """Number of lanes of each dimension from the first live one."""
        assert isinstance(self, (MaskedLoadOp, MaskedStoreOp))
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
    lane is taken lane by lane. Without `other` dead lanes are zero (as for `tts.load` here: memory that nothing wrote
    is never read).
    """

    name = "tts.masked_load"

    ptr: Operand = operand_def()
    mask_starts: MixedOperands = mixed_operand_def("static_mask_starts", IndexType)
    mask_dims: MixedOperands = mixed_operand_def("static_mask_dims", IndexType)
    mask: OptionalOperand = opt_operand_def(TensorType, default=None)
    other: OptionalOperand = opt_operand_def(default=None)
    static_mask_starts: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    static_mask_dims: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    result: Result = inferred_result_def(TensorType, of="ptr", by=pointee_like)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadEffect())

    def verify_(self) -> None:
        tile = pointee_like(self.ptr.type)
        if tile != self.result.type:
            raise VerifyException(f"tts.masked_load through {self.ptr.type} yields {tile}, not {self.result.type}")
        self.verify_mask(tile, self.mask)
        if self.other is not None and self.other.type not in (tile, element_type(self.result.type)):
            raise VerifyException(f"tts.masked_load: other is {self.other.type}, expected {tile} or its element type")


class MaskedStoreOp(MaskedAccess):
    """Stores the live lanes of a tile; the memory of dead lanes keeps its contents.

    ```mlir
    "tts.masked_store"(%p, %v, %n, %keep) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>,
        static_mask_starts = array<i64: 0>, static_mask_dims = array<i64: -9223372036854775808>}>
        : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index, tensor<64xi1>) -> ()
    ```
    """

    name = "tts.masked_store"

    ptr: Operand = operand_def()
    value: Operand = operand_def(TensorType)
    mask_starts: MixedOperands = mixed_operand_def("static_mask_starts", IndexType)
    mask_dims: MixedOperands = mixed_operand_def("static_mask_dims", IndexType)
    mask: OptionalOperand = opt_operand_def(TensorType, default=None)
    static_mask_starts: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    static_mask_dims: I64Array = internal_prop_def(DenseArrayBase.constr(i64))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WriteEffect())

    def verify_(self) -> None:
        tile = pointee_like(self.ptr.type)
        if tile != self.value.type:
            raise VerifyException(f"tts.masked_store through {self.ptr.type} takes {tile}, not {self.value.type}")
        self.verify_mask(tile, self.mask)

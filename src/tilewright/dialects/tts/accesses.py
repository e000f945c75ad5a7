"""Memory accesses on structured pointers, and element-wise ones on a base with computed offsets."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, AttrSizedOperandSegments, VarConstraint, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    join_mixed,
    static_values,
)
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
from tilewright.dialects.tt.constraints import INTEGER_LIKE, POINTER_LIKE, TENSOR, Derived
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.traits import ReadEffect, WriteEffect
from tilewright.dialects.tt.types import PointerType, pointee_like, shape_of
from tilewright.dialects.types import bool_like, element_type, with_element_type

INDEX = IndexType()


def _check_mask_dims(ptr: SSAValue, static: DenseArrayBase, dynamic: Sequence[SSAValue], value: SSAValue) -> None:
    expected = pointee_like(ptr.type)
    if value.type != expected:
        raise VerifyException(f"value must be {expected}, got {value.type}")
    dims, rank = static_values(static), len(shape_of(expected))
    if dims and len(dims) != rank:
        raise VerifyException(f"mask_dims must be empty or have {rank} entries, got {len(dims)}")
    if dims.count(DYNAMIC_INDEX) != len(dynamic):
        raise VerifyException(f"mask_dims must have {dims.count(DYNAMIC_INDEX)} dynamic entries, got {len(dynamic)}")


class LeadingLanesAccess(TritonOp, ABC):
    """An access of the lanes `[0, d0) x [0, d1) x ..`, of all lanes when `mask_dims` is empty."""

    @property
    def has_mask(self) -> bool:
        """True if some lanes may be masked off."""
        assert isinstance(self, (LoadOp, StoreOp))
        return len(self.static_mask_dims) > 0

    @property
    def mixed_mask_dims(self) -> list[int | SSAValue]:
        """The number of leading live lanes in each dimension, an integer where static; empty without a mask."""
        assert isinstance(self, (LoadOp, StoreOp))
        return join_mixed(self.static_mask_dims, self.mask_dims)


class LoadOp(LeadingLanesAccess):
    """The lanes `[0, d0) x [0, d1) x ..` of a structured pointer, all lanes when `mask_dims` is empty. Other lanes are
    `other`, and undefined without it.

    ```mlir
    %v = "tts.load"(%p, %d0, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>,
      static_mask_dims = array<i64: -9223372036854775808, 8>}>
      : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
    ```
    """

    name = "tts.load"

    ptr: Operand = operand_def(POINTER_LIKE)
    mask_dims: MixedOperands = mixed_operand_def("static_mask_dims", INDEX, default=())
    other: OptionalOperand = opt_operand_def(default=None)
    static_mask_dims: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    result: Result = inferred_result_def(TENSOR, of="ptr", by=pointee_like)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadEffect())

    def verify_(self) -> None:
        _check_mask_dims(self.ptr, self.static_mask_dims, self.mask_dims, self.result)
        if self.other is None:
            return
        if not self.has_mask:
            raise VerifyException("operand 'other' needs mask_dims")
        if self.other.type != element_type(self.result.type):
            raise VerifyException(f"other must be {element_type(self.result.type)}, got {self.other.type}")


class StoreOp(LeadingLanesAccess):
    """The lanes `[0, d0) x [0, d1) x ..` of a tensor, written to where a structured pointer points.

    ```mlir
    "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
    ```
    """

    name = "tts.store"

    ptr: Operand = operand_def(POINTER_LIKE)
    value: Operand = operand_def(TENSOR)
    mask_dims: MixedOperands = mixed_operand_def("static_mask_dims", INDEX, default=())
    static_mask_dims: I64Array = internal_prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(WriteEffect())

    def verify_(self) -> None:
        _check_mask_dims(self.ptr, self.static_mask_dims, self.mask_dims, self.value)


OFFSET = VarConstraint("Offset", INTEGER_LIKE)
OFFSET_MASK = Derived("Offset", bool_like, "mask type matches offset type")
ELEMENT_OF_RESULT = Derived("Result", element_type, "other type matches the element type of the result")


def _check_element_access(ptr: SSAValue, offset: SSAValue, value: SSAValue) -> None:
    assert isinstance(ptr.type, PointerType)
    expected = with_element_type(offset.type, ptr.type.pointee_type)
    if shape_of(expected) != shape_of(value.type) or element_type(value.type) != ptr.type.pointee_type:
        raise VerifyException(f"value must be {expected}, got {value.type}")


def _gathered_type(pointer: Attribute, offset: Attribute) -> Attribute:
    assert isinstance(pointer, PointerType)
    return with_element_type(offset, pointer.pointee_type)


class GatherOp(TritonOp):
    """`base[offset]` for each lane (offsets count elements); masked-off lanes are `other`, and 0 without it.

    `%g = tts.gather %base[%off] mask = %m default = %other : (<f32>, tensor<4xi32>) -> tensor<4xf32>`
    """

    name = "tts.gather"

    ptr: Operand = operand_def(PointerType)
    offset: Operand = operand_def(OFFSET)
    mask: OptionalOperand = opt_operand_def(OFFSET_MASK, default=None)
    other: OptionalOperand = opt_operand_def(ELEMENT_OF_RESULT, default=None)
    result: Result = inferred_result_def(VarConstraint("Result", AnyAttr()), of=("ptr", "offset"), by=_gathered_type)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$ptr `[` $offset `]` (`mask` `=` $mask^)? (`default` `=` $other^)? attr-dict "
        "`:` `(` custom<ShortType>(type($ptr)) `,` type($offset) `)` `->` type($result)"
    )
    traits = traits_def(ReadEffect())

    def verify_(self) -> None:
        _check_element_access(self.ptr, self.offset, self.result)
        if self.other is not None:
            if self.mask is None:
                raise VerifyException("operand 'default' needs a mask")
            if self.other.type != element_type(self.result.type):
                raise VerifyException(f"default must be {element_type(self.result.type)}, got {self.other.type}")


class ScatterOp(TritonOp):
    """`base[offset] = value` for each lane whose mask bit is set.

    `tts.scatter %v into %base[%off] mask = %m : tensor<4xf32> into (<f32>, tensor<4xi32>)`
    """

    name = "tts.scatter"

    ptr: Operand = operand_def(PointerType)
    offset: Operand = operand_def(OFFSET)
    value: Operand = operand_def()
    mask: OptionalOperand = opt_operand_def(OFFSET_MASK, default=None)

    assembly_format = (
        "$value `into` $ptr `[` $offset `]` (`mask` `=` $mask^)? attr-dict "
        "`:` type($value) `into` ` ` `(` custom<ShortType>(type($ptr)) `,` type($offset) `)`"
    )
    traits = traits_def(WriteEffect())

    def verify_(self) -> None:
        _check_element_access(self.ptr, self.offset, self.value)

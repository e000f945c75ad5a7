"""Memory accesses on structured pointers, and element-wise ones on a base with computed offsets."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    VarConstraint,
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
from tilewright.dialects.tt.constraints import INTEGER_LIKE, POINTER_LIKE, TENSOR, Derived
from tilewright.dialects.tt.definition import op_definition
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


@op_definition
class LoadOp(IRDLOperation):
    """The lanes `[0, d0) x [0, d1) x ..` of a structured pointer, all lanes when `mask_dims` is empty. Other lanes are
    `other`, and undefined without it.

    ```mlir
    %v = "tts.load"(%p, %d0, %other) <{operandSegmentSizes = array<i32: 1, 1, 1>,
      static_mask_dims = array<i64: -9223372036854775808, 8>}>
      : (tensor<4x8x!tt.ptr<f32>>, index, f32) -> tensor<4x8xf32>
    ```
    """

    name = "tts.load"

    ptr = operand_def(POINTER_LIKE)
    mask_dims = var_operand_def(INDEX)
    other = opt_operand_def()
    static_mask_dims = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TENSOR)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadEffect())

    def __init__(self, ptr: Value, mask_dims: Sequence[MixedIndex] = (), other: Value | None = None):
        pointer = value_of(ptr)
        static, dynamic = split_mixed(mask_dims)
        others = [] if other is None else [value_of(other)]
        init_op(
            self,
            (pointer, *dynamic, *others),
            (pointee_like(pointer.type),),
            {
                "operandSegmentSizes": segment_sizes(1, len(dynamic), len(others)),
                "static_mask_dims": static,
            },
        )

    @property
    def has_mask(self) -> bool:
        """True if some lanes may be masked off."""
        return len(self.static_mask_dims) > 0

    @property
    def mixed_mask_dims(self) -> list[int | SSAValue]:
        """The number of leading live lanes in each dimension, an integer where static; empty without a mask."""
        return join_mixed(self.static_mask_dims, self.mask_dims)

    def verify_(self) -> None:
        _check_mask_dims(self.ptr, self.static_mask_dims, self.mask_dims, self.result)
        if self.other is None:
            return
        if not self.has_mask:
            raise VerifyException("operand 'other' needs mask_dims")
        if self.other.type != element_type(self.result.type):
            raise VerifyException(f"other must be {element_type(self.result.type)}, got {self.other.type}")


@op_definition
class StoreOp(IRDLOperation):
    """The lanes `[0, d0) x [0, d1) x ..` of a tensor written behind a structured pointer.

    ```mlir
    "tts.store"(%p, %v) <{static_mask_dims = array<i64>}> : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>) -> ()
    ```
    """

    name = "tts.store"

    ptr = operand_def(POINTER_LIKE)
    value = operand_def(TENSOR)
    mask_dims = var_operand_def(INDEX)
    static_mask_dims = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(WriteEffect())

    def __init__(self, ptr: Value, value: Value, mask_dims: Sequence[MixedIndex] = ()):
        static, dynamic = split_mixed(mask_dims)
        init_op(self, (value_of(ptr), value_of(value), *dynamic), (), {"static_mask_dims": static})

    @property
    def has_mask(self) -> bool:
        """True if some lanes may be masked off."""
        return len(self.static_mask_dims) > 0

    @property
    def mixed_mask_dims(self) -> list[int | SSAValue]:
        """The number of leading live lanes in each dimension, an integer where static; empty without a mask."""
        return join_mixed(self.static_mask_dims, self.mask_dims)

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


@op_definition
class GatherOp(IRDLOperation):
    """`base[offset]` for each lane (offsets count elements); masked-off lanes are `other`, and 0 without it.

    `%g = tts.gather %base[%off] mask = %m default = %other : (<f32>, tensor<4xi32>) -> tensor<4xf32>`
    """

    name = "tts.gather"

    ptr = operand_def(PointerType)
    offset = operand_def(OFFSET)
    mask = opt_operand_def(OFFSET_MASK)
    other = opt_operand_def(ELEMENT_OF_RESULT)
    result = result_def(VarConstraint("Result", AnyAttr()))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$ptr `[` $offset `]` (`mask` `=` $mask^)? (`default` `=` $other^)? attr-dict "
        "`:` `(` custom<ShortType>(type($ptr)) `,` type($offset) `)` `->` type($result)"
    )
    traits = traits_def(ReadEffect())

    def __init__(self, ptr: Value, offset: Value, mask: Value | None = None, other: Value | None = None):
        pointer, offsets = value_of(ptr), value_of(offset)
        assert isinstance(pointer.type, PointerType)
        optional = [value_of(value) for value in (mask, other) if value is not None]
        init_op(
            self,
            (pointer, offsets, *optional),
            (with_element_type(offsets.type, pointer.type.pointee_type),),
            {"operandSegmentSizes": segment_sizes(1, 1, int(mask is not None), int(other is not None))},
        )

    def verify_(self) -> None:
        _check_element_access(self.ptr, self.offset, self.result)
        if self.other is not None:
            if self.mask is None:
                raise VerifyException("operand 'default' needs a mask")
            if self.other.type != element_type(self.result.type):
                raise VerifyException(f"default must be {element_type(self.result.type)}, got {self.other.type}")


@op_definition
class ScatterOp(IRDLOperation):
    """`base[offset] = value` for each lane whose mask bit is set.

    `tts.scatter %v into %base[%off] mask = %m : tensor<4xf32> into (<f32>, tensor<4xi32>)`
    """

    name = "tts.scatter"

    ptr = operand_def(PointerType)
    offset = operand_def(OFFSET)
    value = operand_def()
    mask = opt_operand_def(OFFSET_MASK)

    assembly_format = (
        "$value `into` $ptr `[` $offset `]` (`mask` `=` $mask^)? attr-dict "
        "`:` type($value) `into` ` ` `(` custom<ShortType>(type($ptr)) `,` type($offset) `)`"
    )
    traits = traits_def(WriteEffect())

    def __init__(self, ptr: Value, offset: Value, value: Value, mask: Value | None = None):
        optional = [] if mask is None else [value_of(mask)]
        init_op(self, (value_of(ptr), value_of(offset), value_of(value), *optional))

    def verify_(self) -> None:
        _check_element_access(self.ptr, self.offset, self.value)

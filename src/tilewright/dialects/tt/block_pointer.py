"""Block pointers: a base, a parent tensor's extents and strides, and the offsets of one block in it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, SameVariadicOperandSize, VarConstraint, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_array, init_op, static_values, value_of, values_of
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.tt.constraints import Derived
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import PointerType, is_block_pointer, is_tensor, pointer_type, tensor_type
from tilewright.dialects.types import TypeWhere

BLOCK_POINTER = TypeWhere("a pointer to a tensor", is_block_pointer)


def _base_of(block_pointer: Attribute) -> Attribute:
    if not is_block_pointer(block_pointer):
        raise VerifyException(f"expected a pointer to a tensor, got {block_pointer}")
    assert isinstance(block_pointer, PointerType) and is_tensor(block_pointer.pointee_type)
    return pointer_type(block_pointer.pointee_type.element_type, block_pointer.address_space.data)


class MakeTensorPtrOp(TritonOp):
    """A block of `result`'s shape at `offsets` in a tensor with the given extents and strides (in elements). `order`
    names the dimensions from the fastest varying to the slowest.

    `%bp = tt.make_tensor_ptr %p, [%m, %n], [%sm, %sn], [%i, %j] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>`
    """

    name = "tt.make_tensor_ptr"

    base: Operand = operand_def(Derived("Block", _base_of, "base matches the element type of the block"))
    shape: Operands = var_operand_def(i64)
    strides: Operands = var_operand_def(i64)
    offsets: Operands = var_operand_def(i32)
    order: I64Array = prop_def(DenseArrayBase)
    result: Result = result_def(VarConstraint("Block", BLOCK_POINTER))

    irdl_options = (SameVariadicOperandSize(), ParsePropInAttrDict())
    assembly_format = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict "
        "`:` custom<ShortType>(type($result))"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(
        self,
        base: Value,
        shape: Sequence[Value],
        strides: Sequence[Value],
        offsets: Sequence[Value],
        block_shape: Sequence[int],
        *,
        order: Sequence[int],
    ):
        pointer = value_of(base)
        assert isinstance(pointer.type, PointerType)
        block = tensor_type(pointer.type.pointee_type, block_shape)
        init_op(
            self,
            (pointer, *values_of(shape), *values_of(strides), *values_of(offsets)),
            (pointer_type(block, pointer.type.address_space.data),),
            {"order": i32_array(tuple(order))},
        )

    def verify_(self) -> None:
        if self.base.type != _base_of(self.result.type):
            raise VerifyException(f"base of type {self.base.type} does not match the block pointer {self.result.type}")
        assert isinstance(self.result.type, PointerType) and is_tensor(self.result.type.pointee_type)
        rank = self.result.type.pointee_type.get_num_dims()
        if not len(self.shape) == len(self.order) == rank:
            raise VerifyException(f"shape, strides, offsets and order must each have {rank} entries")
        if sorted(static_values(self.order)) != list(range(rank)):
            raise VerifyException("order must be a permutation of [0, ..., rank - 1]")


class AdvanceOp(TritonOp):
    """A block pointer moved by a number of elements in each dimension:
    `tt.advance %bp, [%a, %b] : <tensor<64x32xf16>>`."""

    name = "tt.advance"

    ptr: Operand = operand_def(VarConstraint("Block", BLOCK_POINTER))
    offsets: Operands = var_operand_def(i32)
    result: Result = inferred_result_def(VarConstraint("Block", AnyAttr()), of="ptr")

    assembly_format = "$ptr `,` `[` $offsets `]` attr-dict `:` custom<ShortType>(type($result))"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        assert isinstance(self.ptr.type, PointerType) and is_tensor(self.ptr.type.pointee_type)
        rank = self.ptr.type.pointee_type.get_num_dims()
        if len(self.offsets) != rank:
            raise VerifyException(f"expected {rank} offsets, got {len(self.offsets)}")

"""Tensor descriptors: a tensor in memory with extents and strides that is read and written in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, SameVariadicOperandSize, VarConstraint, base, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_attr, init_op, value_of, values_of
from tilewright.dialects.fields import (
    InferableResult,
    Operand,
    Operands,
    Result,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.tt.cache_policy import WithCachePolicy
from tilewright.dialects.tt.constraints import TENSOR, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import DescriptorReduceKind, PaddingOption
from tilewright.dialects.tt.traits import ReadEffect, ReadWriteEffect, TensorSizeTrait, WriteEffect
from tilewright.dialects.tt.types import PointerType, TensorDescType, is_tensor, tensor_type
from tilewright.dialects.types import bit_width, is_signless_integer

DESCRIPTOR = base(TensorDescType)
ZERO_PADDING = i32_attr(PaddingOption.ZERO)


def signless(element: Attribute) -> Attribute:
    """The element type of values: descriptors may say `ui8`, tensors always say `i8`."""
    if is_signless_integer(element) or not isinstance(element, IntegerType):
        return element
    return IntegerType(element.bitwidth)


def block_type_of(descriptor: SSAValue) -> TensorType[Attribute]:
    """The type of the block that a descriptor accesses."""
    assert isinstance(descriptor.type, TensorDescType)
    return descriptor.type.block_type


def has_block_shape(tensor: SSAValue, descriptor: SSAValue) -> bool:
    """Return whether a tensor has the shape of a descriptor's blocks, but for leading dimensions of extent 1."""
    assert is_tensor(tensor.type)
    shape = tensor.type.get_shape()
    return block_type_of(descriptor).get_shape()[-len(shape) :] == shape


def _check_block_access(descriptor: SSAValue, tensor: SSAValue) -> None:
    block, type = block_type_of(descriptor), tensor.type
    assert is_tensor(type)
    equal = signless(block.element_type) == type.element_type
    if not equal or prod(block.get_shape()) != prod(type.get_shape()):
        raise VerifyException(f"tensor descriptor block and tensor types must match, got {block} and {type}")


def _check_row_access(op: IRDLOperation, descriptor: SSAValue, x_offsets: SSAValue, tensor: SSAValue) -> None:
    block, indices, type = block_type_of(descriptor), x_offsets.type, tensor.type
    assert is_tensor(indices) and is_tensor(type)
    if block.get_num_dims() != 2:
        raise VerifyException(f"block must be a 2D tensor, got {block}")
    if block.get_shape()[0] != 1:
        raise VerifyException(f"block must have exactly 1 row, got {block}")
    if indices.get_num_dims() != 1:
        raise VerifyException(f"x offsets must be a 1D tensor, got {indices}")
    if type.get_shape() != (indices.get_shape()[0], block.get_shape()[1]):
        raise VerifyException(f"{op.name} of {indices.get_shape()[0]} rows of {block} has no tensor type {type}")
    if signless(block.element_type) != type.element_type:
        raise VerifyException(f"tensor descriptor block and tensor types must match, got {block} and {type}")
    kind = op.name.rsplit("_", 1)[1]
    if indices.get_shape()[0] < 8:
        raise VerifyException(f"{kind} must have at least 8 rows, got {indices.get_shape()[0]}")
    width = bit_width(type.element_type)
    if width > 32:
        raise VerifyException(f"{kind} of '{type.element_type}' is not possible: elements have at most 32 bits")
    columns = 32 // width * 8
    if block.get_shape()[1] < columns:
        raise VerifyException(
            f"{kind} of '{type.element_type}' must have at least {columns} columns, got {block.get_shape()[1]}"
        )


class MakeTensorDescOp(TritonOp):
    """The descriptor of a tensor at `base` with the given extents and strides (in elements).

    `%d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] {padding = 2 : i32} : <f16>, <tensor<32x64xf16>>`
    """

    name = "tt.make_tensor_descriptor"

    base: Operand = operand_def(PointerType)
    shape: Operands = var_operand_def(i32)
    strides: Operands = var_operand_def(i64)
    padding: IntegerAttr = prop_def(MemberOf(PaddingOption), default_value=ZERO_PADDING)
    result: Result = result_def(DESCRIPTOR)

    irdl_options = (SameVariadicOperandSize(), ParsePropInAttrDict())
    assembly_format = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict "
        "`:` custom<ShortType>(type($base)) `,` custom<ShortDescriptorType>(type($result))"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(
        self,
        base: Value,
        shape: Sequence[Value],
        strides: Sequence[Value],
        block: Sequence[int] | TensorDescType,
        *,
        padding: PaddingOption | int | str = PaddingOption.ZERO,
    ):
        pointer = value_of(base)
        if not isinstance(block, TensorDescType):
            assert isinstance(pointer.type, PointerType)
            block = TensorDescType(tensor_type(pointer.type.pointee_type, block))
        init_op(
            self,
            (pointer, *values_of(shape), *values_of(strides)),
            (block,),
            {"padding": i32_attr(PaddingOption.get(padding))},
        )

    def verify_(self) -> None:
        block = block_type_of(self.result)
        assert isinstance(self.base.type, PointerType)
        if signless(block.element_type) != self.base.type.pointee_type:
            raise VerifyException(f"base {self.base.type} does not point to the elements of {block}")
        if len(self.shape) != block.get_num_dims():
            raise VerifyException(f"shape and strides must each have {block.get_num_dims()} entries")


def _loaded_type(descriptor: Attribute) -> Attribute:
    assert isinstance(descriptor, TensorDescType)
    block = descriptor.block_type
    return tensor_type(signless(block.element_type), block.get_shape())


def _gathered_type(descriptor: Attribute, rows: Attribute) -> Attribute:
    assert isinstance(descriptor, TensorDescType) and is_tensor(rows)
    block = descriptor.block_type
    return tensor_type(signless(block.element_type), (rows.get_shape()[0], block.get_shape()[1]))


class DescriptorLoadOp(WithCachePolicy, TritonOp):
    """The block at `indices`; elements outside the tensor give the descriptor's padding.

    `%v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>`
    """

    name = "tt.descriptor_load"

    desc: Operand = operand_def(DESCRIPTOR)
    indices: Operands = var_operand_def(i32)
    result: InferableResult = result_def(TENSOR, default=None, of="desc", by=_loaded_type)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$desc `[` $indices `]` custom<MemoryHints>($cache, $evict) attr-dict `:` type($desc) `->` type($result)"
    )
    traits = traits_def(ReadEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_block_access(self.desc, self.result)


class DescriptorStoreOp(TritonOp):
    """The block at `indices` overwritten; elements outside the tensor are dropped.

    `tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>`
    """

    name = "tt.descriptor_store"

    desc: Operand = operand_def(DESCRIPTOR)
    src: Operand = operand_def(TENSOR)
    indices: Operands = var_operand_def(i32)

    assembly_format = "$desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)"
    traits = traits_def(WriteEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_block_access(self.desc, self.src)


class DescriptorReduceOp(TritonOp):
    """The block at `indices` combined atomically, element by element, with a tensor.

    `tt.descriptor_reduce add, %d[%i, %j], %v : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>`
    """

    name = "tt.descriptor_reduce"

    kind: IntegerAttr = prop_def(MemberOf(DescriptorReduceKind), converter=DescriptorReduceKind.attr, kw_only=True)
    desc: Operand = operand_def(DESCRIPTOR)
    src: Operand = operand_def(TENSOR)
    indices: Operands = var_operand_def(i32)

    assembly_format = (
        "custom<DescriptorReduceKind>($kind) `,` $desc `[` $indices `]` `,` $src attr-dict "
        "`:` type($desc) `,` type($src)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_block_access(self.desc, self.src)


class DescriptorGatherOp(TritonOp):
    """Rows `x_offsets`, each read from column `y_offset` on.

    `%v = tt.descriptor_gather %d[%xs, %y] :
    (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>`
    """

    name = "tt.descriptor_gather"

    desc: Operand = operand_def(DESCRIPTOR)
    x_offsets: Operand = operand_def(TENSOR)
    y_offset: Operand = operand_def(i32)
    result: InferableResult = result_def(TENSOR, default=None, of=("desc", "x_offsets"), by=_gathered_type)

    assembly_format = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)"
    traits = traits_def(ReadEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_row_access(self, self.desc, self.x_offsets, self.result)


class DescriptorScatterOp(TritonOp):
    """Rows `x_offsets`, each overwritten from column `y_offset` on.

    `tt.descriptor_scatter %d[%xs, %y], %v :
    !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>`
    """

    name = "tt.descriptor_scatter"

    desc: Operand = operand_def(VarConstraint("Desc", DESCRIPTOR))
    x_offsets: Operand = operand_def(TENSOR)
    y_offset: Operand = operand_def(i32)
    src: Operand = operand_def(TENSOR)

    assembly_format = (
        "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict "
        "`:` type($desc) `,` type($x_offsets) `,` type($y_offset) `,` type($src)"
    )
    traits = traits_def(WriteEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_row_access(self, self.desc, self.x_offsets, self.src)

"""Accesses to buffers in shared memory at run-time indices along one dimension."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
)
from tilewright.dialects.tt.constraints import MASK, TENSOR, MemberOf
from tilewright.dialects.tt.enums import RMWOp
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.ttg.constraints import (
    MEMDESC,
    TritonGPUOp,
    as_memdesc,
    as_tensor,
    check_mutable,
)
from tilewright.dialects.ttg.effects import READ, SHARED, WRITE, Touches
from tilewright.dialects.types import is_float, is_integer, is_signless_integer, with_element_type


def _check_indexed(buffer: Attribute, indices: Attribute, values: Attribute, axis: int) -> None:
    """VerifyException unless each value has an index, in one layout, and the buffer has its other coordinates."""
    memory, index, value = as_memdesc(buffer), as_tensor(indices), as_tensor(values)
    if not is_signless_integer(index.element_type):
        raise VerifyException(f"indices must be integers, got {index}")
    if value.element_type != memory.element_type:
        raise VerifyException(f"element types differ, {value.element_type} and {memory.element_type} of the buffer")
    if value.get_shape() != index.get_shape() or value.encoding != index.encoding:
        raise VerifyException(f"values and indices must have one shape and layout, got {value} and {index}")
    extents, shape = memory.get_shape(), index.get_shape()
    if len(extents) != len(shape):
        raise VerifyException(f"indices of rank {len(shape)} for a buffer of rank {len(extents)}")
    if not 0 <= axis < len(extents):
        raise VerifyException(f"axis {axis} is out of range for a buffer of rank {len(extents)}")
    for dim, (extent, size) in enumerate(zip(extents, shape, strict=True)):
        if dim != axis and size > extent:
            raise VerifyException(f"indices have {size} elements along dimension {dim}, the buffer {extent}")


def _gathered_type(source: Attribute, indices: Attribute) -> Attribute:
    return with_element_type(indices, as_memdesc(source).element_type)


class LocalGatherOp(TritonGPUOp):
    """`result[.., i, ..] = src[.., indices[.., i, ..], ..]` along one dimension of a buffer:
    `%r = ttg.local_gather %m[%i] {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>,
    tensor<32xi32, #blocked> -> tensor<32xf32, #blocked>`."""

    name = "ttg.local_gather"

    src: Operand = operand_def(MEMDESC)
    indices: Operand = operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    result: Result = inferred_result_def(TENSOR, of=("src", "indices"), by=_gathered_type)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src `[` $indices `]` attr-dict `:` type($src) `,` type($indices) `->` type($result)"
    traits = traits_def(Touches(((READ, SHARED),)), TensorSizeTrait())

    def verify_(self) -> None:
        _check_indexed(self.src.type, self.indices.type, self.result.type, self.axis.value.data)


class LocalScatterOp(TritonGPUOp):
    """`dst[.., indices[.., i, ..], ..] = values[.., i, ..]` along one dimension of a buffer; of several values for one
    element any may be last: `ttg.local_scatter %m[%i], %v {axis = 0 : i32} :
    !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<32xi32, #blocked>, tensor<32xf32, #blocked>`."""

    name = "ttg.local_scatter"

    dst: Operand = operand_def(MEMDESC)
    values: Operand = operand_def(TENSOR)
    indices: Operand = operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$dst `[` $indices `]` `,` $values attr-dict `:` type($dst) `,` type($indices) `,` type($values)"
    traits = traits_def(Touches(((WRITE, SHARED),)), TensorSizeTrait())

    def verify_(self) -> None:
        check_mutable(self.dst.type)
        _check_indexed(self.dst.type, self.indices.type, self.values.type, self.axis.value.data)


class LocalAtomicScatterRMWOp(TritonGPUOp):
    """`tt.atomic_rmw` of the elements that `local_scatter` would write; gives what they were. What other threads of the
    CTA do before or after it is not ordered.

    `%o = ttg.local_atomic_scatter_rmw add, %m[%i], %v, %mask {axis = 0 : i32} :
    (!ttg.memdesc<64xi32, #shared, #smem, mutable>, tensor<32xi32, #blocked>, tensor<32xi32, #blocked>,
    tensor<32xi1, #blocked>) -> tensor<32xi32, #blocked>`
    """

    name = "ttg.local_atomic_scatter_rmw"

    atomic_rmw_op: IntegerAttr = prop_def(MemberOf(RMWOp), converter=RMWOp.attr, kw_only=True)
    dst: Operand = operand_def(MEMDESC)
    values: Operand = operand_def(TENSOR)
    indices: Operand = operand_def(TENSOR)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr, kw_only=True)
    result: Result = inferred_result_def(TENSOR, of="values")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "custom<RMWOp>($atomic_rmw_op) `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict `:` "
        "functional-type(operands, results)"
    )
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))), TensorSizeTrait())

    def verify_(self) -> None:
        check_mutable(self.dst.type)
        _check_indexed(self.dst.type, self.indices.type, self.values.type, self.axis.value.data)
        element = as_tensor(self.values.type).element_type
        if not is_integer(element) and not is_float(element):
            raise VerifyException("values must have integer or floating element type")
        if self.result.type != self.values.type:
            raise VerifyException(f"the result must be like the values, got {self.result.type}")
        if self.mask is not None and as_tensor(self.mask.type).get_shape() != as_tensor(self.values.type).get_shape():
            raise VerifyException(f"the mask must have the shape of the values, got {self.mask.type}")

"""Ops that move elements by computed index within tensors."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, init_op, value_of
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import MASK_OF_SOURCE, TENSOR
from tilewright.dialects.tt.definition import i32_attr, op_definition
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import is_tensor, shape_of
from tilewright.dialects.types import is_signless_integer


@op_definition
class GatherOp(IRDLOperation):
    """`result[.., i, ..] = src[.., indices[.., i, ..], ..]` along one axis.

    `%r = tt.gather %src[%idx] {axis = 0 : i32} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>`
    """

    name = "tt.gather"

    src = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = prop_def(IntegerAttr)
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, src: Value, indices: Value, axis: int, *, efficient_layout: bool = False):
        source, index = value_of(src), value_of(indices)
        properties: dict[str, Attribute] = {"axis": i32_attr(axis)}
        if efficient_layout:
            properties["efficient_layout"] = UNIT
        init_op(self, (source, index), (inference.gather(source.type, index.type),), properties)

    def verify_(self) -> None:
        inference.check_inferred(self.name, inference.gather(self.src.type, self.indices.type), self.result.type)
        source, index = shape_of(self.src.type), shape_of(self.indices.type)
        axis = self.axis.value.data
        if not is_tensor(self.indices.type) or not is_signless_integer(self.indices.type.element_type):
            raise VerifyException(f"indices must be integers, got {self.indices.type}")
        if len(source) != len(index):
            raise VerifyException(f"input and indices ranks must match, got {len(source)} and {len(index)}")
        if not 0 <= axis < len(source):
            raise VerifyException(f"gather dimension must be less than the input rank {len(source)}, got {axis}")
        for dim, (extent, index_extent) in enumerate(zip(source, index, strict=True)):
            if dim != axis and extent != index_extent:
                raise VerifyException(f"indices dimension {dim} must match the corresponding input dimension")


@op_definition
class HistogramOp(IRDLOperation):
    """How often each of 0 .. bins-1 occurs among the (unmasked) elements; other values are undefined behaviour.

    `%h = tt.histogram %x, %mask : tensor<64xi32> -> tensor<16xi32>`
    """

    name = "tt.histogram"

    src = operand_def(VarConstraint("T", TENSOR))
    mask = opt_operand_def(MASK_OF_SOURCE)
    result = result_def(TENSOR)

    assembly_format = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, src: Value, result_type: Attribute, mask: Value | None = None):
        operands = [value_of(src)]
        if mask is not None:
            operands.append(value_of(mask))
        init_op(self, operands, (result_type,))

    def verify_(self) -> None:
        for type in (self.src.type, self.result.type):
            assert is_tensor(type)
            if not is_signless_integer(type.element_type) or type.get_num_dims() != 1:
                raise VerifyException(f"expected a 1D tensor of integers, got {type}")

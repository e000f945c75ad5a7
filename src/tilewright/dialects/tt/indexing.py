"""Ops that move elements by computed index within tensors."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.irdl import ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr, unit_if
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import MASK_OF_SOURCE, TENSOR
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import is_tensor, shape_of
from tilewright.dialects.types import is_signless_integer


class GatherOp(TritonOp):
    """`result[.., i, ..] = src[.., indices[.., i, ..], ..]` along one axis.

    `%r = tt.gather %src[%idx] {axis = 0 : i32} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>`
    """

    name = "tt.gather"

    src: Operand = operand_def(TENSOR)
    indices: Operand = operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    efficient_layout: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    result: Result = inferred_result_def(TENSOR, of=("src", "indices"), by=inference.gather)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)"
    traits = traits_def(Pure(), TensorSizeTrait())

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


class HistogramOp(TritonOp):
    """How often each of 0 .. bins-1 occurs among the (unmasked) elements; other values are undefined behaviour.

    `%h = tt.histogram %x, %mask : tensor<64xi32> -> tensor<16xi32>`
    """

    name = "tt.histogram"

    src: Operand = operand_def(VarConstraint("T", TENSOR))
    result: Result = result_def(TENSOR)
    mask: OptionalOperand = opt_operand_def(MASK_OF_SOURCE, default=None)

    assembly_format = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        for type in (self.src.type, self.result.type):
            assert is_tensor(type)
            if not is_signless_integer(type.element_type) or type.get_num_dims() != 1:
                raise VerifyException(f"expected a 1D tensor of integers, got {type}")

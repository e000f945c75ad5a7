"""Tensors out of nothing, of scalars, or of a region that computes each element."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnitAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import AnyAttr, AttrSizedOperandSegments, VarConstraint, traits_def
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import constant_attr
from tilewright.dialects.construction import (
    Value,
    join_mixed,
    static_values,
    unit_if,
    value_of,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Body,
    I64Array,
    InferableResult,
    MixedOperands,
    Operand,
    Operands,
    Result,
    internal_prop_def,
    mixed_operand_def,
    operand_def,
    opt_prop_def,
    region_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.numeric import array_of, attr_of
from tilewright.dialects.types import I64_ARRAY, INDEX, as_tensor, is_tensor, shapes_agree
from tilewright.ir.wording import BareVerifyException


def _verify_dynamic_sizes(type_: Attribute, sizes: Sequence[SSAValue]) -> None:
    assert isinstance(type_, TensorType)
    dynamic = type_.get_shape().count(DYNAMIC_INDEX)
    if dynamic != len(sizes):
        raise VerifyException(f"incorrect number of dynamic sizes, has {len(sizes)}, expected {dynamic}")


class YieldOp(Op):
    """``tensor.yield %x : f32``: the element that a region computes."""

    name = "tensor.yield"

    value: Operand = operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$value attr-dict `:` type($value)"


class EmptyOp(Op):
    """``%0 = tensor.empty(%n) : tensor<?x4xf32>``: a shape to write into; its elements are undefined."""

    name = "tensor.empty"

    dynamic_sizes: Operands = var_operand_def(INDEX)
    tensor: Result = result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = "`(` $dynamic_sizes `)` attr-dict `:` type($tensor)"

    def verify_(self) -> None:
        _verify_dynamic_sizes(self.results[0].type, self.operands)


def _tensor_of(elements: Sequence[Value]) -> Attribute:
    return TensorType(value_of(elements[0]).type, (len(elements),))


class FromElementsOp(Op):
    """``%t = tensor.from_elements %a, %b : tensor<2xf32>``: the elements in row-major order."""

    name = "tensor.from_elements"

    T: ClassVar = VarConstraint("T", AnyAttr())

    elements: Operands = var_operand_def(T)
    result: InferableResult = result_def(TensorType.constr(T), default=None, of="elements", by=_tensor_of)

    traits = traits_def(Pure())

    assembly_format = "$elements attr-dict `:` type($result)"

    def verify_(self) -> None:
        result_type = self.results[0].type
        assert isinstance(result_type, TensorType)
        if prod(result_type.get_shape()) != len(self.operands):
            raise VerifyException(f"{len(self.operands)} elements do not make a {result_type}")


class SplatOp(Op, HasFolderInterface):
    """``%t = tensor.splat %x[%n] : tensor<?x4xf32>``: one scalar in every place."""

    name = "tensor.splat"

    T: ClassVar = VarConstraint("T", AnyAttr())

    input: Operand = operand_def(T)
    aggregate: Result = result_def(TensorType.constr(T))
    dynamicSizes: Operands = var_operand_def(INDEX, default=())

    traits = traits_def(Pure())

    assembly_format = "$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)"

    def verify_(self) -> None:
        _verify_dynamic_sizes(self.results[0].type, self.operands[1:])

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        constant = constant_attr(self.operands[0])
        values = None if constant is None or len(self.operands) > 1 else array_of(constant)
        return None if values is None else (attr_of(values, self.results[0].type),)


class GenerateOp(Op):
    """``%t = tensor.generate %n { ^bb0(%i: index): ... tensor.yield %x : f32 } : tensor<?xf32>``."""

    name = "tensor.generate"

    dynamicExtents: Operands = var_operand_def(INDEX)
    body: Body = region_def("single_block")
    result: Result = result_def(TensorType)

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp))

    assembly_format = "$dynamicExtents $body attr-dict `:` type($result)"

    def verify_(self) -> None:
        result_type = self.results[0].type
        _verify_dynamic_sizes(result_type, self.operands)
        _verify_element_region(self.body.block, as_tensor(result_type))


class PadOp(Op):
    """``%p = tensor.pad %t low[0, %i] high[1, 2] { ^bb0(%a: index, %b: index): tensor.yield %x : f32 } : tensor<..>
    to tensor<..>``."""

    name = "tensor.pad"

    source: Operand = operand_def(TensorType)
    low: MixedOperands = mixed_operand_def("static_low", INDEX)
    high: MixedOperands = mixed_operand_def("static_high", INDEX)
    static_low: I64Array = internal_prop_def(I64_ARRAY)
    static_high: I64Array = internal_prop_def(I64_ARRAY)
    nofold: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    region: Body = region_def("single_block")
    result: Result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(Pure(), SingleBlockImplicitTerminator(YieldOp))

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low) "
        "`high` `` custom<DynamicIndexList>($high, $static_high) $region attr-dict `:` type($source) `to` type($result)"
    )

    @property
    def mixed_low(self) -> list[int | SSAValue]:
        """The padding before each dimension, in elements; an integer where it is static."""
        return join_mixed(self.static_low, self.low)

    @property
    def mixed_high(self) -> list[int | SSAValue]:
        """The padding after each dimension, in elements; an integer where it is static."""
        return join_mixed(self.static_high, self.high)

    def verify_(self) -> None:
        source_type, result_type = self.source.type, self.results[0].type
        assert is_tensor(source_type) and is_tensor(result_type)
        low, high = static_values(self.static_low), static_values(self.static_high)
        rank = source_type.get_num_dims()
        if not len(low) == len(high) == result_type.get_num_dims() == rank:
            types = f"sourceType '{source_type}', specified resultType is '{result_type}'"
            raise BareVerifyException(f"failed to infer expectedType from {types}")
        sums = [
            DYNAMIC_INDEX if DYNAMIC_INDEX in parts else sum(parts)
            for parts in zip(source_type.get_shape(), low, high, strict=True)
        ]
        if not shapes_agree(result_type.get_shape(), sums):
            expected = TensorType(source_type.element_type, sums, source_type.encoding)
            raise BareVerifyException(f"specified type '{result_type}' does not match the inferred type '{expected}'")
        _verify_element_region(self.region.block, result_type)


def _verify_element_region(block: Block, type_: TensorType[Attribute]) -> None:
    """Check that a region takes one index per dimension and yields an element."""
    if [argument.type for argument in block.args] != [INDEX] * type_.get_num_dims():
        if len(block.args) != type_.get_num_dims():
            raise BareVerifyException(f"expected the block to have {type_.get_num_dims()} arguments")
        index = next(index for index, argument in enumerate(block.args) if argument.type != INDEX)
        raise VerifyException(f"expected block argument {index + 1} to be an index")
    terminator = block.last_op
    if isinstance(terminator, YieldOp) and terminator.operands[0].type != type_.element_type:
        raise VerifyException("expected yield type to match shape element type")

"""Element-wise functions, including those written in assembly or taken from a library."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerAttr, StringAttr, f32
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, i32_attr, string_attr
from tilewright.dialects.fields import (
    Operand,
    Operands,
    Result,
    Results,
    inferred_result_def,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.traits import Elementwise
from tilewright.dialects.tt.constraints import INTEGER_LIKE, SAME_TYPE, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import PropagateNan
from tilewright.dialects.tt.traits import (
    EffectUnlessPure,
    SameOperandsAndResultEncoding,
    SameOperandsAndResultShape,
    TensorSizeTrait,
)
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.types import FLOAT_LIKE, element_type

FLOAT_T = VarConstraint("T", FLOAT_LIKE)
INTEGER_T = VarConstraint("T", INTEGER_LIKE)


class ClampFOp(TritonOp):
    """`min(max(x, low), high)`; a NaN input gives NaN with `propagateNan = all`, a bound without.

    `%r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<16xf32>`
    """

    name = "tt.clampf"

    x: Operand = operand_def(FLOAT_T)
    min: Operand = operand_def(SAME_TYPE)
    max: Operand = operand_def(SAME_TYPE)
    propagate_nan: IntegerAttr = prop_def(
        MemberOf(PropagateNan),
        prop_name="propagateNan",
        converter=PropagateNan.attr,
        default=PropagateNan.NONE,
        kw_only=True,
    )
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="x")

    assembly_format = (
        "$x `,` $min `,` $max `,` `propagateNan` `=` custom<PropagateNan>($propagateNan) attr-dict `:` type($result)"
    )
    traits = traits_def(Pure(), Elementwise(), TensorSizeTrait())


class PreciseSqrtOp(TritonOp):
    """Square root, correctly rounded: `%r = tt.precise_sqrt %x : tensor<16xf32>`."""

    name = "tt.precise_sqrt"

    x: Operand = operand_def(FLOAT_T)
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="x")

    assembly_format = "$x attr-dict `:` type($x)"
    traits = traits_def(Pure(), Elementwise(), TensorSizeTrait())


class PreciseDivFOp(TritonOp):
    """Division, correctly rounded: `%r = tt.precise_divf %a, %b : tensor<16xf32>`."""

    name = "tt.precise_divf"

    x: Operand = operand_def(FLOAT_T)
    y: Operand = operand_def(SAME_TYPE)
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="x")

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), Elementwise(), TensorSizeTrait())


class ApproxDivFOp(TritonOp):
    """Division of f32 within 2 ULP, where the divisor's magnitude lies in [2**-126, 2**126]:
    `%r = tt.approx_divf %a, %b : tensor<16xf32>`."""

    name = "tt.approx_divf"

    x: Operand = operand_def(FLOAT_T)
    y: Operand = operand_def(SAME_TYPE)
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="x")

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), Elementwise(), TensorSizeTrait())

    def verify_(self) -> None:
        if element_type(self.x.type) != f32:
            raise VerifyException(f"tt.approx_divf divides f32, not {self.x.type}")


class MulhiUIOp(TritonOp):
    """The upper half of the product of unsigned integers: `%r = tt.mulhiui %a, %b : tensor<16xi32>`."""

    name = "tt.mulhiui"

    x: Operand = operand_def(INTEGER_T)
    y: Operand = operand_def(SAME_TYPE)
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="x")

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), Elementwise(), TensorSizeTrait())


class ElementwiseInlineAsmOp(TritonOp):
    """Target assembly applied to groups of `packed_element` elements.

    `%r = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true}
    %x : tensor<16xi32> -> tensor<16xi32>`
    """

    name = "tt.elementwise_inline_asm"

    asm_string: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    constraints: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    pure: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, kw_only=True)
    packed_element: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr, default=1, kw_only=True)
    args: Operands = var_operand_def()
    result: Results = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)"
    traits = traits_def(
        EffectUnlessPure(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding()
    )

    def verify_(self) -> None:
        if not self.result:
            raise VerifyException("inline assembly must have at least one result")
        packed = self.packed_element.value.data
        type = self.result[0].type
        if packed > 1 and not is_tensor(type) and len(self.args) > 0:
            raise VerifyException(f"packed_element = {packed} needs tensor operands")
        first = self.args[0].type if self.args else type
        if is_tensor(first) and prod(first.get_shape()) % packed:
            raise VerifyException(
                f"number of input elements {prod(first.get_shape())} must be a multiple of the op's packed_element "
                f"attribute, {packed}"
            )


class ExternElementwiseOp(TritonOp):
    """A library function applied to each element.

    `%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} :
    (tensor<16xf32>) -> tensor<16xf32>`
    """

    name = "tt.extern_elementwise"

    srcs: Operands = var_operand_def()
    libname: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    libpath: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    symbol: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    pure: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, kw_only=True)
    result: Result = result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    traits = traits_def(
        EffectUnlessPure(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding()
    )

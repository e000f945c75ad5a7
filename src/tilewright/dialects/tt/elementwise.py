"""Element-wise functions, including those written in assembly or taken from a library."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, f32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of, values_of
from tilewright.dialects.tt.constraints import INTEGER_LIKE, SAME_TYPE, MemberOf
from tilewright.dialects.tt.definition import bool_attr, i32_attr, op_definition, string_attr
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


@op_definition
class ClampFOp(IRDLOperation):
    """`min(max(x, low), high)`; a NaN input gives NaN with `propagateNan = all`, a bound without.

    `%r = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<16xf32>`
    """

    name = "tt.clampf"

    x = operand_def(FLOAT_T)
    min = operand_def(SAME_TYPE)
    max = operand_def(SAME_TYPE)
    propagate_nan = prop_def(MemberOf(PropagateNan), prop_name="propagateNan")
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = (
        "$x `,` $min `,` $max `,` `propagateNan` `=` custom<PropagateNan>($propagateNan) attr-dict `:` type($result)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(
        self, x: Value, min: Value, max: Value, *, propagate_nan: PropagateNan | int | str = PropagateNan.NONE
    ):
        source = value_of(x)
        init_op(
            self,
            (source, value_of(min), value_of(max)),
            (source.type,),
            {"propagateNan": i32_attr(PropagateNan.get(propagate_nan))},
        )


@op_definition
class PreciseSqrtOp(IRDLOperation):
    """Square root, correctly rounded: `%r = tt.precise_sqrt %x : tensor<16xf32>`."""

    name = "tt.precise_sqrt"

    x = operand_def(FLOAT_T)
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = "$x attr-dict `:` type($x)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, x: Value):
        source = value_of(x)
        init_op(self, (source,), (source.type,))


@op_definition
class PreciseDivFOp(IRDLOperation):
    """Division, correctly rounded: `%r = tt.precise_divf %a, %b : tensor<16xf32>`."""

    name = "tt.precise_divf"

    x = operand_def(FLOAT_T)
    y = operand_def(SAME_TYPE)
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, x: Value, y: Value):
        source = value_of(x)
        init_op(self, (source, value_of(y)), (source.type,))


@op_definition
class ApproxDivFOp(IRDLOperation):
    """Division of f32 within 2 ULP, where the divisor's magnitude lies in [2**-126, 2**126]:
    `%r = tt.approx_divf %a, %b : tensor<16xf32>`."""

    name = "tt.approx_divf"

    x = operand_def(FLOAT_T)
    y = operand_def(SAME_TYPE)
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, x: Value, y: Value):
        source = value_of(x)
        init_op(self, (source, value_of(y)), (source.type,))

    def verify_(self) -> None:
        if element_type(self.x.type) != f32:
            raise VerifyException(f"tt.approx_divf divides f32, not {self.x.type}")


@op_definition
class MulhiUIOp(IRDLOperation):
    """The upper half of the product of unsigned integers: `%r = tt.mulhiui %a, %b : tensor<16xi32>`."""

    name = "tt.mulhiui"

    x = operand_def(INTEGER_T)
    y = operand_def(SAME_TYPE)
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = "$x `,` $y attr-dict `:` type($x)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, x: Value, y: Value):
        source = value_of(x)
        init_op(self, (source, value_of(y)), (source.type,))


@op_definition
class ElementwiseInlineAsmOp(IRDLOperation):
    """Target assembly applied to groups of `packed_element` elements.

    `%r = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true}
    %x : tensor<16xi32> -> tensor<16xi32>`
    """

    name = "tt.elementwise_inline_asm"

    asm_string = prop_def(StringAttr)
    constraints = prop_def(StringAttr)
    pure = prop_def(IntegerAttr)
    packed_element = prop_def(IntegerAttr)
    args = var_operand_def()
    result = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)"
    traits = traits_def(
        EffectUnlessPure(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding()
    )

    def __init__(
        self,
        args: Sequence[Value],
        result_types: Sequence[Attribute],
        *,
        asm_string: str,
        constraints: str,
        pure: bool,
        packed_element: int = 1,
    ):
        init_op(
            self,
            values_of(args),
            result_types,
            {
                "asm_string": string_attr(asm_string),
                "constraints": string_attr(constraints),
                "packed_element": i32_attr(packed_element),
                "pure": bool_attr(pure),
            },
        )

    def verify_(self) -> None:
        if not self.result:
            raise VerifyException("inline assembly must have at least one result")
        packed = self.packed_element.value.data
        type = self.result[0].type
        if packed > 1 and not is_tensor(type) and len(self.args) > 0:
            raise VerifyException(f"packed_element = {packed} needs tensor operands")


@op_definition
class ExternElementwiseOp(IRDLOperation):
    """A library function applied to each element.

    `%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} :
    (tensor<16xf32>) -> tensor<16xf32>`
    """

    name = "tt.extern_elementwise"

    srcs = var_operand_def()
    libname = prop_def(StringAttr)
    libpath = prop_def(StringAttr)
    symbol = prop_def(StringAttr)
    pure = prop_def(IntegerAttr)
    result = result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    traits = traits_def(
        EffectUnlessPure(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding()
    )

    def __init__(
        self,
        srcs: Sequence[Value],
        result_type: Attribute,
        *,
        libname: str,
        libpath: str,
        symbol: str,
        pure: bool,
    ):
        init_op(
            self,
            values_of(srcs),
            (result_type,),
            {
                "libname": string_attr(libname),
                "libpath": string_attr(libpath),
                "pure": bool_attr(pure),
                "symbol": string_attr(symbol),
            },
        )

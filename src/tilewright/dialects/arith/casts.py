"""Conversions between number types, on scalars, vectors and tensors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import (
    NO_OVERFLOW,
    FastMathFlagsAttr,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeKeyword,
    fastmath_attr,
    overflow_attr,
)
from tilewright.dialects.arith.floating import FastMath
from tilewright.dialects.construction import Value, init_op, int_attr, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import (
    FIXED_INTEGER_LIKE,
    FLOAT_LIKE,
    INTEGER_LIKE,
    TypeWhere,
    bit_width,
    element_type,
    is_float,
    is_integer_or_index,
    same_shape,
)

BITCASTABLE = TypeWhere(
    "integers or floats", lambda t: is_float(element_type(t)) or is_integer_or_index(element_type(t))
)


class CastOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = arith.op %x : tensor<4xi32> to tensor<4xi64>``: operand and result agree in shape."""

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: Value, result_type: Attribute) -> None:
        init_op(self, (value_of(value),), (result_type,))

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not same_shape(source, target):
            raise VerifyException(f"{source} and {target} differ in shape")
        self.verify_elements(element_type(source), element_type(target))

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        """Check that the element types may be cast; nothing to check by default."""

    def incompatible(self) -> VerifyException:
        """The error for two types that may not be cast."""
        source, target = self.operands[0].type, self.results[0].type
        return VerifyException(f"operand type '{source}' and result type '{target}' are cast incompatible")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_cast(self)


class WideningOp(CastOp, ABC):
    """A cast to a wider type."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if bit_width(target) <= bit_width(source):
            raise self.incompatible()


class NarrowingOp(CastOp, ABC):
    """A cast to a narrower type."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if bit_width(target) >= bit_width(source):
            raise self.incompatible()


@op_definition
class ExtUIOp(WideningOp):
    """Widen with zeros."""

    name = "arith.extui"
    input = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(FIXED_INTEGER_LIKE)


@op_definition
class ExtSIOp(WideningOp):
    """Widen with the sign."""

    name = "arith.extsi"
    input = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(FIXED_INTEGER_LIKE)


@op_definition
class TruncIOp(NarrowingOp):
    """Keep the low bits."""

    name = "arith.trunci"
    input = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(FIXED_INTEGER_LIKE)
    overflow_flags = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW, prop_name="overflowFlags")

    assembly_format = "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result)"

    def __init__(
        self, value: Value, result_type: Attribute, *, overflow: IntegerOverflowAttr | Iterable[str] | None = None
    ) -> None:
        init_op(self, (value_of(value),), (result_type,), {"overflowFlags": overflow_attr(overflow)})


@op_definition
class ExtFOp(WideningOp):
    """Widen a float, exactly."""

    name = "arith.extf"
    input = operand_def(FLOAT_LIKE)
    result = result_def(FLOAT_LIKE)
    fastmath = opt_prop_def(FastMathFlagsAttr)

    assembly_format = "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: Value, result_type: Attribute, *, fastmath: FastMath = None) -> None:
        properties = None if fastmath is None else {"fastmath": fastmath_attr(fastmath)}
        init_op(self, (value_of(value),), (result_type,), properties)


@op_definition
class TruncFOp(NarrowingOp):
    """Narrow a float, rounding to nearest even unless told otherwise."""

    name = "arith.truncf"
    input = operand_def(FLOAT_LIKE)
    result = result_def(FLOAT_LIKE)
    roundingmode = opt_prop_def(IntegerAttr)
    fastmath = opt_prop_def(FastMathFlagsAttr)

    custom_directives = (RoundingModeKeyword,)
    assembly_format = (
        "$input (custom<RoundingModeKeyword>($roundingmode)^)? (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($input) `to` type($result)"
    )

    def __init__(
        self,
        value: Value,
        result_type: Attribute,
        *,
        rounding: RoundingMode | str | None = None,
        fastmath: FastMath = None,
    ) -> None:
        properties: dict[str, Attribute] = {}
        if isinstance(rounding, str):
            rounding = RoundingMode[rounding.upper()]
        if rounding is not None:
            properties["roundingmode"] = int_attr(int(rounding), 32)
        if fastmath is not None:
            properties["fastmath"] = fastmath_attr(fastmath)
        init_op(self, (value_of(value),), (result_type,), properties)

    @property
    def rounding(self) -> RoundingMode:
        """The rounding mode; nearest even when the op names none."""
        mode = self.roundingmode
        return RoundingMode.TO_NEAREST_EVEN if mode is None else RoundingMode(mode.value.data)


@op_definition
class SIToFPOp(CastOp):
    """From a signed integer, rounding to nearest even."""

    name = "arith.sitofp"
    input = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(FLOAT_LIKE)


@op_definition
class UIToFPOp(CastOp):
    """From an unsigned integer, rounding to nearest even."""

    name = "arith.uitofp"
    input = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(FLOAT_LIKE)


@op_definition
class FPToSIOp(CastOp):
    """To a signed integer, rounding towards zero; undefined when it does not fit."""

    name = "arith.fptosi"
    input = operand_def(FLOAT_LIKE)
    result = result_def(FIXED_INTEGER_LIKE)


@op_definition
class FPToUIOp(CastOp):
    """To an unsigned integer, rounding towards zero; undefined when it does not fit."""

    name = "arith.fptoui"
    input = operand_def(FLOAT_LIKE)
    result = result_def(FIXED_INTEGER_LIKE)


class IndexCastLikeOp(CastOp, ABC):
    """A cast between ``index`` and a fixed-width integer."""

    input = operand_def(INTEGER_LIKE)
    result = result_def(INTEGER_LIKE)

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(f"one of {source} and {target} must be index")


@op_definition
class IndexCastOp(IndexCastLikeOp):
    """Between ``index`` and an integer, widening with the sign."""

    name = "arith.index_cast"


@op_definition
class IndexCastUIOp(IndexCastLikeOp):
    """Between ``index`` and an integer, widening with zeros."""

    name = "arith.index_castui"


@op_definition
class BitcastOp(CastOp):
    """The same bits as another type of equal width."""

    name = "arith.bitcast"
    input = operand_def(BITCASTABLE)
    result = result_def(BITCASTABLE)

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if bit_width(source) != bit_width(target):
            raise self.incompatible()

"""Conversions between number types, on scalars, vectors and tensors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.attributes import (
    NO_OVERFLOW,
    FastMathFlagsAttr,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeKeyword,
    fastmath_attr,
    overflow_attr,
    rounding_attr,
)
from tilewright.dialects.arith.cast_folding import fold_cast
from tilewright.dialects.construction import optional
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, operand_def, opt_prop_def, prop_def, result_def
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import (
    FIXED_INTEGER_LIKE,
    FLOAT_LIKE,
    TypeWhere,
    bit_width,
    element_type,
    is_float,
    is_integer_or_index,
    is_signless_integer,
    same_shape,
)

BITCASTABLE = TypeWhere(
    "signless-integer-or-float-like or memref of signless-integer or float",
    lambda t: is_float(element_type(t)) or is_signless_integer(element_type(t)),
)
CASTABLE_TO_INDEX = TypeWhere(
    "signless-integer-like or memref of signless-integer", lambda t: is_integer_or_index(element_type(t))
)


class CastOp(Op, HasFolderInterface, ABC):
    """``%r = arith.op %x : tensor<4xi32> to tensor<4xi64>``: operand and result agree in shape."""

    input: Operand = operand_def()
    result: Result = result_def()

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not same_shape(source, target):
            raise VerifyException("failed to verify that input and output have the same tensor dimensions")
        self.verify_elements(element_type(source), element_type(target))

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        """Check that the element types may be cast; nothing to check by default."""

    def incompatible(self) -> VerifyException:
        """The error for two types that may not be cast."""
        source, target = self.operands[0].type, self.results[0].type
        return VerifyException(f"operand type '{source}' and result type '{target}' are cast incompatible")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return fold_cast(self)


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


class ExtUIOp(WideningOp):
    """``%r = arith.extui %x : tensor<4xi8> to tensor<4xi32>``: widen with zeros."""

    name = "arith.extui"
    input: Operand = operand_def(FIXED_INTEGER_LIKE)
    result: Result = result_def(FIXED_INTEGER_LIKE)


class ExtSIOp(WideningOp):
    """``%r = arith.extsi %x : i8 to i32``: widen with the sign."""

    name = "arith.extsi"
    input: Operand = operand_def(FIXED_INTEGER_LIKE)
    result: Result = result_def(FIXED_INTEGER_LIKE)


class TruncIOp(NarrowingOp):
    """``%r = arith.trunci %x : i64 to i32``: keep the low bits."""

    name = "arith.trunci"
    input: Operand = operand_def(FIXED_INTEGER_LIKE)
    result: Result = result_def(FIXED_INTEGER_LIKE)
    overflow_flags: IntegerOverflowAttr = prop_def(
        IntegerOverflowAttr,
        default_value=NO_OVERFLOW,
        prop_name="overflowFlags",
        converter=overflow_attr,
        default=None,
        kw_only=True,
    )

    assembly_format = "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result)"


class ExtFOp(WideningOp):
    """``%r = arith.extf %x : f16 to f32``: widen a float, exactly."""

    name = "arith.extf"
    input: Operand = operand_def(FLOAT_LIKE)
    result: Result = result_def(FLOAT_LIKE)
    fastmath: FastMathFlagsAttr | None = opt_prop_def(
        FastMathFlagsAttr, converter=optional(fastmath_attr), default=None
    )

    assembly_format = "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result)"


class TruncFOp(NarrowingOp):
    """``%r = arith.truncf %x : f32 to bf16``: narrow a float, rounding to nearest even unless told otherwise."""

    name = "arith.truncf"
    input: Operand = operand_def(FLOAT_LIKE)
    result: Result = result_def(FLOAT_LIKE)
    roundingmode: IntegerAttr | None = opt_prop_def(IntegerAttr, converter=rounding_attr, default=None)
    fastmath: FastMathFlagsAttr | None = opt_prop_def(
        FastMathFlagsAttr, converter=optional(fastmath_attr), default=None
    )

    custom_directives = (RoundingModeKeyword,)
    assembly_format = (
        "$input (custom<RoundingModeKeyword>($roundingmode)^)? (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($input) `to` type($result)"
    )

    @property
    def rounding(self) -> RoundingMode:
        """The rounding mode; nearest even when the op names none."""
        mode = self.roundingmode
        return RoundingMode.TO_NEAREST_EVEN if mode is None else RoundingMode(mode.value.data)


class SIToFPOp(CastOp):
    """``%r = arith.sitofp %x : i8 to f32``: from a signed integer, rounding to nearest even."""

    name = "arith.sitofp"
    input: Operand = operand_def(FIXED_INTEGER_LIKE)
    result: Result = result_def(FLOAT_LIKE)


class UIToFPOp(CastOp):
    """``%r = arith.uitofp %x : vector<4xi32> to vector<4xf64>``: from an unsigned integer, rounding to nearest even."""

    name = "arith.uitofp"
    input: Operand = operand_def(FIXED_INTEGER_LIKE)
    result: Result = result_def(FLOAT_LIKE)


class FPToSIOp(CastOp):
    """``%r = arith.fptosi %x : tensor<4xf32> to tensor<4xi32>``: to a signed integer, rounding towards zero; undefined
    when it does not fit."""

    name = "arith.fptosi"
    input: Operand = operand_def(FLOAT_LIKE)
    result: Result = result_def(FIXED_INTEGER_LIKE)


class FPToUIOp(CastOp):
    """``%r = arith.fptoui %x : f32 to i8``: to an unsigned integer, rounding towards zero; undefined when it does not
    fit."""

    name = "arith.fptoui"
    input: Operand = operand_def(FLOAT_LIKE)
    result: Result = result_def(FIXED_INTEGER_LIKE)


class IndexCastLikeOp(CastOp, ABC):
    """A cast between ``index`` and a fixed-width integer."""

    input: Operand = operand_def(CASTABLE_TO_INDEX)
    result: Result = result_def(CASTABLE_TO_INDEX)

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise self.incompatible()


class IndexCastOp(IndexCastLikeOp):
    """``%r = arith.index_cast %x : index to i32``: between ``index`` and an integer, widening with the sign."""

    name = "arith.index_cast"


class IndexCastUIOp(IndexCastLikeOp):
    """``%r = arith.index_castui %x : i64 to index``: between ``index`` and an integer, widening with zeros."""

    name = "arith.index_castui"


class BitcastOp(CastOp):
    """``%r = arith.bitcast %x : f32 to i32``: the same bits as another type of equal width."""

    name = "arith.bitcast"
    input: Operand = operand_def(BITCASTABLE)
    result: Result = result_def(BITCASTABLE)

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if bit_width(source) != bit_width(target):
            raise self.incompatible()

"""Functions of integers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure

from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.math import meaning
from tilewright.dialects.math.shapes import IntegerUnaryOp, MathOp
from tilewright.dialects.numeric import Array
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE, bit_width, element_type


class AbsIOp(IntegerUnaryOp):
    """``%r = math.absi %a : i32``: ``|x|``; the smallest integer stays."""

    name = "math.absi"
    FUNCTION: ClassVar = staticmethod(meaning.magnitude)


class CtPopOp(IntegerUnaryOp):
    """``%r = math.ctpop %a : i32``: the number of bits set."""

    name = "math.ctpop"
    FUNCTION: ClassVar = staticmethod(meaning.count_ones)


class CountLeadingZerosOp(IntegerUnaryOp):
    """``%r = math.ctlz %a : i32``: the number of zeros above the highest bit set; the width for 0."""

    name = "math.ctlz"
    FUNCTION: ClassVar = staticmethod(meaning.count_leading_zeros)


class CountTrailingZerosOp(IntegerUnaryOp):
    """``%r = math.cttz %a : i32``: the number of zeros below the lowest bit set; the width for 0."""

    name = "math.cttz"
    FUNCTION: ClassVar = staticmethod(meaning.count_trailing_zeros)


class IPowIOp(MathOp):
    """``%r = math.ipowi %x, %n : i32``: an integer to a signed integer power, modulo 2^width."""

    name = "math.ipowi"
    EXACT: ClassVar = True

    T: ClassVar = VarConstraint("T", FIXED_INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        base, exponent = operands
        return meaning.integer_power(base, exponent, bit_width(element_type(self.lhs.type)))

    def is_defined(self, *operands: Array) -> bool:
        base, exponent = operands
        return base.dtype != np.bool_ and not np.any((base == 0) & (exponent < 0))

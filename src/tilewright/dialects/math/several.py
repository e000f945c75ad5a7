"""Functions of three operands, of mixed operands, or with two results."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.attributes import FastMathOp
from tilewright.dialects.arith.meaning import FLOAT_BINARY, as_signed, round_floats
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.math import meaning
from tilewright.dialects.math.shapes import MathOp
from tilewright.dialects.numeric import Array
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE, INTEGER_LIKE, bit_width, element_type


class FmaOp(FastMathOp, MathOp):
    """``%r = math.fma %a, %b, %c : f32``: ``a * b + c``, rounded once."""

    name = "math.fma"
    EXACT: ClassVar = True

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    a: Operand = operand_def(T)
    b: Operand = operand_def(T)
    c: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        return meaning.fused_multiply_add(*operands)


class ClampFOp(FastMathOp, MathOp):
    """``%r = math.clampf %x to [%min, %max] : f32``; NaN if any operand is."""

    name = "math.clampf"
    EXACT: ClassVar = True

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    value: Operand = operand_def(T)
    min: Operand = operand_def(T)
    max: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        value, low, high = operands
        return FLOAT_BINARY["arith.minimumf"](FLOAT_BINARY["arith.maximumf"](value, low), high)


class SincosOp(FastMathOp):
    """``%sin, %cos = math.sincos %x : f32``."""

    name = "math.sincos"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    sin: Result = inferred_result_def(T)
    cos: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"


class FPowIOp(FastMathOp, MathOp):
    """``%r = math.fpowi %x, %n : f32, i32``: a float to a signed integer power."""

    name = "math.fpowi"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(INTEGER_LIKE)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)"

    def evaluate(self, *operands: Array) -> Array:
        base, exponent = operands
        power = as_signed(exponent, bit_width(element_type(self.rhs.type))).astype(np.float64)
        return round_floats(np.asarray(np.power(base.astype(np.float64), power)), base.dtype)

"""Functions of three operands, of mixed operands, or with two results."""

from __future__ import annotations

from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.irdl import IRDLOperation, VarConstraint, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.attributes import NO_FASTMATH, FastMathFlagsAttr, fastmath_attr
from tilewright.dialects.arith.floating import FastMath
from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.math import folding
from tilewright.dialects.math.shapes import Folded
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE, FLOAT_LIKE


@op_definition
class FmaOp(IRDLOperation, HasFolderInterface):
    """``%r = math.fma %a, %b, %c : f32``: ``a * b + c``, rounded once."""

    name = "math.fma"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, a: Value, b: Value, c: Value, *, fastmath: FastMath = None) -> None:
        a = value_of(a)
        init_op(self, (a, value_of(b), value_of(c)), (a.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Folded:
        return folding.fold_exact(self)


@op_definition
class ClampFOp(IRDLOperation, HasFolderInterface):
    """``%r = math.clampf %x to [%min, %max] : f32``; NaN if any operand is."""

    name = "math.clampf"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    value = operand_def(T)
    min = operand_def(T)
    max = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, value: Value, min: Value, max: Value, *, fastmath: FastMath = None) -> None:
        value = value_of(value)
        init_op(self, (value, value_of(min), value_of(max)), (value.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Folded:
        return folding.fold_exact(self)


@op_definition
class SincosOp(IRDLOperation):
    """``%sin, %cos = math.sincos %x : f32``."""

    name = "math.sincos"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand = operand_def(T)
    sin = result_def(T)
    cos = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"

    def __init__(self, operand: Value, *, fastmath: FastMath = None) -> None:
        operand = value_of(operand)
        init_op(self, (operand,), (operand.type, operand.type), {"fastmath": fastmath_attr(fastmath)})


@op_definition
class FPowIOp(IRDLOperation):
    """``%r = math.fpowi %x, %n : f32, i32``: a float to a signed integer power."""

    name = "math.fpowi"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(FIXED_INTEGER_LIKE)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)"

    def __init__(self, lhs: Value, rhs: Value, *, fastmath: FastMath = None) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,), {"fastmath": fastmath_attr(fastmath)})

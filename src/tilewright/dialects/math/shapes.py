"""The shapes that math ops come in."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, VarConstraint, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.attributes import NO_FASTMATH, FastMathFlagsAttr, fastmath_attr
from tilewright.dialects.arith.floating import FastMath
from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.math import folding
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE, INTEGER_LIKE, BoolLikeOf, bool_like

Folded = Sequence[SSAValue | Attribute] | None


class FloatUnaryOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = math.exp %x fastmath<afn> : tensor<4xf32>``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, operand: Value, *, fastmath: FastMath = None) -> None:
        operand = value_of(operand)
        init_op(self, (operand,), (operand.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class FloatBinaryOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = math.atan2 %y, %x : f32``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value, *, fastmath: FastMath = None) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class FloatTestOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = math.isnan %x : tensor<4xf32>``: i1 in the shape of the operand."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand = operand_def(T)
    result = result_def(BoolLikeOf(T))
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"

    def __init__(self, operand: Value, *, fastmath: FastMath = None) -> None:
        operand = value_of(operand)
        init_op(self, (operand,), (bool_like(operand.type),), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class IntegerUnaryOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = math.ctpop %x : i32``."""

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    operand = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand attr-dict `:` type($result)"

    def __init__(self, operand: Value) -> None:
        operand = value_of(operand)
        init_op(self, (operand,), (operand.type,))

    def fold(self) -> Folded:
        return folding.fold_exact(self)

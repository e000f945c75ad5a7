"""The shapes that math ops come in."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.attributes import FastMathOp
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.math import folding
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE, INTEGER_LIKE, BoolLikeOf, bool_like

Folded = Sequence[SSAValue | Attribute] | None


class FloatUnaryOp(FastMathOp, HasFolderInterface, ABC):
    """``%r = math.exp %x fastmath<afn> : tensor<4xf32>``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class FloatBinaryOp(FastMathOp, HasFolderInterface, ABC):
    """``%r = math.atan2 %y, %x : f32``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class FloatTestOp(FastMathOp, HasFolderInterface, ABC):
    """``%r = math.isnan %x : tensor<4xf32>``: i1 in the shape of the operand."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(BoolLikeOf(T), of="operand", by=bool_like)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"

    def fold(self) -> Folded:
        return folding.fold_exact(self)


class IntegerUnaryOp(Op, HasFolderInterface, ABC):
    """``%r = math.ctpop %x : i32``."""

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand attr-dict `:` type($result)"

    def fold(self) -> Folded:
        return folding.fold_exact(self)

"""The shapes that math ops come in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.attributes import FastMathOp
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.math import folding, meaning
from tilewright.dialects.numeric import Array
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE, INTEGER_LIKE, BoolLikeOf, bit_width, bool_like, element_type

Folded = Sequence[SSAValue | Attribute] | None


class MathOp(Op, HasFolderInterface, ABC):
    """A function of numbers. Its class says what it computes on NumPy arrays: the reference and folding ask it."""

    EXACT: ClassVar[bool] = False
    """Whether the result is the same on every machine: IEEE says it to the last bit, or no rounding is involved."""

    @abstractmethod
    def evaluate(self, *operands: Array) -> Array:
        """The result for operands of its types: all elements at once."""

    def is_defined(self, *operands: Array) -> bool:
        """Return whether the result is defined for all elements of these operands."""
        return True

    def fold(self) -> Folded:
        """The constant that exact functions of constants give."""
        return folding.fold_exact(self)


class FloatUnaryOp(FastMathOp, MathOp, ABC):
    """``%r = math.exp %x fastmath<afn> : tensor<4xf32>``."""

    FUNCTION: ClassVar[Callable[..., Any]]
    """What it computes of floats that NumPy has."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        return meaning.computed(self.FUNCTION, *operands)


class FloatBinaryOp(FastMathOp, MathOp, ABC):
    """``%r = math.atan2 %y, %x : f32``."""

    FUNCTION: ClassVar[Callable[..., Any]]
    """What it computes of floats that NumPy has."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        return meaning.computed(self.FUNCTION, *operands)


class FloatTestOp(FastMathOp, MathOp, ABC):
    """``%r = math.isnan %x : tensor<4xf32>``: i1 in the shape of the operand."""

    FUNCTION: ClassVar[Callable[..., Any]]
    """What it computes of floats that NumPy has."""
    EXACT: ClassVar[bool] = True

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(BoolLikeOf(T), of="operand", by=bool_like)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"

    def evaluate(self, *operands: Array) -> Array:
        return np.asarray(self.FUNCTION(meaning.widened(operands[0])))


class IntegerUnaryOp(MathOp, ABC):
    """``%r = math.ctpop %x : i32``."""

    FUNCTION: ClassVar[Callable[[Array, int], Array]]
    """What it computes of integers of a width."""
    EXACT: ClassVar[bool] = True

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand attr-dict `:` type($result)"

    def evaluate(self, *operands: Array) -> Array:
        width = bit_width(element_type(self.operand.type))
        return meaning.in_type(self.FUNCTION(operands[0], width), operands[0])

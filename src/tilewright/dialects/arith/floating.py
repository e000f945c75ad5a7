"""Floating-point ops of arith: on scalars, vectors and tensors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Commutative, Pure

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import FastMathFlagsAttr, FastMathOp
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE

FastMath = FastMathFlagsAttr | Iterable[str] | None


class FloatBinaryOp(FastMathOp, HasFolderInterface, ABC):
    """``%r = arith.addf %lhs, %rhs fastmath<contract> : f32``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_float_binary(self)


class AddfOp(FloatBinaryOp):
    """``%r = arith.addf %a, %b : f32``: ``lhs + rhs``, rounded to nearest even."""

    name = "arith.addf"
    traits = traits_def(Pure(), Commutative())


class SubfOp(FloatBinaryOp):
    """``%r = arith.subf %a, %b : f32``: ``lhs - rhs``."""

    name = "arith.subf"
    traits = traits_def(Pure())


class MulfOp(FloatBinaryOp):
    """``%r = arith.mulf %a, %b : f32``: ``lhs * rhs``."""

    name = "arith.mulf"
    traits = traits_def(Pure(), Commutative())


class DivfOp(FloatBinaryOp):
    """``%r = arith.divf %a, %b : f32``: ``lhs / rhs``; division by zero gives infinity or NaN as IEEE says."""

    name = "arith.divf"
    traits = traits_def(Pure())


class RemFOp(FloatBinaryOp):
    """``%r = arith.remf %a, %b : f32``: the remainder of a division rounded towards zero, with the sign of the left
    operand (C's ``fmod``)."""

    name = "arith.remf"
    traits = traits_def(Pure())


class MaximumfOp(FloatBinaryOp):
    """``%r = arith.maximumf %a, %b : f32``: the larger; NaN if either is NaN; -0.0 is less than +0.0."""

    name = "arith.maximumf"
    traits = traits_def(Pure(), Commutative())


class MinimumfOp(FloatBinaryOp):
    """``%r = arith.minimumf %a, %b : f32``: the smaller; NaN if either is NaN; -0.0 is less than +0.0."""

    name = "arith.minimumf"
    traits = traits_def(Pure(), Commutative())


class MaxnumfOp(FloatBinaryOp):
    """``%r = arith.maxnumf %a, %b : f32``: the larger; the other operand if one is NaN; either zero for zeros of both
    signs."""

    name = "arith.maxnumf"
    traits = traits_def(Pure(), Commutative())


class MinnumfOp(FloatBinaryOp):
    """``%r = arith.minnumf %a, %b : f32``: the smaller; the other operand if one is NaN; either zero for zeros of both
    signs."""

    name = "arith.minnumf"
    traits = traits_def(Pure(), Commutative())


class NegfOp(FastMathOp, HasFolderInterface):
    """``%r = arith.negf %x : f32``: flips the sign bit, of NaN too."""

    name = "arith.negf"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        inner = self.operands[0].owner
        if isinstance(inner, NegfOp):
            return (inner.operands[0],)
        return folding.fold_constants(self)

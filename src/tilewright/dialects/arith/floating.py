"""Floating-point ops of arith: on scalars, vectors and tensors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, VarConstraint, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Commutative, Pure

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import NO_FASTMATH, FastMathFlagsAttr, fastmath_attr
from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FLOAT_LIKE

FastMath = FastMathFlagsAttr | Iterable[str] | None


class FloatBinaryOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = arith.addf %lhs, %rhs fastmath<contract> : f32``."""

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value, *, fastmath: FastMath = None) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_float_binary(self)


@op_definition
class AddfOp(FloatBinaryOp):
    """``lhs + rhs``, rounded to nearest even."""

    name = "arith.addf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class SubfOp(FloatBinaryOp):
    """``lhs - rhs``."""

    name = "arith.subf"
    traits = traits_def(Pure())


@op_definition
class MulfOp(FloatBinaryOp):
    """``lhs * rhs``."""

    name = "arith.mulf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class DivfOp(FloatBinaryOp):
    """``lhs / rhs``; division by zero gives infinity or NaN as IEEE says."""

    name = "arith.divf"
    traits = traits_def(Pure())


@op_definition
class RemFOp(FloatBinaryOp):
    """The remainder of a division rounded towards zero, with the sign of the left operand (C's ``fmod``)."""

    name = "arith.remf"
    traits = traits_def(Pure())


@op_definition
class MaximumfOp(FloatBinaryOp):
    """The larger; NaN if either is NaN; -0.0 is less than +0.0."""

    name = "arith.maximumf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MinimumfOp(FloatBinaryOp):
    """The smaller; NaN if either is NaN; -0.0 is less than +0.0."""

    name = "arith.minimumf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MaxnumfOp(FloatBinaryOp):
    """The larger; the other operand if one is NaN; either zero for zeros of both signs."""

    name = "arith.maxnumf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MinnumfOp(FloatBinaryOp):
    """The smaller; the other operand if one is NaN; either zero for zeros of both signs."""

    name = "arith.minnumf"
    traits = traits_def(Pure(), Commutative())


@op_definition
class NegfOp(IRDLOperation, HasFolderInterface):
    """``%r = arith.negf %x : f32``: flips the sign bit, of NaN too."""

    name = "arith.negf"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    operand = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FASTMATH)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, operand: Value, *, fastmath: FastMath = None) -> None:
        operand = value_of(operand)
        init_op(self, (operand,), (operand.type,), {"fastmath": fastmath_attr(fastmath)})

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        inner = self.operands[0].owner
        if isinstance(inner, NegfOp):
            return (inner.operands[0],)
        return folding.fold_constants(self)

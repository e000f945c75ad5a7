"""Integer ops of arith: on scalars, vectors and tensors of signless integers and index."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.interfaces import ConditionallySpeculatableInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Commutative, NoMemoryEffect, Pure

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import NO_OVERFLOW, IntegerOverflowAttr, overflow_attr
from tilewright.dialects.arith.constant import constant_attr
from tilewright.dialects.construction import UNIT, Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE, INTEGER_LIKE, BoolLikeOf, bool_like


class IntegerBinaryOp(IRDLOperation, HasFolderInterface, ABC):
    """``%r = arith.op %lhs, %rhs : type``: two operands and a result of one type."""

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_integer_binary(self)


class IntegerBinaryOpWithOverflow(IntegerBinaryOp, ABC):
    """An integer op that may promise not to overflow: ``arith.addi %a, %b overflow<nsw> : i32``."""

    overflow_flags = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW, prop_name="overflowFlags")

    assembly_format = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value, *, overflow: IntegerOverflowAttr | Iterable[str] | None = None) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,), {"overflowFlags": overflow_attr(overflow)})


class ExactIntegerBinaryOp(IntegerBinaryOp, ABC):
    """An integer op that may promise a zero remainder: ``arith.divsi %a, %b exact : i32``."""

    is_exact = opt_prop_def(UnitAttr, prop_name="isExact")

    assembly_format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value, *, exact: bool = False) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,), {"isExact": UNIT} if exact else None)


class DivisionLikeOp(ConditionallySpeculatableInterface, ABC):
    """Undefined for some divisors, so it may only be hoisted when the divisor is a harmless constant."""

    def is_speculatable(self) -> bool:
        divisor = constant_attr(self.operands[1])
        return divisor is not None and folding.is_harmless_divisor(
            divisor, signed=self.name in folding.SIGNED_DIVISIONS
        )


@op_definition
class AddiOp(IntegerBinaryOpWithOverflow):
    """``lhs + rhs``, modulo 2^width."""

    name = "arith.addi"
    traits = traits_def(Pure(), Commutative())


@op_definition
class SubiOp(IntegerBinaryOpWithOverflow):
    """``lhs - rhs``, modulo 2^width."""

    name = "arith.subi"
    traits = traits_def(Pure())


@op_definition
class MuliOp(IntegerBinaryOpWithOverflow):
    """``lhs * rhs``, modulo 2^width."""

    name = "arith.muli"
    traits = traits_def(Pure(), Commutative())


@op_definition
class DivUIOp(ExactIntegerBinaryOp, DivisionLikeOp):
    """Unsigned division, rounding towards zero."""

    name = "arith.divui"
    traits = traits_def(NoMemoryEffect())


@op_definition
class DivSIOp(ExactIntegerBinaryOp, DivisionLikeOp):
    """Signed division, rounding towards zero: ``-7 / 2 = -3``."""

    name = "arith.divsi"
    traits = traits_def(NoMemoryEffect())


@op_definition
class CeilDivUIOp(IntegerBinaryOp, DivisionLikeOp):
    """Unsigned division, rounding up."""

    name = "arith.ceildivui"
    traits = traits_def(NoMemoryEffect())


@op_definition
class CeilDivSIOp(IntegerBinaryOp, DivisionLikeOp):
    """Signed division, rounding towards positive infinity: ``-7 / 2 = -3``, ``7 / 2 = 4``."""

    name = "arith.ceildivsi"
    traits = traits_def(NoMemoryEffect())


@op_definition
class FloorDivSIOp(IntegerBinaryOp, DivisionLikeOp):
    """Signed division, rounding towards negative infinity: ``-7 / 2 = -4``."""

    name = "arith.floordivsi"
    traits = traits_def(NoMemoryEffect())


@op_definition
class RemUIOp(IntegerBinaryOp, DivisionLikeOp):
    """The remainder of :class:`DivUIOp`."""

    name = "arith.remui"
    traits = traits_def(NoMemoryEffect())


@op_definition
class RemSIOp(IntegerBinaryOp, DivisionLikeOp):
    """The remainder of :class:`DivSIOp`, with the sign of the left operand: ``-7 rem 2 = -1``."""

    name = "arith.remsi"
    traits = traits_def(NoMemoryEffect())


@op_definition
class AndIOp(IntegerBinaryOp):
    """Bitwise and."""

    name = "arith.andi"
    traits = traits_def(Pure(), Commutative())


@op_definition
class OrIOp(IntegerBinaryOp):
    """Bitwise or."""

    name = "arith.ori"
    traits = traits_def(Pure(), Commutative())


@op_definition
class XOrIOp(IntegerBinaryOp):
    """Bitwise exclusive or."""

    name = "arith.xori"
    traits = traits_def(Pure(), Commutative())


@op_definition
class ShLIOp(IntegerBinaryOpWithOverflow):
    """Shift left; undefined when the amount (unsigned) is not below the width."""

    name = "arith.shli"
    traits = traits_def(Pure())


@op_definition
class ShRUIOp(ExactIntegerBinaryOp):
    """Shift right, filling with zeros."""

    name = "arith.shrui"
    traits = traits_def(Pure())


@op_definition
class ShRSIOp(ExactIntegerBinaryOp):
    """Shift right, filling with the sign."""

    name = "arith.shrsi"
    traits = traits_def(Pure())


@op_definition
class MaxSIOp(IntegerBinaryOp):
    """The larger, signed."""

    name = "arith.maxsi"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MinSIOp(IntegerBinaryOp):
    """The smaller, signed."""

    name = "arith.minsi"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MaxUIOp(IntegerBinaryOp):
    """The larger, unsigned."""

    name = "arith.maxui"
    traits = traits_def(Pure(), Commutative())


@op_definition
class MinUIOp(IntegerBinaryOp):
    """The smaller, unsigned."""

    name = "arith.minui"
    traits = traits_def(Pure(), Commutative())


@op_definition
class AddUIExtendedOp(IRDLOperation, HasFolderInterface):
    """``%sum, %overflow = arith.addui_extended %a, %b : i32, i1``: the sum and its carry."""

    name = "arith.addui_extended"

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    sum = result_def(T)
    overflow = result_def(BoolLikeOf(T))

    traits = traits_def(Pure(), Commutative(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"

    def __init__(self, lhs: Value, rhs: Value) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type, bool_like(lhs.type)))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_constants(self)


class MulExtendedOp(IRDLOperation, HasFolderInterface, ABC):
    """``%low, %high = arith.mului_extended %a, %b : i32``: both halves of the product at twice the width."""

    T: ClassVar = VarConstraint("T", FIXED_INTEGER_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    low = result_def(T)
    high = result_def(T)

    traits = traits_def(Pure(), Commutative(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs)"

    def __init__(self, lhs: Value, rhs: Value) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type, lhs.type))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_constants(self)


@op_definition
class MulUIExtendedOp(MulExtendedOp):
    """Both halves of the unsigned product."""

    name = "arith.mului_extended"


@op_definition
class MulSIExtendedOp(MulExtendedOp):
    """Both halves of the signed product."""

    name = "arith.mulsi_extended"

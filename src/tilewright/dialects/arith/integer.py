"""Integer ops of arith: on scalars, vectors and tensors of signless integers and index."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.interfaces import ConditionallySpeculatableInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Commutative, NoMemoryEffect, Pure

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import NO_OVERFLOW, IntegerOverflowAttr, overflow_attr
from tilewright.dialects.arith.constant import constant_attr
from tilewright.dialects.construction import unit_if
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def, opt_prop_def, prop_def
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE, INTEGER_LIKE, BoolLikeOf, bool_like


class IntegerBinaryOp(Op, HasFolderInterface, ABC):
    """``%r = arith.op %lhs, %rhs : type``: two operands and a result of one type."""

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_integer_binary(self)


class IntegerBinaryOpWithOverflow(IntegerBinaryOp, ABC):
    """An integer op that may promise not to overflow: ``arith.addi %a, %b overflow<nsw> : i32``."""

    overflow_flags: IntegerOverflowAttr = prop_def(
        IntegerOverflowAttr,
        default_value=NO_OVERFLOW,
        prop_name="overflowFlags",
        default=None,
        converter=overflow_attr,
        kw_only=True,
    )

    assembly_format = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"


class ExactIntegerBinaryOp(IntegerBinaryOp, ABC):
    """An integer op that may promise a zero remainder: ``arith.divsi %a, %b exact : i32``."""

    is_exact: UnitAttr | None = opt_prop_def(UnitAttr, prop_name="isExact", default=None, converter=unit_if)

    assembly_format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"


class DivisionLikeOp(ConditionallySpeculatableInterface, ABC):
    """Undefined for some divisors, so it may only be hoisted when the divisor is a harmless constant."""

    def is_speculatable(self) -> bool:
        divisor = constant_attr(self.operands[1])
        return divisor is not None and folding.is_harmless_divisor(
            divisor, signed=self.name in folding.SIGNED_DIVISIONS
        )


class AddiOp(IntegerBinaryOpWithOverflow):
    """``%r = arith.addi %a, %b : i32``: ``lhs + rhs``, modulo 2^width."""

    name = "arith.addi"
    traits = traits_def(Pure(), Commutative())


class SubiOp(IntegerBinaryOpWithOverflow):
    """``%r = arith.subi %a, %b : i32``: ``lhs - rhs``, modulo 2^width."""

    name = "arith.subi"
    traits = traits_def(Pure())


class MuliOp(IntegerBinaryOpWithOverflow):
    """``%r = arith.muli %a, %b : i32``: ``lhs * rhs``, modulo 2^width."""

    name = "arith.muli"
    traits = traits_def(Pure(), Commutative())


class DivUIOp(ExactIntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.divui %a, %b : i32``: unsigned division, rounding towards zero."""

    name = "arith.divui"
    traits = traits_def(NoMemoryEffect())


class DivSIOp(ExactIntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.divsi %a, %b : i32``: signed division, rounding towards zero: ``-7 / 2 = -3``."""

    name = "arith.divsi"
    traits = traits_def(NoMemoryEffect())


class CeilDivUIOp(IntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.ceildivui %a, %b : i32``: unsigned division, rounding up."""

    name = "arith.ceildivui"
    traits = traits_def(NoMemoryEffect())


class CeilDivSIOp(IntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.ceildivsi %a, %b : i32``: signed division, rounding towards positive infinity: ``-7 / 2 = -3``, ``7
    / 2 = 4``."""

    name = "arith.ceildivsi"
    traits = traits_def(NoMemoryEffect())


class FloorDivSIOp(IntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.floordivsi %a, %b : i32``: signed division, rounding towards negative infinity: ``-7 / 2 = -4``."""

    name = "arith.floordivsi"
    traits = traits_def(NoMemoryEffect())


class RemUIOp(IntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.remui %a, %b : i32``: the remainder of :class:`DivUIOp`."""

    name = "arith.remui"
    traits = traits_def(NoMemoryEffect())


class RemSIOp(IntegerBinaryOp, DivisionLikeOp):
    """``%r = arith.remsi %a, %b : i32``: the remainder of :class:`DivSIOp`, with the sign of the left operand: ``-7 rem
    2 = -1``."""

    name = "arith.remsi"
    traits = traits_def(NoMemoryEffect())


class AndIOp(IntegerBinaryOp):
    """``%r = arith.andi %a, %b : i32``: bitwise and."""

    name = "arith.andi"
    traits = traits_def(Pure(), Commutative())


class OrIOp(IntegerBinaryOp):
    """``%r = arith.ori %a, %b : i32``: bitwise or."""

    name = "arith.ori"
    traits = traits_def(Pure(), Commutative())


class XOrIOp(IntegerBinaryOp):
    """``%r = arith.xori %a, %b : i32``: bitwise exclusive or."""

    name = "arith.xori"
    traits = traits_def(Pure(), Commutative())


class ShLIOp(IntegerBinaryOpWithOverflow):
    """``%r = arith.shli %a, %b : i32``: shift left; undefined when the amount (unsigned) is not below the width."""

    name = "arith.shli"
    traits = traits_def(Pure())


class ShRUIOp(ExactIntegerBinaryOp):
    """``%r = arith.shrui %a, %b : i32``: shift right, filling with zeros."""

    name = "arith.shrui"
    traits = traits_def(Pure())


class ShRSIOp(ExactIntegerBinaryOp):
    """``%r = arith.shrsi %a, %b : i32``: shift right, filling with the sign."""

    name = "arith.shrsi"
    traits = traits_def(Pure())


class MaxSIOp(IntegerBinaryOp):
    """``%r = arith.maxsi %a, %b : i32``: the larger, signed."""

    name = "arith.maxsi"
    traits = traits_def(Pure(), Commutative())


class MinSIOp(IntegerBinaryOp):
    """``%r = arith.minsi %a, %b : i32``: the smaller, signed."""

    name = "arith.minsi"
    traits = traits_def(Pure(), Commutative())


class MaxUIOp(IntegerBinaryOp):
    """``%r = arith.maxui %a, %b : i32``: the larger, unsigned."""

    name = "arith.maxui"
    traits = traits_def(Pure(), Commutative())


class MinUIOp(IntegerBinaryOp):
    """``%r = arith.minui %a, %b : i32``: the smaller, unsigned."""

    name = "arith.minui"
    traits = traits_def(Pure(), Commutative())


class AddUIExtendedOp(Op, HasFolderInterface):
    """``%sum, %overflow = arith.addui_extended %a, %b : i32, i1``: the sum and its carry."""

    name = "arith.addui_extended"

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    sum: Result = inferred_result_def(T)
    overflow: Result = inferred_result_def(BoolLikeOf(T), of="lhs", by=bool_like)

    traits = traits_def(Pure(), Commutative(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_constants(self)


class MulExtendedOp(Op, HasFolderInterface, ABC):
    """``%low, %high = arith.mului_extended %a, %b : i32``: both halves of the product at twice the width."""

    T: ClassVar = VarConstraint("T", FIXED_INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    low: Result = inferred_result_def(T)
    high: Result = inferred_result_def(T)

    traits = traits_def(Pure(), Commutative(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_constants(self)


class MulUIExtendedOp(MulExtendedOp):
    """``%low, %high = arith.mului_extended %a, %b : i32``: both halves of the unsigned product."""

    name = "arith.mului_extended"


class MulSIExtendedOp(MulExtendedOp):
    """``%low, %high = arith.mulsi_extended %a, %b : tensor<4xi32>``: both halves of the signed product."""

    name = "arith.mulsi_extended"

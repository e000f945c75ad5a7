"""Functions of integers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.math import folding
from tilewright.dialects.math.shapes import Folded, IntegerUnaryOp
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE


class AbsIOp(IntegerUnaryOp):
    """``%r = math.absi %a : i32``: ``|x|``; the smallest integer stays."""

    name = "math.absi"


class CtPopOp(IntegerUnaryOp):
    """``%r = math.ctpop %a : i32``: the number of bits set."""

    name = "math.ctpop"


class CountLeadingZerosOp(IntegerUnaryOp):
    """``%r = math.ctlz %a : i32``: the number of zeros above the highest bit set; the width for 0."""

    name = "math.ctlz"


class CountTrailingZerosOp(IntegerUnaryOp):
    """``%r = math.cttz %a : i32``: the number of zeros below the lowest bit set; the width for 0."""

    name = "math.cttz"


class IPowIOp(Op, HasFolderInterface):
    """``%r = math.ipowi %x, %n : i32``: an integer to a signed integer power, modulo 2^width."""

    name = "math.ipowi"

    T: ClassVar = VarConstraint("T", FIXED_INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def fold(self) -> Folded:
        return folding.fold_exact(self)

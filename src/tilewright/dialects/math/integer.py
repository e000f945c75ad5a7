"""Functions of integers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.irdl import IRDLOperation, VarConstraint, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.math import folding
from tilewright.dialects.math.shapes import Folded, IntegerUnaryOp
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import FIXED_INTEGER_LIKE


@op_definition
class AbsIOp(IntegerUnaryOp):
    """``|x|``; the smallest integer stays."""

    name = "math.absi"


@op_definition
class CtPopOp(IntegerUnaryOp):
    """The number of bits set."""

    name = "math.ctpop"


@op_definition
class CountLeadingZerosOp(IntegerUnaryOp):
    """The number of zeros above the highest bit set; the width for 0."""

    name = "math.ctlz"


@op_definition
class CountTrailingZerosOp(IntegerUnaryOp):
    """The number of zeros below the lowest bit set; the width for 0."""

    name = "math.cttz"


@op_definition
class IPowIOp(IRDLOperation, HasFolderInterface):
    """``%r = math.ipowi %x, %n : i32``: an integer to a signed integer power, modulo 2^width."""

    name = "math.ipowi"

    T: ClassVar = VarConstraint("T", FIXED_INTEGER_LIKE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, lhs: Value, rhs: Value) -> None:
        lhs = value_of(lhs)
        init_op(self, (lhs, value_of(rhs)), (lhs.type,))

    def fold(self) -> Folded:
        return folding.fold_exact(self)

"""Comparison and selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, VarConstraint, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import folding
from tilewright.dialects.arith.attributes import (
    CmpFPredicate,
    CmpFPredicateKeyword,
    CmpIPredicate,
    CmpIPredicateKeyword,
    FastMathOp,
    cmpf_attr,
    cmpi_attr,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def, prop_def
from tilewright.dialects.text import write
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import BOOL_LIKE, FLOAT_LIKE, INTEGER_LIKE, BoolLikeOf, bool_like
from tilewright.ir.wording import CustomOpException


class CmpiOp(Op, HasFolderInterface):
    """``%r = arith.cmpi slt, %a, %b : tensor<4xi32>``; the result is i1 in the shape of the operands."""

    name = "arith.cmpi"

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(BoolLikeOf(T))
    predicate: IntegerAttr = prop_def(IntegerAttr, converter=cmpi_attr)

    traits = traits_def(Pure(), ElementwiseMappable())

    custom_directives = (CmpIPredicateKeyword,)
    assembly_format = "custom<CmpIPredicateKeyword>($predicate) `,` $lhs `,` $rhs attr-dict `:` type($lhs)"

    @property
    def kind(self) -> CmpIPredicate:
        """The predicate as an enum member."""
        return CmpIPredicate(self.predicate.value.data)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(CmpIPredicate):
            raise VerifyException(f"unknown predicate {self.predicate.value.data}")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_cmpi(self)


class CmpfOp(FastMathOp, HasFolderInterface):
    """``%r = arith.cmpf olt, %a, %b : f32``."""

    name = "arith.cmpf"

    T: ClassVar = VarConstraint("T", FLOAT_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(BoolLikeOf(T))
    predicate: IntegerAttr = prop_def(IntegerAttr, converter=cmpf_attr)

    traits = traits_def(Pure(), ElementwiseMappable())

    custom_directives = (CmpFPredicateKeyword,)
    assembly_format = (
        "custom<CmpFPredicateKeyword>($predicate) `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($lhs)"
    )

    @property
    def kind(self) -> CmpFPredicate:
        """The predicate as an enum member."""
        return CmpFPredicate(self.predicate.value.data)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(CmpFPredicate):
            raise VerifyException(f"unknown predicate {self.predicate.value.data}")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_cmpf(self)


class SelectOp(Op, HasFolderInterface):
    """``%r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>``; with a scalar condition only one type is
    written."""

    name = "arith.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond: Operand = operand_def(BOOL_LIKE)
    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure(), ElementwiseMappable())

    def verify_(self) -> None:
        cond_type = self.operands[0].type
        if cond_type != i1 and cond_type != bool_like(self.operands[1].type):
            raise VerifyException(f"a condition of type {cond_type} cannot select between {self.operands[1].type}")

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        at = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        if len(operands) != 3:
            raise CustomOpException("expected 3 operands", at)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) > 2:
            parser.raise_error("expected one or two types")
        cond_type = i1 if len(types) == 1 else types[0]
        values = parser.resolve_operands(operands, (cond_type, types[-1], types[-1]), parser.pos)
        op = cls(*values)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.operands[0].type != i1:
            write(printer, self.operands[0].type, ", ")
        printer.print_attribute(self.operands[1].type)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return folding.fold_select(self)

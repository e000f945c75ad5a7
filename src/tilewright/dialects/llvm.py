"""The one op of the llvm dialect that Triton prints."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, i1, i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition

NO_BUNDLES = DenseArrayBase.from_list(i32, [])
NO_TAGS = ArrayAttr([])


@op_definition
class AssumeOp(IRDLOperation):
    """``llvm.intr.assume %cond : i1``: the program promises that the condition holds (``tl.assume``).

    It keeps its place: moving it past a branch would claim more than the program says.
    """

    name = "llvm.intr.assume"

    cond = operand_def(i1)
    op_bundle_operands = var_operand_def()
    op_bundle_sizes = prop_def(DenseArrayBase, default_value=NO_BUNDLES)

    def __init__(self, cond: Value) -> None:
        init_op(self, (value_of(cond),), (), {"op_bundle_sizes": NO_BUNDLES})

    @classmethod
    def parse(cls, parser: Parser) -> AssumeOp:
        cond = parser.parse_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_type()
        op = cls(cond)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i1")


Llvm = Dialect("llvm", [AssumeOp], [])

__all__ = ["AssumeOp", "Llvm"]

"""The op and the loop annotation of the llvm dialect that Triton prints."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    internal_prop_def,
    operand_def,
    var_operand_def,
)
from tilewright.dialects.text import write

NO_BUNDLES = DenseArrayBase.from_list(i32, [])
NO_TAGS = ArrayAttr([])


class AssumeOp(Op):
    """``llvm.intr.assume %cond : i1``: the program promises that the condition holds (``tl.assume``).

    It keeps its place: moving it past a branch would claim more than the program says.
    """

    name = "llvm.intr.assume"

    cond: Operand = operand_def(i1)
    op_bundle_operands: Operands = var_operand_def(default=())
    op_bundle_sizes: I64Array = internal_prop_def(DenseArrayBase, default_value=NO_BUNDLES)

    # By hand: a declarative format would have to name the bundles, which the text leaves out.
    @classmethod
    def parse(cls, parser: Parser) -> AssumeOp:
        op = cls(parser.parse_operand(i1))
        op.attributes.update(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        parser.parse_type()
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.cond)
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.cond.type)


@irdl_attr_definition
class LoopLICMAttr(ParametrizedAttribute):
    """``#llvm.loop_licm<disable = true, versioningDisable = true>``: whether invariants may be moved out of a loop."""

    name = "llvm.loop_licm"

    disable: BoolAttr
    versioning_disable: BoolAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        flags = {"disable": False, "versioningDisable": False}
        with parser.in_angle_brackets():
            while True:
                name = parser.parse_identifier()
                if name not in flags:
                    parser.raise_error(f"unknown field {name!r} of loop_licm; known: {', '.join(flags)}")
                parser.parse_punctuation("=")
                flags[name] = parser.parse_boolean()
                if parser.parse_optional_punctuation(",") is None:
                    break
        return [BoolAttr.from_bool(flag) for flag in flags.values()]

    def print_parameters(self, printer: Printer) -> None:
        shown = {"disable": self.disable, "versioningDisable": self.versioning_disable}
        fields = [f"{name} = true" for name, flag in shown.items() if flag.value.data]
        printer.print_string(f"<{', '.join(fields)}>")


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """``#llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>``."""

    name = "llvm.loop_annotation"

    licm: LoopLICMAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("licm")
            parser.parse_punctuation("=")
            return [parser.parse_attribute()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            write(printer, "licm = ", self.licm)


def loop_annotation_without_licm() -> LoopAnnotationAttr:
    """The annotation of ``tl.range(..., disable_licm=True)``."""
    return LoopAnnotationAttr(LoopLICMAttr(BoolAttr.from_bool(True), BoolAttr.from_bool(True)))


Llvm = Dialect("llvm", [AssumeOp], [LoopLICMAttr, LoopAnnotationAttr])

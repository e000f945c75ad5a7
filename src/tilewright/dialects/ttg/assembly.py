"""Assembly directives of the `ttg` and `ttng` ops, beside those of `tt`. Imported when an op is first parsed or
printed.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.tt import assembly as tt_assembly
from tilewright.dialects.ttg.types import MemDescType


@irdl_custom_directive
class ShortMemDesc(CustomDirective):
    """A buffer type without its `!ttg.memdesc` prefix: `<16x32xf16, #shared, #smem>`. The full spelling is accepted
    too.
    """

    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        full = parser.parse_optional_type()
        if full is None:
            full = MemDescType.new(MemDescType.parse_parameters(parser))
        self.type.set(state, (full,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        for attribute in self.type.get(op):
            assert isinstance(attribute, MemDescType)
            attribute.print_parameters(printer)


@irdl_custom_directive
class PlainInteger(CustomDirective):
    """An i32 attribute without its type: `2`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, i32_attr(parser.parse_integer()))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.attribute.get(op)
        assert isinstance(attribute, IntegerAttr)
        state.print_whitespace(printer)
        printer.print_string(str(attribute.value.data))


DIRECTIVES: dict[str, type[CustomDirective]] = {
    **tt_assembly.DIRECTIVES,
    "PlainInteger": PlainInteger,
    "ShortMemDesc": ShortMemDesc,
}
"""Every directive by the name that formats use."""

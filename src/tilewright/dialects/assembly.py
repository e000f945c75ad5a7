"""Pieces of assembly format that xDSL's declarative language lacks: keyword enums and reassociation lists."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.construction import int_attr, reassociation_attr


class EnumKeyword(CustomDirective):
    """An integer attribute that is written as a keyword: ``arith.cmpi slt``. Subclasses name the keywords by value."""

    attribute: AttributeVariable

    keywords: ClassVar[tuple[str, ...]]
    width: ClassVar[int] = 64

    def parse(self, parser: Parser, state: ParsingState) -> None:
        keyword = self._parse_keyword(parser, state)
        self.attribute.set(state, int_attr(self.keywords.index(keyword), self.width))

    def _parse_keyword(self, parser: Parser, state: ParsingState) -> str:
        position = parser.pos
        keyword = parser.parse_optional_identifier() or parser.parse_optional_str_literal()
        if keyword not in self.keywords:
            parser.raise_error(
                f"custom op '{state.op_type.name}' expected string or keyword containing one of the following enum "
                f"values for attribute '{self.attribute.name}' [{', '.join(self.keywords)}]",
                position,
                parser.pos,
            )
        return keyword

    def parse_optional(self, parser: Parser, state: ParsingState) -> None:
        for keyword in self.keywords:
            if parser.parse_optional_keyword(keyword) is not None:
                self.attribute.set(state, int_attr(self.keywords.index(keyword), self.width))
                return

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.attribute.get(op)
        if attribute is None:
            return
        state.print_whitespace(printer)
        assert isinstance(attribute, IntegerAttr)
        printer.print_string(self.keywords[attribute.value.data])

    def is_present(self, op: IRDLOperation) -> bool:
        return self.attribute.get(op) is not None

    def is_anchorable(self) -> bool:
        return True

    def is_optional_like(self) -> bool:
        return self.attribute.is_optional

    def set_empty(self, state: ParsingState) -> None:
        return


@irdl_custom_directive
class Reassociation(CustomDirective):
    """``[[0, 1], [2]]``, without the ``: i64`` that a plain attribute would carry."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        groups = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_group(parser))
        self.attribute.set(state, reassociation_attr(tuple(groups)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(
            "[" + ", ".join(str(list(group)) for group in reassociation_groups(self.attribute.get(op))) + "]"
        )


def _parse_group(parser: Parser) -> list[int]:
    """``[0, 1]``, which is an array of attributes in upstream's parser."""

    def parse_dim() -> int:
        dim = parser.parse_optional_integer()
        return parser.raise_error("attribute expected") if dim is None else dim

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_dim)


def reassociation_groups(attribute: Attribute | None) -> list[list[int]]:
    """The dimension groups of a reassociation attribute."""
    assert isinstance(attribute, ArrayAttr)
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", attribute)
    return [[dim.value.data for dim in group] for group in groups]

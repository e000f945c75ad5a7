"""Pieces of assembly format that xDSL's declarative language lacks: keyword enums and reassociation lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.dialects.utils import DynamicIndexList
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.construction import int_attr, reassociation_attr

__all__ = [
    "DynamicIndexList",
    "EnumKeyword",
    "Reassociation",
    "parse_operand_group",
    "parse_typed_group",
    "print_operand_group",
    "print_typed_group",
]


class EnumKeyword(CustomDirective):
    """An integer attribute that is written as a keyword: ``arith.cmpi slt``. Subclasses name the keywords by value."""

    attribute: AttributeVariable

    keywords: ClassVar[tuple[str, ...]]
    width: ClassVar[int] = 64

    def parse(self, parser: Parser, state: ParsingState) -> None:
        keyword = self._parse_keyword(parser)
        self.attribute.set(state, int_attr(self.keywords.index(keyword), self.width))

    def _parse_keyword(self, parser: Parser) -> str:
        position = parser.pos
        keyword = parser.parse_optional_identifier() or parser.parse_optional_str_literal()
        if keyword not in self.keywords:
            parser.raise_error(f"expected one of {', '.join(self.keywords)}", position, parser.pos)
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
        groups = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_integer_list(parser))
        self.attribute.set(state, reassociation_attr(tuple(groups)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(
            "[" + ", ".join(str(list(group)) for group in reassociation_groups(self.attribute.get(op))) + "]"
        )


def parse_integer_list(parser: AttrParser) -> tuple[int, ...]:
    """``[0, 1]``."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def reassociation_groups(attribute: Attribute | None) -> list[list[int]]:
    """The dimension groups of a reassociation attribute."""
    assert isinstance(attribute, ArrayAttr)
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", attribute)
    return [[dim.value.data for dim in group] for group in groups]


def parse_operand_group(parser: Parser, keyword: str) -> list[SSAValue]:
    """``ins(%a, %b : tensor<4xf32>, f32)``; nothing when the keyword is absent."""
    if parser.parse_optional_keyword(keyword) is None:
        return []
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")"):
        return []
    values, types = parse_typed_group(parser)
    parser.parse_punctuation(")")
    return list(parser.resolve_operands(values, types, parser.pos))


def parse_typed_group(parser: Parser) -> tuple[list[UnresolvedOperand], list[Attribute]]:
    """``%a, %b : tensor<4xf32>, f32``."""
    values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
    return values, types


def print_operand_group(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    """`` ins(%a, %b : tensor<4xf32>, f32)``; nothing for no values."""
    if not values:
        return
    printer.print_string(f" {keyword}(")
    print_typed_group(printer, values)
    printer.print_string(")")


def print_typed_group(printer: Printer, values: Sequence[SSAValue]) -> None:
    """``%a, %b : tensor<4xf32>, f32``."""
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list([value.type for value in values], printer.print_attribute)

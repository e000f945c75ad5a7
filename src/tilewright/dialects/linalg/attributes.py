"""What kind of loop each dimension of a linalg op is."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class IteratorType(StrEnum):
    """Whether the steps of a loop are independent or combine."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    WINDOW = "window"


@irdl_attr_definition
class IteratorTypeAttr(EnumAttribute[IteratorType]):
    """``#linalg.iterator_type<parallel>``."""

    name = "linalg.iterator_type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IteratorType:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


PARALLEL = IteratorTypeAttr(IteratorType.PARALLEL)
REDUCTION = IteratorTypeAttr(IteratorType.REDUCTION)


def iterator_attrs(iterator_types: Iterable[Attribute | IteratorType | str]) -> list[IteratorTypeAttr]:
    """Iterator types from attributes, enum members or strings."""
    found: list[IteratorTypeAttr] = []
    for iterator in iterator_types:
        if isinstance(iterator, IteratorTypeAttr):
            found.append(iterator)
            continue
        text = iterator.data if isinstance(iterator, StringAttr) else str(iterator)
        found.append(IteratorTypeAttr(IteratorType(text)))
    return found

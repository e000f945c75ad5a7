"""How vector ops combine elements."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class CombiningKind(StrEnum):
    """The operation of a reduction, scan or outer product."""

    ADD = "add"
    MUL = "mul"
    MINUI = "minui"
    MINSI = "minsi"
    MINNUMF = "minnumf"
    MAXUI = "maxui"
    MAXSI = "maxsi"
    MAXNUMF = "maxnumf"
    AND = "and"
    OR = "or"
    XOR = "xor"
    MINIMUMF = "minimumf"
    MAXIMUMF = "maximumf"


@irdl_attr_definition
class CombiningKindAttr(EnumAttribute[CombiningKind]):
    """``#vector.kind<add>``."""

    name = "vector.kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> CombiningKind:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


class Punctuation(StrEnum):
    """What ``vector.print`` writes after a value."""

    NO_PUNCTUATION = "no_punctuation"
    NEWLINE = "newline"
    COMMA = "comma"
    OPEN = "open"
    CLOSE = "close"


@irdl_attr_definition
class PunctuationAttr(EnumAttribute[Punctuation]):
    """``#vector.punctuation<newline>``."""

    name = "vector.punctuation"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Punctuation:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


NEWLINE = PunctuationAttr(Punctuation.NEWLINE)

_KINDS = {kind.value: CombiningKindAttr(kind) for kind in CombiningKind}

ADD = _KINDS["add"]


def kind_attr(kind: CombiningKind | CombiningKindAttr | str) -> CombiningKindAttr:
    """A combining kind from an attribute, an enum member or its name."""
    return kind if isinstance(kind, CombiningKindAttr) else _KINDS[str(kind)]

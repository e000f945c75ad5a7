"""How vector ops combine elements."""

from __future__ import annotations

from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.words import WordAttr


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
class CombiningKindAttr(WordAttr[CombiningKind]):
    """``#vector.kind<add>``."""

    name = "vector.kind"


class Punctuation(StrEnum):
    """What ``vector.print`` writes after a value."""

    NO_PUNCTUATION = "no_punctuation"
    NEWLINE = "newline"
    COMMA = "comma"
    OPEN = "open"
    CLOSE = "close"


@irdl_attr_definition
class PunctuationAttr(WordAttr[Punctuation]):
    """``#vector.punctuation<newline>``."""

    name = "vector.punctuation"


NEWLINE = PunctuationAttr(Punctuation.NEWLINE)

_KINDS = {kind.value: CombiningKindAttr(kind) for kind in CombiningKind}

ADD = _KINDS["add"]


def kind_attr(kind: CombiningKind | CombiningKindAttr | str) -> CombiningKindAttr:
    """A combining kind from an attribute, an enum member or its name."""
    return kind if isinstance(kind, CombiningKindAttr) else _KINDS[str(kind)]

"""The `{key = value, ...}` text of layout encodings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.ir.older_spellings import note_older_spelling
from tilewright.layouts.distributed import Vectors

FieldValue = int | bool | Attribute | Sequence[int] | Sequence[Sequence[int]]
"""What a key may stand for."""


SINGLE_CTA: Mapping[str, Sequence[int]] = {"CTAsPerCGA": (1,), "CTASplitNum": (1,), "CTAOrder": ()}
"""Keys of older Triton with what their numbers are where a program is one CTA; `CGALayout` says the rest today."""


def _skip_single_cta(parser: AttrParser, key: str, position: int) -> None:
    """Read over an older key that says no more than that a program is one CTA."""
    parser.parse_punctuation("=")
    start = parser.pos
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    if SINGLE_CTA[key] and any(number not in SINGLE_CTA[key] for number in numbers):
        parser.raise_error(f"{key} of more than one CTA is written as CGALayout today", start, parser.pos)
    note_older_spelling(parser, f"'{key}' of one CTA", "by leaving it out", position)


def parse_fields(parser: AttrParser, known: Sequence[str], optional: Sequence[str] = ()) -> dict[str, FieldValue]:
    """`{vec = 8, order = [1, 0]}`; every key of `known` must be there, those of `optional` may."""
    start = parser.pos
    values: dict[str, FieldValue] = {}

    def field() -> None:
        position = parser.pos
        key = parser.parse_identifier()
        if key in SINGLE_CTA:
            _skip_single_cta(parser, key, position)
            return
        if key not in known and key not in optional:
            parser.raise_error(
                f"unexpected key '{key}', expected {', '.join((*known, *optional))}", position, parser.pos
            )
        if key in values:
            parser.raise_error(f"key '{key}' is given twice", position, parser.pos)
        parser.parse_punctuation("=")
        values[key] = _parse_value(parser)

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, field)
    missing = [key for key in known if key not in values]
    if missing:
        parser.raise_error(f"missing {', '.join(missing)}", start, parser.pos)
    return values


def _parse_value(parser: AttrParser) -> FieldValue:
    boolean = parser.parse_optional_boolean()
    if boolean is not None:
        return boolean
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return number
    items = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_value(parser))
    return items if items is not None else parser.parse_attribute()  # pyright: ignore[reportReturnType]


def print_fields(printer: Printer, fields: Mapping[str, FieldValue]) -> None:
    """`{vec = 8, order = [1, 0]}`."""
    printer.print_string("{")
    for index, (key, value) in enumerate(fields.items()):
        printer.print_string(f"{', ' if index else ''}{key} = ")
        print_value(printer, value)
    printer.print_string("}")


def print_value(printer: Printer, value: FieldValue) -> None:
    """An integer, a flag, an attribute, or a list of such."""
    if isinstance(value, Attribute):
        printer.print_attribute(value)
    elif isinstance(value, bool):
        printer.print_string("true" if value else "false")
    elif isinstance(value, int):
        printer.print_string(str(value))
    else:
        printer.print_string("[")
        for index, item in enumerate(value):
            printer.print_string(", " if index else "")
            print_value(printer, item)
        printer.print_string("]")


def integer(values: Mapping[str, FieldValue], key: str, default: int = 0) -> int:
    """The number under a key; ValueError where something else stands there."""
    value = values.get(key, default)
    if not isinstance(value, int):
        raise ValueError(f"{key} must be an integer")
    return int(value)


def flag(values: Mapping[str, FieldValue], key: str) -> bool:
    """The truth value under a key, false where the key is not there."""
    value = values.get(key, False)
    if not isinstance(value, bool):
        raise ValueError(f"{key} must be true or false")
    return value


def integers(values: Mapping[str, FieldValue], key: str) -> tuple[int, ...]:
    """The list of numbers under a key."""
    value = values.get(key, ())
    if not isinstance(value, list | tuple) or not all(type(item) is int for item in value):
        raise ValueError(f"{key} must be a list of integers")
    return cast("tuple[int, ...]", tuple(value))


def vectors(values: Mapping[str, FieldValue], key: str, rank: int | None = None) -> Vectors:
    """The list of vectors under a key, each of `rank` numbers."""
    value = values.get(key, ())
    if not isinstance(value, list | tuple):
        raise ValueError(f"{key} must be a list of vectors")
    result = tuple(integers({key: item}, key) for item in value)
    if rank is not None and any(len(vector) != rank for vector in result):
        raise ValueError(f"every vector of {key} must have {rank} coordinates")
    return result

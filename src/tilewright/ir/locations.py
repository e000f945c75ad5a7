"""Reading source locations: from the location attribute of an op to the file, line and column that a user knows."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from tilewright.support.spans import Span


def file_location(filename: str, line: int, col: int) -> FileLineColLoc:
    """``loc("kernel.py":12:9)``; line and column count from 1."""
    return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(col))


def name_location(name: str, inner: LocationAttr) -> NameLoc:
    """``loc("offsets"(loc("kernel.py":12:9)))``: the Python variable that a value was assigned to."""
    return NameLoc(StringAttr(name), inner)


def has_location(op: Operation) -> bool:
    """Whether an op knows where it came from."""
    return not isinstance(op.location, UnknownLoc)


def find_span(location: Attribute) -> Span | None:
    """The innermost place in a source file: callee of a call site, inside of a name, first known of a fusion."""
    match location:
        case FileLineColLoc():
            return Span(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return find_span(location.location)
        case CallSiteLoc():
            return find_span(location.callee) or find_span(location.caller)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((span for part in parts if (span := find_span(part)) is not None), None)
        case _:
            return None


def find_spans(location: Attribute) -> list[Span]:
    """Every place in a source file that a location names, the innermost first: those of a fusion, and call sites."""
    match location:
        case FileLineColLoc():
            return [Span(location.filename.data, location.line.data, location.column.data)]
        case NameLoc():
            return find_spans(location.location)
        case CallSiteLoc():
            return list(dict.fromkeys([*find_spans(location.callee), *find_spans(location.caller)]))
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return list(dict.fromkeys(span for part in parts for span in find_spans(part)))
        case _:
            return []


def find_call_sites(location: Attribute) -> list[Span]:
    """The call sites around the innermost place, innermost first: empty for code that was not inlined."""
    match location:
        case NameLoc():
            return find_call_sites(location.location)
        case CallSiteLoc():
            caller = find_span(location.caller)
            outer = find_call_sites(location.caller)
            return [*find_call_sites(location.callee), *([caller] if caller is not None else []), *outer]
        case _:
            return []


def describe_location(location: Attribute) -> str:
    """``kernel.py:12:9``, or an empty string where nothing is known."""
    span = find_span(location)
    return "" if span is None else str(span)


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """One location for an op made from several: duplicates and unknowns dropped, the single one left as it is."""
    parts = list(dict.fromkeys(loc for loc in locations if not isinstance(loc, UnknownLoc)))
    match parts:
        case []:
            return UNKNOWN_LOC
        case [only]:
            return only
        case _:
            return FusedLoc(tuple(parts), NoneAttr())


def find_name(location: Attribute) -> str | None:
    """The variable name that a location carries, from the outermost `NameLoc` in it."""
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc():
            return find_name(location.callee) or find_name(location.caller)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((name for part in parts if (name := find_name(part)) is not None), None)
        case _:
            return None

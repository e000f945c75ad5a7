"""Reading source locations: from the location attribute of an op to the file, line and column that a user knows."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from tilewright.support.spans import Span

CALL_SITES = 1000
"""Call sites that are found around one place."""


def file_location(filename: str, line: int, col: int) -> FileLineColLoc:
    """``loc("kernel.py":12:9)``; line and column count from 1."""
    return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(col))


def located_place(filename: StringAttr, line: IntAttr, column: IntAttr) -> FileLineColLoc:
    """`file_location` of attributes, which need no verification."""
    return _unverified(FileLineColLoc, {"filename": filename, "line": line, "column": column})


def named_place(name: StringAttr, inner: LocationAttr) -> NameLoc:
    """``loc("offsets"(loc("kernel.py":12:9)))``: the Python variable that a value was assigned to. Needs no
    verification."""
    return _unverified(NameLoc, {"desc": name, "location": inner})


def call_site(callee: LocationAttr, caller: LocationAttr) -> CallSiteLoc:
    """``loc(callsite("f.py":3:5 at "kernel.py":12:9))``; two locations need no verification."""
    return _unverified(CallSiteLoc, {"callee": callee, "caller": caller})


PlaceT = TypeVar("PlaceT", FileLineColLoc, NameLoc, CallSiteLoc)


def _unverified(cls: type[PlaceT], fields: dict[str, Attribute]) -> PlaceT:
    """A location made in 1 us in place of 20: of every op that is inlined there is one for each call around it."""
    location = cls.__new__(cls)
    for name, part in fields.items():
        object.__setattr__(location, name, part)
    return location


def has_location(op: Operation) -> bool:
    """Return whether an op knows where it came from."""
    return not isinstance(op.location, UnknownLoc)


def find_span(location: Attribute) -> Span | None:
    """The innermost place in a source file: callee of a call site, inside of a name, first known of a fusion."""
    match location:
        case FileLineColLoc():
            return Span(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return find_span(location.location)
        case CallSiteLoc() | FusedLoc():
            return _find_span_in_parts(location)
        case _:
            return None


@lru_cache(maxsize=4096)
def _find_span_in_parts(location: CallSiteLoc | FusedLoc) -> Span | None:
    """Find the span of a location of several parts, which may share parts with each other: each is looked at once."""
    return next((span for part in _parts(location) if (span := find_span(part)) is not None), None)


def _parts(location: CallSiteLoc | FusedLoc) -> tuple[Attribute, ...]:
    match location:
        case CallSiteLoc():
            return location.callee, location.caller
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return tuple(parts)
        case _:
            return ()


def find_spans(location: Attribute) -> tuple[Span, ...]:
    """Every place in a source file that a location names, the innermost first: those of a fusion, and call sites."""
    match location:
        case FileLineColLoc():
            return (Span(location.filename.data, location.line.data, location.column.data),)
        case NameLoc():
            return find_spans(location.location)
        case CallSiteLoc() | FusedLoc():
            return _find_spans_in_parts(location)
        case _:
            return ()


@lru_cache(maxsize=4096)
def _find_spans_in_parts(location: CallSiteLoc | FusedLoc) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for part in _parts(location) for span in find_spans(part)))


def find_call_sites(location: Attribute) -> tuple[Span, ...]:
    """The call sites around the innermost place, innermost first: empty for code that was not inlined."""
    match location:
        case NameLoc():
            return find_call_sites(location.location)
        case CallSiteLoc():
            return _find_callers(location)
        case _:
            return ()


@lru_cache(maxsize=4096)
def _find_callers(location: CallSiteLoc) -> tuple[Span, ...]:
    caller = find_span(location.caller)
    nearest = () if caller is None else (caller,)
    return (*find_call_sites(location.callee), *nearest, *find_call_sites(location.caller))[:CALL_SITES]


def describe_location(location: Attribute) -> str:
    """``kernel.py:12:9``, or an empty string where nothing is known."""
    span = find_span(location)
    return "" if span is None else str(span)


def find_name(location: Attribute) -> str | None:
    """The variable name that a location carries, from the outermost `NameLoc` in it."""
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc() | FusedLoc():
            return _find_name_in_parts(location)
        case _:
            return None


@lru_cache(maxsize=4096)
def _find_name_in_parts(location: CallSiteLoc | FusedLoc) -> str | None:
    return next((name for part in _parts(location) if (name := find_name(part)) is not None), None)

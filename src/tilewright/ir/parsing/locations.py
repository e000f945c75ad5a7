"""Every form of ``loc(...)``."""

from __future__ import annotations

from xdsl.dialects.builtin import (
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
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.ir.parsing.places import TextPlaces


class LocationParser(Parser):
    """Reads locations."""

    places: TextPlaces

    def _parse_location(self) -> LocationAttr:
        """Return what stands inside of ``loc(...)``."""
        if self._current_token.kind is MLIRTokenKind.STRING_LIT:
            return self._parse_named_or_file_location()
        if self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            token = self._current_token.span
            attribute = self.parse_attribute()
            if isinstance(attribute, UnknownLoc | FileLineColLoc | CallSiteLoc | NameLoc | FusedLoc):
                return attribute
            raise self.places.error_at(token.start, token.end, "this alias is not a location")
        position = self.pos
        match self.parse_optional_identifier():
            case "unknown":
                return UnknownLoc()
            case "callsite":
                return self._parse_call_site()
            case "fused":
                return self._parse_fused()
            case "loc":
                with self.in_parens():
                    return self._parse_location()
            case _:
                raise self.places.error_at(position, position, "expected location instance")

    def _parse_named_or_file_location(self) -> LocationAttr:
        text = StringAttr(self.parse_str_literal())
        if self.parse_optional_punctuation(":") is None:
            inner: LocationAttr = UnknownLoc()
            if self._current_token.kind is MLIRTokenKind.L_PAREN:
                with self.in_parens():
                    inner = self._parse_location()
            return NameLoc(text, inner)
        line = self.parse_integer(False, False)
        col = self.parse_integer(False, False) if self.parse_optional_punctuation(":") is not None else 0
        self._skip_range_end()
        return FileLineColLoc(text, IntAttr(line), IntAttr(col))

    def _skip_range_end(self) -> None:
        """The end of a range, as in ``"f.py":1:2 to 3:4`` or ``to :8``; only starts are kept."""
        if self.parse_optional_keyword("to") is None:
            return
        self.parse_optional_integer(False, False)
        if self.parse_optional_punctuation(":") is not None:
            self.parse_integer(False, False)

    def _parse_call_site(self) -> CallSiteLoc:
        with self.in_parens():
            callee = self._parse_location()
            self.parse_keyword("at", " between callee and caller")
            return CallSiteLoc(callee, self._parse_location())

    def _parse_fused(self) -> FusedLoc:
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">", " after the metadata of a fused location")
        locations = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(locations), metadata)

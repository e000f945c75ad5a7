"""Aliases that are defined further down in the text."""

from __future__ import annotations

import re
from typing import Any

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
)
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.ir.parsing.places import TextPlaces

_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z0-9_$.-]+)[ \t]*=[ \t\n]*", re.MULTILINE)
_ALIAS_USE = re.compile(r"[#!][A-Za-z0-9_$.-]+")


class AliasParser(Parser):
    """Looks an alias up wherever it stands."""

    places: TextPlaces
    _alias_positions: dict[str, int] | None

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        if name in self.attribute_aliases and name not in (self._alias_positions or {}):
            self.raise_error(f"re-declaration of alias '{name}'")
        self._consume_token()
        self.parse_punctuation("=", f" in {'type' if name[0] == '!' else 'attribute'} alias definition")
        self.attribute_aliases.setdefault(name, self.parse_attribute())

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        if "." not in attr_or_dialect_name and self._current_token.kind is not MLIRTokenKind.LESS:
            name = f"{'!' if is_type else '#'}{attr_or_dialect_name}"
            if name not in self.attribute_aliases:
                self._read_alias_ahead(name)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def _read_alias_ahead(self, name: str) -> None:
        """Parse the definition of an alias from further down in the text, then continue where we were."""
        if self._alias_positions is None:
            self._alias_positions = {m[1]: m.end() for m in _ALIAS_DEFINITION.finditer(self.places.text)}
        if name not in self._alias_positions:
            start = self.places.text.rfind(name, 0, self.pos)
            end = start + len(name)
            raise self.places.error_at(end, end + 1, f"undefined symbol alias id '{name[1:]}'")
        saved_token, saved_position = self._parser_state.current_token, self.lexer.pos
        for needed in self._aliases_below(name):
            self._resume_from(self._alias_positions[needed])
            self.attribute_aliases[needed] = UNKNOWN_LOC  # an alias that uses itself ends here
            self.attribute_aliases[needed] = self.parse_attribute()
        self.lexer.pos, self._parser_state.current_token = saved_position, saved_token

    def _aliases_below(self, name: str) -> list[str]:
        """The aliases that a definition uses, through others too, and that are still to be read: those first that
        others use, so that reading one never leads to another, however long the chain is."""
        positions = self._alias_positions or {}
        order: list[str] = []
        seen = set(self.attribute_aliases) | {name}
        stack = [(name, False)]
        while stack:
            current, done = stack.pop()
            if done:
                order.append(current)
                continue
            stack.append((current, True))
            line = self.places.line_from(positions[current])
            for used in dict.fromkeys(_ALIAS_USE.findall(line)):
                if used in positions and used not in seen:
                    seen.add(used)
                    stack.append((used, False))
        return order

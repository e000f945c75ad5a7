"""Tokens and types: the two that decide how long parsing takes."""

from __future__ import annotations

import re
from typing import Any

from xdsl.dialects.builtin import (
    AffineMapAttr,
    FunctionType,
    MemRefType,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils import exceptions
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRTokenKind

from tilewright.ir.parsing.places import TextPlaces

_SHAPED = frozenset({"tensor", "memref", "vector"})

_BRACKET = re.compile(r"->|[<>\"\n]")


def end_of_brackets(text: str, start: int) -> int:
    """The end of the ``<...>`` that starts at `start`; 0 if there is none, it spans lines, or it holds a string."""
    if not text.startswith("<", start):
        return 0
    depth = 0
    for found in _BRACKET.finditer(text, start):
        match found[0]:
            case "<":
                depth += 1
            case ">":
                depth -= 1
                if depth == 0:
                    return found.end()
            case "->":
                continue
            case _:
                return 0
    return 0


def what_is_wrong_with(type: Attribute) -> str:
    """Return the rule of upstream's that a shaped type breaks and xDSL does not know; empty if none."""
    if isinstance(type, VectorType):
        shape = type.get_shape()
        listed = ", ".join(map(str, shape))
        return (
            ""
            if all(extent > 0 for extent in shape)
            else f"vector types must have positive constant sizes but got {listed}"
        )
    if not isinstance(type, MemRefType):
        return ""
    rank = type.get_num_dims()
    match type.layout:
        case StridedLayoutAttr() as layout if len(layout.strides) != rank:
            return "expected the number of strides to match the rank"
        case AffineMapAttr() as layout if layout.data.num_dims != rank:
            return f"memref layout mismatch between rank and affine map: {rank} != {layout.data.num_dims}"
        case _:
            return ""


class TypeParser(Parser):
    """Reads types that were read before without parsing them again."""

    places: TextPlaces
    _simple_types: dict[str, TypeAttribute]
    _bracketed_types: dict[str, TypeAttribute]

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> Token[MLIRTokenKind, str]:
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = state.lexer.lex()
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> Token[MLIRTokenKind, str] | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    def parse_optional_punctuation(self, punctuation: Any) -> Any:
        token = self._parser_state.current_token
        if token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            return None
        self._consume_token()
        return punctuation

    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        """As xDSL, which does not say in which type a bracket is missing."""
        name, opening = self._current_token.text, self._current_token.span.end
        try:
            return super()._parse_optional_builtin_parametrized_type()
        except exceptions.ParseError as error:
            if "after builtin name" in error.msg:
                raise exceptions.ParseError(error.span, f"Expected '<' in {name} type") from None
            if name == "memref" and error.msg == "attribute expected" and self._current_token.text == ">":
                raise exceptions.ParseError(error.span, "expected list element") from None
            if "after builtin parameter list" not in error.msg:
                raise
            has_comma = "," in self.places.text[opening : error.span.start]
            closing = "'>'" if name != "memref" else "',' or '>'"
            within = "" if has_comma and name == "memref" else f" in {name} type"
            raise exceptions.ParseError(error.span, f"expected {closing}{within}") from None

    def parse_optional_function_type(self) -> FunctionType | None:
        """As xDSL, which does not say what the arrow is missing in."""
        try:
            return super().parse_optional_function_type()
        except exceptions.ParseError as error:
            if error.msg != "Expected '->'":
                raise
            raise exceptions.ParseError(error.span, "Expected '->' in function type") from None

    def parse_optional_type(self) -> TypeAttribute | None:
        token = self._current_token
        if token.kind is MLIRTokenKind.BARE_IDENT:
            known = self._simple_types.get(token.text)
            if known is not None:
                self._consume_token()
                return known
            if token.text not in _SHAPED:
                type = super().parse_optional_type()
                if type is not None and token.text not in ("complex", "tuple"):
                    self._simple_types[token.text] = type
                return type
        elif token.kind is not MLIRTokenKind.EXCLAMATION_IDENT:
            return super().parse_optional_type()
        return self._parse_bracketed_type(token.span)

    def _parse_bracketed_type(self, name: Span[str]) -> TypeAttribute | None:
        """A type such as ``tensor<4xf32>``: the same text is only parsed once, and gives the same object."""
        end = end_of_brackets(self.places.text, name.end)
        text = self.places.text[name.start : end]
        known = self._bracketed_types.get(text)
        if known is not None:
            self._resume_from(end)
            return known
        type = super().parse_optional_type()
        if type is not None and (reason := what_is_wrong_with(type)):
            raise self.places.error_at(name.start, name.end, reason)
        if type is not None and text:
            self._bracketed_types[text] = type
        return type

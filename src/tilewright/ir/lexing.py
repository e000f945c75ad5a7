"""A lexer for MLIR text: the tokens of xDSL's lexer, found with one regular expression each."""

from __future__ import annotations

import re

from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRTokenKind, StringLiteral

_SUFFIX = r"(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)"

_TOKEN = re.compile(
    rf"""\s*(?://[^\n]*\s*)*(?:
      (?P<percent>%{_SUFFIX})
    | (?P<bare>[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<punctuation>->|\.\.\.|\{{-\#|\#-\}}|[:,()\[\]{{}}<>=?*|/+-])
    | (?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
    | (?P<integer>0x[0-9a-fA-F]+|[0-9]+)
    | (?P<exclamation>!{_SUFFIX})
    | (?P<hash>\#{_SUFFIX})
    | (?P<string>"[^"\\\n\v\f]*")
    | (?P<at>@[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<caret>\^{_SUFFIX})
    | (?P<end>\Z)
    )""",
    re.ASCII | re.VERBOSE,
)
"""Blanks and comments, then one token. Strings with escapes and anything odd are left to xDSL's lexer."""

_KINDS = {
    "percent": MLIRTokenKind.PERCENT_IDENT,
    "bare": MLIRTokenKind.BARE_IDENT,
    "float": MLIRTokenKind.FLOAT_LIT,
    "integer": MLIRTokenKind.INTEGER_LIT,
    "exclamation": MLIRTokenKind.EXCLAMATION_IDENT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "string": MLIRTokenKind.STRING_LIT,
    "at": MLIRTokenKind.AT_IDENT,
    "caret": MLIRTokenKind.CARET_IDENT,
    "end": MLIRTokenKind.EOF,
}


class QuickToken(Token[MLIRTokenKind, str]):
    """A token that knows its text; its span is only made when somebody asks for it."""

    __slots__ = ("_input", "_start", "kind", "text")

    def __init__(self, kind: MLIRTokenKind, text: str, start: int, input: Input[str]) -> None:
        self.kind = kind
        self.text = text  # pyright: ignore[reportAttributeAccessIssue, reportIncompatibleMethodOverride]
        self._start = start
        self._input = input

    @property
    def span(self) -> Span[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Span(self._start, self._start + len(self.text), self._input)

    @property
    def content(self) -> str:
        return self.text


class QuickLexer(MLIRLexer):
    """xDSL's lexer with a fast path for every ordinary token."""

    # xDSL's expression tries all ways to cut a string that does not end, of which there are 2 to the power of its
    # length; possessive quantifiers try one.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> Token[MLIRTokenKind, str]:
        """Escaped bytes of UTF-8 are text: so MLIR prints what is not ASCII, `"gr\\C3\\B6\\C3\\9Fe"`."""
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                StringLiteral.from_span(token.span).bytes_contents.decode()
            except UnicodeDecodeError:
                return token
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token

    def lex(self) -> Token[MLIRTokenKind, str]:
        match = _TOKEN.match(self.input.content, self.pos)
        if match is None:
            return super().lex()
        group = match.lastgroup
        assert group is not None
        text = match.group(group)
        kind = KIND_BY_PUNCTUATION_SPELLING[text] if group == "punctuation" else _KINDS[group]
        end = self.pos = match.end()
        return QuickToken(kind, text, end - len(text), self.input)

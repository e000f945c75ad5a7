"""The words of PTX."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from tilewright.support.ptx.errors import PTX_FILE, PtxSyntaxError
from tilewright.support.records import dataclass
from tilewright.support.spans import Span

TOKEN = re.compile(
    r"""[ \t\r]*
      (?: (?P<word>[A-Za-z_$%.][\w$%.]*(?:::[\w.]+)*)
        | (?P<sign>[{}\[\](),;:@!|+\-<>=])
        | (?P<newline>\n)
        | (?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
        | (?P<real>\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
        | (?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)
        | (?P<skip>//[^\n]*)
        | (?P<comment>/\*.*?\*/)
        | (?P<string>"[^"\n]*")
        | (?P<wrong>[^ \t\r]))""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A word, its kind (a group of TOKEN) and its line."""

    kind: str
    text: str
    line: int


END = Token("end", "", 0)


def tokenize(text: str) -> list[Token]:
    """All tokens of a text; PtxSyntaxError where a character belongs to none."""
    tokens: list[Token] = []
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        assert kind is not None
        if kind == "newline":
            line += 1
        elif kind == "comment":
            line += match[kind].count("\n")
        elif kind == "wrong":
            raise PtxSyntaxError(f"unexpected character {match[kind]!r}", span=Span(PTX_FILE, line))
        elif kind != "skip":
            tokens.append(Token(kind, match[kind], line))
    return tokens


@dataclass
class Cursor:
    """A place in a list of tokens."""

    tokens: list[Token]
    position: int = 0

    def peek(self) -> Token:
        """The next token."""
        return self.tokens[self.position] if self.position < len(self.tokens) else END

    def take(self) -> Token:
        """The next token, which is consumed."""
        token = self.peek()
        if token is END:
            raise PtxSyntaxError("unexpected end of the text", span=Span(PTX_FILE, self.line()))
        self.position += 1
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this one."""
        if self.peek().text != text:
            return False
        self.position += 1
        return True

    def expect(self, text: str) -> Token:
        """Consume the next token, which has to be this one."""
        token = self.peek()
        if token.text != text:
            self.fail(f"expected '{text}', got '{token.text or 'the end of the text'}'")
        return self.take()

    def line(self) -> int:
        """The line of the next token."""
        if self.position < len(self.tokens):
            return self.tokens[self.position].line
        return self.tokens[-1].line if self.tokens else 1

    def fail(self, reason: str) -> NoReturn:
        """Raise PtxSyntaxError at the next token."""
        raise PtxSyntaxError(reason, span=Span(PTX_FILE, self.line()))

    def skip_line(self) -> list[Token]:
        """Consume and give the rest of the line of the token before."""
        line, start = self.tokens[self.position - 1].line, self.position
        while self.position < len(self.tokens) and self.tokens[self.position].line == line:
            self.position += 1
        return self.tokens[start : self.position]

    def skip_past(self, text: str) -> None:
        """Consume everything up to and with a token."""
        while self.take().text != text:
            pass

    def integer(self) -> int:
        """Consume an integer with a sign."""
        negative = self.accept("-")
        token = self.take()
        if token.kind != "number":
            self.position -= 1
            self.fail(f"expected an integer, got '{token.text}'")
        digits = token.text.rstrip("U")
        value = int(digits, 8 if digits.isdigit() and digits[0] == "0" else 0)
        return -value if negative else value

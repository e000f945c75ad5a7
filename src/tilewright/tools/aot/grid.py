"""The extents of a launch's grid as arithmetic over the kernel's parameters: "cdiv(n, BLOCK), m / 32".

What C and Python write alike: integers, parameters that are integers, parentheses, `+ - * / % << >> & | ^ ~`,
comparisons, `&& || !`, `a ? b : c`; beside these `//`, and the functions `cdiv`, `min`, `max` (also as `triton.cdiv`).
Operators bind as in C, and everything is computed in 64 bits. Constants of the kernel stand for their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tilewright.support.records import dataclass
from tilewright.tools.aot.signature import Signature, SignatureError, c_name, entries_of

AXES = 3
LARGEST = 2**63 - 1

FUNCTIONS = {
    "cdiv": "static inline int64_t tw_cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }",
    "min": "static inline int64_t tw_min(int64_t a, int64_t b) { return a < b ? a : b; }",
    "max": "static inline int64_t tw_max(int64_t a, int64_t b) { return a > b ? a : b; }",
}
"""What an extent may call, each with two arguments, and its definition in C."""

_UNARY = frozenset("+-~!")
_DIVISIONS = frozenset(("/", "//", "%"))
_BINARY = (
    frozenset(("+", "-", "*", "<<", ">>", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||")) | _DIVISIONS
)
_TOKEN = re.compile(
    r"""\s*(?: (?P<number> 0[xX][0-9a-fA-F]+ | \d+ ) [uUlL]*\b
      | (?: (?:triton|tl)\s*\.\s* )? (?P<name> [^\W\d]\w* )
      | (?P<sign> // | << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^~!<>?:(),] ) )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A word of an extent, where it stands in the text, and what it is: a number, name or sign; empty at the end."""

    text: str
    kind: str
    place: int


@dataclass(frozen=True)
class Extent:
    """One extent: words that are known to be an expression."""

    text: str
    tokens: tuple[Token, ...]

    def in_c(self, signature: Signature) -> str:
        """The expression in C, for the function of a variant. Raises SignatureError for a name that is not an
        integer."""
        text = "".join(self._word(token, signature) for token in self.tokens)
        return " ".join(text.split())

    def called(self) -> set[str]:
        """The functions that it calls."""
        return {token.text for token in self.tokens if token.kind == "function"}

    def _word(self, token: Token, signature: Signature) -> str:
        match token.kind:
            case "number":
                return f"{int(token.text, 0)}LL"
            case "name":
                return self._value(token, signature)
            case "function":
                return f"tw_{token.text}"
            case "unary":
                return f" {token.text}"
            case "binary":
                return f" {'/' if token.text == '//' else token.text} "
            case _:
                return {",": ", ", "?": " ? ", ":": " : "}.get(token.text, token.text)

    def _value(self, token: Token, signature: Signature) -> str:
        """A parameter as a value of 64 bits."""
        named = {argument.name: argument for argument in signature.arguments}
        argument = named.get(token.text)
        if argument is not None and argument.is_passed and not argument.is_pointer and argument.type[0] in "iu":
            return f"(int64_t){c_name(token.text)}"
        if argument is not None and not argument.is_passed and isinstance(argument.constant, int):
            return f"({int(argument.constant)}LL)" if argument.constant < 0 else f"{int(argument.constant)}LL"
        known = [a.name for a in signature.arguments if _is_integer(a.type, a.constant)]
        what = f"{token.text!r} is not a parameter" if argument is None else f"{token.text!r} is not an integer"
        there = f"the kernel's integers are {', '.join(known)}" if known else "the kernel has no integers"
        raise wrong(self.text, token.place, f"{what}: {there}")


def _is_integer(kind: str, constant: object) -> bool:
    return kind[0] in "iu" if kind else isinstance(constant, int)


@dataclass(frozen=True)
class Grid:
    """The extents along x, y and z."""

    extents: tuple[Extent, Extent, Extent]

    def in_c(self, signature: Signature) -> tuple[str, str, str]:
        """C expressions for the function of a variant. Raises SignatureError for names that are no integers."""
        x, y, z = (extent.in_c(signature) for extent in self.extents)
        return x, y, z

    def definitions(self) -> str:
        """The functions in C that the extents call."""
        called = set[str]().union(*(extent.called() for extent in self.extents))
        return "".join(f"{text}\n" for name, text in FUNCTIONS.items() if name in called)


def read_grid(text: str, signatures: Iterable[Signature]) -> Grid:
    """One to three extents, between commas, over what all signatures have. Raises SignatureError that shows where the
    text is wrong."""
    extents = entries_of(text)
    if not 1 <= len(extents) <= AXES or not all(extents):
        raise SignatureError(f"--grid {text!r}: expected one to three expressions, separated by commas")
    x, y, z = (read_extent(extent) for extent in [*extents, "1", "1"][:AXES])
    grid = Grid((x, y, z))
    for signature in signatures:
        grid.in_c(signature)
    return grid


def read_extent(text: str) -> Extent:
    """One expression. Raises SignatureError."""
    return Extent(text, tuple(_Reader(text, list(_tokens(text))).read()))


def wrong(text: str, place: int, what: str) -> SignatureError:
    """The error of an extent, with a caret under the place."""
    return SignatureError(f"--grid: {what}\n    {text}\n    {' ' * place}^")


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise wrong(text, place, f"{text[place]!r} is not integer arithmetic")
        kind = str(found.lastgroup)
        yield Token(found[kind], kind, found.start(kind))
        place = found.end()


class _Reader:
    """Checks that words are an expression:

    expression = operand {binary operand} ["?" expression ":" expression]
    operand = {unary} (number | name | function "(" expression "," expression ")" | "(" expression ")")
    """

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.rest = [*tokens, Token("", "end", len(text))]
        self.read_tokens: list[Token] = []

    def read(self) -> list[Token]:
        """All words, which functions are marked in. Raises SignatureError."""
        self._expression()
        if self.rest[0].kind != "end":
            raise self._wrong("an operator")
        return self.read_tokens

    def _take(self, kind: str = "") -> Token:
        token = self.rest.pop(0)
        self.read_tokens.append(Token(token.text, kind or token.kind, token.place))
        return token

    def _wrong(self, expected: str) -> SignatureError:
        token = self.rest[0]
        found = f"in the place of {token.text!r}" if token.text else "at the end"
        return wrong(self.text, token.place, f"expected {expected} {found}")

    def _expect(self, sign: str) -> None:
        if self.rest[0].text != sign:
            raise self._wrong(repr(sign))
        self._take()

    def _expression(self) -> None:
        self._operand()
        while self.rest[0].text in _BINARY:
            operator = self._take("binary").text
            if operator in _DIVISIONS and self.rest[0].kind == "number" and int(self.rest[0].text, 0) == 0:
                raise wrong(self.text, self.rest[0].place, "division by zero")
            self._operand()
        if self.rest[0].text == "?":
            self._between("?", self._expression, ":")
            self._expression()

    def _operand(self) -> None:
        while self.rest[0].text in _UNARY:
            self._take("unary")
        token = self.rest[0]
        if token.kind == "number":
            self._number(token)
        elif token.kind == "name" and self.rest[1].text == "(":
            self._call(token)
        elif token.kind == "name":
            self._take()
        elif token.text == "(":
            self._between("(", self._expression, ")")
        else:
            raise self._wrong("a number, a parameter or '('")

    def _number(self, token: Token) -> None:
        if token.text.startswith("0") and token.text.isdigit() and token.text.strip("0"):
            raise wrong(self.text, token.place, f"{token.text} starts with 0, which C and Python read differently")
        if int(token.text, 0) > LARGEST:
            raise wrong(self.text, token.place, f"{token.text} does not fit 64 bits")
        self._take()

    def _call(self, token: Token) -> None:
        if token.text not in FUNCTIONS:
            raise wrong(self.text, token.place, f"no function {token.text!r}; there are {', '.join(FUNCTIONS)}")
        self._take("function")
        self._between("(", self._expression, ",")
        self._expression()
        self._expect(")")

    def _between(self, opening: str, middle: Callable[[], None], closing: str) -> None:
        self._expect(opening)
        middle()
        self._expect(closing)

"""Affine maps and sets, with what upstream's parser says where they are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
)
from xdsl.parser import Parser
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRTokenKind

_BINARY = ("+", "*")
_CONSTANT_ON_THE_RIGHT = ("floordiv", "ceildiv", "mod")
_BITS = 64
EXPECTED = "expected affine expression"

FindName = Callable[[], AffineExpr | None]


class AffineTextParser(Parser):
    """Reads affine maps and sets by a parser of their own."""

    def _parse_builtin_affine_map(self) -> AffineMapAttr:
        self.parse_characters("<", " in affine map")
        parsed = _AffineReader(self._parser_state).parse_affine_map()
        self.parse_characters(">", " in affine map")
        return AffineMapAttr(parsed)

    def _parse_builtin_affine_set(self) -> AffineSetAttr:
        self.parse_characters("<", " in integer set")
        parsed = _AffineReader(self._parser_state).parse_affine_set()
        self.parse_characters(">", " in integer set")
        return AffineSetAttr(parsed)


class _AffineReader(AffineParser):
    """xDSL's parser, which takes what is not affine and says less."""

    _has_left = False
    """Whether what is read is the right operand of an operator."""

    def parse_affine_map(self) -> AffineMap:
        dims, symbols = self._parse_affine_space()
        self._parse_token(MLIRTokenKind.ARROW, "expected '->' or ':'")
        find = self._get_parse_optional_bare_id(dims, symbols)
        results = self.parse_comma_separated_list(
            self.Delimiter.PAREN, lambda: self._parse_affine_expr(find), " in affine map range"
        )
        return AffineMap(len(dims), len(symbols), tuple(results))

    def parse_affine_set(self) -> AffineSet:
        dims, symbols = self._parse_affine_space()
        self._parse_token(MLIRTokenKind.COLON, "expected '->' or ':'")
        find = self._get_parse_optional_bare_id(dims, symbols)
        constraints = self.parse_comma_separated_list(
            self.Delimiter.PAREN, lambda: self._parse_affine_constraint(find), " in integer set constraint list"
        )
        return AffineSet(len(dims), len(symbols), tuple(constraints))

    def _parse_affine_space(self) -> tuple[list[str], list[str]]:
        names: list[str] = []

        def parse_name() -> str:
            token = self._parse_token(MLIRTokenKind.BARE_IDENT, "expected bare identifier")
            if token.text in names:
                raise ParseError(token.span, f"redefinition of identifier '{token.text}'")
            names.append(token.text)
            return token.text

        dims = self.parse_comma_separated_list(self.Delimiter.PAREN, parse_name, " in dimensional identifier list")
        if self._current_token.kind is not MLIRTokenKind.L_SQUARE:
            return dims, []
        return dims, self.parse_comma_separated_list(self.Delimiter.SQUARE, parse_name, " in symbol list")

    def _parse_primary(self, parse_optional_bare_id: FindName) -> AffineExpr:
        token = self._current_token
        match token.kind:
            case MLIRTokenKind.BARE_IDENT:
                return super()._parse_primary(parse_optional_bare_id)
            case MLIRTokenKind.INTEGER_LIT:
                if int(token.text, 0) >= 1 << _BITS - 1:
                    self._fail("constant too large for index")
                return super()._parse_primary(parse_optional_bare_id)
            case MLIRTokenKind.L_PAREN:
                self._consume_token()
                if self._current_token.kind is MLIRTokenKind.R_PAREN:
                    self._fail("no expression inside parentheses")
                has_left, self._has_left = self._has_left, False
                inner = self._parse_affine_expr(parse_optional_bare_id)
                self._has_left = has_left
                self.parse_punctuation(")")
                return inner
            case MLIRTokenKind.MINUS:
                self._consume_token()
                try:
                    return -self._parse_primary(parse_optional_bare_id)
                except ParseError as error:
                    raise ParseError(self._current_token.span, "missing operand of negation") from error
            case MLIRTokenKind.PERCENT_IDENT:
                return self._fail("unexpected ssa identifier")
            case _:
                if self._has_left:
                    self._fail("missing right operand of binary operator")
                is_binary = token.text in _BINARY
                return self._fail("missing left operand of binary operator" if is_binary else EXPECTED)

    def _parse_binop_rhs(self, lhs: AffineExpr, prec: int, parse_optional_bare_id: FindName) -> AffineExpr:
        while (own := self._get_token_precedence()) >= prec:
            operator = self._consume_token()
            self._has_left = True
            right = self._parse_primary(parse_optional_bare_id)
            self._has_left = False
            if own < self._get_token_precedence():
                right = self._parse_binop_rhs(right, own + 1, parse_optional_bare_id)
            if operator.text == "*" and _has_dims(lhs) and _has_dims(right):
                either = "at least one of the multiply operands has to be either a constant or symbolic"
                raise ParseError(operator.span, f"non-affine expression: {either}")
            if operator.text in _CONSTANT_ON_THE_RIGHT and _has_dims(right):
                needed = f"right operand of {operator.text} has to be either a constant or symbolic"
                raise ParseError(operator.span, f"non-affine expression: {needed}")
            lhs = self._create_binop_expr(lhs, right, operator)
        return lhs

    def _parse_affine_constraint(self, parse_optional_bare_id: FindName) -> AffineConstraintExpr:
        left = self._parse_affine_expr(parse_optional_bare_id)
        first = self._current_token.text
        if first in ("=", ">", "<"):
            self._consume_token()
        if first not in ("=", ">", "<") or self._current_token.text != "=":
            self._fail("expected '== affine-expr' or '>= affine-expr' at end of affine constraint")
        self._consume_token()
        right = self._parse_affine_expr(parse_optional_bare_id)
        return AffineConstraintExpr(AffineConstraintKind(f"{first}="), left, right)

    def _fail(self, reason: str) -> NoReturn:
        raise ParseError(self._current_token.span, reason)


def _has_dims(expr: AffineExpr) -> bool:
    return any(isinstance(part, AffineDimExpr) for part in expr.dfs())

"""Lists of integers and of operands, extents, arguments and function types, with what upstream says of wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, FunctionType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block
from xdsl.parser import Parser
from xdsl.utils import exceptions
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.ir.parsing.places import TextPlaces
from tilewright.ir.wording import CustomOpException
from tilewright.support.errors import Note, ParseError

ElementT = TypeVar("ElementT")

_LIMIT = 1 << 63
"""Of extents, and of integers in lists."""


class ListParser(Parser):
    """xDSL's lists with upstream's errors. A parser of whole ops says which one is being read."""

    places: TextPlaces

    _in_dense_array = False

    def custom_op_name(self) -> str | None:
        """The full name of the op whose own format is being read; None elsewhere."""
        return None

    def parse_comma_separated_list(
        self, delimiter: Any, parse: Callable[[], ElementT], context_msg: str = ""
    ) -> list[ElementT]:
        own: Any = parse
        if own == self.parse_integer and (name := self.custom_op_name()) is not None:
            own = partial(self._parse_list_integer, name)
        elif own == self.parse_unresolved_operand and delimiter is not self.Delimiter.NONE:
            context_msg = context_msg or " in operand list"
        return super().parse_comma_separated_list(delimiter, own, context_msg)

    def _parse_list_integer(self, op: str) -> int:
        """An integer of an op's list. Upstream says first what it expected, and then that the list has not ended."""
        token = self._current_token
        number = self.parse_optional_integer()
        if number is not None and -_LIMIT <= number < _LIMIT:
            return number
        reason = "expected integer value" if number is None else "integer value too large"
        error = self.places.error_at(token.span.start, token.span.end, f"custom op '{op}' {reason}")
        at = self._current_token.span.start
        end = self.places.end_of_token_before(at)
        closing = self.places.error_at(end, end, "expected ']'")
        error.notes.append(Note(closing.message, closing.span, closing.source_line, "error"))
        raise error

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """As xDSL; a number that is no extent is an error."""
        token = self._current_token
        extent = super().parse_shape_dimension(allow_dynamic)
        if extent != DYNAMIC_INDEX and extent >= _LIMIT:
            raise self._error_at(token.span, "invalid dimension")
        return extent

    def parse_argument(self, *, expect_type: bool = True) -> Any:
        """As xDSL; a name is an operand's in upstream's words, and one result of several has none."""
        token = self._current_token
        if token.kind is not MLIRTokenKind.PERCENT_IDENT:
            self.raise_error("operand expected")
        return super().parse_argument(expect_type=expect_type)

    def parse_optional_argument(self, expect_type: bool = True) -> Any:
        token = self._current_token
        if token.kind is MLIRTokenKind.PERCENT_IDENT and self.places.text.startswith("#", token.span.end):
            at = token.span.end
            raise self.places.error_at(at, at + 1, "result number not allowed in argument list")
        return super().parse_optional_argument(expect_type)

    def parse_function_type(self) -> FunctionType:
        """As xDSL; a type of another kind is told from what is no type."""
        span = self._current_token.span
        type = self.parse_optional_type()
        if type is None:
            self.raise_error("type expected")
        if isinstance(type, FunctionType):
            return type
        colon = self.places.end_of_token_before(span.start) - 1
        span = Span(colon, colon + 1, span.input) if self.places.text[colon] == ":" else span
        found = f"invalid kind of type specified: expected builtin.function, but found '{type}'"
        if self.custom_op_name() is None:
            raise self._error_at(span, found)
        raise CustomOpException(found, span)

    def parse_integer(self, allow_boolean: bool = True, allow_negative: bool = True, context_msg: str = "") -> int:
        """As xDSL; upstream's op says what it expects."""
        span = self._current_token.span
        number = self.parse_optional_integer(allow_boolean, allow_negative)
        if number is not None:
            return number
        if self._in_dense_array:
            raise self._error_at(span, "expected integer literal")
        name = self.custom_op_name()
        reason = "expected integer value"
        raise self._error_at(span, reason if name is None else f"custom op '{name}' {reason}")

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        self._in_dense_array = True
        try:
            return super()._parse_builtin_densearray_attr()
        finally:
            self._in_dense_array = False

    def _parse_optional_block_arg_list(self, block: Block) -> Block | None:
        """As xDSL, in upstream's words."""
        if self._current_token.kind is not MLIRTokenKind.L_PAREN:
            return None

        def parse_one() -> None:
            name = self._parse_token(MLIRTokenKind.PERCENT_IDENT, "operand expected").span
            if self.parse_optional_punctuation(":") is None:
                self.raise_error("expected ':' and type for SSA operand")
            argument = block.insert_arg(self.parse_type(), len(block.args), self.parse_optional_location())
            self._register_ssa_definition(name.text[1:], (argument,), name)

        self.parse_comma_separated_list(self.Delimiter.PAREN, parse_one)
        return block

    def _raise_wrong_str_enum_value_error(self, enum_type: Any, span: Span[str]) -> NoReturn:
        """As xDSL; of fast-math flags upstream says twice what is wrong."""
        name = self.custom_op_name()
        if enum_type is not FastMathFlag or name is None:
            super()._raise_wrong_str_enum_value_error(enum_type, span)
        flags = ", ".join(["none", *(flag.value for flag in FastMathFlag), "fast"])
        kind = "::mlir::arith::FastMathFlags"
        error = self.places.error_at(span.start, span.end, f"custom op '{name}' expected {kind} to be one of: {flags}")
        reason = f"failed to parse Arith_FastMathAttr parameter 'value' which is to be a `{kind}`"
        whole = self.places.error_at(span.end, span.end, f"custom op '{name}' {reason}")
        error.notes.append(Note(whole.message, whole.span, whole.source_line, "error"))
        raise error

    def _error_at(self, span: Span[str], reason: str) -> ParseError | exceptions.ParseError:
        return self.places.error_at(span.start, span.end, reason)

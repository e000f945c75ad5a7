"""Numbers and dense constants."""

from __future__ import annotations

import re
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    VectorType,
    i1,
)
from xdsl.parser import AttrParser, Parser
from xdsl.utils import exceptions
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.ir.floats import float_from_bits
from tilewright.ir.parsing.places import TextPlaces
from tilewright.ir.printing import print_attribute
from tilewright.ir.wording import upstream_words
from tilewright.support.errors import ParseError

_UNSIGNED = re.compile(r"\s*:\s*ui[0-9]")

BOOLEANS_OF_I1 = "expected i1 type for 'true' or 'false' values"

_DENSE = frozenset({TensorType.name, VectorType.name, MemRefType.name})
"""Types of dense constants."""


def _fits(number: int, type: Any) -> bool:
    """Return whether an integer type holds a number, as a signed or an unsigned one; others hold all."""
    return not isinstance(type, IntegerType) or type.normalized_value(number) is not None


def wrong_boolean(type: Any) -> str:
    """The message of upstream about ``true`` and ``false`` as elements of a type other than i1."""
    return "expected floating point literal" if isinstance(type, AnyFloat) else BOOLEANS_OF_I1


class NumberParser(Parser):
    """Reads floats given as bits, and says where a number does not fit its type."""

    places: TextPlaces

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr[Any] | FloatAttr[Any] | None:
        """As xDSL; what does not fit into its type is an error at the number."""
        token = self._current_token
        is_negative = token.text == "-"
        if is_negative:
            token = self._token_after(token)
        try:
            number = super().parse_optional_builtin_int_or_float_attr()
        except (exceptions.VerifyException, OverflowError) as error:
            float_bits = isinstance(error, OverflowError)
            reason = "hexadecimal float constant out of range for type" if float_bits else upstream_words(str(error))
            if is_negative and _UNSIGNED.match(self.places.text, token.span.end):
                reason = "negative integer literal not valid for unsigned integer type"
            raise self.places.error_at(token.span.start, token.span.end, reason) from None
        except exceptions.ParseError as error:
            if upstream_words(error.msg).startswith("integer literal not valid"):
                raise self.places.error_at(token.span.start, token.span.end, upstream_words(error.msg)) from None
            raise
        if isinstance(number, FloatAttr) and token.text.isdecimal():
            raise self.integer_for_a_float(token.span)
        return number

    def _token_after(self, token: Token[MLIRTokenKind, str]) -> Token[MLIRTokenKind, str]:
        state = self._parser_state.current_token, self.lexer.pos
        self._resume_from(token.span.end)
        after = self._current_token
        self._parser_state.current_token, self.lexer.pos = state
        return after

    def integer_for_a_float(self, span: Span[str]) -> ParseError:
        """The error of ``1 : f32``."""
        reason = "unexpected decimal integer literal for a floating point value"
        error = self.places.error_at(span.start, span.end, reason)
        note = "add a trailing dot to make the literal a float"
        return self.places.with_place(error, span.start, span.end - span.start, note)

    class _TensorLiteralElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        """An element of a dense constant; a hexadecimal number of a float type is the float's bits."""

        def to_type(self, parser: AttrParser, type: Any) -> Any:
            if isinstance(self.value, bool) and type != i1:
                parser.raise_error(wrong_boolean(type), self.span)
            if isinstance(type, AnyFloat) and isinstance(self.value, int) and self.span.text[:2].lower() == "0x":
                try:
                    return float_from_bits(self.value, type)
                except ValueError:
                    parser.raise_error("hexadecimal float constant out of range for type", self.span)
            if isinstance(type, AnyFloat) and isinstance(self.value, int):
                assert isinstance(parser, NumberParser)
                raise parser.integer_for_a_float(self.span)
            if isinstance(self.value, int) and not _fits(self.value, type):
                parser.raise_error("integer constant out of range for type", self.span)
            return super().to_type(parser, type)

    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr[Any]:
        """As xDSL; what is wrong with the type is an error at the word ``dense``."""
        start = self.places.text.rfind("dense", 0, self.pos)
        try:
            return super()._parse_builtin_dense_attr()
        except exceptions.ParseError as error:
            reason = upstream_words(error.msg)
            if reason.startswith(("elements ", "inferred shape", "parsed zero elements")):
                raise self.places.error_at(start, start + len("dense"), reason) from None
            raise

    def _parse_dense_literal_type(self) -> Any:
        """As xDSL, which builds a constraint of 150 parts for every constant (4 ms)."""
        start = self._current_token.span
        type: Any = self.parse_type()
        element: Any = getattr(type, "element_type", None)
        if type.name not in _DENSE:
            self.raise_error("elements literal must be a shaped type", start)
        if not isinstance(element, IntegerType | IndexType | AnyFloat | ComplexType):
            self.raise_error("expected a memref, vector or tensor of integers, index, floats or complex numbers", start)
        if DYNAMIC_INDEX in type.get_shape():
            self.raise_error("elements literal type must have static shape", start)
        return type

    def parse_dense_int_or_fp_elements_attr(self, type: Any) -> DenseIntOrFPElementsAttr[Any]:
        """As xDSL, but a splat is repeated as bytes, not as Python numbers."""
        start = self._current_token.span.start
        self.parse_punctuation("<", " in dense attribute")
        if self.parse_optional_punctuation(">") is not None:
            return self._parse_empty_dense(type)
        if self._current_token.text in ("[", "(") or self._current_token.kind is MLIRTokenKind.STRING_LIT:
            self._resume_from(start)
            return super().parse_dense_int_or_fp_elements_attr(type)
        element = self._parse_tensor_literal_element()
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        value: Any = element.to_type(self, type.element_type)
        return DenseIntOrFPElementsAttr.from_list(type, [value])

    def _parse_empty_dense(self, type: Any) -> DenseIntOrFPElementsAttr[Any]:
        """The rest of ``dense<> : tensor<0xf32>``."""
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        if 0 not in type.get_shape():
            self.raise_error(f"parsed zero elements, but type ('{print_attribute(type)}') expected at least 1")
        return DenseIntOrFPElementsAttr.from_list(type, [])

    def _parse_typed_integer(self, type: IntegerType, *args: Any, **options: Any) -> int:
        """As xDSL; ``true`` and ``false`` are the elements of i1, and of no other type."""
        token = self._current_token
        is_boolean = token.text in ("true", "false")
        if is_boolean and type != i1:
            raise self.places.error_at(token.span.start, token.span.end, BOOLEANS_OF_I1)
        number = super()._parse_typed_integer(type, *args, **options)
        if type == i1 and not is_boolean:
            self.raise_error("expected 'true' or 'false' values for i1 type")
        return number

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        """As xDSL, but floats may be given as bits: ``array<f32: 0x7F800000>``."""
        start = self._current_token.span.start
        self.parse_punctuation("<", " in dense array")
        element_type = self.parse_type()
        if not isinstance(element_type, AnyFloat) or self._current_token.text == ">":
            self._resume_from(start)
            return super()._parse_builtin_densearray_attr()
        self.parse_punctuation(":", " in dense array")
        elements = self.parse_comma_separated_list(self.Delimiter.NONE, self._parse_tensor_literal_element)
        self.parse_punctuation(">", " in dense array")
        values: Any = [element.to_type(self, element_type) for element in elements]
        return DenseArrayBase.from_list(element_type, values)

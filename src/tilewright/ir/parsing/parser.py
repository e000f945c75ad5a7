"""xDSL's parser with upstream's rules where the two differ."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.utils import exceptions
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.ir.lexing import QuickLexer
from tilewright.ir.naming import hint_value
from tilewright.ir.older_spellings import RENAMED, RENAMED_KEYS, OlderSpellings, find_renaming
from tilewright.ir.parsing.affine import AffineTextParser
from tilewright.ir.parsing.aliases import AliasParser
from tilewright.ir.parsing.lists import ListParser
from tilewright.ir.parsing.locations import LocationParser
from tilewright.ir.parsing.numbers import NumberParser
from tilewright.ir.parsing.places import TextPlaces
from tilewright.ir.parsing.types import TypeParser, end_of_brackets
from tilewright.ir.passes import Remark
from tilewright.ir.printing import print_attribute
from tilewright.ir.wording import CustomOpException, upstream_words
from tilewright.support.errors import Note, ParseError

_OP_NAME = re.compile(r'"?([^\s"({<%@]+)"?')
_BLANKS = re.compile(r"\s*")
_INTEGER_TYPE = re.compile(r"[su]?i[1-9][0-9]*")
MORE_ON_DIALECTS = (
    "for more info on dialect registration see "
    "https://mlir.llvm.org/getting_started/Faq/#registered-loaded-dependent-whats-up-with-dialects-management"
)
TO_ALLOW = (
    "allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used"
)
WITHOUT_DEFAULT = frozenset({"affine", "linalg", "memref", "scf", "tensor"})
"""Dialects whose ops' regions name every dialect."""


@lru_cache(maxsize=4096)
def _int(value: int) -> IntAttr:
    return IntAttr(value)


class MLIRParser(ListParser, TypeParser, NumberParser, AffineTextParser, AliasParser, LocationParser):
    """xDSL's parser with upstream's rules where the two differ."""

    needs_module = False
    """Whether the top level must be one module."""

    def __init__(self, context: Context, text: str, filename: str) -> None:
        from xdsl.parser.generic_parser import ParserState

        self.places = TextPlaces(text, filename)
        self._file_attribute = StringAttr(filename)
        self._first_uses: dict[str, int] = {}
        self._definitions: dict[str, int] = {}
        self._op_start = 0
        self._in_attribute = 0
        self.older = OlderSpellings()
        self._alias_positions: dict[str, int] | None = None
        self._simple_types: dict[str, TypeAttribute] = {}
        self._bracketed_types: dict[str, TypeAttribute] = {}
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        AttrParser.__init__(self, self._first_state(ParserState, text, filename), context)

    def _first_state(self, state: Any, text: str, filename: str) -> Any:
        """Lex the first token; an error there has no parser to report it yet."""
        try:
            return state(QuickLexer(Input(text, filename)))
        except exceptions.ParseError as error:
            raise self.places.error_in_upstream_words(error) from None

    # Whole texts.

    def parse_whole_module(self) -> ModuleOp:
        """The whole text as one module."""
        module = self._parse_top_level()
        for name in self.forward_ssa_references:
            start = self._first_uses.get(name, self.pos)
            raise self.places.error_at(start, start + len(name) + 1, "use of undeclared SSA value name")
        return module

    def _parse_top_level(self) -> ModuleOp:
        ops: list[Operation] = []
        while (kind := self._current_token.kind) is not MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error("expected an operation")
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if self.needs_module:
            raise self.places.error_at(
                0, 1, "expected one builtin.module at the top level, as no implicit module is made"
            )
        return ModuleOp(ops)

    def parse_whole_attribute(self) -> Attribute:
        """The whole text as one attribute or type."""
        attribute = self.parse_attribute()
        if self._current_token.kind is not MLIRTokenKind.EOF:
            self.raise_error("expected nothing after the attribute")
        return attribute

    # Older spellings.

    def remarks_about_spellings(self) -> list[Remark]:
        """One for each older spelling that was read, at its first place."""
        return [
            Remark("parse", "", self.places.error_at(start, start + 1, "").span, f"{older} is written {today} today")
            for older, (today, start) in self.older.found.items()
        ]

    def _name_today(self, name: str, table: tuple[tuple[str, str], ...] = RENAMED) -> str:
        renaming = find_renaming(name, table)
        if renaming is None:
            return name
        older, today = renaming
        self.older.note(f"'{older}'", f"'{today}'", max(self.places.text.rfind(name, 0, self.pos), 0))
        return today + name[len(older) :]

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        name = attr_or_dialect_name
        start = self.places.end_of_token_before(self._current_token.span.start) - len(name)
        self._in_attribute += 1
        try:
            parsed = super()._parse_extended_type_or_attribute(self._name_today(name), is_type)
        except exceptions.ParseError as error:
            if not error.msg.endswith("is not registered"):
                raise
            raise self._unregistered(name, start, is_type=is_type) from None
        self._in_attribute -= 1
        return parsed

    def _unregistered(self, name: str, start: int, *, is_type: bool) -> ParseError:
        """The error of upstream about an unknown type or attribute at `start`, ``!NAME<...>`` or ``#NAME<...>``."""
        text, (dialect, dot, rest), end = self.places.text, name.partition("."), start + len(name)
        at = start + len(dialect) + 1 if dot else start - 1
        if dialect in self.ctx.registered_dialect_names:
            return self.places.error_at(at, end, f"'{name}' is not registered")
        parameters = text[end : end_of_brackets(text, end)]
        body = rest + parameters if dot else parameters[1:-1]
        whole = f'`!"{dialect}"<"{body}">` type' if is_type else f'#"{dialect}"<"{body}"> : \'none\' attribute'
        reason = f"{whole} created with unregistered dialect. If this is intended, please call {TO_ALLOW}"
        return self.places.error_at(at, end, reason)

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        name, attribute = super()._parse_attribute_entry()
        return self._name_today(name, RENAMED_KEYS), attribute

    def known_type(self, operand: UnresolvedOperand) -> Attribute | None:
        """The type of an operand that was defined or used before."""
        value = self._value_so_far(operand)
        return None if value is None else value.type

    def _get_op_by_name(self, name: str) -> type[Operation]:
        name = self._name_today(name)
        found = self.ctx.get_optional_op(name, dialect_stack=self._default_dialects())
        if found is not None and not (issubclass(found, UnregisteredOp) and not self._is_generic(name)):
            return found
        dialect = name.partition(".")[0]
        known = [op.name for op in self.ctx.loaded_ops if op.name.startswith(f"{dialect}.")]
        near = get_close_matches(name, known, n=1)
        start = self.places.text.find(name, self._op_start)
        if self._is_generic(name):
            raise self._unknown_generic(name, start)
        reason = f"custom op '{name}' is unknown"
        if not known and "." in name:
            reason = f"Dialect `{dialect}' not found for custom op '{name}' "
        if not known and "." not in name and self._parser_state.dialect_stack:
            default = "".join(self._default_dialects()[-1:])
            reason = reason if default else f"Dialect `' not found for custom op '{name}' "
            reason += f" (tried '{default}.{name}' as well)"
        error = self.places.error_at(start, start + len(name), reason)
        if near:
            self.places.with_place(error, start, len(name), f"did you mean '{near[0]}'?")
        if not reason.startswith("Dialect"):
            raise error
        listed = ", ".join(sorted(self.ctx.registered_dialect_names))
        raise self.places.with_place(error, start, len(name), f"Available dialects: {listed} ; {MORE_ON_DIALECTS}")

    def _unknown_generic(self, name: str, start: int) -> ParseError:
        """The error of upstream about an unknown op in generic form."""
        dialect = name.partition(".")[0]
        if "." in name and dialect in self.ctx.registered_dialect_names:
            found = f"unregistered operation '{name}' found in dialect ('{dialect}')"
            return self.places.error_at(start - 1, start, f"{found} that does not allow unknown operations")
        reason = (
            "operation being parsed with an unregistered dialect. If this is intended, please use "
            "-allow-unregistered-dialect with the MLIR tool used"
        )
        after = start + len(name) + 1  # where upstream finds out
        return self.places.error_at(after, after + 1, reason)

    def _default_dialects(self) -> list[str]:
        """The dialects whose names may be left out where the parser is."""
        stack = self._parser_state.dialect_stack
        return [] if stack and stack[-1] in WITHOUT_DEFAULT else stack

    def parse_keyword(self, keyword: str, context_msg: str = "") -> str:
        """As xDSL; upstream's op says at the token what it expects there."""
        token = self._current_token
        if self.parse_optional_keyword(keyword) is not None:
            return keyword
        name = self.custom_op_name()
        if name is None or context_msg:  # which parts of attributes have
            return super().parse_keyword(keyword, context_msg)
        raise self.places.error_at(token.span.start, token.span.end, f"custom op '{name}' expected '{keyword}'")

    def custom_op_name(self) -> str | None:
        """The full name of the op whose own format is being read; None in attributes and in generic form."""
        name = _OP_NAME.match(self.places.text, self._op_start)
        return None if name is None or self._in_attribute or name[0].startswith('"') else self._full_name(name[1])

    def _is_generic(self, name: str) -> bool:
        """Return whether the op that is being read is written in generic form, with its name in quotes."""
        return self.places.text.startswith(f'"{name}"', self.places.text.find(name, self._op_start) - 1)

    # Operations and values.

    def parse_optional_operation(self) -> Operation | None:
        """As xDSL; names of integer types are none of ops."""
        if _INTEGER_TYPE.fullmatch(self._current_token.text):
            self.raise_error("operation name expected")
        return super().parse_optional_operation()

    def parse_operation(self) -> Operation:
        token = self._current_token
        start = token.span.start
        if token.kind is MLIRTokenKind.PERCENT_IDENT:  # the op begins after the names of its results
            blanks = _BLANKS.match(self.places.text, self.places.text.find("=", start) + 1)
            assert blanks is not None
            start = blanks.end()
        outer, self._op_start = self._op_start, start
        try:
            op = super().parse_operation()
            self._op_start = outer
        except exceptions.VerifyException as error:
            raise self._op_error(error, start) from error
        if op.location is UNKNOWN_LOC:
            line, col = self.places.line_and_column(start)
            op.location = FileLineColLoc(self._file_attribute, _int(line), _int(col))
        return op

    def _op_error(self, error: exceptions.VerifyException, start: int) -> ParseError:
        """The error of the op that begins at `start`, at its name or at a token of its text."""
        name = _OP_NAME.match(self.places.text, start)
        assert name is not None
        written, said = self._full_name(name[1]), upstream_words(str(error))
        if not isinstance(error, CustomOpException):
            return self.places.error_at(start, name.end(), f"'{written}' op {said}")
        at = (start, name.end()) if error.at is None else (error.at.start, error.at.end)
        own = self.places.error_at(*at, f"custom op '{written}' {said}")
        match error.__cause__:
            case CustomOpException() as cause:
                first = self._op_error(cause, start)
            case exceptions.ParseError() as cause:
                first = self.places.error_in_upstream_words(cause)
            case _:
                return own
        first.notes.append(Note(own.message, own.span, own.source_line, "error"))
        return first

    def _full_name(self, written: str) -> str:
        """The name of an op that may be written without its dialect."""
        found = self.ctx.get_optional_op(written, dialect_stack=self._default_dialects())
        return written if found is None or issubclass(found, UnregisteredOp) else found.name

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        arguments = None if arguments is None else list(arguments)
        names = [argument.name for argument in arguments or ()]
        for index, name in enumerate(names):
            earlier = [other.start for other in names[:index] if other.text == name.text]
            earlier += self._references_to(name.text[1:])
            if earlier:
                error = self.places.error_at(
                    name.start, name.end, f"region entry argument '{name.text}' is already in use"
                )
                raise self.places.with_place(error, earlier[0], len(name.text), "previously referenced here")
        return super().parse_optional_region(arguments)

    def _references_to(self, name: str) -> list[int]:
        """Return where a value that the parser's place can use was defined, or used before its definition."""
        if name in self.ssa_values:
            return [self._definitions[name]]
        return [self._first_uses[name]] if name in self.forward_ssa_references else []

    def _parse_block(self) -> Block:
        token = self._current_token
        if token.text[1:] in self.blocks and token.text[1:] not in self.forward_block_references:
            raise self.places.error_at(token.span.start, token.span.end, f"redefinition of block '{token.text}'")
        return super()._parse_block()

    def _parse_optional_block_arg_list(self, block: Block) -> Any:
        parsed = super()._parse_optional_block_arg_list(block)
        if self._current_token.kind is not MLIRTokenKind.COLON:
            self.raise_error("expected ':' after block name")
        return parsed

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span[str]) -> None:
        if name in self.ssa_values and span.text:
            error = self.places.error_at(span.start, span.end, f"redefinition of SSA value '%{name}'")
            raise self.places.with_place(error, self._definitions[name], len(name) + 1, "previously defined here")
        self._definitions[name] = span.start
        for index, used in self.forward_ssa_references.get(name, {}).items():
            if index >= len(values):
                start = self._first_uses[name]
                raise self.places.error_at(start, start + len(name) + 1, "use of undeclared SSA value name")
            if values[index].type != used.type:
                reason = f"definition of SSA value '%{name}#{index}' has type '{values[index].type}'"
                error = self.places.error_at(span.start, span.end, reason)
                said = f"previously used here with type '{used.type}'"
                raise self.places.with_place(error, self._first_uses[name], len(name) + 1, said)
        super()._register_ssa_definition(name, values, span)
        if name.startswith("_"):
            for value in values:
                hint_value(value, name)

    def resolve_operand(self, operand: UnresolvedOperand, type: Any) -> SSAValue[Any]:
        name = operand.operand_name
        if name not in self.ssa_values:
            self._first_uses.setdefault(name, operand.span.start)
        value = self._value_so_far(operand)
        if value is not None and value.type != type:
            raise self._other_type(operand, type, value)
        return super().resolve_operand(operand, type)

    def _value_so_far(self, operand: UnresolvedOperand) -> SSAValue | None:
        """Return what an operand stands for, if it was defined or used before."""
        values = self.ssa_values.get(operand.operand_name)
        if values is not None:
            return values[operand.index] if operand.index < len(values) else None
        return self.forward_ssa_references.get(operand.operand_name, {}).get(operand.index)

    def _other_type(self, operand: UnresolvedOperand, type: Attribute, value: SSAValue) -> ParseError:
        types = f"'{print_attribute(type)}' vs '{print_attribute(value.type)}'"
        reason = f"expects different type than prior uses: {types}"
        written = operand.span.text
        error = self.places.error_at(operand.span.start, operand.span.end, f"use of value '{written}' {reason}")
        prior = re.search(rf"{re.escape(written)}(?![\w$.#-])", self.places.text)
        if prior is not None and prior.start() < operand.span.start:
            self.places.with_place(error, prior.start(), len(written), "prior use here")
        return error

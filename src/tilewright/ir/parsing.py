"""Reading IR text as upstream MLIR and Triton write it.

On top of xDSL's parser: hexadecimal floats in dense constants are bit patterns, aliases may be defined after their
use (`#loc` tables stand at the end of a file), every form of `loc(...)` is read, an op without one gets its place in
the file, and whatever goes wrong is a `ParseError` with file, line, column, caret and reason.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AffineMapAttr,
    AnyFloat,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnknownLoc,
    UnregisteredOp,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.utils import exceptions
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRTokenKind

from tilewright.ir.floats import float_from_bits
from tilewright.ir.lexing import QuickLexer
from tilewright.ir.naming import hint_value
from tilewright.ir.older_spellings import RENAMED, RENAMED_KEYS, OlderSpellings, find_renaming
from tilewright.ir.passes import Remark
from tilewright.ir.wording import UNENDED_STRING, CustomOpException, upstream_words
from tilewright.support.errors import ParseError, TilewrightError

SPLIT_MARKER = "// -----"
"""What the line between the parts of a file begins with that `--split-input-file` reads separately."""

_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z0-9_$.-]+)[ \t]*=[ \t\n]*", re.MULTILINE)

_OP_NAME = re.compile(r'"?([^\s"({<%@]+)"?')

_ALIAS_USE = re.compile(r"[#!][A-Za-z0-9_$.-]+")


@lru_cache(maxsize=4096)
def _int(value: int) -> IntAttr:
    return IntAttr(value)


_SHAPED = frozenset({"tensor", "memref", "vector"})

_DENSE = frozenset({TensorType.name, VectorType.name, MemRefType.name})
"""Types of dense constants."""

_BLANKS = re.compile(r"\s*")

_BRACKET = re.compile(r"->|[<>\"\n]")


def _end_of_brackets(text: str, start: int) -> int:
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
        extent = next((extent for extent in type.get_shape() if extent <= 0), 1)
        return "" if extent > 0 else f"vector types must have positive constant sizes but got {extent}"
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


def _fits(number: int, type: Any) -> bool:
    """Return whether an integer type holds a number, as a signed or an unsigned one; others hold all."""
    return not isinstance(type, IntegerType) or type.normalized_value(number) is not None


def parse_module(
    text: str,
    context: Context,
    filename: str = "<string>",
    *,
    needs_module: bool = False,
    remarks: list[Remark] | None = None,
) -> ModuleOp:
    """Parse the text of a module; top-level ops without one are wrapped in a module, or refused (`needs_module`).

    Older spellings are read; `remarks` gets one for each. Raises `ParseError`. Parsing does not verify.
    """
    parser = MLIRParser(context, text, filename)
    parser.needs_module = needs_module
    module = _guarded(parser, "module")
    if remarks is not None:
        remarks.extend(parser.remarks_about_spellings())
    return module


def parse_attribute(text: str, context: Context, filename: str = "<string>") -> Attribute:
    """Parse one attribute or type, such as ``tensor<4x!tt.ptr<f32>>``. Raises `ParseError`."""
    return _guarded(MLIRParser(context, text, filename), "attribute")


def split_input(text: str, marker: str = SPLIT_MARKER) -> Iterator[tuple[int, str]]:
    """The parts of a text between lines that begin with the marker, each with the number of lines before it."""
    start = 0
    for line in re.finditer(rf"^{re.escape(marker)}.*$", text, re.MULTILINE):
        yield text.count("\n", 0, start), text[start : line.start()]
        start = line.end()
    yield text.count("\n", 0, start), text[start:]


def parse_part(
    lines_before: int,
    part: str,
    context: Context,
    filename: str,
    *,
    needs_module: bool = False,
    remarks: list[Remark] | None = None,
) -> ModuleOp:
    """Parse one part of a split file; positions count in the whole file. With `needs_module` nothing is wrapped."""
    return parse_module("\n" * lines_before + part, context, filename, needs_module=needs_module, remarks=remarks)


AFTER_THE_LAST_TOKEN = (
    "expected '",
    "expected non-function type",
    "expected attribute value",
    "expected SSA operand",
    "expected operation name",
)
"""What is said of a missing token points, as upstream's parser does, at the end of the one before it."""


def _guarded(parser: MLIRParser, what: str) -> Any:
    """Run a parser and turn everything that may come out of xDSL into a `ParseError`."""
    try:
        return parser.parse_whole_module() if what == "module" else parser.parse_whole_attribute()
    except exceptions.MultipleSpansParseError as error:
        raise parser.error_with_references(error) from None
    except exceptions.ParseError as error:
        raise parser.error_in_upstream_words(error) from None
    except TilewrightError:
        raise
    except OverflowError:
        raise parser.error_at(parser.pos, parser.pos, "a number before this does not fit into its type") from None
    except RecursionError:
        raise parser.error_at(parser.pos, parser.pos, "nested too deeply") from None
    except Exception as error:
        reason = str(error) or f"cannot be read ({type(error).__name__})"
        raise parser.error_at(parser.pos, parser.pos, reason) from error


class MLIRParser(Parser):
    """xDSL's parser with upstream's rules where the two differ."""

    needs_module = False
    """Whether the top level must be one module."""

    def __init__(self, context: Context, text: str, filename: str) -> None:
        from xdsl.parser.generic_parser import ParserState

        self._text = text
        self._filename = filename
        self._file_attribute = StringAttr(filename)
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._first_uses: dict[str, int] = {}
        self._definitions: dict[str, int] = {}
        self._op_start = 0
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
            raise self.error_at(error.span.start, error.span.end, upstream_words(error.msg)) from None

    # Whole texts.

    def parse_whole_module(self) -> ModuleOp:
        """The whole text as one module."""
        module = self._parse_top_level()
        for name in self.forward_ssa_references:
            start = self._first_uses.get(name, self.pos)
            raise self.error_at(start, start + len(name) + 1, "use of undeclared SSA value name")
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
            raise self.error_at(0, 1, "expected one builtin.module at the top level, as no implicit module is made")
        return ModuleOp(ops)

    def parse_whole_attribute(self) -> Attribute:
        """The whole text as one attribute or type."""
        attribute = self.parse_attribute()
        if self._current_token.kind is not MLIRTokenKind.EOF:
            self.raise_error("expected nothing after the attribute")
        return attribute

    # Positions and errors.

    def error_at(self, start: int, end: int, reason: str) -> ParseError:
        """A `ParseError` for a range of the text."""
        line, col = self._line_and_column(min(start, len(self._text)))
        line_start = self._line_starts[line - 1]
        source = self._text[line_start:].partition("\n")[0]
        return ParseError(
            reason,
            filename=self._filename,
            line=line,
            col=col,
            end_col=min(col + max(end - start, 1), len(source) + 1),
            source_line=source,
        )

    def end_of_token_before(self, position: int) -> int:
        """Return where the last token before a position ends, over blanks and comments."""
        while True:
            position = len(self._text[:position].rstrip())
            line = self._text.rfind("\n", 0, position) + 1
            comment = self._text.find("//", line, position)
            if comment < 0 or self._text.count('"', line, comment) % 2:
                return position
            position = comment

    def error_in_upstream_words(self, error: exceptions.ParseError) -> ParseError:
        """An error of xDSL's, in the words and at the place of upstream's parser."""
        start, end, reason = error.span.start, error.span.end, upstream_words(error.msg)
        if reason == UNENDED_STRING:
            start, end = start + len(self._line_from(start)), 0
        elif reason.startswith("duplicate key"):
            entry = re.compile(rf'[{{,]\s*"?({re.escape(reason.split(chr(39))[1])})\b')
            start, end = [found.span(1) for found in entry.finditer(self._text, 0, start)][-1]
        elif reason.startswith("redefinition of attribute alias"):
            start = self._line_starts[self._line_and_column(start)[0] - 1]
        elif reason.startswith(AFTER_THE_LAST_TOKEN) or start >= len(self._text.rstrip()):
            start, end = self.end_of_token_before(start), 0
        return self.error_at(start, end, reason)

    def error_with_references(self, error: exceptions.MultipleSpansParseError) -> ParseError:
        """An error about several places: a block that is used but never defined, or defined twice."""
        if error.msg.startswith("region ends with missing block"):
            span, _ = error.refs[0]
            return self.error_at(span.start, span.end, "reference to an undefined block")
        result = self.error_at(error.span.start, error.span.end, error.msg)
        for span, message in error.refs:
            place = self.error_at(span.start, span.end, message or error.ref_text or "see also here")
            result.add_note_at(place.message, place.span, place.source_line)
        return result

    def _line_and_column(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    # Older spellings.

    def remarks_about_spellings(self) -> list[Remark]:
        """One for each older spelling that was read, at its first place."""
        return [
            Remark("parse", "", self.error_at(start, start + 1, "").span, f"{older} is written {today} today")
            for older, (today, start) in self.older.found.items()
        ]

    def _name_today(self, name: str, table: tuple[tuple[str, str], ...] = RENAMED) -> str:
        renaming = find_renaming(name, table)
        if renaming is None:
            return name
        older, today = renaming
        self.older.note(f"'{older}'", f"'{today}'", max(self._text.rfind(name, 0, self.pos), 0))
        return today + name[len(older) :]

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        name, attribute = super()._parse_attribute_entry()
        return self._name_today(name, RENAMED_KEYS), attribute

    def known_type(self, operand: UnresolvedOperand) -> Attribute | None:
        """The type of an operand that was defined or used before."""
        value = self._value_so_far(operand)
        return None if value is None else value.type

    def _get_op_by_name(self, name: str) -> type[Operation]:
        name = self._name_today(name)
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is not None and not (issubclass(found, UnregisteredOp) and not self._is_generic(name)):
            return found
        dialect = name.partition(".")[0]
        known = [op.name for op in self.ctx.loaded_ops if op.name.startswith(f"{dialect}.")]
        near = get_close_matches(name, known, n=1)
        reason = f"custom op '{name}' is unknown"
        if not known and "." in name:
            reason = f"Dialect `{dialect}' not found for custom op '{name}' "
            if self._is_generic(name):
                reason = (
                    "operation being parsed with an unregistered dialect. If this is intended, please use "
                    "-allow-unregistered-dialect with the MLIR tool used"
                )
        if not known and "." not in name and self._parser_state.dialect_stack:
            reason += f" (tried '{self._parser_state.dialect_stack[-1]}.{name}' as well)"
        start = self._text.find(name, self._op_start)
        if reason.startswith("operation being parsed"):
            start += len(name) + 1  # upstream finds out after the name
        raise self.error_at(start, start + len(name), f"{reason}; did you mean '{near[0]}'?" if near else reason)

    def _is_generic(self, name: str) -> bool:
        """Return whether the op that is being read is written in generic form, with its name in quotes."""
        return self._text.startswith(f'"{name}"', self._text.find(name, self._op_start) - 1)

    # Operations and values.

    def parse_operation(self) -> Operation:
        token = self._current_token
        start = token.span.start
        if token.kind is MLIRTokenKind.PERCENT_IDENT:  # the op begins after the names of its results
            blanks = _BLANKS.match(self._text, self._text.find("=", start) + 1)
            assert blanks is not None
            start = blanks.end()
        self._op_start = start
        try:
            op = super().parse_operation()
        except exceptions.VerifyException as error:
            name = _OP_NAME.match(self._text, start)
            assert name is not None
            written, said = self._full_name(name[1]), upstream_words(str(error))
            custom = isinstance(error, CustomOpException)
            reason = f"custom op '{written}' {said}" if custom else f"'{written}' op {said}"
            raise self.error_at(start, name.end(), reason) from error
        if op.location is UNKNOWN_LOC:
            line, col = self._line_and_column(start)
            op.location = FileLineColLoc(self._file_attribute, _int(line), _int(col))
        return op

    def _full_name(self, written: str) -> str:
        """The name of an op that may be written without its dialect."""
        found = self.ctx.get_optional_op(written, dialect_stack=self._parser_state.dialect_stack)
        return written if found is None or issubclass(found, UnregisteredOp) else found.name

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        arguments = None if arguments is None else list(arguments)
        names = [argument.name for argument in arguments or ()]
        for number, name in enumerate(names):
            earlier = [other.start for other in names[:number] if other.text == name.text]
            if earlier or name.text[1:] in self.ssa_values:
                error = self.error_at(name.start, name.end, f"region entry argument '{name.text}' is already in use")
                first = earlier[0] if earlier else self._definitions[name.text[1:]]
                raise self._with_place(error, first, len(name.text), "previously referenced here")
        return super().parse_optional_region(arguments)

    def _parse_block(self) -> Block:
        token = self._current_token
        if token.text[1:] in self.blocks and token.text[1:] not in self.forward_block_references:
            raise self.error_at(token.span.start, token.span.end, f"redefinition of block '{token.text}'")
        return super()._parse_block()

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span[str]) -> None:
        if name in self.ssa_values and span.text:
            error = self.error_at(span.start, span.end, f"redefinition of SSA value '%{name}'")
            raise self._with_place(error, self._definitions[name], len(name) + 1, "previously defined here")
        self._definitions[name] = span.start
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
        reason = f"expects different type than prior uses: '{type}' vs '{value.type}'"
        written = operand.span.text
        error = self.error_at(operand.span.start, operand.span.end, f"use of value '{written}' {reason}")
        prior = re.search(rf"{re.escape(written)}(?![\w$.#-])", self._text)
        if prior is not None and prior.start() < operand.span.start:
            self._with_place(error, prior.start(), len(written), "prior use here")
        return error

    def _with_place(self, error: ParseError, start: int, length: int, message: str) -> ParseError:
        """Add a note about another place to an error; returns the error."""
        place = self.error_at(start, start + length, message)
        error.add_note_at(place.message, place.span, place.source_line)
        return error

    # Tokens and types, the two that decide how long parsing takes.

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
        end = _end_of_brackets(self._text, name.end)
        text = self._text[name.start : end]
        known = self._bracketed_types.get(text)
        if known is not None:
            self._resume_from(end)
            return known
        type = super().parse_optional_type()
        if type is not None and (reason := what_is_wrong_with(type)):
            raise self.error_at(name.start, name.end, reason)
        if type is not None and text:
            self._bracketed_types[text] = type
        return type

    # Aliases that are defined further down.

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        if name not in self.attribute_aliases or name not in (self._alias_positions or {}):
            super()._parse_alias_def()
            return
        self._consume_token()
        self.parse_punctuation("=", " after attribute alias name")
        self.parse_attribute()

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        attr_or_dialect_name = self._name_today(attr_or_dialect_name)
        if "." not in attr_or_dialect_name and self._current_token.kind is not MLIRTokenKind.LESS:
            name = f"{'!' if is_type else '#'}{attr_or_dialect_name}"
            if name not in self.attribute_aliases:
                self._read_alias_ahead(name)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def _read_alias_ahead(self, name: str) -> None:
        """Parse the definition of an alias from further down in the text, then continue where we were."""
        if self._alias_positions is None:
            self._alias_positions = {m[1]: m.end() for m in _ALIAS_DEFINITION.finditer(self._text)}
        if name not in self._alias_positions:
            start = self._text.rfind(name, 0, self.pos)
            end = start + len(name)
            raise self.error_at(end, end + 1, f"undefined symbol alias id '{name[1:]}'")
        saved_token, saved_position = self._parser_state.current_token, self.lexer.pos
        for needed in self._aliases_below(name):
            self._resume_from(self._alias_positions[needed])
            self.attribute_aliases[needed] = UNKNOWN_LOC  # an alias that uses itself ends here
            self.attribute_aliases[needed] = self.parse_attribute()
        self.lexer.pos, self._parser_state.current_token = saved_position, saved_token

    def _line_from(self, position: int) -> str:
        end = self._text.find("\n", position)
        return self._text[position : end if end >= 0 else None]

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
            line = self._line_from(positions[current])
            for used in dict.fromkeys(_ALIAS_USE.findall(line)):
                if used in positions and used not in seen:
                    seen.add(used)
                    stack.append((used, False))
        return order

    # Numbers and dense constants.

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr[Any] | FloatAttr[Any] | None:
        """As xDSL; what does not fit into its type is an error at the number."""
        token = self._current_token
        if token.text == "-":
            token = self._token_after(token)
        try:
            number = super().parse_optional_builtin_int_or_float_attr()
        except (exceptions.VerifyException, OverflowError) as error:
            float_bits = isinstance(error, OverflowError)
            reason = "hexadecimal float constant out of range for type" if float_bits else upstream_words(str(error))
            raise self.error_at(token.span.start, token.span.end, reason) from None
        except exceptions.ParseError as error:
            if upstream_words(error.msg).startswith("integer literal not valid"):
                raise self.error_at(token.span.start, token.span.end, upstream_words(error.msg)) from None
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
        error = self.error_at(span.start, span.end, reason)
        note = "add a trailing dot to make the literal a float"
        return self._with_place(error, span.start, span.end - span.start, note)

    class _TensorLiteralElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        """An element of a dense constant; a hexadecimal number of a float type is the float's bits."""

        def to_type(self, parser: AttrParser, type: Any) -> Any:
            if isinstance(type, AnyFloat) and isinstance(self.value, int) and self.span.text[:2].lower() == "0x":
                try:
                    return float_from_bits(self.value, type)
                except ValueError:
                    parser.raise_error("hexadecimal float constant out of range for type", self.span)
            if isinstance(type, AnyFloat) and isinstance(self.value, int) and not isinstance(self.value, bool):
                assert isinstance(parser, MLIRParser)
                raise parser.integer_for_a_float(self.span)
            if isinstance(self.value, int) and not _fits(self.value, type):
                parser.raise_error("integer constant out of range for type", self.span)
            return super().to_type(parser, type)

    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr[Any]:
        """As xDSL; what is wrong with the type is an error at the word ``dense``."""
        start = self._text.rfind("dense", 0, self.pos)
        try:
            return super()._parse_builtin_dense_attr()
        except exceptions.ParseError as error:
            reason = upstream_words(error.msg)
            if reason.startswith(("elements ", "inferred shape")):
                raise self.error_at(start, start + len("dense"), reason) from None
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
        if self._current_token.text in ("[", ">", "(") or self._current_token.kind is MLIRTokenKind.STRING_LIT:
            self._resume_from(start)
            return super().parse_dense_int_or_fp_elements_attr(type)
        element = self._parse_tensor_literal_element()
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        value: Any = element.to_type(self, type.element_type)
        return DenseIntOrFPElementsAttr.from_list(type, [value])

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

    # Locations.

    def _parse_location(self) -> LocationAttr:
        """Return what stands inside of ``loc(...)``."""
        if self._current_token.kind is MLIRTokenKind.STRING_LIT:
            return self._parse_named_or_file_location()
        if self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            token = self._current_token.span
            attribute = self.parse_attribute()
            if isinstance(attribute, UnknownLoc | FileLineColLoc | CallSiteLoc | NameLoc | FusedLoc):
                return attribute
            raise self.error_at(token.start, token.end, "this alias is not a location")
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
                raise self.error_at(position, position, "expected location instance")

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

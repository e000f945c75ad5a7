"""The decorator of op classes: xDSL's, with the assembly format compiled when the op is first read or printed.

xDSL compiles an op's format when the class is defined, which costs a quarter of a millisecond per op on every start of
the compiler, although a normal compilation neither parses nor prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, TypeVar

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils import exceptions

from tilewright.ir.older_spellings import note_older_spelling
from tilewright.support.errors import TilewrightError

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram


class WithOlderFormats:
    """An op that older Triton wrote in other ways, which are read, too (`ir.older_spellings`)."""

    OLDER_FORMATS: ClassVar[tuple[str, ...]] = ()


class OfTwoForms:
    """An op with attributes in its text that are something else in the op."""

    def after_parsing(self) -> None:
        """Take in the attributes that were read."""

    def text_attributes(self) -> dict[str, Attribute]:
        """The attributes that are printed in addition."""
        return {}


OpT = TypeVar("OpT", bound=IRDLOperation)


def op_definition(cls: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, with the assembly format compiled on first use."""
    return _define(cls, "")


def op_definition_with(directives_module: str) -> Callable[[type[OpT]], type[OpT]]:
    """As `op_definition`; formats may use all `DIRECTIVES` of a module, which is imported on first use, too."""
    return lambda cls: _define(cls, directives_module)


def _define(cls: type[OpT], directives_module: str) -> type[OpT]:
    text = cls.assembly_format
    if text is None:
        return irdl_op_definition(cls)
    cls.assembly_format = None
    cls = irdl_op_definition(cls)
    cls.assembly_format = text

    @cache
    def program(text: str = text) -> FormatProgram:
        from xdsl.irdl.declarative_assembly_format import FormatProgram

        definition = cls.get_irdl_definition()
        if directives_module:
            definition.custom_directives = import_module(directives_module).DIRECTIVES
        return FormatProgram.from_str(text, definition)

    def parse(op_type: type[OpT], parser: Parser) -> OpT:
        if issubclass(cls, WithOlderFormats):
            op = _parse_any(op_type, parser, program, (text, *cls.OLDER_FORMATS))
        else:
            op = program().parse(parser, op_type)
        if isinstance(op, OfTwoForms):
            op.after_parsing()
        return op

    def print(self: OpT, printer: Printer) -> None:
        added = self.text_attributes() if isinstance(self, OfTwoForms) else {}
        self.attributes.update(added)
        try:
            program().print(printer, self)
        finally:
            for name in added:
                del self.attributes[name]

    setattr(cls, "parse", classmethod(parse))  # noqa: B010
    setattr(cls, "print", print)  # noqa: B010
    return cls


def _parse_any(
    op_type: type[OpT], parser: Parser, program: Callable[[str], FormatProgram], formats: Sequence[str]
) -> OpT:
    """Read an op by the first format that fits; where none does, the error is that of today's."""
    start = parser.pos
    first: Exception | None = None
    for text in formats:
        try:
            op = program(text).parse(parser, op_type)
        except (exceptions.ParseError, exceptions.VerifyException, TilewrightError) as error:
            first = first or error
            parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
            continue
        if first is not None:
            _note_older_form(op, parser, start)
        return op
    assert first is not None
    raise first


def _note_older_form(op: IRDLOperation, parser: Parser, start: int) -> None:
    from tilewright.ir.printing import print_op

    note_older_spelling(parser, f"this form of '{op.name}'", f"'{print_op(op).strip()}'", start)

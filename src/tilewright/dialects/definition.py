"""The base of op classes. An op's class states in a few lines everything that generic code needs.

The constructor is written from the fields (`dialects.fields`); parsing and printing follow from the assembly format.
Both are made when they are first needed: xDSL compiles an op's format when the class is defined, which costs a quarter
of a millisecond per op on every start of the compiler, although a normal compilation neither parses nor prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils import exceptions

from tilewright.dialects.constructors import write_constructor
from tilewright.dialects.fields import (
    inferred_result_def,
    inferred_results_def,
    internal_prop_def,
    mixed_operand_def,
    note_fields,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
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


@dataclass_transform(
    eq_default=False,
    field_specifiers=(
        operand_def,
        opt_operand_def,
        var_operand_def,
        mixed_operand_def,
        internal_prop_def,
        result_def,
        inferred_result_def,
        inferred_results_def,
        opt_result_def,
        var_result_def,
        prop_def,
        opt_prop_def,
        region_def,
        var_region_def,
    ),
)
class WithFields(IRDLOperation):
    """Classes whose fields are the parameters of their constructor."""


class Op(WithFields):
    """Every op's base: a class with a `name` is an op, one without a family of ops that share fields."""

    if TYPE_CHECKING:
        # These are fields of xDSL's class, which is a dataclass; no constructor of ours takes them.
        _operands: SSAValues[SSAValue] = internal_prop_def()
        _operand_uses: tuple[Use, ...] = internal_prop_def()
        results: SSAValues[OpResult] = internal_prop_def()
        _successors: tuple[Block, ...] = internal_prop_def()
        _successor_uses: tuple[Use, ...] = internal_prop_def()
        properties: dict[str, Attribute] = internal_prop_def()
        attributes: dict[str, Attribute] = internal_prop_def()
        location: LocationAttr = internal_prop_def()
        regions: tuple[Region, ...] = internal_prop_def()
        parent: Block | None = internal_prop_def()
        _next_op: Operation | None = internal_prop_def()
        _prev_op: Operation | None = internal_prop_def()

    DIRECTIVES_MODULE: ClassVar[str] = ""
    """The module whose `DIRECTIVES` the op's format may use; it is imported when the format is first read."""

    def __init_subclass__(cls, *, init: bool = True) -> None:
        """Define an op, or a family of ops. `init` is false where the constructor is a base's, written by hand."""
        super().__init_subclass__()
        note_fields(cls)
        by_hand = not hasattr(cls.__init__, "is_written") and cls.__init__ is not Op.__init__
        if init and by_hand and "__init__" not in vars(cls):
            raise TypeError(f"{cls.__name__} inherits a constructor that is written by hand: say 'init=False'")
        if not by_hand:
            cls.__init__ = Op.__init__
        if "name" in vars(cls):
            _define(cls)

    if not TYPE_CHECKING:

        def __init__(self, *arguments: Any, **named: Any) -> None:
            cls = type(self)
            cls.__init__ = write_constructor(cls)
            cls.__init__(self, *arguments, **named)


def _define(cls: type[Op]) -> None:
    """Make an op of a class: its accessors, and its assembly format, which is compiled on first use."""
    text = cls.assembly_format
    if text is None:
        irdl_op_definition(cls)
        return
    cls.assembly_format = None
    irdl_op_definition(cls)
    cls.assembly_format = text
    setattr(cls, "parse", classmethod(_parse))  # noqa: B010
    setattr(cls, "print", _print)  # noqa: B010


@cache
def _format(cls: type[Op], text: str) -> FormatProgram:
    from tilewright.dialects.formats import Format

    definition = cls.get_irdl_definition()
    if cls.DIRECTIVES_MODULE:
        definition.custom_directives = import_module(cls.DIRECTIVES_MODULE).DIRECTIVES
    return Format.of(text, definition)


def _parse(cls: type[Op], parser: Parser) -> Op:
    assert cls.assembly_format is not None
    if issubclass(cls, WithOlderFormats):
        op = _parse_any(cls, parser, (cls.assembly_format, *cls.OLDER_FORMATS))
    else:
        op = _format(cls, cls.assembly_format).parse(parser, cls)
    if isinstance(op, OfTwoForms):
        op.after_parsing()
    return op


def _print(self: Op, printer: Printer) -> None:
    assert self.assembly_format is not None
    added = self.text_attributes() if isinstance(self, OfTwoForms) else {}
    self.attributes.update(added)
    try:
        _format(type(self), self.assembly_format).print(printer, self)
    finally:
        for name in added:
            del self.attributes[name]


def _parse_any(cls: type[Op], parser: Parser, formats: Sequence[str]) -> Op:
    """Read an op by the first format that fits; where none does, the error is that of today's."""
    start = parser.pos
    first: Exception | None = None
    for text in formats:
        try:
            op = _format(cls, text).parse(parser, cls)
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

"""The decorator of op classes: xDSL's, with the assembly format compiled when the op is first read or printed.

Compiling a format costs a quarter of a millisecond, for every op on every start of the compiler, and a normal
compilation neither parses
nor prints.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser
from xdsl.printer import Printer

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

OpT = TypeVar("OpT", bound=IRDLOperation)


def op_definition(cls: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, with the assembly format compiled on first use."""
    text = cls.assembly_format
    if text is None:
        return irdl_op_definition(cls)
    cls.assembly_format = None
    cls = irdl_op_definition(cls)
    cls.assembly_format = text

    @cache
    def program() -> FormatProgram:
        from xdsl.irdl.declarative_assembly_format import FormatProgram

        return FormatProgram.from_str(text, cls.get_irdl_definition())

    def parse(op_type: type[OpT], parser: Parser) -> OpT:
        return program().parse(parser, op_type)

    def print(self: OpT, printer: Printer) -> None:
        program().print(printer, self)

    setattr(cls, "parse", classmethod(parse))  # noqa: B010
    setattr(cls, "print", print)  # noqa: B010
    return cls

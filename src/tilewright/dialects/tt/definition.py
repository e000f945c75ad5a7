"""What every `tt` and `tts` op definition is made with.

xDSL compiles an op's assembly format when the class is defined, which costs a quarter of a millisecond per op on every
start of the compiler, although a normal compilation neither parses nor prints. `op_definition` is xDSL's decorator with
that step put off until the first parse or print of the op. Formats may use every directive of `assembly.DIRECTIVES`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, i1, i32
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser
from xdsl.printer import Printer

OpT = TypeVar("OpT", bound=IRDLOperation)


def op_definition_with(directives_module: str) -> Callable[[type[OpT]], type[OpT]]:
    """`irdl_op_definition` with the assembly format compiled on first use, against the `DIRECTIVES` of a module."""

    def define(cls: type[OpT]) -> type[OpT]:
        text = cls.assembly_format
        if text is None:
            return irdl_op_definition(cls)
        cls.assembly_format = None
        cls = irdl_op_definition(cls)
        cls.assembly_format = text

        @cache
        def program():
            from xdsl.irdl.declarative_assembly_format import FormatProgram

            definition = cls.get_irdl_definition()
            definition.custom_directives = import_module(directives_module).DIRECTIVES
            return FormatProgram.from_str(text, definition)

        def parse(op_type: type[OpT], parser: Parser) -> OpT:
            return program().parse(parser, op_type)

        def print(self: OpT, printer: Printer) -> None:
            program().print(printer, self)

        setattr(cls, "parse", classmethod(parse))  # noqa: B010
        setattr(cls, "print", print)  # noqa: B010
        return cls

    return define


def op_definition(cls: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, with the assembly format compiled on first use."""
    return op_definition_with("tilewright.dialects.tt.assembly")(cls)


@cache
def i32_attr(value: int) -> IntegerAttr[IntegerType]:
    """`value : i32`, made once per value."""
    return IntegerAttr(int(value), i32)


@cache
def bool_attr(value: bool) -> IntegerAttr[IntegerType]:
    """`true` or `false`."""
    return IntegerAttr(-1 if value else 0, i1)


@cache
def i32_array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """`array<i32: ...>`, made once per list of values."""
    return DenseArrayBase.from_list(i32, values)


@cache
def string_attr(value: str) -> StringAttr:
    """`"value"`, made once per string."""
    return StringAttr(value)

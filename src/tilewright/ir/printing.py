"""Printing IR the way upstream MLIR prints it."""

from __future__ import annotations

from io import StringIO

from xdsl.ir import Operation
from xdsl.printer import Printer


def print_op(op: Operation, *, locations: bool = False, generic: bool = False) -> str:
    """The text of an op (and what it contains), in upstream MLIR's spelling, ending in a newline."""
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return stream.getvalue() + "\n"

"""Reading IR text as upstream MLIR and Triton write it."""

from __future__ import annotations

import xdsl.parser
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils import exceptions

from tilewright.support.errors import ParseError


def parse_module(text: str, context: Context, filename: str = "<string>") -> ModuleOp:
    """Parse a module; raises `ParseError` with file, line, column and the offending line."""
    try:
        return xdsl.parser.Parser(context, text, filename).parse_module()
    except exceptions.ParseError as error:
        place = error.span.get_location()
        raise ParseError(
            error.msg, filename=place.file, line=place.line, col=place.col, end_col=place.col + error.span.len
        ) from None

"""Reading IR text as upstream MLIR and Triton write it.

On top of xDSL's parser: hexadecimal floats in dense constants are bit patterns, aliases may be defined after their
use (`#loc` tables stand at the end of a file), every form of `loc(...)` is read, an op without one gets its place in
the file, and whatever goes wrong is a `ParseError` with file, line, column, caret and reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils import exceptions

from tilewright.ir.parsing.parser import MLIRParser
from tilewright.ir.passes import Remark
from tilewright.support.errors import TilewrightError

SPLIT_MARKER = "// -----"
"""What the line between the parts of a file begins with that `--split-input-file` reads separately."""


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


def _guarded(parser: MLIRParser, what: str) -> Any:
    """Run a parser and turn everything that may come out of xDSL into a `ParseError`."""
    places = parser.places
    try:
        return parser.parse_whole_module() if what == "module" else parser.parse_whole_attribute()
    except exceptions.MultipleSpansParseError as error:
        raise places.error_with_references(error) from None
    except exceptions.ParseError as error:
        raise places.error_in_upstream_words(error) from None
    except TilewrightError:
        raise
    except OverflowError:
        raise places.error_at(parser.pos, parser.pos, "a number before this does not fit into its type") from None
    except RecursionError:
        raise places.error_at(parser.pos, parser.pos, "nested too deeply") from None
    except Exception as error:
        reason = str(error) or f"cannot be read ({type(error).__name__})"
        raise places.error_at(parser.pos, parser.pos, reason) from error

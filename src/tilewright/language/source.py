"""The source text of functions that are compiled."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from copy import copy
from functools import cached_property
from types import FunctionType
from typing import Any

from tilewright.support.errors import NoSourceError


def file_lines(fn: Callable[..., Any]) -> list[str]:
    """The file of a function as it is now; empty where Python keeps none, or the function is not written in Python."""
    plain = inspect.unwrap(fn)
    if not isinstance(plain, FunctionType):
        return []
    filename = plain.__code__.co_filename
    linecache.checkcache(filename)
    return linecache.getlines(filename, plain.__globals__)


def source_lines(fn: Callable[..., Any], lines: list[str]) -> tuple[list[str], int]:
    """Return what `inspect.getsourcelines` gives, without tokenizing where indentation tells the end of the function.

    `lines` are those of the file. One that stands no deeper than `def` ends the function unless it lies inside of
    brackets or a string; if it does, what was cut off there does not parse, and `inspect` decides.
    """
    if not lines:
        return inspect.getsourcelines(fn)
    code = inspect.unwrap(fn).__code__
    start = code.co_firstlineno - 1
    if start >= len(lines):
        raise OSError("the file has changed since the function was defined")
    block = _indented_block(lines, start)
    try:
        tree = ast.parse(textwrap.dedent("".join(block)))
    except SyntaxError:
        return inspect.getblock(lines[start:]), start + 1
    if len(tree.body) == 1 and getattr(tree.body[0], "name", None) == code.co_name:
        return block, start + 1
    return inspect.getblock(lines[start:]), start + 1


def _indented_block(lines: list[str], start: int) -> list[str]:
    """Lines from the first decorator to the end of the function that follows."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    first = start
    while first < len(lines) and not lines[first].lstrip().startswith(("def ", "async def ")):
        first += 1
    end = first + 1
    for position in range(first + 1, len(lines)):
        text = lines[position].strip()
        if not text or text.startswith("#"):
            continue
        depth = len(lines[position]) - len(lines[position].lstrip())
        if depth <= indent and text[0] not in ")]}":
            break
        end = position + 1
    return lines[start:end]


_NO_SOURCE = "@jit functions should be defined in a Python file: the source of `{}` cannot be read: {}"


class KernelSource:
    """The source text of a function: file, first line, parsed tree, and the names that it takes from outside.

    `raw_lines` stand in the file from line `raw_start`; `text` and the `lines` that errors show are the same, unless a
    program has replaced them. `file` has the lines of the file from when the function was defined; by default they are
    those of now. Raises NoSourceError where Python keeps no source for the function (typed at a prompt, or made by
    `exec`), or that of something else (made by `exec` under `python -c`, whose own text Python 3.13 keeps under the
    same name).
    """

    def __init__(self, fn: Callable[..., Any], file: list[str] | None = None) -> None:
        self.fn = fn
        try:
            lines, self.start_line = source_lines(fn, file or file_lines(fn))
        except (OSError, TypeError) as error:
            name = getattr(fn, "__name__", fn)
            raise NoSourceError(_NO_SOURCE.format(name, "Python has not kept it")) from error
        self.filename = inspect.getsourcefile(fn) or fn.__code__.co_filename
        self._name: str | None = inspect.unwrap(fn).__code__.co_name
        self.raw_lines = self.lines = lines
        self.raw_start = self.start_line
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        self.text = textwrap.dedent("".join(lines))

    def with_text(self, text: str) -> KernelSource:
        """The source of the same function with another text, of any name: its `def` stands where this one's does."""
        source = copy(self)
        source.__dict__.pop("tree", None)
        source._name = None
        source.text, source.indent = textwrap.dedent(text), 0
        source.lines = source.text.splitlines(keepends=True)
        source.def_line = self.def_line
        return source

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The function definition, with line numbers relative to `start_line` (the first line of `text` is 1)."""
        module = ast.parse(self.text)
        definition = module.body[0] if len(module.body) == 1 else None
        if not isinstance(definition, ast.FunctionDef) or self._name not in (definition.name, None):
            raise NoSourceError(_NO_SOURCE.format(self._name, "another text stands where it was defined"))
        return definition

    @property
    def body_text(self) -> str:
        """The source from `def` on, without decorators: what a cache key is made of."""
        first = self.tree.lineno - 1
        return "".join(self.text.splitlines(keepends=True)[first:])

    @property
    def def_line(self) -> int:
        """The line of `def` in the file."""
        return self.line_of(self.tree)

    @def_line.setter
    def def_line(self, line: int) -> None:
        self.start_line += line - self.line_of(self.tree)

    @property
    def def_column(self) -> int:
        """The column of `def` in the file, from 1."""
        return self.indent + 1

    @def_column.setter
    def def_column(self, column: int) -> None:
        self.indent = column - 1

    def line_of(self, node: ast.AST) -> int:
        """Line of a node in the file."""
        return self.start_line + getattr(node, "lineno", 1) - 1

    def column_of(self, node: ast.AST) -> int:
        """Column of a node in the file, from 1."""
        return getattr(node, "col_offset", 0) + self.indent + 1

    def end_column_of(self, node: ast.AST) -> int:
        """Column after the node if it ends on its first line, else 0."""
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            return 0
        return (getattr(node, "end_col_offset", None) or -self.indent - 1) + self.indent + 1

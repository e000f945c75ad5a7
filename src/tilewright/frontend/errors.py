"""Turns whatever goes wrong while a kernel is compiled into an error that points at the user's line."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xdsl.utils.exceptions import VerifyException

from tilewright.language.callables import JITCallable
from tilewright.language.debugging import StaticAssertError
from tilewright.language.shape import PointerIndexError, ShapeMismatchError
from tilewright.language.source import KernelSource
from tilewright.language.values import tensor
from tilewright.support import knobs
from tilewright.support.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from tilewright.support.spans import Span
from tilewright.support.tracebacks import without_frames


def cause_of(error: Exception) -> Exception | None:
    """Return what an error is chained to: the exception of the language function, as official Triton's errors are, with
    frames of the compiler only with TILEWRIGHT_TRACEBACKS=1. A failed `tl.static_assert` and a recursion too deep say
    all themselves."""
    if knobs.get("tracebacks"):
        return error
    return None if isinstance(error, StaticAssertError | RecursionError) else without_frames(error)


_WORDED = (
    VerifyException,
    TypeError,
    ValueError,
    NameError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    AssertionError,
    SyntaxError,
)

_LANGUAGE = "tilewright.language."


def span_of(source: KernelSource, node: ast.AST) -> Span:
    """Return where a node stands in its file; Python counts columns in bytes of UTF-8, readers in characters."""
    line = source_line_of(source, node) or ""
    start, end = (_characters(line, column) for column in (source.column_of(node), source.end_column_of(node)))
    return Span(source.filename, source.line_of(node), start, end)


def _characters(line: str, column: int) -> int:
    """A column, from 1, in characters; 0 stays 0."""
    if line.isascii() or column < 1:
        return column
    return len(line.encode()[: column - 1].decode(errors="ignore")) + 1


def source_line_of(source: KernelSource, node: ast.AST) -> str | None:
    """The text of a node's first line, from the function's own source (the file may have changed since)."""
    index = getattr(node, "lineno", 1) - 1
    lines = source.lines
    return lines[index].rstrip("\n") if 0 <= index < len(lines) else None


def located(
    source: KernelSource,
    node: ast.AST,
    message: str,
    *,
    hint: str | None = None,
    kind: type[CompilationError] = CompilationError,
) -> CompilationError:
    """An error of the given class at a node."""
    return kind(message, span=span_of(source, node), source_line=source_line_of(source, node), hint=hint)


def unsupported(source: KernelSource, node: ast.AST, message: str, hint: str | None = None) -> CompilationError:
    """The construct at `node` has no meaning in a kernel."""
    return located(source, node, message, hint=hint, kind=UnsupportedLanguageConstruct)


def wrapped(source: KernelSource, node: ast.AST, error: Exception) -> CompilationError:
    """An exception raised by a language function, as an error at the node that called it."""
    hint = _advice(node, error)
    if isinstance(error, StaticAssertError):
        return located(source, node, str(error), hint=hint, kind=CompileTimeAssertionFailure)
    if isinstance(error, RecursionError):
        return final(
            located(
                source, node, "the expression or the chain of calls is nested too deeply (recursion is not supported)"
            )
        )
    text = str(error)
    if isinstance(error, KeyError):
        text = f"key {error} not found"
    elif not isinstance(error, _WORDED) or not text:
        text = f"{type(error).__name__}: {error}"
    return located(source, node, text, hint=hint, kind=getattr(error, "kind", CompilationError))


def final(error: CompilationError) -> CompilationError:
    """The same error, after which compilation does not go on."""
    error.is_final = True
    return error


def name_operands(error: ShapeMismatchError, nodes: Iterable[ast.AST], values: Iterable[object]) -> None:
    """Note which arguments of a call have the two shapes."""
    shapes = {
        tuple(value.extents): ast.unparse(node)
        for node, value in zip(nodes, values, strict=False)
        if isinstance(value, tensor)
    }
    if (left := shapes.get(tuple(error.lhs))) and (right := shapes.get(tuple(error.rhs))):
        error.names = left, right


def _advice(node: ast.AST, error: Exception) -> str | None:
    """Return what to write instead, in the words of the source where they say more."""
    match error, node:
        case ShapeMismatchError(), _:
            return _advice_on_shapes(node, error)
        case PointerIndexError(), ast.Subscript(value=pointer, slice=index) if not isinstance(index, ast.Tuple):
            meant = ast.unparse(ast.BinOp(pointer, ast.Add(), index))
            return f"an offset is added to a pointer: `{meant}`"
        case _:
            return getattr(error, "hint", None)


def _advice_on_shapes(node: ast.AST, error: ShapeMismatchError) -> str:
    """Return which operand has which shape, and how two blocks are combined in all pairs."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            names = ast.unparse(left), ast.unparse(right)
        case _:
            names = error.names
    left, right = (f"`{name}`" for name in names) if names else ("one operand", "another")
    shapes = f"{left} has shape {list(error.lhs)} and {right} has shape {list(error.rhs)}"
    if len(error.lhs) == len(error.rhs) == 1:
        return f"{shapes}; all pairs of their elements are `x[:, None]` with `y[None, :]`"
    return shapes


def add_caller(error: CompilationError, callee: JITCallable, caller: JITCallable, node: ast.AST) -> bool:
    """An error in a function travels to the call of it at `node`: what the user wrote stays in the message.

    A function of the user's own gets a note that names the call. The language's own functions are written in the
    language, too; an error in one of them is an error of its call, and moves there, without the errors after it.
    Returns whether it moved.
    """
    span, line = span_of(caller.source, node), source_line_of(caller.source, node)
    in_language = callee.fn.__module__.startswith(_LANGUAGE) and error.filename == callee.source.filename
    if in_language and not knobs.get("tracebacks"):
        error.span, error.source_line, error.others = span, line, ()
        return True
    for found in error.errors:
        found.add_note_at(f"called from here, in `{caller.fn.__name__}`", span, line)
    return False

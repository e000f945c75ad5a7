"""Tracebacks end where the user's program calls tilewright: our own frames say nothing about a user's mistake.

    File "program.py", line 12, in <module>
      kernel[(8,)](x, n, BLOCK=100)
    CompilationError: program.py:5:9: error: arange's range must be a power of 2

The switch `tracebacks` keeps all frames, and so do internal errors: there they are the report of the defect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

from tilewright.support import knobs
from tilewright.support.errors import CompilationError, TilewrightError

P = ParamSpec("P")
T = TypeVar("T")

_INNER = frozenset({"tilewright", "xdsl", "llvmlite", "contextlib", "functools"})
"""Packages whose frames are left out: ours, and those that only ours go through."""


def cut_traceback(error: TilewrightError) -> None:
    """Leave only the user's frames in the traceback of an error that is about to be raised again.

    The error inside of the compiler that it came from goes, too, since the message has what that one said; that of a
    `CompilationError` stays without its frames: programs written for official Triton read its text.
    """
    if error.internal or knobs.get("tracebacks"):
        return
    cause = error.__cause__
    if isinstance(error, CompilationError) and isinstance(cause, Exception):
        error.__cause__ = without_frames(cause)
    else:
        error.__cause__ = None
    error.__suppress_context__ = True
    error.__traceback__ = _users_frames(error.__traceback__)


def without_frames(error: Exception) -> Exception:
    """Take the traceback of an error, and what it came from, away; returns the error."""
    error.__cause__, error.__suppress_context__ = None, True
    return error.with_traceback(None)


def ends_tracebacks(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function a border: the errors of tilewright that leave it show none of the frames inside."""

    @wraps(function)
    def border(*args: P.args, **keywords: P.kwargs) -> T:
        try:
            return function(*args, **keywords)
        except TilewrightError as error:
            cut_traceback(error)
            raise

    return border


def _users_frames(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _INNER:
            kept.append(trace)
        trace = trace.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result

"""Exceptions that come into the compiler from outside: what a signal handler, or a debugger's trace function, raised.

Python runs both between any two instructions, in the midst of passes, whose own failures are internal errors. Both are
given the frame that they interrupt, which is their caller's: so they are told from functions that a pass calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from types import FrameType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

VARARGS = 4
"""`inspect.CO_VARARGS`: a function takes any number of arguments."""


def find_interruption(error: BaseException) -> BaseException | None:
    """Return the exception from outside that an error is, or was made from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if _is_interruption(current):
            return current
        current = current.__cause__ or current.__context__
    return None


def _is_interruption(error: BaseException) -> bool:
    frames: list[FrameType] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return any(_is_given(frame, caller) for caller, frame in pairwise(frames))


def _is_given(frame: FrameType, caller: FrameType) -> bool:
    """Return whether one of a function's arguments is its caller's frame."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS)]
    for name in names:
        argument: object = frame.f_locals.get(name)
        given = cast("tuple[object, ...]", argument) if type(argument) is tuple else (argument,)
        if any(item is caller for item in given):
            return True
    return False


def lets_interruptions_pass(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of which an exception from outside comes out unchanged, whatever was made of it inside."""

    @wraps(function)
    def run(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            interruption = find_interruption(error)
            if interruption is None or interruption is error:
                raise
        raise interruption  # after the handler, so that it does not name the error as its context

    return run

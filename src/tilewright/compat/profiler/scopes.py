"""Scopes: the names that launches are counted under, and metrics of the program's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, Self

from tilewright.compat.profiler.sessions import Metrics, here, is_recording, record
from tilewright.support.errors import ArgumentValueError

CPU_TIME = "cpu_time (ns)(exc)"
RESERVED = "cpu_time"


class scope:  # Triton's name
    """A part of the program, as a `with` or a decorator: `with scope("decode", {"tokens": 4}): ...`."""

    def __init__(self, name: str, metrics: Metrics | None = None) -> None:
        self.name = name
        self.metrics = metrics

    def __enter__(self) -> Self:
        enter_scope(self.name, metrics=self.metrics)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        exit_scope(self.name)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def call(*args: Any, **keywords: Any) -> Any:
            with type(self)(self.name, self.metrics):
                return func(*args, **keywords)

        return call


class cpu_timed_scope(scope):
    """A scope that counts the time between its ends, too."""

    def __init__(self, name: str, metrics: Metrics | None = None) -> None:
        if metrics and RESERVED in metrics:
            raise ArgumentValueError("metrics", repr(RESERVED), "other names: that is what the scope measures")
        super().__init__(name, metrics)
        self._started = 0

    def __enter__(self) -> Self:
        self._started = time.perf_counter_ns()
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        record({CPU_TIME: time.perf_counter_ns() - self._started})
        super().__exit__(kind, error, trace)


class state:
    """A name below each launch in it, such as a phase: `with state("warm up"): ...`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        enter_state(self.name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        exit_state()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def call(*args: Any, **keywords: Any) -> Any:
            with type(self)(self.name):
                return func(*args, **keywords)

        return call


def enter_scope(name: str, *, metrics: Metrics | None = None) -> None:
    """Go into a scope; `metrics` are added to its own."""
    here.scopes.append(name)
    if metrics and is_recording():
        record(metrics)


def exit_scope(name: str | None = None, *, metrics: Metrics | None = None) -> None:
    """Leave the innermost scope, which must be `name` if one is given."""
    if not here.scopes or name not in (None, here.scopes[-1]):
        inside = f"the innermost one is {here.scopes[-1]!r}" if here.scopes else "there is none"
        raise ArgumentValueError("name", f"{name!r} is left, but {inside}", "scopes that are left in turn")
    if metrics and is_recording():
        record(metrics)
    here.scopes.pop()


def enter_state(name: str) -> None:
    """Name what follows."""
    here.states.append(name)


def exit_state() -> None:
    """The end of the innermost state."""
    if not here.states:
        raise ArgumentValueError("state", "left, but none was entered", "states that are entered first")
    here.states.pop()


__all__ = ["cpu_timed_scope", "enter_scope", "enter_state", "exit_scope", "exit_state", "scope", "state"]

"""Sessions: from `start` to `finalize`, each with a file of its own; `deactivate` holds them for a while."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial, wraps
from pathlib import Path
from typing import Any

from tilewright.compat.profiler.tree import ROOT, Frame
from tilewright.compiler.kernel import LaunchMetadata
from tilewright.runtime import hooks
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError
from tilewright.support.forking import gate
from tilewright.support.records import dataclass

DEFAULT_PROFILE_NAME = "proton"
SUFFIX = ".hatchet"
TIME = "time (ns)"
COUNT = "count"
WORK = ("flops", "bytes")
"""How the metrics begin that `jit(launch_metadata=...)` may give: `flops`, `flops16`, `bytes`."""

Metrics = Mapping[str, float]


@dataclass
class Session:
    path: Path
    counts_work: bool
    root: Frame = field(default_factory=lambda: Frame(ROOT))
    is_active: bool = True


class _Thread(threading.local):
    """Where a thread is: the scopes that it is in, its state, the launch that runs."""

    def __init__(self) -> None:
        self.scopes: list[str] = []
        self.states: list[str] = []
        self.started = 0


_sessions: dict[int, Session] = {}
_numbers = iter(range(1 << 62))
_lock = threading.Lock()
gate.hold(lambda: _lock, lambda: None)
here = _Thread()


def start(
    name: str | None = None,
    *,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: str | None = None,
) -> int | None:
    """Begin a session, whose file will be `name` with `.hatchet` appended. Returns its number; None, and nothing
    happens, where the switch `proton_disable` is set.

    With `hook="triton"` what `jit(launch_metadata=...)` tells of a launch counts, too (`flops`, `bytes`). `backend` and
    `mode` choose between sources of GPU times, of which there is one here. Raises ArgumentValueError for other kinds of
    profiles than trees of scopes.
    """
    if data != "tree":
        raise ArgumentValueError("data", repr(data), "'tree': traces are not recorded")
    if context != "shadow":
        raise ArgumentValueError("context", repr(context), "'shadow', the scopes: frames of Python are not recorded")
    if knobs.get("proton_disable"):
        return None
    with _lock:
        number = next(_numbers)
        _sessions[number] = Session(Path(name or DEFAULT_PROFILE_NAME), counts_work=hook == "triton")
    hooks.launch_enter_hook.add(_enter)
    hooks.launch_exit_hook.add(_exit)
    return number


def activate(session: int | None = None) -> None:
    """Record again: a session, or all."""
    for each in _chosen(session):
        each.is_active = True


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Record nothing until `activate`. What was recorded is there at once, so that `flushing` says nothing."""
    for each in _chosen(session):
        each.is_active = False


def finalize(session: int | None = None, output_format: str = "") -> None:
    """End a session, or all, and write the files."""
    if output_format not in ("", "hatchet"):
        raise ArgumentValueError("output_format", repr(output_format), "'hatchet'")
    for ended in _chosen(session):
        text = json.dumps([ended.root.literal(), {}])
        ended.path.with_name(ended.path.name.removesuffix(SUFFIX) + SUFFIX).write_text(text)
    with _lock:
        for number in list(_sessions) if session is None else [session]:
            del _sessions[number]
    if not _sessions:
        hooks.launch_enter_hook.remove(_enter)
        hooks.launch_exit_hook.remove(_exit)


def profile(func: Callable[..., Any] | None = None, *, name: str | None = None, **options: Any) -> Any:
    """Decorator, with or without arguments: each call is a session of its own."""
    if func is None:
        return partial(profile, name=name, **options)

    @wraps(func)
    def call(*args: Any, **keywords: Any) -> Any:
        session = start(name, **options)
        try:
            return func(*args, **keywords)
        finally:
            finalize(session)

    return call


def is_recording() -> bool:
    """Return whether there is anybody to tell."""
    return any(session.is_active for session in _sessions.values())


def record(metrics: Metrics, *names: str, work: Metrics | None = None) -> None:
    """Add what was measured to where this thread is, or to frames below; `work` only for those that count it."""
    path = [*here.scopes, *names, *here.states[-1:]]
    with _lock:
        for session in _sessions.values():
            if session.is_active:
                counted = {**metrics, **work} if work and session.counts_work else metrics
                session.root.below(path).add(counted)


def _chosen(session: int | None) -> list[Session]:
    if session is None:
        return list(_sessions.values())
    if session not in _sessions:
        raise ArgumentValueError("session", str(session), "the number of a session that was started")
    return [_sessions[session]]


def _enter(metadata: LaunchMetadata) -> None:
    here.started = time.perf_counter_ns()


def _exit(metadata: LaunchMetadata) -> None:
    taken = time.perf_counter_ns() - here.started
    told = metadata.get()
    work = {name: float(value) for name, value in told.items() if name.startswith(WORK)}
    record({TIME: taken, COUNT: 1}, str(told["name"]), work=work)


__all__ = ["DEFAULT_PROFILE_NAME", "activate", "deactivate", "finalize", "profile", "start"]

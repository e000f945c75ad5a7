"""Several kernels compiled at once, in forked processes of this machine.

Passes are Python, so that threads would take turns. A forked child has loaded all that this process has, takes one
kernel after the other, and puts each into the disk cache, where the compilation that follows here finds it. What fails,
warns or prints in a child is thrown away there, and compiled here when its turn comes.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from typing import Any

from tilewright.compiler import listening
from tilewright.compiler.compilation import COMPILING, Request, build_entry
from tilewright.support import knobs
from tilewright.support.cache_managers import MANAGER, kernel_cache
from tilewright.support.errors import TilewrightError

TASK_BYTES = 4

_has_compiled: list[bool] = []


def can_share_work() -> bool:
    """Return whether children may compile: not where forks are unsafe (macOS) or unknown, where somebody watches
    compilations, or where a program has its own cache of kernels."""
    watched = listening.listener is not None or any(map(knobs.ask_again, COMPILING))
    return sys.platform == "linux" and not watched and MANAGER.get() is None


def compile_in_workers(requests: Sequence[Request], num_workers: int) -> None:
    """Have the disk cache hold what is asked for, as far as it compiles. The first kernel of a process is compiled
    before it forks: then the compiler is loaded in all."""
    wanted = list({request.key: request for request in requests}.values())
    if wanted and not _has_compiled:
        with suppress(TilewrightError):
            _compile(wanted.pop(0))
        _has_compiled.append(True)
    num_workers = min(num_workers, len(wanted))
    if num_workers < 2:
        return
    with _tasks(len(wanted)) as tasks, _reaped() as children, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12's, where a process has threads
        for _ in range(num_workers):
            try:
                child = os.fork()
            except OSError:  # no more processes: those that there are do all
                break
            if not child:
                _work(tasks, wanted)
            children.append(child)


@contextmanager
def _tasks(count: int) -> Generator[int]:
    """Give a pipe out of which every child takes numbers below `count`, until it is empty."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):  # what does not fit is compiled later
            for index in range(count):
                os.write(writing, index.to_bytes(TASK_BYTES, sys.byteorder))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


@contextmanager
def _reaped() -> Generator[list[int]]:
    """Wait for the children at the end; where an error or Ctrl-C comes before that, end them."""
    children: list[int] = []
    try:
        yield children
        for child in children:
            _wait(child)
    except BaseException:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            _wait(child)
        raise


def _wait(child: int) -> None:
    with suppress(ChildProcessError):  # a handler of SIGCHLD was first
        os.waitpid(child, 0)


def _work(tasks: int, wanted: Sequence[Request]) -> None:
    """Live as a child: compile what comes out of `tasks`, and end without what Python does at its end."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        while task := os.read(tasks, TASK_BYTES):
            with suppress(Exception):
                _compile_silently(wanted[int.from_bytes(task, sys.byteorder)])
    finally:
        os._exit(0)


def _compile_silently(request: Request) -> None:
    said = StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(said), redirect_stderr(said):
        warnings.simplefilter("always")
        entry: Any = build_entry(request.source, request.options, request.target)
    if not warned and not said.tell():
        kernel_cache().put(request.key, entry)


def _compile(request: Request) -> None:
    kernel_cache().put(request.key, build_entry(request.source, request.options, request.target))

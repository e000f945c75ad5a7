"""Work on other threads that ends before the caller goes on.

Where no thread can be started (at a limit, or as the interpreter ends) the caller does all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from tilewright.support.forking import gate

T = TypeVar("T")


def run_on_threads(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return what each job returns, in their order. Jobs are begun in that order, by the caller and `threads` - 1
    beside it. When one fails no other is begun, and its exception is raised.
    """
    results: dict[int, T] = {}
    failures: list[BaseException] = []
    indices = iter(range(len(jobs)))
    lock = threading.Lock()

    def work() -> None:
        while not failures:
            with lock:
                index = next(indices, None)
            if index is None:
                return
            try:
                results[index] = jobs[index]()
            except BaseException as error:
                failures.append(error)

    helpers = [_start(work) for _ in range(min(threads, len(jobs)) - 1)]
    work()
    for helper in helpers:
        _finish(helper)
    if failures:
        raise failures[0]
    return [results[index] for index in range(len(jobs))]


@contextmanager
def meanwhile(job: Callable[[], None]) -> Generator[None]:
    """Another thread runs a job, which raises nothing, during a `with`; at its end that thread is gone."""
    helper = _start(job)
    try:
        yield
    finally:
        _finish(helper)


def _start(work: Callable[[], None]) -> threading.Thread | None:
    def help_out() -> None:
        gate.helps()
        work()

    thread = threading.Thread(target=help_out)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


def _finish(thread: threading.Thread | None) -> None:
    if thread is not None:
        thread.join()

"""A fork waits until no other thread compiles.

The child of a fork has one thread, but all locks as they were: one that another thread held, of ours, of llvmlite's, of
LLVM's or of a cached property, is never released there, and what it guards may be half done. So a fork first lets
compilations end (`LONGEST_WAIT` at most), keeps new ones from beginning, and holds the locks that code of others may
take at any time. `subprocess` runs no Python in its child and does not wait.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

from tilewright.support.records import dataclass

LONGEST_WAIT = 30.0
"""Seconds after which a process is forked although another thread still compiles."""

LONGEST_WAIT_FOR_A_LOCK = 5.0


class _Lock(Protocol):
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


@dataclass(frozen=True)
class _Held:
    """A lock that is held over forks, and what replaces it in a child where it could not be had."""

    lock: Callable[[], _Lock]
    renew: Callable[[], None]


class ForkGate:
    """Lets many threads compile at a time, or one fork."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._forks = 0
        self._locks: list[_Held] = []
        self._acquired: list[_Lock] = []
        self._missed: list[_Held] = []
        self._thread = threading.local()

    @contextmanager
    def compiling(self) -> Generator[None]:
        """Keep the process from being forked by another thread for the length of a `with`."""
        if self._is_inside():
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._forks)
            self._inside += 1
        self._thread.is_inside = True
        try:
            yield
        finally:
            self._thread.is_inside = False
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def helps(self) -> None:
        """Let this thread pass for the rest of its life: it works for one that compiles, and waits for it."""
        self._thread.is_inside = True
        self._thread.is_helper = True

    def hold(self, lock: Callable[[], _Lock], renew: Callable[[], None]) -> None:
        """Hold a lock over forks; `renew` replaces it in a child for which it could not be had."""
        self._locks.append(_Held(lock, renew))

    def before(self) -> None:
        with self._changed:
            self._forks += 1
            self._changed.wait_for(lambda: self._inside <= self._counted(), LONGEST_WAIT)
        self._acquired, self._missed = [], []
        for held in self._locks:
            lock = held.lock()
            if lock.acquire(timeout=LONGEST_WAIT_FOR_A_LOCK):
                self._acquired.append(lock)
            else:
                self._missed.append(held)

    def after_in_parent(self) -> None:
        self._release()
        with self._changed:
            self._forks = max(0, self._forks - 1)
            self._changed.notify_all()

    def after_in_child(self) -> None:
        self._changed = threading.Condition()
        self._inside, self._forks = self._counted(), 0
        self._release()
        for held in self._missed:
            held.renew()

    def _release(self) -> None:
        while self._acquired:
            self._acquired.pop().release()

    def _is_inside(self) -> bool:
        return getattr(self._thread, "is_inside", False)

    def _counted(self) -> int:
        """Return how often this thread is among those that a fork waits for."""
        return int(self._is_inside() and not getattr(self._thread, "is_helper", False))


gate = ForkGate()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gate.before, after_in_parent=gate.after_in_parent, after_in_child=gate.after_in_child)

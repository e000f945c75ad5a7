"""The meaning of coroutines (`dialects/coroutines.py`): threads of which one runs, its caller or itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects import coroutines

Values = Sequence[Any]


class Destroyed(BaseException):
    """Ends the thread of a coroutine that nothing resumes any more."""


class Coroutine:
    """A call that goes on when it is resumed."""

    def __init__(self, body: Callable[[], Values]) -> None:
        self._body = body
        self._goes, self._came_back = threading.Semaphore(0), threading.Semaphore(0)
        self._failure: BaseException | None = None
        self._is_destroyed = False
        self.has_ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Run it until it suspends itself or ends; raises what it raised."""
        if self.has_ended:
            return
        self._goes.release()
        self._came_back.acquire()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def suspend(self) -> None:
        """Of its own thread: go back to who resumed it."""
        self._came_back.release()
        self._goes.acquire()
        if self._is_destroyed:
            raise Destroyed

    def destroy(self) -> None:
        """End its thread."""
        if not self.has_ended:
            self._is_destroyed = True
            self._goes.release()
        self._thread.join()

    def _run(self) -> None:
        self._goes.acquire()
        try:
            with np.errstate(all="ignore"):
                self._body()
        except Destroyed:
            pass
        except BaseException as error:
            self._failure = error
        self.has_ended = True
        self._came_back.release()


class Coroutines:
    """The coroutines of a program, by their handles, and which of them run now."""

    def __init__(self) -> None:
        self._known: dict[int, Coroutine] = {}
        self._running: list[int] = []

    def start(self, body: Callable[[], Values]) -> Values:
        """Run a body up to its first suspension; gives its handle."""
        handle = len(self._known) + 1
        self._known[handle] = Coroutine(body)
        self._resume(handle)
        return (np.int64(handle),)

    def call(self, name: str, arguments: Values) -> Values | None:
        """Call one of the functions that a module declares for coroutines; None for others."""
        match name:
            case coroutines.SUSPEND:
                handle = self._running.pop()
                self._known[handle].suspend()
                return ()
            case coroutines.HANDLE:
                return (np.int64(self._running[-1]),)
            case coroutines.RESUME:
                self._resume(int(arguments[0]))
                return ()
            case coroutines.HAS_ENDED:
                return (np.bool_(self._known[int(arguments[0])].has_ended),)
            case coroutines.DESTROY:
                self._known[int(arguments[0])].destroy()
                return ()
            case _:
                return None

    def _resume(self, handle: int) -> None:
        coroutine = self._known[handle]
        if coroutine.has_ended:
            return
        depth = len(self._running)
        self._running.append(handle)
        try:
            coroutine.resume()
        finally:
            del self._running[depth:]

"""Compiling ahead in other threads: what Triton calls `triton.AsyncCompileMode`.

    with ThreadPoolExecutor() as pool, triton.AsyncCompileMode(pool):
        futures = [kernel.warmup(x, n, BLOCK=size, grid=(1,)) for size in (64, 128, 256)]
    kernels = [future.result() for future in futures]

Inside of it `warmup` returns at once; launches wait as ever. All is compiled where the `with` ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("async_compile_mode", default=None)


class FutureKernel:
    """A kernel that is being compiled; its attributes are there once it is."""

    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel, once it is there. Raises what compiling raises, or gives None with `ignore_errors`."""
        if ignore_errors and self.future.exception() is not None:
            return None
        return self.future.result()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result(), name)


class AsyncCompileMode:
    """For the length of a `with`, kernels are compiled on an executor's threads. Raises RuntimeError inside of another
    one, and at its end what compiling raises unless `ignore_errors`. Where an error ends the `with`, what has not begun
    is not compiled."""

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self._kernels: dict[Hashable, FutureKernel] = {}

    def submit(self, key: Hashable, compile: Callable[[], Any]) -> FutureKernel:
        """Have the executor compile, once for each key."""
        if key not in self._kernels:
            self._kernels[key] = FutureKernel(self.executor.submit(compile))
        return self._kernels[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("another AsyncCompileMode is active already")
        self._token = active_mode.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        active_mode.reset(self._token)
        for kernel in self._kernels.values():
            if error is None or not kernel.future.cancel():
                kernel.result(self.ignore_errors or error is not None)

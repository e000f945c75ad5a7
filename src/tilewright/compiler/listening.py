"""Hooks that tell a program about compilations and about kernels being loaded.

    def listener(*, src, metadata, metadata_group, times, cache_hit): ...
    tilewright.knobs.compilation.listener = listener

A listener is called whenever a kernel was compiled or found in the disk cache, with its source, what is known of it,
its files (`compiler/stage_files.py`), and how long each stage took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.support.hook_chain import HookChain
from tilewright.support.records import dataclass

Listener = Callable[..., Any]
MICROSECONDS = 1_000_000

listener: Listener | None = None
kernel_load_start_hook = HookChain()
"""Called before machine code is loaded: `(module, function, name, metadata_group, hash)`, the first two None."""
kernel_load_end_hook = HookChain(reversed=True)
"""Called once it is loaded, with the native kernel in their places."""


@dataclass(frozen=True)
class CompileTimes:
    """How long a compilation took, in microseconds."""

    ir_initialization: int
    """The front end; for a kernel of the disk cache, finding it."""
    lowering_stages: list[tuple[str, int]]
    """Each stage after it, by its key in `kernel.asm`, in order."""
    store_results: int
    """Writing into the cache."""

    @property
    def total_lowering(self) -> int:
        """All stages after the front end."""
        return sum(duration for _, duration in self.lowering_stages)

    @property
    def total(self) -> int:
        """Everything."""
        return self.ir_initialization + self.total_lowering + self.store_results


class Clock:
    """Notes when the parts of a compilation end."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._parts: list[tuple[str, int]] = []

    def reached(self, stage: str) -> None:
        """A stage is done; the first one is the front end's."""
        self._parts.append((stage, self._lap()))

    def _lap(self) -> int:
        now = time.perf_counter()
        duration, self._last = int((now - self._last) * MICROSECONDS), now
        return duration

    def end(self) -> CompileTimes:
        """Everything since the last stage went into storing."""
        rest = self._lap()
        if not self._parts:
            return CompileTimes(rest, [], 0)
        return CompileTimes(self._parts[0][1], self._parts[1:], rest)


def tell(kernel: CompiledKernel, times: CompileTimes, *, cache_hit: bool) -> None:
    """Call the listener, if there is one."""
    if listener is None:
        return
    listener(
        src=kernel.src,
        metadata=dict(vars(kernel.metadata)),
        metadata_group=kernel.metadata_group,
        times=times,
        cache_hit=cache_hit,
    )

"""What launches: jit functions, and what autotuning and heuristics make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tilewright.support.tracebacks import ends_tracebacks


class KernelInterface:
    """`kernel[grid](...)` for anything that has `run`."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return partial(self._start, grid)

    @ends_tracebacks
    def _start(self, grid: Any, /, *args: Any, **keywords: Any) -> Any:
        return self.run(*args, grid=grid, warmup=False, **keywords)

    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        """Compile if need be and launch over `grid`."""
        raise NotImplementedError

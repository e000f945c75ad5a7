"""Times on the GPU, by events around single calls, with a cold second-level cache."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tilewright.targets.cuda.driver import cuda_driver
from tilewright.targets.cuda.placement import current_device, current_stream

FLUSH_BYTES = 256 << 20
"""Written before each call: several times any second-level cache."""

TRIALS = 5


def is_in_use() -> bool:
    """Return whether this process has launched kernels on a GPU, or PyTorch uses one."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized():
        return True
    return cuda_driver.cache_info().currsize > 0


class GpuTimer:
    """Times calls on the current stream of the current device."""

    def __init__(self) -> None:
        self._driver = cuda_driver()
        ordinal = current_device()
        self._device = self._driver.device(ordinal)
        self._stream = self._driver.api.CUstream(current_stream(ordinal))

    def times(self, fn: Callable[[], Any], warmup: float, rep: float, before: Callable[[], None]) -> list[float]:
        """Milliseconds of calls that fill about `rep` milliseconds, after about `warmup` of them; `before` each call
        the host may reset what it needs to."""
        driver = self._driver
        with driver.entered(self._device):
            flush = driver.call("cuMemAlloc", FLUSH_BYTES)
            try:
                fn()
                estimate = max(sum(self._run(fn, TRIALS, flush, before)) / TRIALS, 1e-3)
                self._run(fn, max(1, int(warmup / estimate)), flush, before)
                return self._run(fn, max(1, int(rep / estimate)), flush, before)
            finally:
                driver.call("cuMemFree", flush)

    def _run(self, fn: Callable[[], Any], count: int, flush: Any, before: Callable[[], None]) -> list[float]:
        call = self._driver.call
        events = [(call("cuEventCreate", 0), call("cuEventCreate", 0)) for _ in range(count)]
        try:
            for start, end in events:
                before()
                call("cuMemsetD8Async", flush, 0, FLUSH_BYTES, self._stream)
                call("cuEventRecord", start, self._stream)
                fn()
                call("cuEventRecord", end, self._stream)
            call("cuStreamSynchronize", self._stream)
            return [float(call("cuEventElapsedTime", start, end)) for start, end in events]
        finally:
            for event in (event for pair in events for event in pair):
                call("cuEventDestroy", event)

"""Timing on a GPU: events around single runs with a cold cache, medians; launches from Python; compilation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

FLUSH_BYTES = 256 << 20
"""Written between runs: several times any second-level cache."""


class Timer:
    """Times of one function on the GPU."""

    def __init__(self) -> None:
        self._flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def median(self, run: Callable[[], Any], *, seconds: float = 0.15, least: int = 10, most: int = 200) -> float:
        """Median seconds of a run on the GPU, the cache flushed before each."""
        run()
        torch.cuda.synchronize()
        once = self._times(run, 3)
        count = int(min(max(seconds / max(statistics.median(once), 1e-6), least), most))
        return statistics.median(self._times(run, count))

    def _times(self, run: Callable[[], Any], count: int) -> list[float]:
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
        for start, end in events:
            self._flush.zero_()
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) / 1e3 for start, end in events]


def launch_seconds(launch: Callable[[], Any], count: int = 2000, rounds: int = 7) -> float:
    """Median seconds that one launch takes the host, the GPU keeping up."""
    for _ in range(100):
        launch()
    torch.cuda.synchronize()
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count // rounds):
            launch()
        times.append((time.perf_counter() - start) / (count // rounds))
        torch.cuda.synchronize()
    return statistics.median(times)


def relative_error(found: Any, expected: Any) -> float:
    """||found - expected|| / ||expected|| in float64; infinite for anything that is not finite."""
    got = found[: expected.shape[0]].double()
    if not torch.isfinite(got).all():
        return float("inf")
    return float((got - expected).norm() / expected.norm())

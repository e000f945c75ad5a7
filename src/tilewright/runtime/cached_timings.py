"""What the autotuner measured, on disk for later processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.runtime.driver import current_driver, default_target
from tilewright.runtime.threads import get_num_threads
from tilewright.runtime.tuning_config import Config
from tilewright.support import knobs
from tilewright.support.fingerprint import fingerprint


class CachedTimings:
    """Timings of one kernel and key in the disk cache: valid for this source, these configurations, this compiler, the
    switches that change code, this machine and this number of threads."""

    def __init__(self, source: str, key: tuple[Any, ...], candidates: Sequence[Config], extent: str) -> None:
        from tilewright.compiler.toolchain import toolchain_fingerprint
        from tilewright.support.disk_cache import DiskCache, cache_directory

        machine = (current_driver(default_target()).target.fingerprint(), get_num_threads())
        self._configs = {str(config): config for config in candidates}
        self._cache = DiskCache(cache_directory())
        self._name = fingerprint(
            "autotune",
            source,
            repr(key),
            sorted(self._configs),
            extent,
            toolchain_fingerprint(),
            machine,
            knobs.code_key(),
        )

    def load(self) -> dict[Config, Sequence[float]] | None:
        """Return what was measured before, or None."""
        entry = self._cache.get(self._name)
        if entry is None or not entry.metadata.keys() <= self._configs.keys():
            return None
        return {self._configs[name]: times for name, times in entry.metadata.items()}

    def store(self, timings: Mapping[Config, Sequence[float]]) -> None:
        """Keep what was measured."""
        from tilewright.support.disk_cache import Entry

        self._cache.put(self._name, Entry({str(config): list(times) for config, times in timings.items()}))

"""`tilewright cache [show|list|clear]`: what the cache of compiled kernels holds."""

from __future__ import annotations

import time
from datetime import timedelta

from tilewright.support import knobs
from tilewright.support.disk_cache import MEBIBYTE, DiskCache, Listed, cache_directory

SHOWN_OF_KEY = 12


def run_cache(action: str) -> int:
    """Do what is asked for; the exit status."""
    cache = DiskCache(cache_directory())
    if cache.directory is None:
        print("there is no cache: set TILEWRIGHT_CACHE_DIR")
        return 2
    if action == "clear":
        print(f"removed {cache.clear()} entries from {cache.directory}")
        return 0
    entries = cache.entries()
    if action == "list":
        for entry in entries:
            print(f"{entry.key[:SHOWN_OF_KEY]}  {_size(entry.size):>10}  {_age(entry):>16}  {_name(cache, entry)}")
    limit = knobs.get("cache_size")
    most = f" of {_size(limit * MEBIBYTE)}" if limit > 0 else ""
    print(f"{cache.directory}: {len(entries)} entries, {_size(sum(entry.size for entry in entries))}{most}")
    return 0


def _size(size: int) -> str:
    return f"{size / 1024:.0f} KiB" if size < MEBIBYTE else f"{size / MEBIBYTE:.1f} MiB"


def _age(listed: Listed) -> str:
    """Return how long ago an entry was used, to an hour."""
    age = timedelta(seconds=max(0, int(time.time() - listed.used)))
    if age.days:
        return f"{age.days} days ago"
    hours, minutes = age.seconds // 3600, age.seconds // 60
    return f"{hours} hours ago" if hours else f"{minutes} minutes ago"


def _name(cache: DiskCache, listed: Listed) -> str:
    """The kernel of an entry; what else there is has no name."""
    entry = cache.get(listed.key, is_use=False)
    return "(not readable)" if entry is None else str(entry.metadata.get("entry", "-"))

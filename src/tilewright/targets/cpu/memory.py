"""How much memory a process can still have."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def free_memory() -> int:
    """Bytes that this process may still allocate: what the machine has free, less where its address space is limited
    (`ulimit -v`). 0 on systems that do not say."""
    limits = [_free_pages()]
    with suppress(ImportError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            limits.append(max(0, limit - _address_space()))
    return min(limits)


def _free_pages() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _address_space() -> int:
    """Bytes of addresses that are in use."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

"""Room for recursive walks along what a kernel computes: unrolled loops make chains of thousands of ops."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from threading import Lock

from tilewright.support.records import dataclass

RECURSION_LIMIT = 20_000
"""Frames of Python; they take no stack of the machine where Python calls Python."""


@dataclass
class _Walks:
    """The walks of all threads, which share one limit."""

    lock: Lock = field(default_factory=Lock)
    count: int = 0
    former_limit: int = 0


_walks = _Walks()


@contextmanager
def deep_recursion() -> Generator[None]:
    """Raise Python's limit on recursion until the last of the walks, in any thread, is done."""
    with _walks.lock:
        if _walks.count == 0:
            _walks.former_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_walks.former_limit, RECURSION_LIMIT))
        _walks.count += 1
    try:
        yield
    finally:
        with _walks.lock:
            _walks.count -= 1
            if _walks.count == 0:
                sys.setrecursionlimit(_walks.former_limit)

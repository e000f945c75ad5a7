"""What a lowering to LLVM raises where it has no form for something."""

from __future__ import annotations


class UnsupportedError(Exception):
    """An op, or a type of it, that has no LLVM form here; who lowers the op reports its location."""

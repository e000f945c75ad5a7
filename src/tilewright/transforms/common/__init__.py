"""Passes that work at every stage; importing this package registers them."""

from __future__ import annotations

from tilewright.transforms.common.canonicalize import CanonicalizePass, canonicalize

__all__ = ["CanonicalizePass", "canonicalize"]

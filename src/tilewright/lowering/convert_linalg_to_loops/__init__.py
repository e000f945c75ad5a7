"""Linalg on memrefs to loops over scalars."""

from __future__ import annotations

from tilewright.lowering.convert_linalg_to_loops.convert_linalg_to_loops import ConvertLinalgToLoopsPass

__all__ = ["ConvertLinalgToLoopsPass"]

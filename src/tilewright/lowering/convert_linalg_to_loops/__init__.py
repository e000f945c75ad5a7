"""Linalg on memrefs to loops over scalars."""

from __future__ import annotations

from tilewright.lowering.convert_linalg_to_loops.convert_linalg_to_loops import ConvertLinalgToLoopsPass
from tilewright.lowering.convert_linalg_to_loops.lower_affine import LowerAffinePass

__all__ = ["ConvertLinalgToLoopsPass", "LowerAffinePass"]

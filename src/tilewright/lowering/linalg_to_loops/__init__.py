"""From the linalg stage to loops over explicit vectors: `linalg-to-loops`."""

from tilewright.lowering.linalg_to_loops.linalg_to_loops import LinalgToLoopsPass

__all__ = ["LinalgToLoopsPass"]

"""From the linalg stage to loops over explicit vectors: `linalg-to-loops`."""

from tilewright.lowering.linalg_to_loops.lower_module import LinalgToLoopsPass

__all__ = ["LinalgToLoopsPass"]

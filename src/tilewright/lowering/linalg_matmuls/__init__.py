"""Matmuls of the linalg stage: which of them are one with the loop around them, and with the store of their result."""

from tilewright.lowering.linalg_matmuls.fuse_matmul_stores import LinalgFuseMatmulStoresPass
from tilewright.lowering.linalg_matmuls.recognize_k_loops import LinalgRecognizeKLoopsPass

__all__ = ["LinalgFuseMatmulStoresPass", "LinalgRecognizeKLoopsPass"]

"""Matmuls of the linalg stage: which are one with the loop around them, or with the store of their result, and which
are computed as their transposes."""

from tilewright.lowering.linalg_matmuls.fuse_matmul_stores import LinalgFuseMatmulStoresPass
from tilewright.lowering.linalg_matmuls.recognize_k_loops import LinalgRecognizeKLoopsPass
from tilewright.lowering.linalg_matmuls.transpose_matmuls import LinalgTransposeMatmulsPass

__all__ = ["LinalgFuseMatmulStoresPass", "LinalgRecognizeKLoopsPass", "LinalgTransposeMatmulsPass"]

"""Matmuls of the linalg stage: which are one with the loop around them, or with the store of their result, and which
are computed as their transposes; which operands are packed once."""

from tilewright.lowering.linalg_matmuls.fuse_matmul_stores import LinalgFuseMatmulStoresPass
from tilewright.lowering.linalg_matmuls.pack_operands import LinalgPackOperandsPass
from tilewright.lowering.linalg_matmuls.recognize_k_loops import LinalgRecognizeKLoopsPass
from tilewright.lowering.linalg_matmuls.transpose_matmuls import LinalgTransposeMatmulsPass

__all__ = [
    "LinalgFuseMatmulStoresPass",
    "LinalgPackOperandsPass",
    "LinalgRecognizeKLoopsPass",
    "LinalgTransposeMatmulsPass",
]

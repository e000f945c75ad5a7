"""Matmuls of the linalg stage: by which micro-kernels they go, which are one with the loop around them, or with the
store of their result, and which are computed as their transposes; which operands are packed once."""

from tilewright.lowering.linalg_matmuls.allow_flush_to_zero import LinalgAllowFlushToZeroPass
from tilewright.lowering.linalg_matmuls.fuse_matmul_stores import LinalgFuseMatmulStoresPass
from tilewright.lowering.linalg_matmuls.pack_operands import LinalgPackOperandsPass
from tilewright.lowering.linalg_matmuls.recognize_k_loops import LinalgRecognizeKLoopsPass
from tilewright.lowering.linalg_matmuls.select_microkernels import LinalgSelectMicrokernelsPass
from tilewright.lowering.linalg_matmuls.transpose_matmuls import LinalgTransposeMatmulsPass

__all__ = [
    "LinalgAllowFlushToZeroPass",
    "LinalgFuseMatmulStoresPass",
    "LinalgPackOperandsPass",
    "LinalgRecognizeKLoopsPass",
    "LinalgSelectMicrokernelsPass",
    "LinalgTransposeMatmulsPass",
]

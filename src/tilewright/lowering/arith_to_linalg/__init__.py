"""From tt and tensor arithmetic to linalg: everything but memory."""

from tilewright.lowering.arith_to_linalg.arith_to_linalg import TritonArithToLinalgPass

__all__ = ["TritonArithToLinalgPass"]

"""From tt and tensor arithmetic to linalg: everything but memory."""

from tilewright.lowering.arith_to_linalg.convert import TritonArithToLinalgPass

__all__ = ["TritonArithToLinalgPass"]

"""What Triton calls `triton.errors`."""

from tilewright.support.errors import TilewrightError

TritonError = TilewrightError

__all__ = ["TritonError"]

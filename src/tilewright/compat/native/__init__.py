"""What Triton calls `triton._C`: its compiled part, of which programs use `libtriton.ir` alone."""

from tilewright.compat.native import libtriton

__all__ = ["libtriton"]

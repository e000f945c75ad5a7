"""`triton.experimental`: Gluon."""

from tilewright import gluon

__all__ = ["gluon"]

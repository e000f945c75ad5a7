"""Functions of vendors' libraries, for kernels in Gluon: those of `triton.language.extra.libdevice`."""

from tilewright.language.extra import libdevice

__all__ = ["libdevice"]

"""gfx1250, another name of CDNA5."""

from tilewright.gluon.amd.cdna5 import TensorDescriptor

__all__ = ["TensorDescriptor"]

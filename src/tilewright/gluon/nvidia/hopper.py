"""Descriptors that kernels pass to TMA."""

from tilewright.runtime.gluon import TensorDescriptor, TensorDescriptorIm2Col

__all__ = ["TensorDescriptor", "TensorDescriptorIm2Col"]

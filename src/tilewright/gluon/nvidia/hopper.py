"""Descriptors that kernels pass to TMA."""

from tilewright.runtime.gluon import TensorDescriptor

__all__ = ["TensorDescriptor"]

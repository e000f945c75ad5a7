"""Descriptors that kernels pass to TMA, as on Hopper: programs for several GPUs may import them from here."""

from tilewright.runtime.gluon import TensorDescriptor

__all__ = ["TensorDescriptor"]

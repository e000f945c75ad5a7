"""Kernels in Gluon for machines without threads that share tensors: from TritonGPU IR back to Triton IR."""

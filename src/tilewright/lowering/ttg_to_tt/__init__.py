"""Kernels in Gluon for machines without threads that share tensors: from TritonGPU IR back to Triton IR."""

from tilewright.lowering.ttg_to_tt.gluon_drop_layouts import GluonDropLayoutsPass

__all__ = ["GluonDropLayoutsPass"]

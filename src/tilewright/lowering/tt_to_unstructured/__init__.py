"""From pointers to a base and element offsets."""

from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

__all__ = ["TritonToUnstructuredPass"]

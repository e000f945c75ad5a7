"""From tensors of pointers to structured pointers."""

from tilewright.lowering.tt_to_structured.triton_to_structured import TritonToStructuredPass

__all__ = ["TritonToStructuredPass"]

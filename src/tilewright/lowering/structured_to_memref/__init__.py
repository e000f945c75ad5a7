"""From structured pointers to memref: loads, stores, masks, wrap-around, gathered rows."""

from tilewright.lowering.structured_to_memref.convert import StructuredToMemrefPass

__all__ = ["StructuredToMemrefPass"]

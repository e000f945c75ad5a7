"""From structured pointers to memref: loads, stores, masks, wrap-around, gathered rows."""

from tilewright.lowering.structured_to_memref.structured_to_memref import StructuredToMemrefPass

__all__ = ["StructuredToMemrefPass"]

"""From accesses on base and offset to single elements of memref."""

from tilewright.lowering.unstructured_to_memref.unstructured_to_memref import UnstructuredToMemrefPass

__all__ = ["UnstructuredToMemrefPass"]

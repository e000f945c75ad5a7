"""From accesses on base and offset to single elements of memref."""

from tilewright.lowering.unstructured_to_memref.convert import UnstructuredToMemrefPass

__all__ = ["UnstructuredToMemrefPass"]

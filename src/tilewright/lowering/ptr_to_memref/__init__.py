"""From pointer types to memref types in signatures and control flow."""

from tilewright.lowering.ptr_to_memref.convert import TritonPtrToMemrefPass
from tilewright.lowering.ptr_to_memref.reconcile import ReconcileUnrealizedCastsPass

__all__ = ["ReconcileUnrealizedCastsPass", "TritonPtrToMemrefPass"]

"""From pointer types to memref types in signatures and control flow."""

from tilewright.lowering.ptr_to_memref.convert import TritonPtrToMemrefPass
from tilewright.lowering.ptr_to_memref.reconcile import ReconcileUnrealizedCastsPass
from tilewright.lowering.ptr_to_memref.tile_arguments_to_memref import TileArgumentsToMemrefPass

__all__ = ["ReconcileUnrealizedCastsPass", "TileArgumentsToMemrefPass", "TritonPtrToMemrefPass"]

"""From pointer types to memref types in signatures and control flow."""

from tilewright.lowering.ptr_to_memref.ptr_to_memref import TritonPtrToMemrefPass
from tilewright.lowering.ptr_to_memref.reconcile_unrealized_casts import ReconcileUnrealizedCastsPass
from tilewright.lowering.ptr_to_memref.tile_arguments_to_memref import TileArgumentsToMemrefPass

__all__ = ["ReconcileUnrealizedCastsPass", "TileArgumentsToMemrefPass", "TritonPtrToMemrefPass"]

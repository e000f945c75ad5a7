"""From pointer types to memref types in signatures and control flow, and to addresses of the `ptr` dialect."""

from tilewright.lowering.ptr_to_memref.hide_negative_offsets import HideNegativeOffsetsPass
from tilewright.lowering.ptr_to_memref.ptr_to_memref import TritonPtrToMemrefPass
from tilewright.lowering.ptr_to_memref.reconcile_ptr_casts import ReconcilePtrCastsPass
from tilewright.lowering.ptr_to_memref.reconcile_unrealized_casts import ReconcileUnrealizedCastsPass
from tilewright.lowering.ptr_to_memref.tile_arguments_to_memref import TileArgumentsToMemrefPass
from tilewright.lowering.ptr_to_memref.triton_to_ptr import TritonToPtrPass

__all__ = [
    "HideNegativeOffsetsPass",
    "ReconcilePtrCastsPass",
    "ReconcileUnrealizedCastsPass",
    "TileArgumentsToMemrefPass",
    "TritonPtrToMemrefPass",
    "TritonToPtrPass",
]

"""From the linalg stage to loops over explicit vectors: `linalg-to-loops`, and what marks ops for it."""

from tilewright.lowering.linalg_to_loops.allow_flush_to_zero import LinalgAllowFlushToZeroPass
from tilewright.lowering.linalg_to_loops.form_exchange_networks import LinalgFormExchangeNetworksPass
from tilewright.lowering.linalg_to_loops.linalg_to_loops import LinalgToLoopsPass
from tilewright.lowering.linalg_to_loops.select_microkernels import LinalgSelectMicrokernelsPass

__all__ = [
    "LinalgAllowFlushToZeroPass",
    "LinalgFormExchangeNetworksPass",
    "LinalgSelectMicrokernelsPass",
    "LinalgToLoopsPass",
]

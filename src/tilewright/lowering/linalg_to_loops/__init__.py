"""From the linalg stage to loops over explicit vectors: `linalg-to-loops`, and what marks ops for it."""

from tilewright.lowering.linalg_to_loops.convert_dot_bytes_to_calls import ConvertDotBytesToCallsPass
from tilewright.lowering.linalg_to_loops.form_exchange_networks import LinalgFormExchangeNetworksPass
from tilewright.lowering.linalg_to_loops.linalg_to_loops import LinalgToLoopsPass
from tilewright.lowering.linalg_to_loops.narrow_byte_sums import NarrowByteSumsPass

__all__ = ["ConvertDotBytesToCallsPass", "LinalgFormExchangeNetworksPass", "LinalgToLoopsPass", "NarrowByteSumsPass"]

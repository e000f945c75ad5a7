"""Chains of exchanges between elements whose indices differ in one bit: sorts, butterflies, pairwise reductions."""

from tilewright.lowering.linalg_to_loops.networks.emission import emit_network
from tilewright.lowering.linalg_to_loops.networks.plan import Network, find_networks

__all__ = ["Network", "emit_network", "find_networks"]

"""Names of what the benchmark measures, for its command lines and its tables; imports nothing."""

PEERS = ("PyTorch", "PyTorch out=", "torch.compile", "NumPy", "Numba", "triton-shared")
"""Whom we are compared with."""

GROUPS = ("promised", "others", "flattened")
"""Kernels with promised ratios, others, and those whose indices are taken apart."""

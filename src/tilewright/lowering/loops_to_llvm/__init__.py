"""loops-to-llvm: the loops stage as LLVM IR text (see `lower.py`)."""

from tilewright.lowering.loops_to_llvm.lower import LoweredModule, lower_to_llvm

__all__ = ["LoweredModule", "lower_to_llvm"]

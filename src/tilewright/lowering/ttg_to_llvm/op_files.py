"""The modules whose rules make up the lowering: importing one registers its rules."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

OP_FILES = (
    "async_copy_ops",
    "atomic_ops",
    "barrier_ops",
    "bulk_copy_ops",
    "constants",
    "control_ops",
    "convert_ops",
    "debug_ops",
    "dot_ops",
    "float_ops",
    "fp4_ops",
    "function_ops",
    "indexed_access_ops",
    "indexing_ops",
    "inline_assembly_ops",
    "integer_ops",
    "local_ops",
    "mapping_ops",
    "math_ops",
    "memory_ops",
    "program_ops",
    "reduce_ops",
    "scan_ops",
    "shape_ops",
    "warp_group_ops",
    "warp_specialize_ops",
)
"""One file per family of ops; add yours here."""


@lru_cache(maxsize=1)
def register_rules() -> None:
    """Make sure that the rules of every op file are in the table."""
    for name in OP_FILES:
        import_module(f"tilewright.lowering.ttg_to_llvm.{name}")

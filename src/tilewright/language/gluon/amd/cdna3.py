"""CDNA3, of which there is no target: its names, so that programs for several GPUs can be imported."""

from __future__ import annotations

from tilewright.language.gluon.amd.layouts import AMDMFMALayout
from tilewright.language.gluon.amd.operations import (
    buffer_atomic_add,
    buffer_atomic_and,
    buffer_atomic_max,
    buffer_atomic_min,
    buffer_atomic_or,
    buffer_atomic_xchg,
    buffer_atomic_xor,
    buffer_load,
    buffer_store,
    get_scaled_upcast_fp4_scale_layout,
    mfma,
    scaled_upcast,
)

__all__ = [
    "AMDMFMALayout",
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
    "buffer_load",
    "buffer_store",
    "get_scaled_upcast_fp4_scale_layout",
    "mfma",
    "scaled_upcast",
]

"""CDNA4, of which there is no target: its names, so that programs for several GPUs can be imported."""

from __future__ import annotations

from tilewright.language.gluon.amd.cdna4 import async_copy
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
    load_shared_fp4_repacked,
    mfma,
    scaled_downcast,
    scaled_upcast,
)
from tilewright.language.gluon.amd.refused import refused

compute_efficient_padded_shared_layout = refused("compute_efficient_padded_shared_layout")
get_mfma_scale_layout = refused("get_mfma_scale_layout")
mfma_scaled = refused("mfma_scaled")

__all__ = [
    "AMDMFMALayout",
    "async_copy",
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
    "buffer_load",
    "buffer_store",
    "compute_efficient_padded_shared_layout",
    "get_mfma_scale_layout",
    "get_scaled_upcast_fp4_scale_layout",
    "load_shared_fp4_repacked",
    "mfma",
    "mfma_scaled",
    "scaled_downcast",
    "scaled_upcast",
]

"""Functions that several of AMD's GPUs have."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import refused

buffer_atomic_add = refused("buffer_atomic_add")
buffer_atomic_and = refused("buffer_atomic_and")
buffer_atomic_max = refused("buffer_atomic_max")
buffer_atomic_min = refused("buffer_atomic_min")
buffer_atomic_or = refused("buffer_atomic_or")
buffer_atomic_xchg = refused("buffer_atomic_xchg")
buffer_atomic_xor = refused("buffer_atomic_xor")
buffer_load = refused("buffer_load")
buffer_store = refused("buffer_store")
get_scaled_upcast_fp4_scale_layout = refused("get_scaled_upcast_fp4_scale_layout")
load_shared_fp4_repacked = refused("load_shared_fp4_repacked")
mfma = refused("mfma")
scaled_downcast = refused("scaled_downcast")
scaled_upcast = refused("scaled_upcast")

__all__ = [
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
    "load_shared_fp4_repacked",
    "mfma",
    "scaled_downcast",
    "scaled_upcast",
]

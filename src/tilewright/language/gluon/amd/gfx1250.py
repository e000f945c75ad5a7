"""gfx1250, another name of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.cdna5 import (
    AMDWMMALayout,
    PartitionedSharedLayout,
    async_copy,
    buffer_load,
    buffer_store,
    cluster,
    get_scaled_upcast_fp4_scale_layout,
    get_wmma_scale_layout,
    load_shared_fp4_repacked,
    make_partitioned_dot_layouts,
    mbarrier,
    scaled_downcast,
    scaled_upcast,
    tdm,
    wmma,
    wmma_scaled,
)

__all__ = [
    "AMDWMMALayout",
    "PartitionedSharedLayout",
    "async_copy",
    "buffer_load",
    "buffer_store",
    "cluster",
    "get_scaled_upcast_fp4_scale_layout",
    "get_wmma_scale_layout",
    "load_shared_fp4_repacked",
    "make_partitioned_dot_layouts",
    "mbarrier",
    "scaled_downcast",
    "scaled_upcast",
    "tdm",
    "wmma",
    "wmma_scaled",
]

"""CDNA5, of which there is no target: its names, so that programs for several GPUs can be imported."""

from __future__ import annotations

from tilewright.language.gluon.amd.cdna5 import async_copy, cluster, mbarrier, tdm
from tilewright.language.gluon.amd.layouts import AMDWMMALayout, PartitionedSharedLayout
from tilewright.language.gluon.amd.operations import (
    buffer_load,
    buffer_store,
    get_scaled_upcast_fp4_scale_layout,
    load_shared_fp4_repacked,
    scaled_downcast,
    scaled_upcast,
)
from tilewright.language.gluon.amd.refused import refused

get_wmma_scale_layout = refused("get_wmma_scale_layout")
make_partitioned_dot_layouts = refused("make_partitioned_dot_layouts")
wmma = refused("wmma")
wmma_scaled = refused("wmma_scaled")

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

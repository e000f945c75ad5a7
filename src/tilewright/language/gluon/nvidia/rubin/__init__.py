"""Rubin, for which there is no target: its names, so that programs for several GPUs can be imported. What Hopper has,
too, works; the rest is refused by name where a kernel calls it."""

from __future__ import annotations

from tilewright.language.gluon.nvidia.blackwell import (
    CachePolicy,
    FractionalEvictionPolicy,
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    add2,
    allocate_tensor_memory,
    async_copy,
    async_store,
    clc,
    cluster,
    fence_async_shared,
    fma2,
    max2,
    min2,
    mma_v2,
    mul2,
    sub2,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
    tensor_memory_descriptor,
    tensor_memory_descriptor_type,
    tma,
)
from tilewright.language.gluon.nvidia.rubin import mbarrier
from tilewright.language.gluon.refused import refused

_REASON = "needs Rubin (compute capability 10.7), for which there is no target"
_ADVICE = "compute in float16 or float32"

add4 = refused("add4", _REASON, _ADVICE)
fma4 = refused("fma4", _REASON, _ADVICE)
mul4 = refused("mul4", _REASON, _ADVICE)
sub4 = refused("sub4", _REASON, _ADVICE)

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
    "add2",
    "add4",
    "allocate_tensor_memory",
    "async_copy",
    "async_store",
    "clc",
    "cluster",
    "fence_async_shared",
    "fma2",
    "fma4",
    "max2",
    "mbarrier",
    "min2",
    "mma_v2",
    "mul2",
    "mul4",
    "sub2",
    "sub4",
    "tcgen05_commit",
    "tcgen05_copy",
    "tcgen05_mma",
    "tcgen05_mma_barrier_count",
    "tcgen05_mma_scaled",
    "tensor_memory_descriptor",
    "tensor_memory_descriptor_type",
    "tma",
]

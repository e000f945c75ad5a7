"""Blackwell, for which there is no target: its names, so that programs for several GPUs can be imported. What Hopper
has, too, works; the rest is refused by name where a kernel calls it."""

from __future__ import annotations

from dataclasses import field

from tilewright.language.gluon.layout_base import Lists
from tilewright.language.gluon.nvidia.blackwell import clc, tma
from tilewright.language.gluon.nvidia.blackwell.refused import LayoutOfBlackwell, OfBlackwell, refused
from tilewright.language.gluon.nvidia.hopper import (
    CachePolicy,
    FractionalEvictionPolicy,
    async_copy,
    async_store,
    cluster,
    fence_async_shared,
    mbarrier,
    mma_v2,
)
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class TensorMemoryLayout(LayoutOfBlackwell):
    """The layout of tensor memory: a value that programs make for several GPUs, and that nothing here takes."""

    block: list[int]
    col_stride: int
    cga_layout: Lists = field(default_factory=list[list[int]])
    two_ctas: bool = False
    fp4_padded: bool = False

    __hash__ = LayoutOfBlackwell.__hash__


@dataclass(frozen=True)
class TensorMemoryScalesLayout(LayoutOfBlackwell):
    """The layout of scales in tensor memory, likewise."""

    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = LayoutOfBlackwell.__hash__


class tensor_memory_descriptor(OfBlackwell):
    """A buffer in tensor memory."""


class tensor_memory_descriptor_type(OfBlackwell):
    """The type of a buffer in tensor memory."""


add2 = refused("add2")
allocate_tensor_memory = refused("allocate_tensor_memory")
fma2 = refused("fma2")
get_tmem_reg_layout = refused("get_tmem_reg_layout")
max2 = refused("max2")
min2 = refused("min2")
mul2 = refused("mul2")
sub2 = refused("sub2")
tcgen05_commit = refused("tcgen05_commit")
tcgen05_copy = refused("tcgen05_copy")
tcgen05_mma = refused("tcgen05_mma")
tcgen05_mma_barrier_count = refused("tcgen05_mma_barrier_count")
tcgen05_mma_scaled = refused("tcgen05_mma_scaled")

__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
    "add2",
    "allocate_tensor_memory",
    "async_copy",
    "async_store",
    "clc",
    "cluster",
    "fence_async_shared",
    "fma2",
    "get_tmem_reg_layout",
    "max2",
    "mbarrier",
    "min2",
    "mma_v2",
    "mul2",
    "sub2",
    "tcgen05_commit",
    "tcgen05_copy",
    "tcgen05_mma",
    "tcgen05_mma_barrier_count",
    "tcgen05_mma_scaled",
    "tensor_memory_descriptor",
    "tensor_memory_descriptor_type",
    "tma",
]

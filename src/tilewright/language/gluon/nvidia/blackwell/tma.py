"""Copies of boxes: those of Hopper, and the rows that only Blackwell gathers and scatters."""

from __future__ import annotations

from tilewright.language.gluon.nvidia.blackwell.refused import refused
from tilewright.language.gluon.nvidia.hopper.tma import (
    async_atomic_add,
    async_atomic_and,
    async_atomic_max,
    async_atomic_min,
    async_atomic_or,
    async_atomic_xor,
    async_copy_global_to_shared,
    async_copy_shared_to_global,
    async_load,
    async_store,
    make_tensor_descriptor,
    store_wait,
    tensor_descriptor,
    tensor_descriptor_type,
)

async_gather = refused("async_gather")
async_scatter = refused("async_scatter")

__all__ = [
    "async_atomic_add",
    "async_atomic_and",
    "async_atomic_max",
    "async_atomic_min",
    "async_atomic_or",
    "async_atomic_xor",
    "async_copy_global_to_shared",
    "async_copy_shared_to_global",
    "async_gather",
    "async_load",
    "async_scatter",
    "async_store",
    "make_tensor_descriptor",
    "store_wait",
    "tensor_descriptor",
    "tensor_descriptor_type",
]

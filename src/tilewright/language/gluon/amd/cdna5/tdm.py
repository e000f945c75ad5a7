"""The tensor data mover of CDNA5."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import OfAmd, refused


class tensor_descriptor(OfAmd):
    """A tensor that the mover copies tiles of."""


class tensor_descriptor_type(OfAmd):
    """The type of such a descriptor."""


async_gather = refused("async_gather")
async_load = refused("async_load")
async_load_fused = refused("async_load_fused")
async_scatter = refused("async_scatter")
async_store = refused("async_store")
async_wait = refused("async_wait")
make_tensor_descriptor = refused("make_tensor_descriptor")
prefetch = refused("prefetch")
update_tensor_descriptor = refused("update_tensor_descriptor")

__all__ = [
    "async_gather",
    "async_load",
    "async_load_fused",
    "async_scatter",
    "async_store",
    "async_wait",
    "make_tensor_descriptor",
    "prefetch",
    "tensor_descriptor",
    "tensor_descriptor_type",
    "update_tensor_descriptor",
]

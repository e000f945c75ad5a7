"""The extent of the allocation that backs an array or a tensor, where it can be known.

A view may hide its owner: `as_strided`, DLPack and the array interface show a few elements of memory that a kernel may
use far beyond them. What lies outside of the view may then belong to another argument, too.
"""

from __future__ import annotations

import mmap
from array import array as standard_array
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tilewright.targets.launch_cache.object_layouts import frees_itself, has_known_storages

_ndarray: Any = np.ndarray

Extent = tuple[int, int, bool]
"""The lowest and one past the highest address, and whether that is the whole allocation."""

_EXPORTERS: Any = (bytes, bytearray, mmap.mmap, standard_array)
"""What shows all of its memory as a buffer."""


def extent_of_array(array: np.ndarray[Any, Any]) -> Extent:
    """Find the memory that the owner of a NumPy array has."""
    owner: Any = array
    while isinstance(owner.base, _ndarray):
        owner = owner.base
    if owner.flags.owndata:
        return *_shown_by(owner), True
    return _extent_of_exporter(owner.base) or (*_shown_by(owner), False)


def _shown_by(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    return extent_of(array.__array_interface__["data"][0], array.shape, array.strides, array.itemsize)


def _extent_of_exporter(exporter: Any) -> Extent | None:
    """Find what an object that lends an array its memory has; None for objects of other kinds."""
    if isinstance(exporter, memoryview):
        exporter = cast("memoryview[Any]", exporter).obj
    if isinstance(exporter, _ndarray):
        return extent_of_array(exporter)
    if isinstance(exporter, _EXPORTERS):
        return *_shown_by(np.frombuffer(exporter, np.uint8)), True
    if type(exporter).__name__ == "DummyArray" and isinstance(exporter.base, _ndarray):  # of `as_strided`
        return extent_of_array(exporter.base)
    if (untyped := getattr(exporter, "untyped_storage", None)) is None:
        return None
    storage = untyped()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes(), is_allocation(storage)


def is_allocation(storage: Any) -> bool:
    """Tell whether PyTorch made the memory of a storage. It also has storages of others' memory, and of parts of its
    own (`from_numpy`, `from_dlpack`, `frombuffer`, slices of storages), whose allocation does not show."""
    if not hasattr(storage, "_cdata") or not has_known_storages(storage.__class__):
        return bool(storage.resizable()) if hasattr(storage, "resizable") else False
    if storage.resizable() or frees_itself(storage):
        return True
    return storage.device.type == "cpu" and storage.is_shared()


def extent_of(address: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Find the lowest and one past the highest byte that a strided array touches."""
    if 0 in shape:
        return address, address
    low = high = address
    for size, stride in zip(shape, strides, strict=True):
        span = (size - 1) * stride
        low, high = (low + span, high) if span < 0 else (low, high + span)
    return low, high + itemsize

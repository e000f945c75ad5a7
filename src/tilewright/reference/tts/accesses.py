"""Loads and stores through structured pointers, and by element from a base. Dead lanes read as `other`, or 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects import tts
from tilewright.dialects.arith.meaning import as_signed
from tilewright.dialects.numeric import Array
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tensor_ops import mixed_ints
from tilewright.reference.tt.access import read_lanes, write_lanes
from tilewright.reference.tt.block_pointers import along
from tilewright.reference.tt.pointers import pointee_size
from tilewright.reference.tts.pointers import GatheredRows


def box_lanes(starts: Sequence[int], counts: Sequence[int], sizes: Sequence[int]) -> Array:
    """Return which lanes of a tile lie in ``[start_d, start_d + count_d)`` in every dimension."""
    live: Any = np.bool_(True)
    for dim, (start, count, size) in enumerate(zip(starts, counts, sizes, strict=True)):
        lanes = np.arange(size)
        live = live & ((lanes >= start) & (lanes < start + count)).reshape(along(dim, size, len(sizes)))
    return np.asarray(np.broadcast_to(live, tuple(sizes)))


def _lanes(pointer: Any, dims: Sequence[int]) -> tuple[Array, Array | None]:
    """The addresses of a structured pointer, and which lanes `mask_dims` keeps; along gathered rows that are masked the
    rows' own mask decides."""
    if isinstance(pointer, GatheredRows):
        sizes = pointer.addresses.shape
        counts = [size if dim == pointer.dim else dims[dim] for dim, size in enumerate(sizes)] if dims else sizes
        live = box_lanes([0] * len(sizes), counts, sizes)
        return pointer.addresses, live if pointer.mask is None else live & pointer.mask
    return pointer, box_lanes([0] * pointer.ndim, dims, pointer.shape) if dims else None


@meaning_of(tts.LoadOp)
def load(op: tts.LoadOp, frame: Frame) -> Values:
    addresses, live = _lanes(frame.get(op.ptr), mixed_ints(op.mixed_mask_dims, frame))
    other = None if op.other is None else frame.get(op.other)
    return (read_lanes(frame, addresses, element_type(op.result.type), live, other),)


@meaning_of(tts.StoreOp)
def store(op: tts.StoreOp, frame: Frame) -> Values:
    addresses, live = _lanes(frame.get(op.ptr), mixed_ints(op.mixed_mask_dims, frame))
    write_lanes(frame, addresses, frame.get(op.value), element_type(op.value.type), live)
    return ()


def _masked_lanes(op: tts.MaskedLoadOp | tts.MaskedStoreOp, frame: Frame) -> tuple[Array, Array]:
    """The addresses, and the lanes of the box that the mask keeps."""
    pointer = frame.get(op.ptr)
    addresses = pointer.addresses if isinstance(pointer, GatheredRows) else pointer
    sizes = addresses.shape
    starts, counts = mixed_ints(op.mixed_mask_starts(), frame), mixed_ints(op.mixed_mask_dims(), frame)
    for dim, (start, count, size) in enumerate(zip(starts, counts, sizes, strict=True)):
        if start < 0 or count < 0 or start + count > size:
            raise reference_error(op, f"dimension {dim}: lanes [{start}, {start + count}) are not in a tile of {size}")
    live = box_lanes(starts, counts, sizes)
    if op.mask is not None:
        live = live & frame.get(op.mask)
    if isinstance(pointer, GatheredRows) and pointer.mask is not None:
        live = live & pointer.mask
    return addresses, live


@meaning_of(tts.MaskedLoadOp)
def masked_load(op: tts.MaskedLoadOp, frame: Frame) -> Values:
    addresses, live = _masked_lanes(op, frame)
    other = None if op.other is None else frame.get(op.other)
    return (read_lanes(frame, addresses, element_type(op.result.type), live, other),)


@meaning_of(tts.MaskedStoreOp)
def masked_store(op: tts.MaskedStoreOp, frame: Frame) -> Values:
    addresses, live = _masked_lanes(op, frame)
    write_lanes(frame, addresses, frame.get(op.value), element_type(op.value.type), live)
    return ()


def element_addresses(base: SSAValue, offset: SSAValue, frame: Frame) -> Any:
    """``base + offset`` in elements, offsets being signed."""
    offsets = as_signed(np.asarray(frame.get(offset)), bit_width(element_type(offset.type)))
    return frame.get(base) + offsets.astype(np.int64) * np.int64(pointee_size(base.type))


@meaning_of(tts.GatherOp)
def gather(op: tts.GatherOp, frame: Frame) -> Values:
    mask = None if op.mask is None else frame.get(op.mask)
    other = None if op.other is None else frame.get(op.other)
    addresses = element_addresses(op.ptr, op.offset, frame)
    return (read_lanes(frame, addresses, element_type(op.result.type), mask, other),)


@meaning_of(tts.ScatterOp)
def scatter(op: tts.ScatterOp, frame: Frame) -> Values:
    mask = None if op.mask is None else frame.get(op.mask)
    addresses = element_addresses(op.ptr, op.offset, frame)
    write_lanes(frame, addresses, frame.get(op.value), element_type(op.value.type), mask)
    return ()

"""Structured pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects import tts
from tilewright.dialects.construction import static_values
from tilewright.dialects.numeric import Array
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tensor_ops import mixed_ints
from tilewright.reference.tt.block_pointers import along
from tilewright.reference.tt.pointers import pointee_size
from tilewright.support.records import dataclass


@dataclass(frozen=True, eq=False)
class GatheredRows:
    """The addresses of a tile some of whose slices along `dim` are left out."""

    addresses: Array
    dim: int
    mask: Array | None


def _place(offset: int, stride: int, size: int, dim: int, rank: int) -> Array:
    """``offset + i * stride`` for the lanes along one dimension."""
    lanes = np.int64(offset) + np.arange(size, dtype=np.int64) * np.int64(stride)
    return lanes.reshape(along(dim, size, rank))


def _total(base: Any, places: Sequence[Array], sizes: Sequence[int], item_bytes: int) -> Array:
    total: Any = np.int64(base)
    for place in places:
        total = total + place * np.int64(item_bytes)
    return np.asarray(np.broadcast_to(total, tuple(sizes)))


@meaning_of(tts.MakeTensorPtrOp)
def make_pointer(op: tts.MakeTensorPtrOp, frame: Frame) -> Values:
    """The address of every lane. Along a dimension that wraps it is the remainder with the sign of the linear address,
    as `arith.remsi` has it; a bound that is 0 when the program runs means no wrap."""
    sizes = static_values(op.sizes)
    strides, offsets, bounds = (
        mixed_ints(entries, frame) for entries in (op.mixed_strides, op.mixed_offsets, op.mixed_shape)
    )
    rank, places = len(sizes), list[Array]()
    for dim, (size, stride, offset, bound) in enumerate(zip(sizes, strides, offsets, bounds, strict=True)):
        place = _place(offset, stride, size, dim, rank)
        wraps = op.kind is tts.PointerKind.WRAP_AROUND and bound != 0
        places.append(np.fmod(place, np.int64(bound)) if wraps else place)
    return (_total(frame.get(op.base), places, sizes, pointee_size(op.base.type)),)


@meaning_of(tts.MakeGatherScatterTensorPtrOp)
def make_gathered_pointer(op: tts.MakeGatherScatterTensorPtrOp, frame: Frame) -> Values:
    sizes, gathered = static_values(op.sizes), op.gather_scatter_dim.value.data
    strides, offsets = mixed_ints(op.mixed_strides, frame), mixed_ints(op.mixed_offsets, frame)
    rank, places = len(sizes), list[Array]()
    for dim, (size, stride, offset) in enumerate(zip(sizes, strides, offsets, strict=True)):
        if dim == gathered:
            rows = np.asarray(frame.get(op.gather_scatter_offset)).astype(np.int64)
            places.append((rows * np.int64(stride) + np.int64(offset)).reshape(along(dim, size, rank)))
        else:
            places.append(_place(offset, stride, size, dim, rank))
    addresses = _total(frame.get(op.base), places, sizes, pointee_size(op.base.type))
    if op.gather_scatter_mask is None:
        return (addresses,)
    mask = np.asarray(frame.get(op.gather_scatter_mask)) != 0
    return (GatheredRows(addresses, gathered, mask.reshape(along(gathered, sizes[gathered], rank))),)


@meaning_of(tts.GetStructuredStateOp)
def structured_state(op: tts.GetStructuredStateOp, frame: Frame) -> Values:
    """The value itself. Offsets and strides are placeholders that nothing reads until they are replaced: 0."""
    zeros = [np.int64(0)] * (len(op.results) - 1)
    return frame.get(op.input), *zeros

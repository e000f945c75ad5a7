"""Block pointers and what they address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.dialects import tt
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import PointerType
from tilewright.dialects.tt.types import shape_of
from tilewright.reference.machine import Frame, Values, as_int, meaning_of
from tilewright.reference.tt.pointers import storage_type
from tilewright.support.records import dataclass


@dataclass(frozen=True, eq=False)
class Block:
    """A block at `offsets` in a tensor in memory: extents, strides and offsets count elements."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    item_bytes: int

    def places(self) -> list[Array]:
        """The index of every lane in each dimension of the parent tensor, one broadcastable array per dimension."""
        return [
            np.arange(offset, offset + size, dtype=np.int64).reshape(along(dim, size, len(self.sizes)))
            for dim, (offset, size) in enumerate(zip(self.offsets, self.sizes, strict=True))
        ]

    def addresses(self) -> Array:
        """The address of every lane."""
        return block_addresses(self.base, self.places(), self.strides, self.item_bytes, self.sizes)

    def inside(self, dims: Sequence[int]) -> Array | None:
        """Return which lanes lie in the parent tensor by the dimensions named; None when no dimension is."""
        if not dims:
            return None
        live: Array = np.ones(self.sizes, np.bool_)
        for dim, place in enumerate(self.places()):
            if dim in dims:
                live = live & (place >= 0) & (place < self.shape[dim])
        return live


def along(dim: int, size: int, rank: int) -> list[int]:
    """The shape of a row of `size` lanes along one of `rank` dimensions."""
    return [size if axis == dim else 1 for axis in range(rank)]


def block_addresses(
    base: int, places: Sequence[Array], strides: Sequence[int], item_bytes: int, sizes: Sequence[int]
) -> Array:
    """``base + sum_d places_d * strides_d`` in bytes, in the shape of the block."""
    total: Any = np.int64(base)
    for place, stride in zip(places, strides, strict=True):
        total = total + place * np.int64(stride * item_bytes)
    return np.asarray(np.broadcast_to(total, tuple(sizes)))


@meaning_of(tt.MakeTensorPtrOp)
def make_tensor_pointer(op: tt.MakeTensorPtrOp, frame: Frame) -> Values:
    assert isinstance(op.result.type, PointerType) and isinstance(op.base.type, PointerType)
    shape, strides, offsets = (
        tuple(as_int(value) for value in frame.get_all(group)) for group in (op.shape, op.strides, op.offsets)
    )
    size = storage_type(op.base.type.pointee_type).itemsize
    return (Block(as_int(frame.get(op.base)), shape, strides, offsets, shape_of(op.result.type.pointee_type), size),)


@meaning_of(tt.AdvanceOp)
def advance(op: tt.AdvanceOp, frame: Frame) -> Values:
    block: Block = frame.get(op.ptr)
    steps = [as_int(value) for value in frame.get_all(op.offsets)]
    return (replace(block, offsets=tuple(o + s for o, s in zip(block.offsets, steps, strict=True))),)

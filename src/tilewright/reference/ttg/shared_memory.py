"""Shared memory of one program, and views of the buffers in it.

A buffer is bytes; a view of it says where each of its elements lies, as the encoding has it, so that views of one
buffer with several types see each other's data. Buffers that the allocation gave an `allocation.offset` share one
array of bytes, as they do on the GPU; others have memory of their own.

Asynchronous units read and write behind the program's back, from the op that starts them to the one that waits. To
touch bytes that such a unit still writes, or to overwrite bytes that it still reads, is an error.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import prod

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.dialects.ttg import MemDescType, shared_layout_of
from tilewright.layouts.distributed import BLOCK, dim_names
from tilewright.layouts.shared import SharedLayout
from tilewright.reference.memory import AccessError
from tilewright.reference.tt.pointers import storage_type
from tilewright.support.records import dataclass

POISON = 0xFF
"""Bytes that nothing wrote: NaN, -1, true."""


class SharedStorage:
    """Bytes, which of them were written, and how many asynchronous units read or write each."""

    def __init__(self, size: int, name: str) -> None:
        self.name = name
        self.data = np.full(size, POISON, np.uint8)
        self.written = np.zeros(size, np.bool_)
        self.writers = np.zeros(size, np.int16)
        self.readers = np.zeros(size, np.int16)

    def grow(self, size: int) -> None:
        """At least `size` bytes."""
        missing = size - self.data.size
        if missing > 0:
            self.data = np.concatenate([self.data, np.full(missing, POISON, np.uint8)])
            self.written = np.concatenate([self.written, np.zeros(missing, np.bool_)])
            self.writers = np.concatenate([self.writers, np.zeros(missing, np.int16)])
            self.readers = np.concatenate([self.readers, np.zeros(missing, np.int16)])


@dataclass(frozen=True, eq=False)
class SharedView:
    """Elements in shared memory: `positions` are the bytes where they begin, in the shape of the view."""

    storage: SharedStorage
    type: MemDescType
    start: int
    """Where the buffer, or the one of several that is seen, begins."""
    positions: Array

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy type of the elements."""
        return storage_type(self.type.element_type)

    def bytes_of(self) -> Array:
        """The positions of all bytes of all elements, one row per element."""
        return self.positions.reshape(-1, 1) + np.arange(self.dtype.itemsize)

    def check_readable(self, *, must_be_written: bool) -> Array:
        """The positions of all bytes; AccessError where one is being written, or was not and has to be."""
        places = self.bytes_of()
        if np.any(self.storage.writers[places]):
            raise AccessError(f"{self.storage.name} is read while an asynchronous copy into it has not been waited for")
        if must_be_written and not np.all(self.storage.written[places]):
            raise AccessError(f"{self.storage.name} is read where nothing was written")
        return places

    def check_writable(self) -> Array:
        """The positions of all bytes; AccessError where an asynchronous unit still uses one."""
        places = self.bytes_of()
        if np.any(self.storage.writers[places]):
            raise AccessError(f"{self.storage.name} is written while an asynchronous copy into it is under way")
        if np.any(self.storage.readers[places]):
            raise AccessError(f"{self.storage.name} is written while an asynchronous op still reads it")
        return places

    def load(self, *, must_be_written: bool = False) -> Array:
        """The elements, in the shape of the view."""
        places = self.check_readable(must_be_written=must_be_written)
        return np.ascontiguousarray(self.storage.data[places]).view(self.dtype).reshape(self.positions.shape)

    def store(self, values: Array) -> None:
        """Set the elements."""
        self.put(self.check_writable(), values)

    def put(self, places: Array, values: Array) -> None:
        """Set the elements whose bytes lie at `places`, whoever uses them."""
        spread = np.ascontiguousarray(np.broadcast_to(np.asarray(values), self.positions.shape), self.dtype)
        self.storage.data[places] = spread.reshape(-1, 1).view(np.uint8)
        self.storage.written[places] = True


@lru_cache(maxsize=1024)
def element_offsets(layout: SharedLayout, shape: tuple[int, ...]) -> Array:
    """Return where each element of a buffer begins, counted in elements; dimensions that the layout does not know are
    buffers one after the other, each of which has the parts of a cluster's CTAs one after the other."""
    outer = len(shape) - layout.rank
    part = layout.num_elements(shape[outer:])
    inner = np.asarray(layout.offsets(shape[outer:]), np.int64)
    if any(any(vector) for vector in layout.cga):
        places = (
            layout.to_linear(shape[outer:])
            .pseudoinvert()
            .apply(
                dict(
                    zip(
                        dim_names(layout.rank),
                        np.meshgrid(*map(np.arange, shape[outer:]), indexing="ij", sparse=True),
                        strict=True,
                    )
                )
            )
        )
        inner = inner + np.asarray(places[BLOCK], np.int64) * part
    buffers = np.arange(prod(shape[:outer]), dtype=np.int64).reshape(*shape[:outer], *[1] * layout.rank)
    return (buffers * part << len(layout.cga)) + inner


def buffer_bytes(type_: MemDescType) -> int:
    """The size of a whole buffer, gaps included."""
    layout, shape = shared_layout_of(type_.encoding), type_.get_alloc_shape()
    outer = len(shape) - layout.rank
    count = prod(shape[:outer]) * layout.num_elements(shape[outer:]) << len(layout.cga)
    return count * storage_type(type_.element_type).itemsize


def whole_view(storage: SharedStorage, type_: MemDescType, start: int) -> SharedView:
    """All of a buffer that begins at a byte."""
    layout, size = shared_layout_of(type_.encoding), storage_type(type_.element_type).itemsize
    return SharedView(storage, type_, start, start + element_offsets(layout, type_.get_shape()) * size)


def indexed(view: SharedView, index: int, result: MemDescType) -> SharedView:
    """One of several buffers."""
    count = view.positions.shape[0]
    if not 0 <= index < count:
        raise AccessError(f"index {index} is outside of {count} buffers")
    chosen = view.positions[index]
    return replace(view, type=result, start=view.start + buffer_bytes(view.type) // count * index, positions=chosen)


def fresh_buffer(type_: MemDescType, name: str) -> SharedView:
    """A buffer with memory of its own."""
    return whole_view(SharedStorage(buffer_bytes(type_), name), type_, 0)

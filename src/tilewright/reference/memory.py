"""Memory of the reference: flat NumPy storage, and strided views of it that check every access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Any, Protocol

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute

from tilewright.dialects.numeric import Array, dtype_of
from tilewright.support.records import dataclass


class AccessError(Exception):
    """An access that leaves its view or its storage; the op that made it turns this into a ReferenceError."""


class BarrierMisuse(AccessError):
    """An mbarrier is used wrongly."""


@dataclass(frozen=True, eq=False)
class ByteRange:
    """An argument that starts inside of its memory: the bytes that may be reached, and the byte it points to."""

    data: Array
    start: int = 0


class Reachable(Protocol):
    """Memory that is found by real addresses; a miss raises AccessError."""

    def read(self, addresses: Array, dtype: np.dtype[Any]) -> Array: ...
    def write(self, addresses: Array, values: Array, dtype: np.dtype[Any]) -> None: ...


@dataclass(eq=False)
class Storage:
    """A flat array of elements and what is known about it.

    `written` marks the elements that hold something, for reports on reading what nothing wrote; None counts everything
    as written.
    """

    data: Array
    name: str = ""
    written: Array | None = None
    freed: bool = False
    before: int = 0
    """How many elements before the first may be reached as well: an argument may start inside of its memory."""
    whole: Array | None = None
    """The elements with those in front, where there are any."""
    beyond: Reachable | None = None
    """Where addresses outside of this storage are looked up, in programs that compute with addresses."""

    @staticmethod
    def of_array(array: Array, element: Attribute, name: str) -> Storage:
        """The elements of an argument, shared with it: writes show in the array.

        Arrays of other types of the same width are reinterpreted (uint16 for bfloat16, int8 for bool), and any array is
        a row of bytes.
        """
        dtype = dtype_of(element)
        if array.dtype.itemsize != dtype.itemsize and element != i8:
            raise TypeError(f"argument '{name}': expected elements of {element}, got {array.dtype}")
        flat = memory_of(array, name)
        return Storage(flat if array.dtype == dtype else flat.view(dtype), name)

    @staticmethod
    def of_bytes(argument: ByteRange, element: Attribute, name: str) -> Storage:
        """The elements of an argument that starts inside of its memory; a part of an element at either end is not
        seen."""
        dtype = dtype_of(element)
        size, first = dtype.itemsize, argument.start % dtype.itemsize
        whole = argument.data[first : first + (argument.data.size - first) // size * size].view(dtype)
        before = argument.start // size
        return Storage(whole[before:], name, before=before, whole=whole if before else None)

    def view(self, start: int, element: Attribute) -> Storage:
        """The same memory from a byte on, as elements of another type; for storage of bytes."""
        dtype = dtype_of(element)
        first_byte, size = self.before + start, dtype.itemsize
        memory = self.data if self.whole is None else self.whole
        if first_byte < 0:
            raise AccessError(f"byte {start} is before {self.describe()}")
        first = first_byte % size
        whole = memory[first : first + (memory.size - first) // size * size].view(dtype)
        before = first_byte // size
        return Storage(whole[before:], self.name, before=before, whole=whole if before else None, beyond=self.beyond)

    def check(self, positions: Array) -> None:
        """Raise unless every position is within the storage."""
        if self.freed:
            raise AccessError(f"{self.describe()} was freed")
        if self._leaves(positions):
            outside = np.asarray((positions < -self.before) | (positions >= self.data.size))
            first = int(np.asarray(positions)[outside].reshape(-1)[0])
            raise AccessError(f"element {first} is outside of {self.describe()}")

    def _leaves(self, positions: Array) -> bool:
        if positions.ndim == 0:
            return not -self.before <= int(positions) < self.data.size
        return bool(((positions < -self.before) | (positions >= self.data.size)).any())

    def _addresses(self, positions: Array) -> Array:
        """Return where elements would lie in this process, in a row."""
        start, size = np.int64(self.address), np.int64(self.data.itemsize)
        return start + np.asarray(positions, np.int64).reshape(-1) * size

    @property
    def address(self) -> int:
        """The address of the first element in this process."""
        return int(self.data.ctypes.data)

    def describe(self) -> str:
        """Return which memory this is, for messages."""
        return f"{self.name or 'a buffer'} of {self.data.size} elements"

    def read(self, positions: Array) -> Array:
        """The elements at some positions."""
        if self.beyond is not None and self._leaves(positions):
            return self.beyond.read(self._addresses(positions), self.data.dtype).reshape(np.shape(positions))
        self.check(positions)
        return self.data[positions] if self.whole is None else self.whole[positions + self.before]

    def write(self, positions: Array, values: Array) -> None:
        """Set elements; of several writes to one the last stays."""
        if self.beyond is not None and self._leaves(positions):
            spread = np.broadcast_to(np.asarray(values, self.data.dtype), np.shape(positions))
            self.beyond.write(self._addresses(positions), spread.reshape(-1), self.data.dtype)
            return
        self.check(positions)
        if self.whole is None:
            self.data[positions] = values
        else:
            self.whole[positions + self.before] = values
        if self.written is not None:
            self.written[positions] = True


@dataclass(eq=False)
class Everything(Storage):
    """All memory that addresses reach, counted from one of them: from address 0 on."""

    start: int = 0

    @staticmethod
    def of(memory: Reachable, element: Attribute, start: int = 0) -> Everything:
        """The elements from an address on."""
        return Everything(np.empty(0, dtype_of(element)), "an address", beyond=memory, start=start)

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self.start

    def view(self, start: int, element: Attribute) -> Storage:
        """The same memory from a byte on, as elements of another type."""
        assert self.beyond is not None
        return Everything.of(self.beyond, element, self.start + start)


def memory_of(array: Array, name: str) -> Array:
    """The memory that an array spans, from its first element to its last, as kernels see it through a pointer."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    steps = [divmod(stride, array.itemsize) for stride in array.strides]
    if any(step < 0 or rest for step, rest in steps):
        raise TypeError(f"argument '{name}': strides must be non-negative multiples of the element size")
    extent = 1 + sum((size - 1) * step for size, (step, _) in zip(array.shape, steps, strict=True)) if array.size else 0
    return np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))


@dataclass(frozen=True, eq=False)
class MemRef:
    """A view: element (i, j) is ``storage[offset + i * strides[0] + j * strides[1]]``. Unranked memrefs are views of
    rank 0."""

    storage: Storage
    offset: int = 0
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    element: Attribute | None = field(default=None, repr=False)

    def positions(self, indices: Sequence[Any]) -> Array:
        """Return where elements at (arrays of) indices lie; raises where an index leaves the view."""
        if len(indices) != len(self.sizes):
            raise AccessError(f"{len(indices)} indices for a view of rank {len(self.sizes)}")
        place: Any = np.int64(self.offset)
        for dim, (index, size, stride) in enumerate(zip(indices, self.sizes, self.strides, strict=True)):
            is_outside = not 0 <= index < size if np.ndim(index) == 0 else ((index < 0) | (index >= size)).any()
            if is_outside:
                flat = np.asarray(index).reshape(-1)
                first = int(flat[(flat < 0) | (flat >= size)][0])
                raise AccessError(f"index {first} is outside of dimension {dim} of size {size}")
            place = place + index * np.int64(stride)
        return np.asarray(place)

    def all_positions(self) -> Array:
        """Return where all elements lie, in the shape of the view."""
        place: Any = np.full((1,) * len(self.sizes), self.offset, np.int64)
        for dim, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            shape = [1] * len(self.sizes)
            shape[dim] = size
            place = place + (np.arange(size, dtype=np.int64) * stride).reshape(shape)
        return np.broadcast_to(np.asarray(place), self.sizes)

    def load_all(self) -> Array:
        """All elements, in the shape of the view."""
        return np.array(self.storage.read(self.all_positions()))

    def store_all(self, values: Array) -> None:
        """Set all elements."""
        self.storage.write(self.all_positions(), values)


def row_major_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense view.

    >>> row_major_strides((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(prod(sizes[dim + 1 :]) for dim in range(len(sizes)))


def allocate(sizes: Sequence[int], element: Attribute, *, track: bool, name: str = "") -> MemRef:
    """A fresh dense buffer. Its contents are undefined; they are all-ones bits (NaN, -1, true), which rarely goes
    unnoticed."""
    dtype, count = dtype_of(element), prod(sizes)
    raw = np.full(count * dtype.itemsize, 0x01 if dtype == np.bool_ else 0xFF, np.uint8)
    storage = Storage(raw.view(dtype), name, np.zeros(count, np.bool_) if track else None)
    return MemRef(storage, 0, tuple(sizes), row_major_strides(sizes), element)

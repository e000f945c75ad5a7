"""Memory that pointers reach: bytes of one argument, read and written as elements of any type."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Miss:
    """An access that misses memory: which of a row of accesses it is, and what is known about it."""

    position: int
    reason: str


class Allocation:
    """The memory of one argument: bytes, seen as elements of any type. The argument points to byte `start`."""

    def __init__(self, name: str, base: int, data: Array, start: int = 0) -> None:
        self.name = name
        self.base = base
        self.data = data
        self.start = start
        self.real = int(data.ctypes.data)
        self._views: dict[np.dtype[Any], Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as elements; what is left over at the end is not seen."""
        found = self._views.get(dtype)
        if found is None:
            whole = self.data.size // dtype.itemsize * dtype.itemsize
            found = self._views[dtype] = self.data[:whole].view(dtype)
        return found

    def find_miss(self, offsets: Array, size: int, *, writes: bool = False) -> Miss | None:
        """The first access of `size` bytes at some byte offsets that leaves the allocation."""
        outside = np.flatnonzero((offsets < 0) | (offsets + size > self.data.size))
        if not outside.size:
            return None
        return Miss(int(outside[0]), self._describe_miss(int(offsets[outside[0]]), size))

    def _describe_miss(self, offset: int, size: int) -> str:
        """Return where an access of some bytes lies that leaves the allocation."""
        extent, offset = (self.data.size - self.start) // size, offset - self.start
        place = f"element {offset // size}" if offset % size == 0 else f"byte {offset}"
        return f"{place} is outside of argument '{self.name}' of {extent} elements"

    def read(self, offsets: Array, dtype: np.dtype[Any]) -> Array:
        """The elements at byte offsets, all of them inside."""
        size = dtype.itemsize
        if size == 1 or not (offsets & (size - 1)).any():
            return self.view(dtype)[offsets // size]
        raw = self.data[offsets[:, np.newaxis] + np.arange(size)]
        return np.ascontiguousarray(raw).view(dtype).reshape(-1)

    def write(self, offsets: Array, values: Array, dtype: np.dtype[Any]) -> None:
        """Set elements at byte offsets, all of them inside; of several to one place the last stays."""
        size = dtype.itemsize
        if size == 1 or not (offsets & (size - 1)).any():
            self.view(dtype)[offsets // size] = values
            return
        raw = np.ascontiguousarray(values, dtype).view(np.uint8).reshape(-1, size)
        self.data[offsets[:, np.newaxis] + np.arange(size)] = raw

"""Pointers of the tt and structured stages: byte addresses in a space where every argument is far from every other.

A pointer is an `int64`, a tensor of pointers an array of them, so pointer arithmetic, selects and loop-carried pointers
need nothing special. Allocation k lies at about ``2**62 + k * 2**41``: an address that leaves its argument by less than
a terabyte still says which argument it was derived from, and by how far it missed. The low 12 bits of an address are
those of the real one, so that questions about alignment have the same answer as in native code.

Addresses below ``2**62`` are real ones, as kernels find them in tables of pointers that the host made; they are looked
up among the arguments, and among the arrays that were announced by `AddressSpace.add`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.memory import AccessError, Window, memory_of

FIRST = 1 << 62
SPACING_BITS = 41
PAGE_MASK = 0xFFF
PROCESS_START, PROCESS_END = 1 << 12, 1 << 47
"""Where the data of a process can lie."""


class OutOfBounds(AccessError):
    """An access that misses memory: which of the addresses it was, and what is known about it."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


class Allocation:
    """The memory behind one argument: bytes, seen as elements of any type. The argument points to byte `start`."""

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

    def describe_miss(self, offset: int, size: int) -> str:
        """Where an access of some bytes lies that leaves the allocation."""
        extent, offset = (self.data.size - self.start) // size, offset - self.start
        place = f"element {offset // size}" if offset % size == 0 else f"byte {offset}"
        return f"{place} is outside of argument '{self.name}' of {extent} elements"

    def read(self, offsets: Array, dtype: np.dtype[Any]) -> Array:
        """The elements at byte offsets, all of them inside."""
        size = dtype.itemsize
        if size == 1 or not np.any(offsets & (size - 1)):
            return self.view(dtype)[offsets // size]
        raw = self.data[offsets[:, np.newaxis] + np.arange(size)]
        return np.ascontiguousarray(raw).view(dtype).reshape(-1)

    def write(self, offsets: Array, values: Array, dtype: np.dtype[Any]) -> None:
        """Set elements at byte offsets, all of them inside; of several to one place the last stays."""
        size = dtype.itemsize
        if size == 1 or not np.any(offsets & (size - 1)):
            self.view(dtype)[offsets // size] = values
            return
        raw = np.ascontiguousarray(values, dtype).view(np.uint8).reshape(-1, size)
        self.data[offsets[:, np.newaxis] + np.arange(size)] = raw


class AddressSpace:
    """All memory that pointers of a run can reach."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []

    def add(self, array: Array | Window, name: str = "") -> np.int64:
        """Make an array reachable, sharing its memory; gives the pointer to its first element."""
        if isinstance(array, Window):
            data, start = array.data, array.start
        else:
            data, start = memory_of(array, name).view(np.uint8), 0
        number = len(self.allocations)
        base = FIRST + (number << SPACING_BITS) + (int(data.ctypes.data) & PAGE_MASK)
        self.allocations.append(Allocation(name, base, data, start))
        return np.int64(base + start)

    def add_process(self) -> None:
        """Let real addresses reach all memory of this process. One that nothing lies behind ends it."""
        whole = (ctypes.c_uint8 * (PROCESS_END - PROCESS_START)).from_address(PROCESS_START)
        self.add(Window(np.ctypeslib.as_array(whole)), "the process")

    def read(self, addresses: Array, dtype: np.dtype[Any]) -> Array:
        """The elements at a row of addresses."""
        if addresses.size == 0:
            return np.empty(0, dtype)
        single = self._find_one(addresses, dtype.itemsize)
        if single is not None:
            allocation, offsets = single
            return allocation.read(offsets, dtype)
        result = np.empty(addresses.shape, dtype)
        for allocation, chosen, offsets in self._split(addresses, dtype.itemsize):
            result[chosen] = allocation.read(offsets, dtype)
        return result

    def write(self, addresses: Array, values: Array, dtype: np.dtype[Any]) -> None:
        """Set the elements at a row of addresses, in order."""
        if addresses.size == 0:
            return
        single = self._find_one(addresses, dtype.itemsize)
        if single is not None:
            allocation, offsets = single
            allocation.write(offsets, values, dtype)
            return
        for allocation, chosen, offsets in self._split(addresses, dtype.itemsize):
            allocation.write(offsets, values[chosen], dtype)

    def _find_one(self, addresses: Array, size: int) -> tuple[Allocation, Array] | None:
        """The allocation that holds all of the addresses, if one does."""
        number = self._number_of(int(addresses[0]))
        if number is None:
            return None
        allocation = self.allocations[number]
        offsets = addresses - np.int64(allocation.base)
        if offsets.min() < 0 or offsets.max() + size > allocation.data.size:
            return None
        return allocation, offsets

    def _number_of(self, address: int) -> int | None:
        """The allocation that an address was derived from."""
        number = (address - FIRST + (1 << (SPACING_BITS - 1))) >> SPACING_BITS
        if 0 <= number < len(self.allocations):
            return number
        return None

    def _split(self, addresses: Array, size: int) -> Iterator[tuple[Allocation, Array, Array]]:
        """The addresses by allocation: it, the positions, the byte offsets. Raises before giving any if one misses."""
        parts: dict[int, list[int]] = {}
        offsets = np.empty(addresses.shape, np.int64)
        for position, address in enumerate(addresses.tolist()):
            number = self._number_of(address)
            if number is None:
                number = self._find_real(address, size, position)
                offset = address - self.allocations[number].real
            else:
                offset = address - self.allocations[number].base
            allocation = self.allocations[number]
            if offset < 0 or offset + size > allocation.data.size:
                raise OutOfBounds(position, allocation.describe_miss(offset, size))
            offsets[position] = offset
            parts.setdefault(number, []).append(position)
        for number, positions in parts.items():
            chosen = np.array(positions)
            yield self.allocations[number], chosen, offsets[chosen]

    def _find_real(self, address: int, size: int, position: int) -> int:
        """The allocation that a real address lies in."""
        for number, allocation in enumerate(self.allocations):
            if 0 <= address - allocation.real <= allocation.data.size - size:
                return number
        what = "a null pointer" if address == 0 else f"address {address:#x}"
        raise OutOfBounds(position, f"{what} points into no argument")

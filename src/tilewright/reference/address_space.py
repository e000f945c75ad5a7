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
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.numeric import Array, dtype_of
from tilewright.reference.memory import AccessError, MemRef, Storage, Window, memory_of
from tilewright.support.records import dataclass

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

    def describe_miss(self, offset: int, size: int) -> str:
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


EVERYTHING = slice(None)


@dataclass(frozen=True, eq=False)
class Part:
    """Those of a row of addresses that lie in one allocation: their positions in the row, and byte offsets."""

    allocation: Allocation
    chosen: Array | slice
    offsets: Array


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
        """Let real addresses reach all memory of this process. An address at which there is no memory ends the
        process."""
        whole = (ctypes.c_uint8 * (PROCESS_END - PROCESS_START)).from_address(PROCESS_START)
        self.add(Window(np.ctypeslib.as_array(whole)), "the process")

    def read(self, addresses: Array, dtype: np.dtype[Any]) -> Array:
        """The elements at a row of addresses."""
        if addresses.size == 0:
            return np.empty(0, dtype)
        parts = self.locate(addresses, dtype.itemsize)
        if len(parts) == 1:
            return parts[0].allocation.read(parts[0].offsets, dtype)
        result = np.empty(addresses.shape, dtype)
        for part in parts:
            result[part.chosen] = part.allocation.read(part.offsets, dtype)
        return result

    def write(self, addresses: Array, values: Array, dtype: np.dtype[Any]) -> None:
        """Set the elements at a row of addresses, in order."""
        if addresses.size == 0:
            return
        parts = self.locate(addresses, dtype.itemsize)
        for part in parts:
            part.allocation.write(part.offsets, values if len(parts) == 1 else values[part.chosen], dtype)

    def storage_at(self, address: int, element: Attribute) -> Storage:
        """The memory that a pointer was derived from, as elements of a type; the first is the one it points to."""
        if address == 0:
            return Storage(np.empty(0, dtype_of(element)), "a null pointer")
        number = self._number_of(address)
        if number is None:
            allocation = self.allocations[self._find_real(address, 1, 0)]
            start = address - allocation.real
        else:
            allocation = self.allocations[number]
            start = address - allocation.base
        return Storage.of_window(Window(allocation.data, start), element, allocation.name)

    def address_of(self, view: MemRef) -> np.int64:
        """The pointer to the first element of a view, whose memory is reachable from then on."""
        data = view.storage.data
        real = int(data.ctypes.data)
        for allocation in reversed(self.allocations):
            if allocation.real + allocation.start == real:
                base = np.int64(allocation.base + allocation.start)
                break
        else:
            base = self.add(data, view.storage.name or "a buffer")
        return np.int64(base + view.offset * data.itemsize)

    def locate(self, addresses: Array, size: int) -> list[Part]:
        """Return where the `size` bytes at each of a row of addresses lie, by allocation. Raises OutOfBounds if one
        misses.
        """
        single = self._find_one(addresses, size)
        if single is not None:
            return [single]
        numbers = (addresses - np.int64(FIRST) + np.int64(1 << (SPACING_BITS - 1))) >> np.int64(SPACING_BITS)
        for position in np.flatnonzero((numbers < 0) | (numbers >= len(self.allocations))).tolist():
            numbers[position] = ~self._find_real(int(addresses[position]), size, position)
        parts: list[Part] = []
        for number in map(int, np.unique(numbers)):
            chosen = np.flatnonzero(numbers == number)
            allocation = self.allocations[number if number >= 0 else ~number]
            offsets = addresses[chosen] - np.int64(allocation.base if number >= 0 else allocation.real)
            outside = np.flatnonzero((offsets < 0) | (offsets + size > allocation.data.size))
            if outside.size:
                first = int(outside[0])
                raise OutOfBounds(int(chosen[first]), allocation.describe_miss(int(offsets[first]), size))
            parts.append(Part(allocation, chosen, offsets))
        return parts

    def _find_one(self, addresses: Array, size: int) -> Part | None:
        """The allocation that holds all of the addresses, if one does."""
        number = self._number_of(int(addresses[0]))
        if number is None:
            return None
        allocation = self.allocations[number]
        offsets = addresses - np.int64(allocation.base)
        if offsets.min() < 0 or offsets.max() + size > allocation.data.size:
            return None
        return Part(allocation, EVERYTHING, offsets)

    def _number_of(self, address: int) -> int | None:
        """The allocation that an address was derived from."""
        number = (address - FIRST + (1 << (SPACING_BITS - 1))) >> SPACING_BITS
        if 0 <= number < len(self.allocations):
            return number
        return None

    def _find_real(self, address: int, size: int, position: int) -> int:
        """The allocation that a real address lies in."""
        for number, allocation in enumerate(self.allocations):
            if 0 <= address - allocation.real <= allocation.data.size - size:
                return number
        what = "a null pointer" if address == 0 else f"address {address:#x}"
        raise OutOfBounds(position, f"{what} points into no argument{_reason(address)}")


def _reason(address: int) -> str:
    """Return how a kernel may have come to an address that no pointer argument leads to."""
    if not PROCESS_START <= address < PROCESS_END:
        return ""
    return (
        "; if it was read from memory: the reference, and with it `tilewright validate`, reaches what arguments point "
        "to, not what pointers in their memory do"
    )

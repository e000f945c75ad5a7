"""Pointers of the tt and structured stages: byte addresses in a space where every argument is far from every other.

A pointer is an `int64`, a tensor of pointers an array of them, so pointer arithmetic, selects and loop-carried
pointers need nothing special. Allocation k lies at about ``2**62 + k * SPACING``: an address that leaves its argument
by less than a terabyte still says which argument it was derived from, and by how far it missed; one that leaves it by
a power of two, as wrong strides do, meets no other. The low 12 bits of an address are those of the real one, so that
questions about alignment have the same answer as in native code.

Addresses below ``2**62`` are real ones, as kernels find them in tables of pointers that the host made; they are looked
up among the arguments, and among the arrays that were announced by `AddressSpace.add`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.numeric import Array, dtype_of
from tilewright.reference import process_memory
from tilewright.reference.allocations import Allocation
from tilewright.reference.memory import AccessError, ByteRange, MemRef, Storage, memory_of
from tilewright.reference.process_memory import ProcessMemory
from tilewright.support.records import dataclass

FIRST = 1 << 62
SPACING = (1 << 41) + (1 << 37)
PAGE_MASK = 0xFFF


class OutOfBounds(AccessError):
    """An access that misses memory: which of the addresses it was, and what is known about it."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


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
        self._process: ProcessMemory | None = None

    def add(self, array: Array | ByteRange, name: str = "") -> np.int64:
        """Make an array reachable, sharing its memory; gives the pointer to its first element."""
        if isinstance(array, ByteRange):
            data, start = array.data, array.start
        else:
            data, start = memory_of(array, name).view(np.uint8), 0
        index = len(self.allocations)
        base = FIRST + index * SPACING + (int(data.ctypes.data) & PAGE_MASK)
        self.allocations.append(Allocation(name, base, data, start))
        return np.int64(base + start)

    def add_process(self) -> None:
        """Let real addresses reach all memory of this process."""
        self._process = ProcessMemory()

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
        parts = self.locate(addresses, dtype.itemsize, writes=True)
        for part in parts:
            part.allocation.write(part.offsets, values if len(parts) == 1 else values[part.chosen], dtype)

    def storage_at(self, address: int, element: Attribute) -> Storage:
        """The memory that a pointer was derived from, as elements of a type; the first is the one it points to."""
        if address == 0:
            return Storage(np.empty(0, dtype_of(element)), "a null pointer")
        index = self._index_of(address)
        if index is None:
            allocation = self._allocation(self._find_real(address, 1, 0))
            start = address - allocation.real
        else:
            allocation = self.allocations[index]
            start = address - allocation.base
        return Storage.of_bytes(ByteRange(allocation.data, start), element, allocation.name)

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

    def locate(self, addresses: Array, size: int, *, writes: bool = False) -> list[Part]:
        """Return where the `size` bytes at each of a row of addresses lie, by allocation. Raises OutOfBounds if one
        misses, or may only be read where it `writes`.
        """
        single = self._find_one(addresses, size)
        if single is not None:
            return [single]
        indices = (addresses - np.int64(FIRST) + np.int64(SPACING // 2)) // np.int64(SPACING)
        for position in np.flatnonzero((indices < 0) | (indices >= len(self.allocations))).tolist():
            indices[position] = ~self._find_real(int(addresses[position]), size, position)
        parts: list[Part] = []
        for index in map(int, np.unique(indices)):
            chosen = np.flatnonzero(indices == index)
            allocation = self._allocation(index if index >= 0 else ~index)
            offsets = addresses[chosen] - np.int64(allocation.base if index >= 0 else allocation.real)
            miss = allocation.find_miss(offsets, size, writes=writes)
            if miss is not None:
                raise OutOfBounds(int(chosen[miss.position]), miss.reason)
            parts.append(Part(allocation, chosen, offsets))
        return parts

    def _find_one(self, addresses: Array, size: int) -> Part | None:
        """The allocation that holds all of the addresses, if one does."""
        index = self._index_of(int(addresses[0]))
        if index is None:
            return None
        allocation = self.allocations[index]
        offsets = addresses - np.int64(allocation.base)
        if offsets.min() < 0 or offsets.max() + size > allocation.data.size:
            return None
        return Part(allocation, EVERYTHING, offsets)

    def _index_of(self, address: int) -> int | None:
        """The allocation that an address was derived from."""
        index = (address - FIRST + SPACING // 2) // SPACING
        if 0 <= index < len(self.allocations):
            return index
        return None

    def _allocation(self, index: int) -> Allocation:
        """The allocation at an index; the one after those of arguments is the process."""
        if index == len(self.allocations):
            assert self._process is not None
            return self._process
        return self.allocations[index]

    def _find_real(self, address: int, size: int, position: int) -> int:
        """The allocation that a real address lies in."""
        reachable = self.allocations if self._process is None else [*self.allocations, self._process]
        for index, allocation in enumerate(reachable):
            if 0 <= address - allocation.real <= allocation.data.size - size:
                return index
        what = "a null pointer" if address == 0 else f"address {address:#x}"
        raise OutOfBounds(position, f"{what} points into no argument{_reason(address)}")


def _reason(address: int) -> str:
    """Return how a kernel may have come to an address that no pointer argument leads to."""
    if not process_memory.START <= address < process_memory.END:
        return ""
    return (
        "; if it was read from memory: the reference, and with it `tilewright validate`, reaches what arguments point "
        "to, not what pointers in their memory do"
    )

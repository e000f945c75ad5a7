"""Shared memory of all CTAs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.access_order import AccessOrder
from tilewright.reference.simt.errors import Fault, MemoryAccessError, RaceError
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.types import Values


class SharedMemory:
    """The bytes of all CTAs, one CTA after the other. The location of a byte is its offset among all of them."""

    def __init__(self, machine: Machine, size: int, granule: int, *, detects_races: bool) -> None:
        self.machine = machine
        self.size = size
        self.stride = -(-size // 1024) * 1024
        self.data = np.full(self.stride * machine.num_ctas, 0xFF, np.uint8)
        self.views: dict[np.dtype[Any], Array] = {}
        self.order = AccessOrder(machine, self.stride, granule) if detects_races else None
        """Of a run whose races are looked for."""

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as elements."""
        found = self.views.get(dtype)
        if found is None:
            found = self.views[dtype] = self.data.view(dtype)
        return found

    def locate(self, addresses: Values, size: int, *, may_reach: bool = False, by_unit: bool = False) -> Array:
        """Return the locations that the active threads access, or units in their name (`by_unit`). Raises Fault.
        Those that `may_reach` into other CTAs of the cluster do."""
        offsets = self.machine.spread(addresses).astype(np.int64)
        ctas = self.machine.cta_of_thread[self.machine.threads]
        if self.machine.clusters is not None:
            ctas, offsets = self.machine.clusters.resolve(
                self.machine.threads, offsets, may_reach=may_reach, by_unit=by_unit
            )
        self.check_inside(offsets, size)
        return ctas * self.stride + offsets

    def locate_for_unit(self, thread: int, offset: int, size: int, alignment: int) -> Array:
        """Return where the bytes lie that an asynchronous unit moves for a thread, in the memory of its CTA or the one
        that the address is mapped to. Raises Fault.
        """
        cta = int(self.machine.cta_of_thread[thread])
        if self.machine.clusters is not None:
            found = self.machine.clusters.resolve(np.array([thread]), np.array([offset]), may_reach=True, by_unit=True)
            cta, offset = int(found[0][0]), int(found[1][0])
        self.check_aligned(np.array([offset]), alignment)
        self.check_inside(np.array([offset]), size)
        return cta * self.stride + offset + np.arange(size)

    def check_inside(self, offsets: Array, size: int) -> None:
        """Fault if an access leaves the shared memory of its CTA."""
        if offsets.size and (int(offsets.max()) + size > self.size or int(offsets.min()) < 0):
            first = int(np.flatnonzero((offsets < 0) | (offsets + size > self.size))[0])
            reason = f"byte {int(offsets.reshape(-1)[first])} is outside of the {self.size} bytes of shared memory"
            raise Fault(MemoryAccessError, reason, first)

    def check_aligned(self, offsets: Array, size: int) -> None:
        """Fault if an access is not at a multiple of its size."""
        if (offsets & (size - 1)).any():
            raise misaligned(offsets, size)

    def store_rows(self, locations: Array, rows: Array, threads: Array) -> None:
        """Set a row of elements at each location, in the name of threads."""
        size, count = rows.dtype.itemsize, int(rows.shape[1])
        index: Array = (locations // size)[:, np.newaxis] + np.arange(count)
        view = self.view(rows.dtype)
        if self.order is not None:
            same = (_bits(view[index]) == _bits(rows)).all(axis=1)
            self.order.note_writes(self.order.granules(locations, size * count), threads, same)
        view[index] = rows
        if self.order is not None:
            lost = np.flatnonzero((_bits(view[index]) != _bits(rows)).any(axis=1))
            if lost.size:
                raise Fault(RaceError, "two threads write different values to one address at once", int(lost[0]))

    def load(self, addresses: Values, dtype: np.dtype[Any], count: int, *, may_reach: bool = False) -> Array:
        """A row of `count` elements for every active thread."""
        size = dtype.itemsize
        locations = self.locate(addresses, size * count, may_reach=may_reach)
        if self.order is not None:
            self.order.note_reads(self.order.granules(locations, size * count), self.machine.threads)
        first = locations // size
        view = self.view(dtype)
        return view[first][:, np.newaxis] if count == 1 else view[first[:, np.newaxis] + np.arange(count)]

    def store(self, addresses: Values, rows: Array, *, may_reach: bool = False) -> None:
        """Set a row of elements for every active thread."""
        size, count = rows.dtype.itemsize, rows.shape[1]
        locations = self.locate(addresses, size * count, may_reach=may_reach)
        self.store_rows(locations, np.broadcast_to(rows, (locations.size, count)), self.machine.threads)


def _bits(values: Array) -> Array:
    """Elements as integers, so that NaN equals itself."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def misaligned(addresses: Array, size: int) -> Fault:
    """The fault of the first address that is not a multiple of the size of its access."""
    flat = np.asarray(addresses).reshape(-1)
    position = int(np.flatnonzero(flat & flat.dtype.type(size - 1))[0])
    reason = f"address {int(flat[position]):#x} is not a multiple of the {size} bytes accessed"
    return Fault(MemoryAccessError, reason, position)

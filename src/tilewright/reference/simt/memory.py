"""The state spaces other than shared memory, and generic addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.address_space import AddressSpace, OutOfBounds, Part
from tilewright.reference.simt.errors import Fault, MemoryAccessError
from tilewright.reference.simt.global_memory import GlobalRaces
from tilewright.reference.simt.layout import (
    LOCAL_WINDOW,
    MODULE_WINDOW,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
)
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.shared_memory import misaligned
from tilewright.reference.simt.types import Values, choose

BYTE = np.dtype(np.uint8)
CLUSTER = "shared::cluster"
"""The shared memory of all CTAs of a cluster."""
Rows = Array
"""One row of elements per address."""


class Access(Enum):
    """How accesses to global memory are ordered with others, for the races that are looked for."""

    PLAIN = "plain"
    VOLATILE = "volatile"
    """Or with an order."""
    BY_UNIT = "by unit"
    """Of an asynchronous unit: nothing is looked for."""


class Bytes:
    """A window of memory that all threads share, or, with a `stride`, of which each thread has a part."""

    def __init__(self, data: Array, name: str, stride: int = 0) -> None:
        self.data = data
        self.name = name
        self.stride = stride
        self.size = stride or data.size

    def locate(self, machine: Machine, addresses: Values, size: int) -> Array:
        """The offsets of accesses in the data, one per address. Raises Fault."""
        offsets = np.atleast_1d(addresses).astype(np.int64)
        outside = np.flatnonzero((offsets < 0) | (offsets + size > self.size))
        if outside.size:
            first = int(outside[0])
            reason = f"byte {int(offsets[first])} is outside of {self.name} of {self.size} bytes"
            raise Fault(MemoryAccessError, reason, first)
        if not self.stride:
            return offsets
        return machine.threads * self.stride + offsets

    def load(self, machine: Machine, addresses: Values, dtype: np.dtype[Any], count: int) -> Rows:
        offsets = self.locate(machine, addresses, dtype.itemsize * count)
        raw = self.data[offsets[:, np.newaxis] + np.arange(dtype.itemsize * count)]
        return np.ascontiguousarray(raw).view(dtype)

    def store(self, machine: Machine, addresses: Values, rows: Rows) -> None:
        size = rows.dtype.itemsize * rows.shape[1]
        offsets = self.locate(machine, addresses, size)
        self.data[offsets[:, np.newaxis] + np.arange(size)] = np.ascontiguousarray(rows).view(np.uint8)


class Memory:
    """Global memory, local memory of every thread, kernel parameters and variables of the module; `races` finds races
    in global memory."""

    def __init__(
        self,
        space: AddressSpace,
        parameters: Array,
        variables: Array,
        local_size: int,
        total: int,
        races: GlobalRaces | None = None,
    ) -> None:
        self.space = space
        self.races = races
        self.parameters = Bytes(parameters, "the kernel's parameters")
        self.variables = Bytes(variables, "the variables of the module")
        self.local = Bytes(np.zeros(total * local_size, np.uint8), "local memory", local_size)

    def load(
        self,
        machine: Machine,
        space: str,
        addresses: Values,
        dtype: np.dtype[Any],
        count: int,
        access: Access = Access.PLAIN,
    ) -> Rows:
        """A row of `count` elements at every address, or at the one address of all threads."""
        flat = np.atleast_1d(addresses)
        if (flat & flat.dtype.type(dtype.itemsize * count - 1)).any():
            raise misaligned(flat, dtype.itemsize * count)
        if space in ("shared", CLUSTER):
            return machine.shared.load(addresses, dtype, count, may_reach=space == CLUSTER)
        if space == "local":
            return self.local.load(machine, machine.spread(addresses), dtype, count)
        if space == "param":
            return self.parameters.load(machine, flat.astype(np.uint64) - np.uint64(PARAMETER_WINDOW), dtype, count)
        return self._split(machine, flat, lambda at, where: self._load(machine, at, dtype, count, access))

    def store(self, machine: Machine, space: str, addresses: Values, rows: Rows, access: Access = Access.PLAIN) -> None:
        """Set a row of elements at every address; of several to one place that of the last thread stays."""
        flat = np.atleast_1d(addresses)
        size = rows.dtype.itemsize * rows.shape[1]
        if (flat & flat.dtype.type(size - 1)).any():
            raise misaligned(flat, size)
        if space in ("shared", CLUSTER):
            machine.shared.store(addresses, rows, may_reach=space == CLUSTER)
        elif space == "local":
            self.local.store(machine, machine.spread(addresses), rows)
        else:
            everywhere = np.broadcast_to(rows, (max(flat.size, rows.shape[0]), rows.shape[1]))
            flat = np.broadcast_to(flat, (everywhere.shape[0],))
            self._split(machine, flat, lambda at, where: self._store(machine, at, where, everywhere, access))

    def load_bytes(self, machine: Machine, addresses: Array, count: int, space: str = "") -> Rows:
        """Any number of bytes at every address, wherever it is aligned."""
        if space == "shared":
            return machine.shared.load(addresses, BYTE, count)
        return self._split(machine, addresses, lambda at, where: self._load(machine, at, BYTE, count, Access.BY_UNIT))

    def load_bytes_by_threads(self, machine: Machine, addresses: Array, count: int) -> Rows:
        """The same, one address for each thread, which reads them."""
        return self._split(machine, addresses, lambda at, where: self._load(machine, at, BYTE, count, Access.PLAIN))

    def store_bytes(self, machine: Machine, addresses: Array, rows: Rows, space: str = "") -> None:
        """Set any number of bytes at every address."""
        if space == "shared":
            machine.shared.store(addresses, rows)
        else:
            self._split(machine, addresses, lambda at, where: self._store(machine, at, where, rows, Access.BY_UNIT))

    def read_elements(self, addresses: Array, dtype: np.dtype[Any]) -> Array:
        """Elements of global memory at any addresses."""
        return self._load_global(addresses.astype(np.uint64), dtype, 1)[:, 0]

    def write_elements(self, addresses: Array, values: Array) -> None:
        """Set elements of global memory."""
        self._store_global(addresses.astype(np.uint64), values[:, np.newaxis])

    def _split(self, machine: Machine, addresses: Array, access: Callable[[Array, Any], Any]) -> Any:
        """Make an access for the addresses of each window; generic addresses may lie in several."""
        windows = addresses >> np.uint64(40)
        if (windows == windows[0]).all():
            return access(addresses, None)
        is_global = (windows < np.uint64(SHARED_WINDOW >> 40)) | (windows > np.uint64(MODULE_WINDOW >> 40))
        keys = choose(is_global, np.uint64(0), windows)
        if (keys == keys[0]).all():
            return access(addresses, None)
        result: Array | None = None
        threads = machine.threads
        for key in np.unique(keys):
            chosen = np.flatnonzero(keys == key)
            with machine.only(threads[chosen] if addresses.size == threads.size else threads):
                part = access(addresses[chosen], chosen)
            if part is not None:
                result = np.empty((addresses.size, part.shape[1]), part.dtype) if result is None else result
                result[chosen] = part
        return result

    def _window(self, address: int) -> tuple[Any, int] | None:
        """The memory that a generic, non-global address points into, and where its window begins."""
        if not SHARED_WINDOW <= address < MODULE_WINDOW + WINDOW_SIZE:
            return None
        for window, memory in (
            (MODULE_WINDOW, self.variables),
            (PARAMETER_WINDOW, self.parameters),
            (LOCAL_WINDOW, self.local),
        ):
            if address >= window:
                return memory, window
        return "shared", SHARED_WINDOW

    def _load(self, machine: Machine, addresses: Array, dtype: np.dtype[Any], count: int, access: Access) -> Rows:
        found = self._window(int(addresses[0]))
        if found is None:
            return self._load_global(addresses, dtype, count, machine, access)
        memory, start = found
        if memory == "shared":
            offsets = (addresses - np.uint64(start)).astype(np.uint32)
            return machine.shared.load(offsets, dtype, count, may_reach=True)
        if memory is self.local:
            addresses = np.broadcast_to(addresses, (machine.count,))
        return memory.load(machine, addresses - np.uint64(start), dtype, count)

    def _store(self, machine: Machine, addresses: Array, where: Any, rows: Rows, access: Access) -> None:
        rows = rows if where is None else rows[where]
        found = self._window(int(addresses[0]))
        if found is None:
            self._store_global(addresses, rows, machine, access)
            return
        memory, start = found
        if memory == "shared":
            machine.shared.store((addresses - np.uint64(start)).astype(np.uint32), rows, may_reach=True)
            return
        if memory is self.local:
            addresses = np.broadcast_to(addresses, (machine.count,))
            rows = np.broadcast_to(rows, (machine.count, rows.shape[1]))
        memory.store(machine, addresses - np.uint64(start), rows)

    def locate(self, addresses: Array, size: int, *, writes: bool = False) -> list[Part]:
        """Return where accesses to global memory lie. Raises Fault."""
        try:
            return self.space.locate(addresses.astype(np.int64), size, writes=writes)
        except OutOfBounds as miss:
            raise Fault(MemoryAccessError, miss.reason, miss.position) from None

    def _load_global(
        self,
        addresses: Array,
        dtype: np.dtype[Any],
        count: int,
        machine: Machine | None = None,
        access: Access = Access.BY_UNIT,
    ) -> Rows:
        """Elements of global memory, read by the machine's threads, if it is given."""
        size = dtype.itemsize * count
        parts = self.locate(addresses, size)
        if machine is not None and self.races is not None and access is not Access.BY_UNIT:
            for part in self._parts_of(machine, addresses, size, parts):
                if access is Access.VOLATILE:
                    self.races.note_volatile(machine, part, machine.threads, is_read=True)
                else:
                    self.races.note_reads(machine, part, size, machine.threads)
        if len(parts) == 1:
            return read_rows(parts[0], dtype, count)
        result = np.empty((addresses.size, count), dtype)
        for part in parts:
            result[part.chosen] = read_rows(part, dtype, count)
        return result

    def _store_global(
        self, addresses: Array, rows: Rows, machine: Machine | None = None, access: Access = Access.BY_UNIT
    ) -> None:
        size = rows.dtype.itemsize * rows.shape[1]
        parts = self.locate(addresses, size, writes=True)
        if machine is None or self.races is None or access is Access.BY_UNIT:
            for part in parts:
                write_rows(part, rows[part.chosen])
            return
        for part in self._parts_of(machine, addresses, size, parts):
            if access is Access.VOLATILE:
                self.races.note_volatile(machine, part, machine.threads, is_read=False)
            else:
                everywhere = np.broadcast_to(rows, (max(addresses.size, machine.count), rows.shape[1]))
                same = ~_differ(part, everywhere)
                self.races.note_writes(machine, part, size, machine.threads, same)
        for part in parts:
            write_rows(part, rows[part.chosen])
            if addresses.size == machine.count:
                self.races.check_lost(machine, part, size, machine.threads, _differ(part, rows))

    def _parts_of(self, machine: Machine, addresses: Array, size: int, parts: list[Part]) -> list[Part]:
        """Return where each thread's access lies, also where all have one address."""
        if addresses.size == machine.count:
            return parts
        return self.locate(np.broadcast_to(addresses, (machine.count,)), size) if addresses.size == 1 else []


def read_rows(part: Part, dtype: np.dtype[Any], count: int) -> Rows:
    """Consecutive elements at every offset."""
    size = dtype.itemsize
    if (part.offsets & (size - 1)).any():
        raw = part.allocation.data[part.offsets[:, np.newaxis] + np.arange(size * count)]
        return np.ascontiguousarray(raw).view(dtype)
    if count == 1:
        return part.allocation.view(dtype)[part.offsets // size][:, np.newaxis]
    return part.allocation.view(dtype)[(part.offsets // size)[:, np.newaxis] + np.arange(count)]


def _differ(part: Part, rows: Rows) -> Array:
    """Return which rows have other bits than the memory that they go to."""
    there = read_rows(part, rows.dtype, rows.shape[1])
    return np.any(_bits(there) != _bits(rows[part.chosen]), axis=1)


def _bits(rows: Rows) -> Array:
    return np.ascontiguousarray(rows).view(f"u{rows.dtype.itemsize}")


def write_rows(part: Part, rows: Rows) -> None:
    """Set consecutive elements at every offset."""
    size, count = rows.dtype.itemsize, rows.shape[1]
    if (part.offsets & (size - 1)).any():
        part.allocation.data[part.offsets[:, np.newaxis] + np.arange(size * count)] = np.ascontiguousarray(rows).view(
            np.uint8
        )
        return
    part.allocation.view(rows.dtype)[(part.offsets // size)[:, np.newaxis] + np.arange(count)] = rows


def rows_of(machine: Machine, values: Sequence[Values]) -> Rows:
    """One row per active thread; a single row where all values are those of all threads."""
    if all(value.ndim == 0 for value in values):
        return np.array([[value[()] for value in values]], values[0].dtype)
    return np.stack([machine.spread(value) for value in values], axis=1)

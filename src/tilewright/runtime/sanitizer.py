"""Launches of sanitised kernels: extents and shadow memory go in, a report comes out as `SanitizerError`.

`empty` and `mark_uninitialized` declare memory that nothing has written, for the init check: reading such an element
before a sanitised kernel stored to it is an error. All other memory counts as written.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, cast

import numpy as np

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime.storage import Storage, find_storage
from tilewright.support.errors import ArgumentTypeError, DeviceAssertionError, SanitizerError
from tilewright.support.records import dataclass
from tilewright.support.sanitizing import (
    ASSERTION,
    CLAIMED,
    EXTENTS,
    KEY,
    PROGRAM,
    SITE,
    Extra,
    Plan,
    Site,
    describe,
    split_key,
)
from tilewright.targets.capabilities import HostKernel

_marked: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}
"""By lowest address: a weak reference to the owner of the memory, and a byte for each byte of it, 0 for unwritten."""


def empty(shape: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """An array like `np.empty`'s whose elements count as unwritten until a sanitised kernel stores to them."""
    array = np.empty(shape, dtype)
    mark_uninitialized(array)
    return array


def mark_uninitialized(array: Any) -> None:
    """From now on, reading an element of this array's storage that no sanitised kernel has stored to is an error.

    Writes by anything else (NumPy, PyTorch) are not seen: `mark_initialized` says that they happened.
    """
    storage = _storage_of(array)
    owner = _viewed_array(cast("np.ndarray[Any, Any]", array)) if isinstance(array, np.ndarray) else array
    low = storage.low
    _marked[low] = (weakref.ref(owner, lambda _: _marked.pop(low, None)), np.zeros(storage.high - low, np.int8))


def _viewed_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array at the end of a chain of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def mark_initialized(array: Any) -> None:
    """All elements of this array's storage have been written."""
    _marked.pop(_storage_of(array).low, None)


def _storage_of(array: Any) -> Storage:
    storage = array if isinstance(array, Storage) else find_storage(array)
    if storage is None:
        raise ArgumentTypeError("array", f"a {type(array).__name__}", "an array or tensor")
    return storage


@dataclass
class _Shadow:
    """Shadow words of one storage: word i belongs to the element that lies i elements above its lowest address."""

    words: np.ndarray[Any, Any]

    def address(self, storage: Storage, element_bytes: int) -> int:
        """Return where the word of the element at the argument's address lies."""
        before = (storage.address - storage.low) // element_bytes
        return self.words.__array_interface__["data"][0] + before * self.words.itemsize


class _Launch:
    """The further arguments of one launch."""

    def __init__(self, plan: Plan, storages: dict[int, Storage]) -> None:
        self.plan = plan
        self.storages = storages
        self.regions = _merged(storages)
        self.table = np.zeros(EXTENTS + 2 * plan.arguments, np.int64)
        for argument, storage in storages.items():
            at = EXTENTS + 2 * argument
            self.table[at : at + 2] = storage.low - storage.address, storage.high - storage.address
        self._shadows: dict[tuple[str, int, int], _Shadow] = {}
        self._bytes: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], int]] = []

    def slot(self, extra: Extra) -> int:
        if extra.kind == "table":
            return self.table.__array_interface__["data"][0]
        storage = self.storages[extra.argument]
        region = self.regions[extra.argument]
        shadow = self.shadow(extra.kind, region, extra.element_bytes)
        whole = Storage(storage.address, storage.dtype, region.low, region.high)
        return shadow.address(whole, extra.element_bytes)

    def shadow(self, kind: str, region: Storage, element_bytes: int) -> _Shadow:
        """One shadow per range of memory, so that arguments that share memory share it."""
        key = (kind, region.low, element_bytes)
        if key not in self._shadows:
            count = (region.high - region.low) // element_bytes + 1
            words = np.ones(count, np.int8) if kind == "written" else np.zeros(count, np.int32)
            if kind == "written":
                self._read_marks(region, element_bytes, words)
            self._shadows[key] = _Shadow(words)
        return self._shadows[key]

    def _read_marks(self, region: Storage, element_bytes: int, words: np.ndarray[Any, Any]) -> None:
        for low, (_, marks) in _marked.items():
            if region.low <= low < region.high:
                start = (low - region.low) // element_bytes
                count = marks.size // element_bytes
                words[start : start + count] = marks[: count * element_bytes : element_bytes]
                self._bytes.append((words[start : start + count], marks, element_bytes))

    def keep_marks(self) -> None:
        """Keep the marks of what the kernel wrote for later launches."""
        for words, marks, element_bytes in self._bytes:
            marks[: words.size * element_bytes] |= np.repeat(words, element_bytes)

    def other_program(self, site: Site, index: int, grid: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """The program that a race is with; None where several have read the element."""
        if not site.check.startswith("race") or site.argument < 0:
            return None
        kind = {"race-write": "writers", "race-read": "readers", "race-atomic": "atomics"}[site.check]
        storage, region = self.storages[site.argument], self.regions[site.argument]
        words = self._shadows[kind, region.low, site.element_bytes].words
        word = int(words[(storage.address - region.low) // site.element_bytes + index])
        if word <= 0:
            return None
        number = word // 2 - 1
        x, y, _ = grid
        return number % x, number // x % y, number // (x * y)


def launch_checked(
    kernel: CompiledKernel, slots: list[int], arrays: dict[int, Any], grid: tuple[int, int, int]
) -> None:
    """Launch a sanitised kernel. Raises SanitizerError for the first bad access that a program reports."""
    plan, native = kernel.sanitizer, kernel.native
    assert plan is not None and isinstance(native, HostKernel)
    launch = _Launch(plan, {index: _storage_of(array) for index, array in arrays.items()})
    extras = [launch.slot(extra) for extra in plan.extras]
    x, y, z = grid
    packed = (ctypes.c_uint64 * (len(slots) + len(extras) + 3))(*slots, *extras, x, y, z)
    try:
        native.launch(ctypes.addressof(packed), x * y * z, 1 if plan.one_thread else 0)
    except DeviceAssertionError as error:
        if not launch.table[CLAIMED] or ASSERTION not in str(error):
            raise
        raise _error(kernel, launch, grid) from None
    finally:
        launch.keep_marks()


def _error(kernel: CompiledKernel, launch: _Launch, grid: tuple[int, int, int]) -> SanitizerError:
    table = launch.table
    site = launch.plan.sites[int(table[SITE])]
    number, index = split_key(int(table[KEY]))
    lane = site.lane(number)
    names = kernel.parameters.names
    argument = names[site.argument] if 0 <= site.argument < len(names) else f"#{site.argument}"
    if site.argument < 0:
        argument = "one of several"
    extent = (0, 0)
    if site.argument >= 0:
        storage = launch.storages[site.argument]
        extent = (
            (storage.low - storage.address) // site.element_bytes,
            (storage.high - storage.address) // site.element_bytes,
        )
    other = launch.other_program(site, index, grid)
    other_text = "another program" if other is None else f"program {', '.join(map(str, other))}"
    x, y, z = (int(word) for word in table[PROGRAM : PROGRAM + 3])
    return SanitizerError(
        describe(site, lane, index, argument, extent, other_text),
        check=site.check,
        kernel=kernel.name,
        program=(x, y, z),
        lane=lane,
        argument=argument,
        index=index,
        extent=extent,
        other=other,
        span=site.span,
        call_sites=site.call_sites,
    )


def _merged(storages: dict[int, Storage]) -> dict[int, Storage]:
    """For each argument, the range of memory that it shares with others, from the lowest to the highest address."""
    regions: dict[int, Storage] = {}
    group: list[int] = []
    high = -1
    for argument, storage in sorted(storages.items(), key=lambda item: item[1].low):
        if group and storage.low < high:
            group.append(argument)
            high = max(high, storage.high)
        else:
            group, high = [argument], storage.high
        first = storages[group[0]]
        for member in group:
            regions[member] = Storage(first.low, first.dtype, first.low, high)
    return regions

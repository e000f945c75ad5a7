"""Memory of this process that no argument shows: kernels find it by addresses in memory, or in numbers.

Where the system lists what is mapped (Linux), an access to anything else is an error in place of the process's end.
"""

from __future__ import annotations

import ctypes

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.allocations import Allocation, Miss
from tilewright.support.records import dataclass

START, END = 1 << 12, 1 << 47
"""Where the data of a process can lie."""

LISTING = "/proc/self/maps"


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of addresses, in order, that do not adjoin."""

    starts: Array
    ends: Array

    @staticmethod
    def of_lines(lines: list[str], permission: str) -> Ranges:
        """Those with a permission ('r' or 'w') in a listing of lines such as ``55d0-55f0 rw-p ...``."""
        merged: list[list[int]] = []
        for line in lines:
            extent, permissions = line.split(maxsplit=2)[:2]
            if permission not in permissions:
                continue
            start, end = (int(bound, 16) for bound in extent.split("-"))
            if merged and merged[-1][1] == start:
                merged[-1][1] = end
            elif end <= END:
                merged.append([start, end])
        table = np.array(merged, np.int64).reshape(-1, 2)
        return Ranges(table[:, 0], table[:, 1])

    def find_outside(self, addresses: Array, size: int) -> int | None:
        """The position of the first access of some bytes that is not within one range."""
        if not self.starts.size:
            return 0
        ranges = np.searchsorted(self.starts, addresses, side="right") - 1
        outside = (ranges < 0) | (addresses + size > self.ends[ranges])
        return int(outside.argmax()) if outside.any() else None


class ProcessMemory(Allocation):
    """All memory of this process."""

    def __init__(self) -> None:
        whole = (ctypes.c_uint8 * (END - START)).from_address(START)
        super().__init__("the process", 0, np.ctypeslib.as_array(whole))
        self._ranges: dict[str, Ranges] = {}
        self.is_listed = True

    def find_miss(self, offsets: Array, size: int, *, writes: bool = False) -> Miss | None:
        """The first access to what is not mapped, or that writes what may only be read."""
        for permission in "rw" if writes else "r":
            position = self._find_outside(offsets + np.int64(self.real), size, permission)
            if position is not None:
                address = self.real + int(offsets[position])
                what = "this process has no memory" if permission == "r" else "memory of this process may only be read"
                return Miss(position, f"at address {address:#x} {what}")
        return None

    def _find_outside(self, addresses: Array, size: int, permission: str) -> int | None:
        """Look in the listing that is known, and once more in a new one before it is a miss."""
        known = self._ranges.get(permission)
        if known is not None and known.find_outside(addresses, size) is None:
            return None
        self._list()
        return self._ranges[permission].find_outside(addresses, size) if self.is_listed else None

    def _list(self) -> None:
        try:
            with open(LISTING, encoding="utf-8", errors="replace") as listing:
                lines = listing.read().splitlines()
        except OSError:
            self.is_listed = False
            return
        self._ranges = {permission: Ranges.of_lines(lines, permission) for permission in "rw"}

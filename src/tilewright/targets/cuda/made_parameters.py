"""The parameters that were made for the last launches of a kernel (tensor maps, numbers of programs), where native code
finds them. Each launch has 1 where it is one (i64), its slots, the grid, the grid to start, and, at the next multiple
of 64, what was made, 128 bytes each.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

from tilewright.targets.cuda.parameters import MAP_ALIGNMENT, MAP_BYTES, SLOT_BYTES, Parameter

MOST_LAUNCHES = 8
"""Launches that are kept; the oldest goes first."""
MOST_MADE = 16
"""Parameters that native code has room for."""


class MadeParameters:
    """What was made for the last launches of one loaded kernel."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.slots = sum(isinstance(parameter, int) for parameter in parameters)
        self.count = len(parameters) - self.slots
        header = SLOT_BYTES * (1 + self.slots + 3 + 3)
        self._header_bytes = -(-header // MAP_ALIGNMENT) * MAP_ALIGNMENT
        self.entry_bytes = self._header_bytes + MAP_BYTES * self.count
        size = MOST_LAUNCHES * self.entry_bytes if self.count else 0
        self._memory = ctypes.create_string_buffer(size + MAP_ALIGNMENT)
        start = ctypes.addressof(self._memory)
        self.address = -(-start // MAP_ALIGNMENT) * MAP_ALIGNMENT
        self._offset = self.address - start
        self._view = memoryview(self._memory).cast("B")
        self._next = 0

    def keep(self, slots: bytes, grid: Sequence[int], started: Sequence[int], made: Sequence[bytes]) -> None:
        """Keep what was made for a launch with these slots and this grid, of which another one is started."""
        header = struct.pack("<q", 1) + slots + struct.pack("<6q", *grid, *started)
        entry = header.ljust(self._header_bytes, b"\0") + b"".join(made)
        place = self._offset + self._next * self.entry_bytes
        self._view[place : place + self.entry_bytes] = entry
        self._next = (self._next + 1) % MOST_LAUNCHES

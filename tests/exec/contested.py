"""Elements that several threads store different values to: the last one in the order of the program is there in the
end, but a GPU, where threads and programs run at the same time, may leave any of them. Which lanes of two stores are one
thread is a matter of layouts; taken to be are equal lanes of tensors of one shape.

The kernels of the corpus that do so come from suites of access patterns, where blocks overlap.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from xdsl.ir import Attribute

from suite.arrays import Array
from tilewright.reference.allocations import Allocation
from tilewright.reference.machine import Frame
from tilewright.reference.tt import access, descriptors, memory
from tilewright.reference.tt.pointers import storage_type

LARGEST = 1 << 28
"""Bytes of memory that is watched: the whole process, which programs that compute addresses can reach, is not."""


@dataclass
class History:
    """What was stored to one allocation: the last bytes, who wrote them (0: nobody), and where others wrote others."""

    allocation: Allocation
    last: Array
    writer: Array
    contested: Array

    @staticmethod
    def of(allocation: Allocation) -> History:
        size = allocation.data.size
        return History(allocation, np.zeros(size, np.uint8), np.zeros(size, np.int64), np.zeros(size, np.bool_))

    def note(self, offsets: Array, raw: Array, writers: Array) -> None:
        """A store of rows of bytes, in order."""
        order = np.argsort(offsets, kind="stable")
        offsets, raw, writers = offsets[order], raw[order], writers[order, np.newaxis]
        again = (offsets[1:] == offsets[:-1]) & (raw[1:] != raw[:-1]).any(1)
        self.contested[offsets[1:][again]] = True
        places = offsets[:, np.newaxis] + np.arange(raw.shape[1])
        others = (self.writer[places] != 0) & (self.writer[places] != writers)
        self.contested[offsets[(others & (self.last[places] != raw)).any(1)]] = True
        self.last[places], self.writer[places] = raw, writers


@dataclass
class Watch:
    """The stores of a run."""

    histories: dict[int, History] = field(default_factory=dict[int, History])

    def note(self, frame: Frame, addresses: Array, values: Array, lanes: Array, shape: tuple[int, ...]) -> None:
        dtype, writers = values.dtype, 1 + lanes + ((hash((frame.machine.program_id, shape)) % (1 << 38)) << 24)
        for part in frame.machine.memory.locate(addresses, dtype.itemsize):
            if part.allocation.data.size > LARGEST:
                continue
            history = self.histories.setdefault(part.allocation.real, History.of(part.allocation))
            raw = np.ascontiguousarray(values[part.chosen]).view(np.uint8).reshape(-1, dtype.itemsize)
            history.note(part.offsets, raw, writers[part.chosen])

    def elements(self, arrays: Sequence[Array]) -> list[tuple[int, int]]:
        """Those of the arrays, by number of the array and of the element."""
        found: list[tuple[int, int]] = []
        for number, array in enumerate(arrays):
            start = array.ctypes.data
            for history in self.histories.values():
                places = (np.flatnonzero(history.contested) + history.allocation.real - start) // array.itemsize
                found += [(number, int(place)) for place in np.unique(places) if 0 <= place < array.size]
        return found


@contextmanager
def watching() -> Generator[Watch]:
    """Watch the stores of reference runs of Triton IR."""
    watch, write_lanes = Watch(), access.write_lanes

    def write(frame: Frame, addresses: Any, values: Any, element: Attribute, mask: Any = None) -> None:
        places, dtype = np.asarray(addresses), storage_type(element)
        live = access.live_lanes(frame, mask, places.shape)
        spread = np.broadcast_to(np.asarray(values, dtype), places.shape)
        lanes = np.flatnonzero(np.ones(places.shape, np.bool_) if live is None else live)
        write_lanes(frame, addresses, values, element, mask)
        if lanes.size:
            watch.note(frame, places.reshape(-1)[lanes], spread.reshape(-1)[lanes], lanes, places.shape)

    with patch.object(memory, "write_lanes", write), patch.object(descriptors, "write_lanes", write):
        yield watch

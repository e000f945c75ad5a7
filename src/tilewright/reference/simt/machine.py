"""The threads of some CTAs: their registers, and which of them take part in the instruction that is executed.

Every register is one NumPy array with an element per thread, or a scalar while all threads have one value. An
instruction is executed for all threads of a group at once: `active` are their indices, None if that is all threads.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.types import Values

if TYPE_CHECKING:
    from tilewright.reference.simt.async_state import AsyncState
    from tilewright.reference.simt.clusters import Clusters
    from tilewright.reference.simt.memory import Memory
    from tilewright.reference.simt.product_registers import ProductRegisters
    from tilewright.reference.simt.shared_memory import SharedMemory

WARP = 32


class NotConverged(Exception):
    """An instruction that whole warps execute was reached by parts of them: wait for the others."""


class Progress:
    """The time, and what threads know of one another: all that others did up to these times comes before what they do
    next."""

    def __init__(self, threads: int) -> None:
        self.synced = np.full(threads, -1, np.int64)
        """By thread."""
        self.warp_synced = np.full(threads // WARP, -1, np.int64)
        """By warp, of what its own threads did."""
        self.fenced = np.full(threads, -1, np.int64)
        """By thread: what it wrote up to this time is visible to asynchronous units."""
        self.floor = -1
        """The time of the last barrier that all threads passed, where CTAs are on their own."""
        self.time = 0
        """Counts accesses to shared memory and barriers."""

    def tick(self) -> int:
        """Return the time of what happens now, after all that has happened."""
        self.time += 1
        return self.time


class Machine:
    """Threads are numbered CTA by CTA; `threads_per_cta` is a multiple of the warp size."""

    def __init__(self, registers: Sequence[Any], threads_per_cta: int, num_ctas: int) -> None:
        self.registers: list[Any] = list(registers)
        self.threads_per_cta = threads_per_cta
        self.num_ctas = num_ctas
        self.total = threads_per_cta * num_ctas
        self.active: Array | None = None
        self.pc = 0
        self.clock = 0
        """What clocks show, in nanoseconds."""
        self.all_threads = np.arange(self.total)
        self.cta_of_thread = self.all_threads // threads_per_cta
        self.exited = np.zeros(self.total, np.bool_)
        self.stalled = False
        """Whether all active threads just found that what they poll for is not there yet."""
        self.output: list[str] = []
        """What threads print."""
        self.progress = Progress(self.total)
        self.memory: Memory
        self.shared: SharedMemory
        self.clusters: Clusters | None = None
        """Of a launch with several CTAs in a cluster."""
        self.asynchronous: AsyncState
        self.product_registers: ProductRegisters | None = None
        """Of a kernel with asynchronous products whose races are looked for."""
        self._whole: Array | None = None
        """The active threads that were found to be whole warps last: those of one basic block stay the same array."""

    def get(self, register: int) -> Values:
        """A register of the active threads."""
        values = self.registers[register]
        return values if self.active is None or values.ndim == 0 else values[self.active]

    def put(self, register: int, values: Values) -> None:
        """Set a register of the active threads. The values are the machine's from now on."""
        if self.active is None:
            self.registers[register] = values
            return
        old = self.registers[register]
        if old.ndim == 0:
            old = self.registers[register] = np.full(self.total, old)
        old[self.active] = values

    @property
    def threads(self) -> Array:
        """The indices of the active threads."""
        return self.all_threads if self.active is None else self.active

    @property
    def count(self) -> int:
        """The count of active threads."""
        return self.total if self.active is None else self.active.size

    @contextmanager
    def only(self, threads: Array) -> Generator[None]:
        """Inside, these threads are the active ones."""
        outer, self.active = self.active, threads
        try:
            yield
        finally:
            self.active = outer

    def spread(self, values: Values) -> Array:
        """One element for every active thread."""
        return np.broadcast_to(values, (self.count,)) if values.ndim == 0 else values

    def by_warp(self, values: Values) -> Array:
        """Values of the active threads, one row per warp. NotConverged unless warps are complete."""
        self.check_whole_warps()
        return self.spread(values).reshape(-1, WARP)

    def check_whole_warps(self) -> None:
        """NotConverged unless the active threads are whole warps."""
        active = self.active
        if active is None or active is self._whole:
            return
        if active.size % WARP:
            raise NotConverged
        first = active[::WARP]
        if np.any(first % WARP) or np.any(active[WARP - 1 :: WARP] - first != WARP - 1):
            raise NotConverged
        self._whole = active

    def warps(self) -> Array:
        """The indices of the warps of the active threads, in order, each once."""
        return np.unique(self.threads // WARP)

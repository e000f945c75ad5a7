"""What asynchronous units of all CTAs are doing: copies by threads, copies of boxes, products, and mbarriers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.access_order import UNIT
from tilewright.reference.simt.errors import BarrierMisuseError, Fault
from tilewright.reference.simt.machine import Machine
from tilewright.support.records import dataclass


@dataclass
class Copy:
    """Bytes of one instruction on their way to shared memory, one row per thread, and each thread's group."""

    threads: Array
    locations: Array
    rows: Array
    groups: Array


@dataclass
class BoxCopy:
    """Bytes that arrive in shared memory without any thread's doing."""

    locations: Array
    """Of every byte."""
    contents: Array
    instruction: int


@dataclass
class BoxStore:
    """Bytes of shared memory that a copy of a box out of it, or a reduction, still reads."""

    thread: int
    group: int
    granules: Array
    instruction: int


@dataclass
class Barrier:
    """An mbarrier: the phase completes when no arrivals and no bytes are missing."""

    count: int
    missing: int
    phase: int = 0
    missing_bytes: int = 0
    completed: int = -1
    """When the last phase did."""
    copies: deque[BoxCopy] = field(default_factory=deque[BoxCopy])
    """On their way; they arrive when somebody asks for the phase."""
    after_copies: deque[tuple[Array, Array]] = field(default_factory=deque[tuple[Array, Array]])
    """Threads that arrive once their groups of copies are there, and the last of those groups."""
    clock: Array | None = None
    """In a cluster, what those that have arrived so far pass on (`Clusters.released_by`)."""
    passed_on: Array | None = None
    """The same, of the phases that are over."""


class AsyncState:
    """All of it, for the CTAs of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.copies: list[Copy] = []
        self.open_group = np.zeros(machine.total, np.int64)
        """By thread: the group that its next copy belongs to."""
        self.barriers: dict[int, Barrier] = {}
        """By location in the shared memory of all CTAs."""
        self.product_reads: list[tuple[int, int, Array]] = []
        """What products read: warp group, group of products, granules."""
        self.open_product_group: dict[int, int] = {}
        self.store_reads: list[BoxStore] = []
        self.open_store_group: dict[int, int] = {}
        self.version = 0
        """Changes with everything that a waiting thread may be waiting for."""

    def describe_stall(self) -> str:
        """Return why nothing can go on."""
        missing = [barrier for barrier in self.barriers.values() if barrier.missing or barrier.missing_bytes]
        what = "; ".join(
            f"one misses {barrier.missing} arrivals and {barrier.missing_bytes} bytes" for barrier in missing[:3]
        )
        return f"threads wait forever at mbarriers ({what or 'none of them misses anything'})"

    # Copies by threads (cp.async).

    def start_copy(self, locations: Array, rows: Array) -> None:
        """Rows of bytes of the active threads are under way to locations in shared memory."""
        threads = self.machine.threads
        if (order := self.machine.shared.order) is not None:
            order.begin_write(order.granules(locations, rows.shape[1]), threads)
        self.copies.append(Copy(threads, locations, rows, self.open_group[threads]))

    def commit_copies(self) -> None:
        """The copies of the active threads so far are a group."""
        self.open_group[self.machine.threads] += 1

    def wait_for_copies(self, pending: int | None) -> None:
        """The groups of the active threads but the last `pending` arrive; None: everything does."""
        threads = self.machine.threads
        self._finish_copies(threads, self.open_group[threads] + (1 if pending is None else -pending))

    def _finish_copies(self, threads: Array, before: Array) -> None:
        """The groups of threads with smaller numbers than `before` arrive."""
        machine, order = self.machine, self.machine.shared.order
        limit = np.full(machine.total, -1, np.int64)
        limit[threads] = before
        left: list[Copy] = []
        machine.progress.tick()
        for copy in self.copies:
            done = copy.groups < limit[copy.threads]
            if not np.any(done):
                left.append(copy)
                continue
            self._arrive(copy.threads[done], copy.locations[done], copy.rows[done])
            if not np.all(done):
                keep = ~done
                left.append(Copy(copy.threads[keep], copy.locations[keep], copy.rows[keep], copy.groups[keep]))
            elif order is not None:
                order.num_busy -= 1
        self.copies = left

    def _arrive(self, threads: Array, locations: Array, rows: Array) -> None:
        shared = self.machine.shared
        shared.data[locations[:, np.newaxis] + np.arange(rows.shape[1])] = rows
        if (order := shared.order) is not None:
            order.end_write(order.granules(locations, rows.shape[1]), threads[:, np.newaxis], is_copied=True)

    def arrive_after_copies(self, barrier: Barrier, threads: Array) -> None:
        """Threads arrive at a barrier once their copies so far are there."""
        self.note_arrivals(barrier, threads)
        barrier.after_copies.append((threads, self.open_group[threads].copy()))
        self.open_group[threads] += 1
        self.version += 1

    # Boxes, and the barriers that count their bytes.

    def barrier_at(self, location: int) -> Barrier:
        """The barrier at a location. Raises Fault."""
        found = self.barriers.get(location)
        if found is None:
            raise Fault(BarrierMisuseError, "there is no mbarrier here: it was not initialised, or invalidated", 0)
        return found

    def arrive(self, barrier: Barrier, count: int) -> None:
        """Arrivals at a barrier. Raises Fault."""
        if count > barrier.missing:
            raise Fault(
                BarrierMisuseError,
                f"{count} arrivals at an mbarrier that expects {barrier.missing} more in this phase",
                0,
            )
        barrier.missing -= count
        self.settle(barrier)

    def settle(self, barrier: Barrier) -> None:
        """On to the next phase if nothing is missing."""
        self.version += 1
        if barrier.missing == 0 and barrier.missing_bytes == 0:
            barrier.completed = self.machine.progress.tick()
            barrier.phase ^= 1
            barrier.missing = barrier.count
            barrier.passed_on = barrier.clock

    def note_arrivals(self, barrier: Barrier, threads: Array) -> None:
        """Threads of a cluster are about to arrive at a barrier."""
        clusters = self.machine.clusters
        if clusters is not None:
            given = clusters.released_by(threads)
            barrier.clock = given if barrier.clock is None else np.maximum(barrier.clock, given)

    def start_box(self, barrier: Barrier, thread: int, locations: Array, contents: Array) -> None:
        """A box is under way; `locations` of its bytes."""
        if (order := self.machine.shared.order) is not None:
            granules = order.distinct_granules(locations)[np.newaxis]
            order.begin_write(granules, np.array([thread]), by_unit=True)
        barrier.copies.append(BoxCopy(locations, contents, self.machine.pc))
        self.version += 1

    def has_completed(self, barrier: Barrier, parity: int) -> bool:
        """Return whether the phase of a parity has completed, once copies that are under way have arrived."""
        while barrier.phase == parity and (barrier.copies or barrier.after_copies):
            if barrier.copies:
                copy = barrier.copies.popleft()
                self._arrive_box(copy)
                barrier.missing_bytes -= copy.contents.size
                self.settle(barrier)
            else:
                threads, groups = barrier.after_copies.popleft()
                self._finish_copies(threads, groups + 1)
                self.arrive(barrier, threads.size)
        return barrier.phase != parity

    def _arrive_box(self, copy: BoxCopy) -> None:
        machine, shared = self.machine, self.machine.shared
        shared.data[copy.locations] = copy.contents
        machine.progress.tick()
        if (order := shared.order) is not None:
            order.end_write(order.distinct_granules(copy.locations), UNIT, is_copied=False)
            order.num_busy -= 1

    # What units read.

    def read_by_unit(self, locations: Array, thread: int) -> Array:
        """An asynchronous unit begins to read bytes in the name of a thread; gives the granules. Raises Fault where
        writes are not ordered before, or not visible to the unit."""
        order = self.machine.shared.order
        if order is None:
            return locations[:0]
        granules = order.distinct_granules(locations)
        order.begin_unit_read(granules, thread)
        return granules

    def hold_for_store(self, thread: int, granules: Array) -> None:
        """A store in the name of a thread reads granules until the thread waits for it."""
        group = self.open_store_group.get(thread, 0)
        self.store_reads.append(BoxStore(thread, group, granules, self.machine.pc))

    def commit_stores(self) -> None:
        """The stores of the active threads so far are a group."""
        for thread in {store.thread for store in self.store_reads} & set(self.machine.threads.tolist()):
            self.open_store_group[thread] = self.open_store_group.get(thread, 0) + 1

    def wait_for_stores(self, pending: int) -> None:
        """The groups of stores of the active threads but the last `pending` have read what they read."""
        if not self.store_reads:
            return
        active = set(self.machine.threads.tolist())
        kept: list[BoxStore] = []
        for store in self.store_reads:
            if store.thread in active and store.group < self.open_store_group.get(store.thread, 0) - pending:
                order = self.machine.shared.order
                if order is not None:
                    order.note_end_of_reads(store.granules, np.array([store.thread]))
            else:
                kept.append(store)
        self.store_reads = kept

    def find_unfinished(self) -> int | None:
        """The instruction of a copy that nothing has waited for and that uses shared memory."""
        if self.store_reads:
            return self.store_reads[0].instruction
        return next((copy.instruction for barrier in self.barriers.values() for copy in barrier.copies), None)

    def for_active_barriers(self, locations: Array, action: Callable[[Barrier, Array], None]) -> None:
        """Call with each barrier that active threads name, and the positions of those threads."""
        for location in np.unique(locations).tolist():
            action(self.barrier_at(location), np.flatnonzero(locations == location))

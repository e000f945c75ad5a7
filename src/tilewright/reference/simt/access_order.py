"""The order of accesses to shared memory: who wrote and who read last, and what nothing orders.

For every granule of bytes (as many as the smallest access of the kernel has) the last write and the last reads are
kept, with the thread and the time. An access conflicts with an earlier one of another thread, one of them writing,
unless something orders them in between: a barrier that the accessing thread passed after it (`Progress.synced`), or,
for threads of one warp, a barrier of the warp (`Progress.warp_synced`). Two threads may write the same value.

The asynchronous units write granules that are `busy` until somebody has waited for them, and read granules that are
`held` as long; touching the former, or writing the latter, is a race.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import Fault, MemoryAccessError, RaceError
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.types import choose
from tilewright.support.records import dataclass

NOBODY = -1
SEVERAL = -2
UNIT = -3
ATOMIC = -4
"""In place of a thread: an asynchronous unit, atomic instructions."""
OF_WARP = -16
"""``OF_WARP - w``: several threads of warp w."""


@dataclass(eq=False)
class _Writes:
    """The last write of each granule."""

    time: Array
    thread: Array
    copied: Array
    """Whether `cp.async` wrote it. The hardware shows that to `wgmma` without a fence once it was waited for, which
    official Triton and CUTLASS rely on too."""


@dataclass(eq=False)
class _Reads:
    """The last reads of each granule since its last write."""

    time: Array
    thread: Array
    warps: Array = field(default_factory=lambda: np.zeros(0, np.uint64))
    """In a cluster, the warps that may have read it last (`Clusters.bits_of`)."""


class AccessOrder:
    """What is known of the accesses to the shared memory of all CTAs, each of which has `stride` bytes."""

    def __init__(self, machine: Machine, stride: int, granule: int) -> None:
        self.machine = machine
        self.progress = machine.progress
        self.stride = stride
        self.granule = granule
        count = stride * machine.num_ctas // granule
        times, threads = np.full(count, -1, np.int64), np.full(count, NOBODY, np.int32)
        self.writes = _Writes(times, threads, np.zeros(count, np.bool_))
        self.reads = _Reads(times.copy(), threads.copy())
        if machine.clusters is not None:
            self.reads.warps = np.zeros(count, np.uint64)
        self.busy = np.zeros(count, np.int16)
        self.held = np.zeros(count, np.int16)
        self.num_busy = 0
        """Writes of units that are under way: without any, nothing is busy."""

    def granules(self, locations: Array, size: int) -> Array:
        """The granules of accesses of `size` bytes: one row per access."""
        count = max(1, size // self.granule)
        return (locations // self.granule)[:, np.newaxis] + np.arange(count)

    def note_reads(self, granules: Array, threads: Array, *, by_unit: bool = False, of_barriers: bool = False) -> None:
        """Ordinary reads, or uses of mbarriers: of what was written, and ordered after it."""
        self.progress.tick()
        self._check_idle(granules)
        written = self.writes.time[granules]
        if int(written.min(initial=0)) < 0:
            position = int(np.flatnonzero(np.any(written < 0, axis=1))[0])
            raise Fault(MemoryAccessError, "shared memory is read before it is written", position)
        if int(written.max(initial=-1)) > self.progress.floor:
            self._check_order(
                granules, written, self.writes.thread[granules], threads, "reads what", "wrote", of_barriers
            )
        if by_unit:
            return
        self._note_readers(granules, threads)

    def note_end_of_reads(self, granules: Array, threads: Array) -> None:
        """A unit has read what it held, and these threads, of a warp each, know; others do when something orders them
        after it."""
        if not granules.size:
            return
        self.progress.tick()
        self.held[granules] -= 1
        if threads.size > 1 and self.machine.clusters is None:
            self.reads.thread[granules] = SEVERAL
            self.reads.time[granules] = self.progress.time
            return
        self._note_readers(np.broadcast_to(granules, (threads.size, granules.size)), threads)

    def _note_readers(self, granules: Array, threads: Array) -> None:
        readers = np.broadcast_to(threads[:, np.newaxis], granules.shape).astype(np.int32)
        earlier, times = self.reads.thread[granules], self.reads.time[granules]
        kept = (times > self.progress.floor) & (earlier != readers)
        if kept.any():
            kept &= ~self._is_ordered(granules, times, earlier, threads)
        self.reads.thread[granules] = readers
        self.reads.time[granules] = self.progress.time
        several = kept | (self.reads.thread[granules] != readers)
        if several.any():
            mixed = granules[several]
            warps = readers[several] // WARP
            self.reads.thread[mixed] = OF_WARP - warps
            shared = self.reads.thread[mixed] != OF_WARP - warps
            before = earlier[several]
            foreign = kept[several] & (_warp_of(before) != warps)
            self.reads.thread[mixed[shared | foreign]] = SEVERAL
        if self.machine.clusters is not None:
            before = choose(kept, self.reads.warps[granules], np.uint64(0))
            self.reads.warps[granules] = 0
            np.bitwise_or.at(self.reads.warps, granules, before | self.machine.clusters.bits_of(threads))

    def note_writes(self, granules: Array, threads: Array, same: Array | None = None, *, by_unit: bool = False) -> None:
        """Writes: ordered after earlier reads and writes; a write of what is there already (`same`, one per access)
        may meet another write."""
        self.progress.tick()
        self._check_idle(granules)
        if self.held[granules].any():
            position = int(np.flatnonzero(np.any(self.held[granules] > 0, axis=1))[0])
            raise Fault(RaceError, "shared memory is written while an asynchronous unit still reads it", position)
        written = self.writes.time[granules]
        if int(written.max(initial=-1)) > self.progress.floor:
            checked = written if same is None else choose(same[:, np.newaxis], -1, written)
            self._check_order(granules, checked, self.writes.thread[granules], threads, "overwrites what", "wrote")
        read = self.reads.time[granules]
        if int(read.max(initial=-1)) > self.progress.floor:
            self._check_order(granules, read, self.reads.thread[granules], threads, "overwrites what", "reads")
        self.writes.thread[granules] = UNIT if by_unit else threads[:, np.newaxis]
        self.writes.copied[granules] = False
        self.writes.time[granules] = self.progress.time

    def note_atomics(self, granules: Array, threads: Array) -> None:
        """Atomic reads and writes: ordered after others, but not among themselves."""
        self.progress.tick()
        self._check_idle(granules)
        written, writers = self.writes.time[granules], self.writes.thread[granules]
        if int(written.min(initial=0)) < 0:
            raise Fault(MemoryAccessError, "shared memory is read before it is written", 0)
        self._check_order(granules, choose(writers == ATOMIC, -1, written), writers, threads, "changes what", "wrote")
        self._check_order(
            granules, self.reads.time[granules], self.reads.thread[granules], threads, "changes what", "reads"
        )
        self.writes.thread[granules] = ATOMIC
        self.writes.time[granules] = self.progress.time

    def _check_idle(self, granules: Array) -> None:
        if self.num_busy and self.busy[granules].any():
            position = int(np.flatnonzero(np.any(self.busy[granules] > 0, axis=1))[0])
            reason = "shared memory is touched while an asynchronous copy into it has not been waited for"
            raise Fault(RaceError, reason, position)

    def _is_ordered(
        self, granules: Array, times: Array, others: Array, threads: Array, *, of_barriers: bool = False
    ) -> Array:
        """Return whether what others did comes before what threads do now."""
        clusters, progress = self.machine.clusters, self.machine.progress
        own = threads[:, np.newaxis]
        warps = _warp_of(others)
        same_warp = warps == own // WARP
        synced = progress.synced[threads][:, np.newaxis]
        in_warp = np.maximum(synced, progress.warp_synced[threads // WARP][:, np.newaxis])
        ordered = (others == own) | (times <= choose(same_warp, in_warp, synced))
        if clusters is None:
            return ordered
        per_cta = self.machine.threads_per_cta
        ctas = choose(warps >= 0, warps * WARP // per_cta, granules * self.granule // self.stride)
        if of_barriers:
            ordered |= clusters.knows_inits_of_own(times, warps, threads)
        foreign = ctas != own // per_cta
        if foreign.any():
            known = clusters.knows(times, warps, ctas, threads, of_barriers=of_barriers, exactly=others != ATOMIC)
            ordered = choose(foreign, known, ordered)
        several = others == SEVERAL
        if several.any():
            ordered = choose(several, clusters.knows_readers(times, self.reads.warps[granules], threads), ordered)
        return ordered

    def _check_order(
        self,
        granules: Array,
        times: Array,
        others: Array,
        threads: Array,
        action: str,
        earlier: str,
        of_barriers: bool = False,
    ) -> None:
        wrong = (times >= 0) & ~self._is_ordered(granules, times, others, threads, of_barriers=of_barriers)
        if not wrong.any():
            return
        position, element = (int(index) for index in np.argwhere(wrong)[0])
        other = int(others[position, element])
        byte = int(granules[position, element]) * self.granule % self.stride
        who = f"thread {other % self.machine.threads_per_cta}" if other >= 0 else _describe(other)
        if (
            self.machine.clusters is not None
            and other >= 0
            and other // self.machine.threads_per_cta != threads[position] // (self.machine.threads_per_cta)
        ):
            who += f" of CTA {other // self.machine.threads_per_cta % self.machine.clusters.size} of the cluster"
        raise Fault(RaceError, f"{action} {who} {earlier} at byte {byte}, with no barrier in between", position)

    def distinct_granules(self, locations: Array) -> Array:
        """The granules of bytes, each once, in order."""
        return _distinct(locations // self.granule)

    # Units, whose accesses begin and end.

    def begin_write(self, granules: Array, threads: Array, *, by_unit: bool = False) -> None:
        """An asynchronous write begins: until it ends, the granules keep their last write."""
        times = self.writes.time[granules], self.writes.thread[granules]
        self.note_writes(granules, threads, by_unit=by_unit)
        self.writes.time[granules], self.writes.thread[granules] = times
        self.busy[granules] += 1
        self.num_busy += 1

    def end_write(self, granules: Array, threads: Array | int, *, is_copied: bool) -> None:
        """Bytes of an asynchronous write have arrived, in the name of threads or of a unit; `num_busy` is the
        caller's."""
        self.busy[granules] -= 1
        self.writes.thread[granules] = threads
        self.writes.copied[granules] |= is_copied
        self.writes.time[granules] = self.progress.time

    def begin_unit_read(self, granules: Array, thread: int) -> None:
        """An asynchronous unit begins to read granules in the name of a thread, and holds them. Raises Fault where
        writes are not ordered before, or not visible to the unit."""
        self.note_reads(granules[np.newaxis], np.array([thread]), by_unit=True)
        writers, times, fenced = self.writes.thread[granules], self.writes.time[granules], self.progress.fenced
        by_thread = (writers >= 0) & ~self.writes.copied[granules]
        visible = (times <= fenced[np.maximum(writers, 0)]) | (times <= fenced[thread])
        if np.any(by_thread & ~visible):
            reason = "an asynchronous unit reads what threads wrote, with no fence.proxy.async in between"
            raise Fault(RaceError, reason, 0)
        self.held[granules] += 1


def _distinct(granules: Array) -> Array:
    """Granules each once, in order. They lie close together, so that marking them is faster than sorting them."""
    if not granules.size:
        return granules.reshape(-1)
    first = granules.min()
    seen = np.zeros(int(granules.max() - first) + 1, np.bool_)
    seen[granules - first] = True
    return np.flatnonzero(seen) + first


def _warp_of(threads: Array) -> Array:
    """The warp of each thread, also where several threads of one warp stand for themselves; else negative."""
    if threads.min(initial=0) >= 0:
        return threads // WARP
    return choose(threads >= 0, threads // WARP, choose(threads <= OF_WARP, OF_WARP - threads, -1))


def _describe(who: int) -> str:
    if who == UNIT:
        return "an asynchronous copy"
    return "another thread"

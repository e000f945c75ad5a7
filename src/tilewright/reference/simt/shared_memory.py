"""Shared memory of all CTAs, and the order of accesses to it.

For every granule of bytes (as many as the smallest access of the kernel has) the last write and the last reads are
kept, with the thread and the time. An access conflicts with an earlier one of another thread, one of them writing,
unless something orders them in between: a barrier that the accessing thread passed after it (`synced`), or, for
threads of one warp, a barrier of the warp (`warp_synced`). Two threads may write the same value.

The asynchronous units write granules that are `busy` until somebody has waited for them, and read granules that are
`held` as long; touching the former, or writing the latter, is a race.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import Fault, MemoryAccessError, RaceError
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.types import Values, choose

if TYPE_CHECKING:
    from tilewright.reference.simt.clusters import Clusters

NOBODY = -1
SEVERAL = -2
UNIT = -3
ATOMIC = -4
"""In place of a thread: an asynchronous unit, atomic instructions."""
OF_WARP = -16
"""``OF_WARP - w``: several threads of warp w."""


class SharedMemory:
    """The bytes of all CTAs, one CTA after the other."""

    def __init__(self, machine: Machine, size: int, granule: int, *, detects_races: bool) -> None:
        self.size = size
        self.stride = -(-size // 1024) * 1024
        self.data = np.full(self.stride * machine.num_ctas, 0xFF, np.uint8)
        self.views: dict[np.dtype[Any], Array] = {}
        self.threads_per_cta = machine.threads_per_cta
        self.detects_races = detects_races
        self.granule = granule
        count = self.data.size // granule if detects_races else 0
        self.write_time = np.full(count, -1, np.int64)
        self.writer = np.full(count, NOBODY, np.int32)
        self.read_time = np.full(count, -1, np.int64)
        self.reader = np.full(count, NOBODY, np.int32)
        self.busy = np.zeros(count, np.int16)
        self.held = np.zeros(count, np.int16)
        self.copied = np.zeros(count, np.bool_)
        """What `cp.async` wrote last. The hardware shows it to `wgmma` without a fence once it was waited for, which
        official Triton and CUTLASS rely on too."""
        self.num_busy = 0
        self.synced = np.full(machine.total, -1, np.int64)
        """By thread: everything that others did up to this time comes before what it does."""
        self.warp_synced = np.full(machine.total // WARP, -1, np.int64)
        self.fenced = np.full(machine.total, -1, np.int64)
        """By thread: what it wrote up to this time is visible to asynchronous units."""
        self.floor = -1
        """The time of the last barrier that all threads passed, where CTAs are on their own."""
        self.clusters: Clusters | None = None
        self.readers = np.zeros(0, np.uint64)
        """In a cluster, the warps that may have read a granule last (`Clusters.bits_of`)."""

    def follow_clusters(self, clusters: Clusters) -> None:
        """CTAs reach into each other's memory from now on."""
        self.clusters = clusters
        self.readers = np.zeros(self.reader.size, np.uint64)

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as elements."""
        found = self.views.get(dtype)
        if found is None:
            found = self.views[dtype] = self.data.view(dtype)
        return found

    def places(
        self, machine: Machine, addresses: Values, size: int, *, may_reach: bool = False, by_unit: bool = False
    ) -> Array:
        """Return where accesses of the active threads, or `by_unit`, in their name, lie in the data. Raises Fault.
        Those that `may_reach` into other CTAs of the cluster do."""
        offsets = machine.spread(addresses).astype(np.int64)
        ctas = machine.cta_of_thread[machine.threads]
        if self.clusters is not None:
            ctas, offsets = self.clusters.resolve(machine.threads, offsets, may_reach=may_reach, by_unit=by_unit)
        self.check_inside(offsets, size)
        return ctas * self.stride + offsets

    def unit_places(self, machine: Machine, thread: int, offset: int, size: int, alignment: int) -> Array:
        """Return where the bytes lie that an asynchronous unit moves for a thread, in the memory of its CTA or the one
        that the address is mapped to. Raises Fault.
        """
        cta = int(machine.cta_of_thread[thread])
        if self.clusters is not None:
            found = self.clusters.resolve(np.array([thread]), np.array([offset]), may_reach=True, by_unit=True)
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

    def store_rows(self, machine: Machine, places: Array, rows: Array, threads: Array) -> None:
        """Set a row of elements at each place, in the name of threads."""
        size, count = rows.dtype.itemsize, int(rows.shape[1])
        index: Array = (places // size)[:, np.newaxis] + np.arange(count)
        view = self.view(rows.dtype)
        if self.detects_races:
            same = (_bits(view[index]) == _bits(rows)).all(axis=1)
            self.note_writes(machine, self.granules(places, size * count), threads, same)
        view[index] = rows
        if self.detects_races:
            lost = np.flatnonzero((_bits(view[index]) != _bits(rows)).any(axis=1))
            if lost.size:
                raise Fault(RaceError, "two threads write different values to one place at once", int(lost[0]))

    def load(
        self, machine: Machine, addresses: Values, dtype: np.dtype[Any], count: int, *, may_reach: bool = False
    ) -> Array:
        """A row of `count` elements for every active thread."""
        size = dtype.itemsize
        places = self.places(machine, addresses, size * count, may_reach=may_reach)
        if self.detects_races:
            self.note_reads(machine, self.granules(places, size * count), machine.threads)
        first = places // size
        view = self.view(dtype)
        return view[first][:, np.newaxis] if count == 1 else view[first[:, np.newaxis] + np.arange(count)]

    def store(self, machine: Machine, addresses: Values, rows: Array, *, may_reach: bool = False) -> None:
        """Set a row of elements for every active thread."""
        size, count = rows.dtype.itemsize, rows.shape[1]
        places = self.places(machine, addresses, size * count, may_reach=may_reach)
        self.store_rows(machine, places, np.broadcast_to(rows, (places.size, count)), machine.threads)

    def granules(self, places: Array, size: int) -> Array:
        """The granules of accesses of `size` bytes: one row per access."""
        count = max(1, size // self.granule)
        return (places // self.granule)[:, np.newaxis] + np.arange(count)

    def note_reads(
        self, machine: Machine, granules: Array, threads: Array, *, by_unit: bool = False, of_barriers: bool = False
    ) -> None:
        """Ordinary reads, or uses of mbarriers: of what was written, and ordered after it."""
        machine.time += 1
        self._check_idle(granules)
        written = self.write_time[granules]
        if int(written.min(initial=0)) < 0:
            position = int(np.flatnonzero(np.any(written < 0, axis=1))[0])
            raise Fault(MemoryAccessError, "shared memory is read where nobody wrote", position)
        if int(written.max(initial=-1)) > self.floor:
            self._check_order(granules, written, self.writer[granules], threads, "reads what", "wrote", of_barriers)
        if by_unit:
            return
        self._note_readers(machine.time, granules, threads)

    def note_end_of_reads(self, machine: Machine, granules: Array, threads: Array) -> None:
        """A unit has read what it held, and these threads, of a warp each, know; others do when something orders them
        after it."""
        if not granules.size:
            return
        machine.time += 1
        self.held[granules] -= 1
        if threads.size > 1 and self.clusters is None:
            self.reader[granules] = SEVERAL
            self.read_time[granules] = machine.time
            return
        self._note_readers(machine.time, np.broadcast_to(granules, (threads.size, granules.size)), threads)

    def _note_readers(self, time: int, granules: Array, threads: Array) -> None:
        readers = np.broadcast_to(threads[:, np.newaxis], granules.shape).astype(np.int32)
        earlier, times = self.reader[granules], self.read_time[granules]
        kept = (times > self.floor) & (earlier != readers)
        if kept.any():
            kept &= ~self._is_ordered(granules, times, earlier, threads)
        self.reader[granules] = readers
        self.read_time[granules] = time
        several = kept | (self.reader[granules] != readers)
        if several.any():
            mixed = granules[several]
            warps = readers[several] // WARP
            self.reader[mixed] = OF_WARP - warps
            shared = self.reader[mixed] != OF_WARP - warps
            before = earlier[several]
            foreign = kept[several] & (_warp_of(before) != warps)
            self.reader[mixed[shared | foreign]] = SEVERAL
        if self.clusters is not None:
            before = choose(kept, self.readers[granules], np.uint64(0))
            self.readers[granules] = 0
            np.bitwise_or.at(self.readers, granules, before | self.clusters.bits_of(threads))

    def note_writes(
        self, machine: Machine, granules: Array, threads: Array, same: Array | None = None, *, by_unit: bool = False
    ) -> None:
        """Writes: ordered after earlier reads and writes; a write of what is there already (`same`, one per access)
        may meet another write."""
        machine.time += 1
        self._check_idle(granules)
        if self.held[granules].any():
            position = int(np.flatnonzero(np.any(self.held[granules] > 0, axis=1))[0])
            raise Fault(RaceError, "shared memory is written while an asynchronous unit still reads it", position)
        written = self.write_time[granules]
        if int(written.max(initial=-1)) > self.floor:
            checked = written if same is None else choose(same[:, np.newaxis], -1, written)
            self._check_order(granules, checked, self.writer[granules], threads, "overwrites what", "wrote")
        read = self.read_time[granules]
        if int(read.max(initial=-1)) > self.floor:
            self._check_order(granules, read, self.reader[granules], threads, "overwrites what", "reads")
        self.writer[granules] = UNIT if by_unit else threads[:, np.newaxis]
        self.copied[granules] = False
        self.write_time[granules] = machine.time

    def note_atomics(self, machine: Machine, granules: Array, threads: Array) -> None:
        """Atomic reads and writes: ordered after others, but not among themselves."""
        machine.time += 1
        self._check_idle(granules)
        written, writers = self.write_time[granules], self.writer[granules]
        if int(written.min(initial=0)) < 0:
            raise Fault(MemoryAccessError, "shared memory is read where nobody wrote", 0)
        self._check_order(granules, choose(writers == ATOMIC, -1, written), writers, threads, "changes what", "wrote")
        self._check_order(granules, self.read_time[granules], self.reader[granules], threads, "changes what", "reads")
        self.writer[granules] = ATOMIC
        self.write_time[granules] = machine.time

    def _check_idle(self, granules: Array) -> None:
        if self.num_busy and self.busy[granules].any():
            position = int(np.flatnonzero(np.any(self.busy[granules] > 0, axis=1))[0])
            reason = "shared memory is touched while an asynchronous copy into it has not been waited for"
            raise Fault(RaceError, reason, position)

    def _is_ordered(
        self, granules: Array, times: Array, others: Array, threads: Array, *, of_barriers: bool = False
    ) -> Array:
        """Return whether what others did comes before what threads do now."""
        own = threads[:, np.newaxis]
        warps = _warp_of(others)
        same_warp = warps == own // WARP
        synced = self.synced[threads][:, np.newaxis]
        in_warp = np.maximum(synced, self.warp_synced[threads // WARP][:, np.newaxis])
        ordered = (others == own) | (times <= choose(same_warp, in_warp, synced))
        if self.clusters is None:
            return ordered
        per_cta = self.threads_per_cta
        ctas = choose(warps >= 0, warps * WARP // per_cta, granules * self.granule // self.stride)
        if of_barriers:
            ordered |= self.clusters.knows_inits_of_own(times, warps, threads)
        foreign = ctas != own // per_cta
        if foreign.any():
            known = self.clusters.knows(times, warps, ctas, threads, of_barriers=of_barriers, exactly=others != ATOMIC)
            ordered = choose(foreign, known, ordered)
        several = others == SEVERAL
        if several.any():
            ordered = choose(several, self.clusters.knows_readers(times, self.readers[granules], threads), ordered)
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
        position, element = (int(place) for place in np.argwhere(wrong)[0])
        other = int(others[position, element])
        byte = int(granules[position, element]) * self.granule % self.stride
        who = f"thread {other % self.threads_per_cta}" if other >= 0 else _describe(other)
        if (
            self.clusters is not None
            and other >= 0
            and other // self.threads_per_cta != threads[position] // (self.threads_per_cta)
        ):
            who += f" of CTA {other // self.threads_per_cta % self.clusters.size} of the cluster"
        raise Fault(RaceError, f"{action} {who} {earlier} at byte {byte}, with no barrier in between", position)


def _bits(values: Array) -> Array:
    """Elements as integers, so that NaN equals itself."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def distinct(granules: Array) -> Array:
    """Granules each once, in order. They lie close together, so that marking them is faster than sorting them."""
    if not granules.size:
        return granules.reshape(-1)
    first = granules.min()
    seen = np.zeros(int(granules.max() - first) + 1, np.bool_)
    seen[granules - first] = True
    return np.flatnonzero(seen) + first


def misaligned(addresses: Array, size: int) -> Fault:
    """The fault of the first address that is not a multiple of the size of its access."""
    flat = np.asarray(addresses).reshape(-1)
    position = int(np.flatnonzero(flat & flat.dtype.type(size - 1))[0])
    reason = f"address {int(flat[position]):#x} is not a multiple of the {size} bytes accessed"
    return Fault(MemoryAccessError, reason, position)


def _warp_of(threads: Array) -> Array:
    """The warp of each thread, also where several threads of one warp stand for themselves; else negative."""
    return choose(threads >= 0, threads // WARP, choose(threads <= OF_WARP, OF_WARP - threads, -1))


def _describe(who: int) -> str:
    if who == UNIT:
        return "an asynchronous copy"
    return "another thread"

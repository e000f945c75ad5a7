"""The order of accesses to global memory, by all programs of a launch.

For every granule of the arguments (as many bytes as the smallest access of the kernel has) the last write and the last
read are kept, with the thread and the time. An access conflicts with an earlier one of another thread, one of them
writing, unless something orders them in between:

- within a program a barrier that the accessing thread passed, or what it knows of the CTAs of its cluster, as in
  shared memory;
- between programs an atomic with acquire order that read what one with release order wrote: it brings what the other
  program had passed a barrier after, what that very thread had done, and what that program had been brought itself.

Atomics and volatile accesses do not conflict with each other, nor do writes of what is there already, nor writes of
one program: which of two stores to one element comes last is left to the hardware, as where a store has one twice.
Threads of one program that read an element together, the one that wrote it or will write it among them, are copies of
one access: lanes that hold the same element of a tile. Bulk copies, and memory that the kernel finds by addresses in
memory, are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.address_space import Part
from tilewright.reference.allocations import Allocation
from tilewright.reference.simt.errors import Fault, RaceError
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.types import choose
from tilewright.support.records import dataclass

SEVERAL = -2
OF_PROGRAM = -16
"""``OF_PROGRAM - p``: several threads of program p."""

LARGEST = 1 << 36
"""Bytes of an allocation whose accesses are followed; the whole process is larger."""

FEW = 4
"""Atomics of one program in an instruction that are followed by element; of more, by argument."""


class Shadow:
    """The last accesses to memory without gaps. Times are 0 where there was none."""

    def __init__(self, low: int, size: int, granule: int) -> None:
        self.low = low
        self.size = size
        count = -(-size // granule)
        self.write_time = np.zeros(count, np.int64)
        self.writer = np.zeros(count, np.int32)
        self.is_atomic = np.zeros(count, np.bool_)
        self.read_time = np.zeros(count, np.int64)
        self.reader = np.zeros(count, np.int32)
        self.last_write = 0


@dataclass
class Clock:
    """Up to which time what others did has come to be known: by program, and by thread."""

    programs: dict[int, int] = field(default_factory=dict[int, int])
    threads: dict[int, int] = field(default_factory=dict[int, int])

    def join(self, other: Clock) -> None:
        """Know what the other knows."""
        for mine, its in ((self.programs, other.programs), (self.threads, other.threads)):
            for key, time in its.items():
                if mine.get(key, -1) < time:
                    mine[key] = time


class GlobalRaces:
    """The order of accesses to global memory in one launch. `program` is the number of threads that share barriers."""

    def __init__(self, allocations: Iterable[Allocation], granule: int, program: int) -> None:
        self.granule = granule
        self.program = program
        self.first_thread = 0
        """Of those that are simulated now."""
        self.time = 1
        self.shadows = [Shadow(low, high - low, granule) for low, high in _merged(allocations)]
        self.known: dict[int, Clock] = {}
        self.released: dict[int, Clock] = {}
        """By address, or the negative address of an argument."""

    def begin(self, machine: Machine, first_cta: int) -> None:
        """Follow these threads from now on, at a later time than those before."""
        machine.progress.time = self.time
        machine.progress.synced[:] = machine.progress.warp_synced[:] = machine.progress.floor = -1
        self.first_thread = first_cta * machine.threads_per_cta

    def note_reads(self, machine: Machine, part: Part, size: int, threads: Array) -> None:
        """Plain reads of `size` bytes by one thread each."""
        found = self._granules(part, size)
        if found is None:
            return
        shadow, granules = found
        threads = threads[part.chosen]
        self._tick(machine)
        if shadow.last_write:
            written, writers = shadow.write_time[granules], shadow.writer[granules]
            own = granules[writers == (threads + self.first_thread)[:, np.newaxis]]
            copies = np.isin(granules, own) & (self._program_of(writers) == self._programs(threads))
            self._check(machine, part, granules, written * ~copies, writers, threads, "reads what")
        self._note_readers(machine, shadow, granules, threads)

    def note_writes(self, machine: Machine, part: Part, size: int, threads: Array, same: Array) -> None:
        """Plain writes, one of them of what is there already where `same` says so."""
        found = self._granules(part, size)
        if found is None:
            return
        shadow, granules = found
        threads = threads[part.chosen]
        self._tick(machine)
        other = ~same[:, np.newaxis]
        written, read = shadow.write_time[granules], shadow.read_time[granules]
        writers = shadow.writer[granules]
        foreign = other & (self._program_of(writers) != self._programs(threads))
        self._check(machine, part, granules, written * foreign, writers, threads, "overwrites what")
        self._check(machine, part, granules, read * other, shadow.reader[granules], threads, "overwrites what", "reads")
        self._note_writers(machine, shadow, granules, threads, other | (written == 0), is_atomic=False)

    def check_lost(self, machine: Machine, part: Part, size: int, threads: Array, lost: Array) -> None:
        """Writes whose values are not in memory although nothing wrote after them: a race if of several programs."""
        found = self._granules(part, size)
        if found is None or not lost.any():
            return
        shadow, granules = found
        threads = threads[part.chosen]
        wrong = lost & np.any(self._program_of(shadow.writer[granules]) != self._programs(threads), axis=1)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            position = row if isinstance(part.chosen, slice) else int(part.chosen[row])
            raise Fault(RaceError, "two programs write different values to one address at once", position)

    def note_atomics(self, machine: Machine, part: Part, size: int, threads: Array, order: str) -> None:
        """Atomic accesses; `order` is acquire, release, acq_rel, or anything for none."""
        found = self._granules(part, size)
        if found is None:
            return
        shadow, granules = found
        threads = threads[part.chosen]
        self._tick(machine)
        if order in ("acquire", "acq_rel"):
            self._synchronise(machine, shadow, part, threads, acquires=True, releases=order == "acq_rel")
        elif order == "release":
            self._synchronise(machine, shadow, part, threads, acquires=False, releases=True)
        plain = shadow.write_time[granules] * ~shadow.is_atomic[granules]
        self._check(machine, part, granules, plain, shadow.writer[granules], threads, "changes what")
        read = shadow.read_time[granules]
        self._check(machine, part, granules, read, shadow.reader[granules], threads, "changes what", "reads")
        self._note_writers(machine, shadow, granules, threads, np.True_, is_atomic=True)

    def note_volatile(self, machine: Machine, part: Part, threads: Array, *, is_read: bool) -> None:
        """Volatile accesses, by which programs wait for each other: as atomics with acquire or release order."""
        found = self._granules(part, 1)
        if found is not None:
            shadow = found[0]
            self._tick(machine)
            self._synchronise(machine, shadow, part, threads[part.chosen], acquires=is_read, releases=not is_read)

    def _tick(self, machine: Machine) -> None:
        self.time = machine.progress.tick()

    def _granules(self, part: Part, size: int) -> tuple[Shadow, Array] | None:
        """The shadow of the memory of an access, and the granules: one row per access."""
        allocation = part.allocation
        for shadow in self.shadows:
            start = allocation.real - shadow.low
            if start >= 0 and start + allocation.data.size <= shadow.size:
                first = (part.offsets + start) // self.granule
                return shadow, first[:, np.newaxis] + np.arange(max(1, size // self.granule))
        return None

    def _note_readers(self, machine: Machine, shadow: Shadow, granules: Array, threads: Array) -> None:
        readers = np.broadcast_to((threads + self.first_thread)[:, np.newaxis], granules.shape)
        earlier, times = shadow.reader[granules], shadow.read_time[granules]
        remembered = (times > 0) & (earlier != readers)
        if remembered.any():
            remembered &= ~self._is_ordered(machine, times, earlier, threads)
        shadow.reader[granules] = readers
        shadow.read_time[granules] = machine.progress.time
        several = remembered | (shadow.reader[granules] != readers)
        if several.any():
            mixed, programs = granules[several], readers[several] // self.program
            shadow.reader[mixed] = OF_PROGRAM - programs
            foreign = remembered[several] & (self._program_of(earlier[several]) != programs)
            others = shadow.reader[mixed] != OF_PROGRAM - programs
            shadow.reader[mixed[foreign | others]] = SEVERAL

    def _note_writers(
        self, machine: Machine, shadow: Shadow, granules: Array, threads: Array, chosen: Any, *, is_atomic: bool
    ) -> None:
        writers = np.broadcast_to((threads + self.first_thread)[:, np.newaxis], granules.shape)
        chosen = np.broadcast_to(chosen, granules.shape)
        written, who = granules[chosen], writers[chosen]
        shadow.writer[written] = who
        several = shadow.writer[written] != who
        if several.any():
            mixed, programs = written[several], who[several] // self.program
            is_one = self._program_of(shadow.writer[mixed]) == programs
            shadow.writer[mixed[is_one]] = OF_PROGRAM - programs[is_one]
            shadow.writer[mixed[~is_one]] = SEVERAL
        shadow.write_time[written] = shadow.last_write = machine.progress.time
        shadow.is_atomic[written] = is_atomic
        shadow.read_time[written] = 0

    def _synchronise(
        self, machine: Machine, shadow: Shadow, part: Part, threads: Array, *, acquires: bool, releases: bool
    ) -> None:
        addresses = (part.offsets + part.allocation.real).tolist()
        programs = (threads + self.first_thread) // self.program
        is_few = int(np.bincount(programs - programs.min()).max(initial=0)) <= FEW
        seen: set[tuple[int, int]] = set()
        for address, thread, program in zip(addresses, threads.tolist(), programs.tolist(), strict=True):
            key = address if is_few else -shadow.low
            if not is_few and (program, key) in seen:
                continue
            seen.add((program, key))
            if acquires:
                for released in (address, -shadow.low):
                    if (clock := self.released.get(released)) is not None:
                        self.known.setdefault(program, Clock()).join(clock)
            if releases:
                clock = self.released.setdefault(key, Clock())
                known = self.known.get(program)
                if known is not None:
                    clock.join(known)
                own = Clock(
                    {program: int(machine.progress.synced[thread])}, {thread + self.first_thread: machine.progress.time}
                )
                clock.join(own)

    def _programs(self, threads: Array) -> Array:
        """The program of each thread that runs, one row each."""
        return ((threads + self.first_thread) // self.program)[:, np.newaxis]

    def _program_of(self, codes: Array) -> Array:
        """The program of each thread, or of several of one program; -1 for several programs."""
        return choose(codes >= 0, codes // self.program, choose(codes <= OF_PROGRAM, OF_PROGRAM - codes, -1))

    def _is_ordered(self, machine: Machine, times: Array, others: Array, threads: Array) -> Array:
        """Return whether what others did comes before what threads do now."""
        own = (threads + self.first_thread)[:, np.newaxis]
        programs = self._program_of(others)
        is_own_program = programs == own // self.program
        synced = machine.progress.synced[threads][:, np.newaxis]
        in_warp = np.maximum(synced, machine.progress.warp_synced[threads // WARP][:, np.newaxis])
        passed = choose(others // WARP == own // WARP, in_warp, synced)
        if machine.clusters is not None:
            foreign = others // machine.threads_per_cta != own // machine.threads_per_cta
            passed = choose(foreign, machine.clusters.seen_of(threads, others // WARP), passed)
        ordered = (times == 0) | (others == own) | (is_own_program & ((others < 0) | (times <= passed)))
        for row, column in np.argwhere(~ordered).tolist() if self.known else ():
            clock = self.known.get(int(own[row, 0]) // self.program)
            if clock is not None:
                ordered[row, column] = self._is_known(
                    clock, int(programs[row, column]), int(others[row, column]), int(times[row, column])
                )
        return ordered

    @staticmethod
    def _is_known(clock: Clock, program: int, thread: int, time: int) -> bool:
        if program < 0:
            return bool(clock.programs) and time <= min(clock.programs.values())
        return time <= max(clock.programs.get(program, -1), clock.threads.get(thread, -1))

    def _check(
        self,
        machine: Machine,
        part: Part,
        granules: Array,
        times: Array,
        others: Array,
        threads: Array,
        action: str,
        earlier: str = "wrote",
    ) -> None:
        if not times.any():
            return
        wrong = ~self._is_ordered(machine, times, others, threads)
        if not wrong.any():
            return
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        position = row if isinstance(part.chosen, slice) else int(part.chosen[row])
        offset = int(part.offsets[row]) - part.allocation.start + column * self.granule
        who = self._describe(int(others[row, column]), int(threads[row]) + self.first_thread)
        reason = f"{action} {who} {earlier} at byte {offset} of argument '{part.allocation.name}'"
        raise Fault(RaceError, f"{reason}, with nothing in between that orders them", position)

    def _describe(self, code: int, thread: int) -> str:
        program = int(self._program_of(np.array([code]))[0])
        if program < 0:
            return "other programs"
        if program != thread // self.program:
            return f"program number {program}"
        return f"thread {code % self.program}" if code >= 0 else "another thread"


def _merged(allocations: Iterable[Allocation]) -> Sequence[tuple[int, int]]:
    """The extents of memory, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted((each.real, each.real + each.data.size) for each in allocations):
        if high - low > LARGEST:
            continue
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged

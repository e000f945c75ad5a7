"""Clusters: CTAs that reach into each other's shared memory, and what they know of each other.

An address of shared memory whose bits from 24 on are not 0 is one in the CTA of that number, counted from 1, of the
thread's cluster, as `mapa` makes it. All others are in the thread's own CTA.

What orders an access after one of another CTA is kept by warp: `seen[t, w]` is the time up to which thread t knows
what warp w of its cluster did. A thread that arrives with release order, at the barrier of the cluster or at an
mbarrier, passes on what it knows of others, what its CTA did up to its last barrier, and what its own warp did up to
now; who waits with acquire order knows that from then on, and so does its CTA from its next barrier on.

A CTA may only end when it knows that all accesses of others to its memory were made.
"""

from __future__ import annotations

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import Fault, MemoryAccessError, RaceError
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.types import choose

RANK_SHIFT = 24
"""Where the number of a CTA begins in a mapped address: shared memory has fewer bytes."""
BITS = 64
"""Of a set of warps."""


class Clusters:
    """The knowledge of all threads of clusters of `size` CTAs. Times are -1 where there was nothing."""

    def __init__(self, machine: Machine, size: int) -> None:
        self.machine = machine
        self.size = size
        self.warps_per_cta = machine.threads_per_cta // WARP
        self.warps = size * self.warps_per_cta
        self.seen = np.full((machine.total, self.warps), -1, np.int64)
        self.seen_inits = np.full((machine.total, self.warps), -1, np.int64)
        """As `seen`, of the initialisation of mbarriers alone."""
        self.fenced_inits = np.full(machine.total // WARP, -1, np.int64)
        """By warp: up to when the mbarriers that it initialised were made visible to the cluster."""
        self.met = np.zeros(machine.total, np.bool_)
        """By thread: whether it knows that all CTAs of the cluster have begun."""
        self.used = np.full((machine.num_ctas, self.warps), -1, np.int64)
        """By CTA: when warps of its cluster last used its shared memory."""
        self.has_ended = np.zeros(machine.num_ctas, np.bool_)

    # Addresses.

    def map(self, addresses: Array, ranks: Array) -> Array:
        """Addresses in the thread's own CTA, or mapped ones, as those of other CTAs. Raises Fault."""
        if int(ranks.max(initial=0)) >= self.size:
            position = int(np.flatnonzero(ranks >= self.size)[0])
            reason = f"there is no CTA {int(ranks[position])} in a cluster of {self.size}"
            raise Fault(MemoryAccessError, reason, position)
        low = addresses & addresses.dtype.type((1 << RANK_SHIFT) - 1)
        high = addresses >> addresses.dtype.type(40) << addresses.dtype.type(40) if addresses.itemsize == 8 else 0
        return high | low | ((ranks + 1).astype(addresses.dtype) << addresses.dtype.type(RANK_SHIFT))

    def ranks_of(self, threads: Array, offsets: Array) -> Array:
        """Return the CTA of the cluster that addresses of threads lie in."""
        ranks = offsets >> RANK_SHIFT
        return choose(ranks > 0, ranks - 1, self.machine.cta_of_thread[threads] % self.size)

    def resolve(self, threads: Array, offsets: Array, *, may_reach: bool, by_unit: bool = False) -> tuple[Array, Array]:
        """Return CTA and offset of accesses of threads. Raises Fault for those that may not be made. What an
        asynchronous unit does in a thread's name the CTA that it reaches waits for at an mbarrier."""
        own = self.machine.cta_of_thread[threads]
        ctas = own // self.size * self.size + self.ranks_of(threads, offsets)
        foreign = np.flatnonzero(ctas != own)
        if foreign.size:
            if not may_reach:
                reason = "an access to the thread's own shared memory has an address in that of another CTA"
                raise Fault(MemoryAccessError, reason, int(foreign[0]))
            self.reach(threads[foreign], ctas[foreign], foreign)
            if not by_unit:
                self.used[ctas[foreign], threads[foreign] // WARP % self.warps] = self.machine.progress.time
        return ctas, offsets & ((1 << RANK_SHIFT) - 1)

    def reach(self, threads: Array, ctas: Array, positions: Array) -> None:
        """Fault if threads reach into CTAs that may not have begun, or have ended."""
        early = np.flatnonzero(~self.met[threads])
        if early.size:
            reason = "reaches into a CTA that may not have begun: the cluster has not met at its barrier"
            raise Fault(RaceError, reason, int(positions[early[0]]))
        late = np.flatnonzero(self.has_ended[ctas])
        if late.size:
            rank = int(ctas[late[0]]) % self.size
            reason = f"reaches into the shared memory of CTA {rank} of the cluster, which has ended"
            raise Fault(RaceError, reason, int(positions[late[0]]))

    # What threads know.

    def released_by(self, threads: Array) -> Array:
        """Return what threads of one cluster pass on when they arrive somewhere, by warp."""
        machine = self.machine
        clock = self.seen[threads].max(axis=0)
        ctas = machine.cta_of_thread[threads]
        for cta in np.unique(ctas).tolist():
            first = cta % self.size * self.warps_per_cta
            known = int(machine.progress.synced[threads[ctas == cta]].max())
            own = clock[first : first + self.warps_per_cta]
            np.maximum(own, known, out=own)
        clock[np.unique(threads // WARP) % self.warps] = machine.progress.time
        return clock

    def inits_released_by(self, threads: Array) -> Array:
        """The same, of mbarriers that were initialised."""
        clock = self.seen_inits[threads].max(axis=0)
        warps = np.unique(threads // WARP)
        clock[warps % self.warps] = np.maximum(clock[warps % self.warps], self.fenced_inits[warps])
        return clock

    def acquire(self, threads: Array, clock: Array) -> None:
        """Threads of one cluster know what was passed on."""
        self.seen[threads] = np.maximum(self.seen[threads], clock)

    def join(self, threads: Array, groups: Array) -> None:
        """Threads of one group, which met at a barrier, know the same."""
        for table in (self.seen, self.seen_inits):
            for group in np.unique(groups).tolist():
                members = threads[groups == group]
                table[members] = table[members].max(axis=0)
        for group in np.unique(groups).tolist():
            members = threads[groups == group]
            self.met[members] = self.met[members].any()

    def fence_inits(self, threads: Array) -> None:
        """mbarriers that threads initialised are visible to the cluster once it meets."""
        self.fenced_inits[threads // WARP] = self.machine.progress.time

    def knows(
        self, times: Array, warps: Array, ctas: Array, threads: Array, *, of_barriers: bool, exactly: Array
    ) -> Array:
        """Return whether threads know what others did at some times: a warp, or where `warps` is negative a unit of a
        CTA, `exactly`, or any of its warps."""
        seen = np.maximum(self.seen, self.seen_inits) if of_barriers else self.seen
        rows = np.broadcast_to(threads[:, np.newaxis], times.shape)
        by_warp = seen[rows, warps % self.warps]
        if (warps >= 0).all():
            return times <= by_warp
        parts = seen.reshape(-1, self.size, self.warps_per_cta)
        rank = ctas % self.size
        of_cta = choose(exactly, parts.min(axis=2)[rows, rank], parts.max(axis=2)[rows, rank])
        return times <= choose(warps >= 0, by_warp, of_cta)

    def bits_of(self, threads: Array) -> Array:
        """A bit for the warp of each thread, in one column; warps of clusters of more than 64 share bits."""
        return (np.uint64(1) << (threads // WARP % self.warps % BITS).astype(np.uint64))[:, np.newaxis]

    def knows_readers(self, times: Array, bits: Array, threads: Array) -> Array:
        """Return whether threads know what all warps of a set did: those of their own CTA at its last barrier, others
        when they were told."""
        own = self.machine.cta_of_thread[threads] % self.size
        known = np.ones(times.shape, np.bool_)
        for bit in range(min(self.warps, BITS)):
            chosen = (bits >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)
            if not chosen.any():
                continue
            column = self.seen[threads, bit::BITS].max(axis=1)
            is_own = np.isin(own, np.arange(bit, self.warps, BITS) // self.warps_per_cta)
            column = choose(is_own, np.maximum(column, self.machine.progress.synced[threads]), column)
            known &= ~chosen | (times <= column[:, np.newaxis])
        return known

    def seen_of(self, threads: Array, warps: Array) -> Array:
        """Return up to when threads know what warps of their cluster did, one row each."""
        return self.seen[np.broadcast_to(threads[:, np.newaxis], warps.shape), warps % self.warps]

    def knows_inits_of_own(self, times: Array, warps: Array, threads: Array) -> Array:
        """Return whether threads know of mbarriers that warps of their own CTA initialised."""
        rows = np.broadcast_to(threads[:, np.newaxis], times.shape)
        return (warps >= 0) & (times <= self.seen_inits[rows, np.maximum(warps, 0) % self.warps])

    # The end.

    def exit(self, threads: Array) -> None:
        """Fault if CTAs end whose shared memory others may still use."""
        machine = self.machine
        ended = machine.exited.reshape(machine.num_ctas, -1).all(axis=1) & ~self.has_ended
        for cta in np.flatnonzero(ended).tolist():
            first = cta * machine.threads_per_cta
            known = self.seen[first : first + machine.threads_per_cta].max(axis=0)
            late = np.flatnonzero(self.used[cta] > known)
            if late.size:
                rank, user = cta % self.size, int(late[0]) // self.warps_per_cta
                reason = (
                    f"CTA {rank} of the cluster ends while CTA {user} may still use its shared memory: "
                    "nothing makes it wait"
                )
                position = np.flatnonzero(machine.cta_of_thread[threads] == cta)
                raise Fault(RaceError, reason, int(position[0]) if position.size else 0)
        self.has_ended |= ended

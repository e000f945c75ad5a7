"""The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`, phase after phase."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.clusters import Clusters
from tilewright.reference.simt.errors import BarrierMisuseError, Fault
from tilewright.reference.simt.machine import Machine

Resume = Callable[[int, Array], None]
"""Lets threads go on at an instruction."""


class ClusterBarrier:
    """A phase ends when all threads of the cluster that have not exited have arrived; each of them then passes its
    wait, which it may reach later."""

    def __init__(self, machine: Machine, resume: Resume) -> None:
        self.machine = machine
        self.resume = resume
        self.size = 1 if machine.clusters is None else machine.clusters.size
        self.threads = self.size * machine.threads_per_cta
        count = machine.total // self.threads
        self.has_arrived = np.zeros(machine.total, np.bool_)
        self.may_pass = np.zeros(machine.total, np.bool_)
        self.pc = np.zeros(machine.total, np.int64)
        """Where waiting threads go on; 0 for others."""
        self.arrival = np.full(machine.num_ctas, -1, np.int64)
        """The time of the last arrival with release order of each CTA's threads, in this phase."""
        self.met_at = np.full(machine.num_ctas, -1, np.int64)
        """The same, of the last phase."""
        warps = 0 if machine.clusters is None else machine.clusters.warps
        self.arriving = [np.full((count, warps), -1, np.int64) for _ in range(2)]
        self.passed_on = [np.full((count, warps), -1, np.int64) for _ in range(2)]
        """What is passed on in this phase, and was in the last one: accesses, and mbarriers that were initialised."""

    def arrive(self, threads: Array, *, is_relaxed: bool) -> None:
        """Threads arrive. Raises Fault for a second time without a wait in between."""
        again = np.flatnonzero(self.has_arrived[threads] | self.may_pass[threads])
        if again.size:
            reason = "arrives at the barrier of the cluster again, without having waited"
            raise Fault(BarrierMisuseError, reason, int(again[0]))
        machine, clusters = self.machine, self.machine.clusters
        self.has_arrived[threads] = True
        if not is_relaxed:
            self.arrival[machine.cta_of_thread[threads]] = machine.progress.time
        if clusters is not None:
            self._pass_on(clusters, threads, is_relaxed=is_relaxed)
        machine.progress.tick()
        self.complete()

    def _pass_on(self, clusters: Clusters, threads: Array, *, is_relaxed: bool) -> None:
        owners = threads // self.threads
        for cluster in np.unique(owners).tolist():
            members = threads[owners == cluster]
            given = [clusters.released_by(members), clusters.inits_released_by(members)]
            for table, clock in zip(self.arriving[is_relaxed:], given[is_relaxed:], strict=True):
                table[cluster] = np.maximum(table[cluster], clock)

    def wait(self, threads: Array, pc: int) -> None:
        """Threads wait, to go on at an instruction. Raises Fault for those that have not arrived."""
        early = np.flatnonzero(~(self.has_arrived[threads] | self.may_pass[threads]))
        if early.size:
            reason = "waits at the barrier of the cluster without having arrived"
            raise Fault(BarrierMisuseError, reason, int(early[0]))
        self.pc[threads] = pc
        self._release()

    def complete(self) -> None:
        """End the phases in which nobody is missing."""
        machine = self.machine
        missing = (~self.has_arrived & ~machine.exited).reshape(-1, self.threads).any(axis=1)
        complete = ~missing & self.has_arrived.reshape(-1, self.threads).any(axis=1)
        if not complete.any():
            return
        members = np.repeat(complete, self.threads) & self.has_arrived
        self.may_pass |= members
        self.has_arrived[members] = False
        ctas = np.repeat(complete, self.size)
        self.met_at[ctas], self.arrival[ctas] = self.arrival[ctas], -1
        for arriving, passed_on in zip(self.arriving, self.passed_on, strict=True):
            passed_on[complete], arriving[complete] = arriving[complete], -1
        machine.asynchronous.version += 1
        self._release()

    def _release(self) -> None:
        machine, clusters = self.machine, self.machine.clusters
        released = np.flatnonzero(self.may_pass & (self.pc > 0))
        if not released.size:
            return
        machine.progress.tick()
        synced = machine.progress.synced
        synced[released] = np.maximum(synced[released], self.met_at[machine.cta_of_thread[released]])
        if clusters is not None:
            self._let_know(clusters, released)
        pcs = self.pc[released]
        self.pc[released] = 0
        self.may_pass[released] = False
        for pc in np.unique(pcs).tolist():
            self.resume(pc, released[pcs == pc])

    def _let_know(self, clusters: Clusters, threads: Array) -> None:
        owners = threads // self.threads
        clusters.met[threads] = True
        for cluster in np.unique(owners).tolist():
            members = threads[owners == cluster]
            clusters.acquire(members, self.passed_on[0][cluster])
            clusters.seen_inits[members] = np.maximum(clusters.seen_inits[members], self.passed_on[1][cluster])

"""Which threads run next: those that are furthest behind.

Threads at one instruction run together. Of several groups the one with the smallest instruction number runs, so that
threads that took different ways meet again where the ways do; groups that loop while others wait give way to them
from time to time, so that who waits for a lock lets its holder run.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.cluster_barrier import ClusterBarrier
from tilewright.reference.simt.code import Code
from tilewright.reference.simt.errors import (
    BarrierDeadlockError,
    BarrierMisuseError,
    DeadlockError,
    DivergenceError,
    Fault,
    RaceError,
    SimulationError,
    error_at,
)
from tilewright.reference.simt.machine import Machine, NotConverged
from tilewright.reference.simt.types import choose
from tilewright.support.records import dataclass

PATIENCE = 64
"""How often a group may jump back while others wait."""


@dataclass
class Waiting:
    """The threads at one barrier: where each goes on, 0 for those that are not here, -1 for those that have only
    arrived; and how many the barrier expects, by CTA (0: all)."""

    pc: Array
    expected: Array


@dataclass
class Turns:
    """Who had the last turns, for the choice of the next."""

    last_run: dict[int, int] = field(default_factory=dict[int, int])
    """The step in which a group ran, or polled in vain, last."""
    jumps_back: int = 0
    is_favoured: bool = False
    """Whether the group that ran last got its turn from one that loops: it keeps it while it goes forward."""
    moved_to: list[int] = field(default_factory=list[int])
    """Where the threads that ran last went."""

    def choose(self, ready: list[int], last: int, *, is_stalled: bool) -> int:
        """Return which group runs next, after the one at `last`: the one furthest behind, or, where others loop or poll
        for too long, the one that has waited the longest."""
        if self.is_favoured and len(self.moved_to) == 1 and last < self.moved_to[0] and self.moved_to[0] in ready:
            return self.moved_to[0]
        first = min(ready)
        self.jumps_back += first <= last
        self.is_favoured = is_stalled or self.jumps_back >= PATIENCE
        if not self.is_favoured:
            return first
        self.jumps_back = 0
        return min(ready, key=lambda pc: self.last_run.get(pc, -1))


@dataclass
class Scheduler:
    """Groups of threads by instruction, and the threads at barriers."""

    code: Code
    machine: Machine
    step_limit: int
    groups: dict[int, Array] = field(default_factory=dict[int, Array])
    turns: Turns = field(default_factory=Turns)
    deferred: set[int] = field(default_factory=set[int])
    """Groups that wait for the rest of their warps."""
    stalled: dict[int, int] = field(default_factory=dict[int, int])
    """Groups that poll in vain, and the version of the state that they saw."""
    barriers: dict[int, Waiting] = field(default_factory=dict[int, Waiting])
    returns: dict[int, list[tuple[int, int]]] = field(default_factory=dict[int, list[tuple[int, int]]])
    """What is copied where functions return to an instruction."""
    cluster_barrier: ClusterBarrier = field(init=False)
    steps: int = 0

    def run(self) -> None:
        """From the entry to the exit of every thread. Raises SimulationError."""
        machine = self.machine
        self.cluster_barrier = ClusterBarrier(machine, self.add)
        self.groups[self.code.entry] = np.flatnonzero(~machine.exited)
        pc = self.code.entry
        try:
            while self.groups:
                pc = self._choose(pc)
                self._run_group(pc)
                self.steps += 1
                if self.steps > self.step_limit:
                    raise Fault(DeadlockError, f"the kernel has not ended after {self.step_limit} steps", 0)
        except Fault as fault:
            raise self._located(fault) from None
        self._check_barriers()
        self._check_copies()

    def _run_group(self, pc: int) -> None:
        machine, threads = self.machine, self.groups.pop(pc)
        machine.active = None if threads.size == machine.total else threads
        machine.pc = pc
        machine.stalled = False
        self.turns.moved_to.clear()
        self.turns.last_run[pc] = self.steps
        try:
            segment = self.code.segment(pc)
            for machine.pc, step in segment:
                step(machine)
            end = segment[-1][0] + 1 if segment else pc
            control = self.code.controls.get(end)
            if control is None or (segment and end in self.code.leaders):
                self.add(end, threads)
            else:
                machine.pc = end
                control(self, machine)
        except NotConverged:
            self._defer(machine.pc, threads)
            return
        if machine.stalled:
            self._note_stall(pc)

    def add(self, pc: int, threads: Array) -> None:
        """Threads go on at an instruction."""
        there = self.groups.get(pc)
        if there is not None:
            threads = np.sort(np.concatenate([there, threads]))
            self.deferred.discard(pc)
        self.groups[pc] = threads
        self.turns.moved_to.append(pc)
        if self.machine.stalled:
            self.turns.last_run[pc] = self.steps

    def _choose(self, last: int) -> int:
        """The group that runs next."""
        if len(self.groups) == 1:
            return next(iter(self.groups))
        ready = [pc for pc in self.groups if pc not in self.deferred]
        if not ready:
            self._fail_unconverged()
        return self.turns.choose(ready, last, is_stalled=self.machine.stalled)

    def _defer(self, pc: int, threads: Array) -> None:
        """A part of a warp waits for the rest."""
        there = self.groups.get(pc)
        if there is None:
            self.groups[pc] = threads
            self.deferred.add(pc)
        else:
            self.groups[pc] = np.sort(np.concatenate([there, threads]))
            self.deferred.discard(pc)

    def _fail_unconverged(self) -> None:
        pc = min(self.groups)
        self.machine.active, self.machine.pc = self.groups[pc], pc
        raise Fault(
            DivergenceError, "an instruction of whole warps is executed by some threads of a warp, and never by all", 0
        )

    def _note_stall(self, pc: int) -> None:
        """Fault if everybody polls for something that nobody will do."""
        version = self.machine.asynchronous.version
        for group in self.groups:
            if self.turns.last_run.get(group) == self.steps or group == pc:
                self.stalled[group] = version
        if all(self.stalled.get(group) == version for group in self.groups):
            raise Fault(BarrierDeadlockError, self.machine.asynchronous.describe_stall(), 0)

    def exit(self, threads: Array) -> None:
        """Threads end."""
        self.machine.exited[threads] = True
        if self.machine.clusters is not None:
            self.machine.clusters.exit(threads)
        for identifier in list(self.barriers):
            self._release(identifier)
        self.cluster_barrier.complete()

    def arrive(self, identifier: int, threads: Array, expected: int | None) -> None:
        """Threads arrive at a barrier without waiting."""
        self._enter(identifier, threads, -1, expected)
        self._release(identifier)

    def wait(self, identifier: int, threads: Array, pc: int, expected: int | None) -> None:
        """Threads wait at a barrier, to go on at an instruction."""
        machine = self.machine
        if threads.size == machine.total and expected in (None, machine.threads_per_cta):
            machine.progress.synced[:] = now = machine.progress.tick()
            if machine.clusters is None:
                machine.progress.floor = now
            else:
                machine.clusters.join(threads, machine.cta_of_thread)
            self.add(pc, threads)
            return
        self._enter(identifier, threads, pc, expected)
        self._release(identifier)

    def _enter(self, identifier: int, threads: Array, pc: int, expected: int | None) -> None:
        machine = self.machine
        waiting = self.barriers.get(identifier)
        if waiting is None:
            waiting = Waiting(np.zeros(machine.total, np.int64), np.zeros(machine.num_ctas, np.int64))
            self.barriers[identifier] = waiting
        if waiting.pc[threads].any():
            raise Fault(BarrierMisuseError, f"threads come to barrier {identifier} again before others have come", 0)
        waiting.pc[threads] = pc
        waiting.expected[machine.cta_of_thread[threads]] = expected or 0

    def _release(self, identifier: int) -> None:
        """Let the threads of those CTAs go on of which enough are here."""
        machine, waiting = self.machine, self.barriers[identifier]
        here = waiting.pc != 0
        per_cta = here.reshape(machine.num_ctas, -1).sum(1)
        gone = machine.exited.reshape(machine.num_ctas, -1).sum(1)
        expected = choose(waiting.expected == 0, machine.threads_per_cta - gone, waiting.expected)
        complete = (per_cta > 0) & (per_cta >= expected)
        if not np.any(complete):
            return
        released = np.flatnonzero(here & complete[machine.cta_of_thread])
        machine.progress.synced[released] = machine.progress.tick()
        if machine.clusters is not None:
            machine.clusters.join(released, machine.cta_of_thread[released])
        pcs = waiting.pc[released]
        waiting.pc[released] = 0
        for pc in np.unique(pcs[pcs > 0]).tolist():
            self.add(pc, released[pcs == pc])

    def _check_barriers(self) -> None:
        """DeadlockError if threads still wait, BarrierMisuseError if some have arrived that nothing waits for."""
        for identifier, waiting in self.barriers.items():
            left = np.flatnonzero(waiting.pc > 0)
            if left.size:
                cta = int(self.machine.cta_of_thread[left[0]])
                here = int((self.machine.cta_of_thread[left] == cta).sum())
                reason = (
                    f"{here} of {self.machine.threads_per_cta} threads wait at barrier {identifier} "
                    "for others that never come"
                )
                instruction = self.code.instructions[int(waiting.pc[left[0]]) - 1]
                raise error_at(instruction, reason, DeadlockError)
            if waiting.pc.any():
                reason = f"threads have arrived at barrier {identifier} where nobody waits any more"
                raise error_at(self.code.instructions[-1], reason, BarrierMisuseError)

    def _check_copies(self) -> None:
        """RaceError if copies of boxes outlive the shared memory that they use."""
        unfinished = self.machine.asynchronous.find_unfinished()
        if unfinished is not None:
            reason = "the program ends while this copy may still use its shared memory: nobody waits for it"
            raise error_at(self.code.instructions[unfinished], reason, RaceError)

    def _located(self, fault: Fault) -> SimulationError:
        """The error of a fault in the instruction that is being executed."""
        machine, reason = self.machine, fault.reason
        if fault.position is not None and machine.count:
            thread = int(machine.threads[min(fault.position, machine.count - 1)])
            reason = f"{self.describe_thread(thread)}: {reason}"
        return error_at(self.code.instructions[machine.pc], reason, fault.kind)

    def describe_thread(self, thread: int) -> str:
        """Program and thread, for messages."""
        x, y, z = self.program_of_cta(int(self.machine.cta_of_thread[thread]))
        return f"program ({x}, {y}, {z}), thread {thread % self.machine.threads_per_cta}"

    first_cta: int = 0
    extents: tuple[int, int, int] = (1, 1, 1)

    def program_of_cta(self, cta: int) -> tuple[int, int, int]:
        """The program id of a CTA of this machine."""
        program = self.first_cta + cta
        return (
            program % self.extents[0],
            program // self.extents[0] % self.extents[1],
            program // (self.extents[0] * self.extents[1]),
        )

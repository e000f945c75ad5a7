"""mbarriers: barriers in shared memory that also count bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.async_state import Barrier
from tilewright.reference.simt.instructions.bits import B32, B64, PREDICATE
from tilewright.reference.simt.instructions.memory import address_of
from tilewright.reference.simt.layout import SHARED_WINDOW
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.memory import CLUSTER
from tilewright.reference.simt.program import Decoder, Source, Step, decodes
from tilewright.reference.simt.types import choose
from tilewright.support.ptx.syntax import Address, Instruction, Operand

SIZE = 8


def locate_barriers(machine: Machine, addresses: Array, *, may_reach: bool = False, by_unit: bool = False) -> Array:
    """Return where the barriers that active threads name, or units in their name, lie in the shared memory of all
    CTAs."""
    flat = machine.spread(addresses)
    if flat.dtype.itemsize == 8:
        may_reach = True
        flat = choose(flat >= np.uint64(SHARED_WINDOW), flat - np.uint64(SHARED_WINDOW), flat)
    machine.shared.check_aligned(flat.astype(np.int64), SIZE)
    return machine.shared.locate(flat, SIZE, may_reach=may_reach, by_unit=by_unit)


def note_uses(machine: Machine, locations: Array, *, by_unit: bool = False) -> None:
    """Threads use barriers: after whoever initialised them, and before whoever takes their memory for something
    else, who knows of what units do as the barriers count it. Uses are not ordered among themselves. Fault where there
    is no barrier."""
    shared = machine.shared
    for location in np.unique(locations).tolist():
        machine.asynchronous.barrier_at(location)
    if (order := shared.order) is not None:
        granules = order.granules(locations, SIZE)
        order.note_reads(granules, machine.threads, of_barriers=True, by_unit=by_unit)


@decodes("mbarrier.init")
def initialise(instruction: Instruction, decoder: Decoder) -> Step:
    """`mbarrier.init.shared::cta.b64 [b], count;`"""
    address = address_of(instruction.operands[0], decoder, instruction)
    count = decoder.source(instruction.operands[1], B32, instruction)

    def run(machine: Machine) -> None:
        locations, shared = locate_barriers(machine, address(machine)), machine.shared
        if (order := shared.order) is not None:
            order.note_writes(order.granules(locations, SIZE), machine.threads)
        shared.data[locations[:, np.newaxis] + np.arange(SIZE)] = 0
        counts = machine.spread(count(machine))
        for location, number in zip(locations.tolist(), counts.tolist(), strict=True):
            machine.asynchronous.barriers[location] = Barrier(number, number)
        machine.asynchronous.version += 1

    return run


@decodes("mbarrier.inval")
def invalidate(instruction: Instruction, decoder: Decoder) -> Step:
    address = address_of(instruction.operands[0], decoder, instruction)

    def run(machine: Machine) -> None:
        locations, shared, state = locate_barriers(machine, address(machine)), machine.shared, machine.asynchronous
        if (order := shared.order) is not None:
            order.note_writes(order.granules(locations, SIZE), machine.threads)
        for location in locations.tolist():
            state.barrier_at(location)
            del state.barriers[location]

    return run


def _for_each(
    machine: Machine, address: Source, action: Callable[[Barrier, Array], None], *, may_reach: bool = False
) -> None:
    """Do something with each barrier that active threads name, and the positions of those threads."""
    locations = locate_barriers(machine, address(machine), may_reach=may_reach)
    note_uses(machine, locations)
    machine.asynchronous.for_active_barriers(locations, action)


def _number(operand: Operand | None, decoder: Decoder, instruction: Instruction) -> Source:
    """An operand that may be missing: then it is 1."""
    if operand is None:
        return lambda machine: np.uint32(1)
    return decoder.source(operand, B32, instruction)


@decodes("mbarrier.arrive")
def arrive(instruction: Instruction, decoder: Decoder) -> Step:
    """`mbarrier.arrive.shared.b64 state, [b], count;`, or with `.expect_tx` one arrival and so many bytes more."""
    at = next(n for n, operand in enumerate(instruction.operands) if isinstance(operand, Address))
    address = address_of(instruction.operands[at], decoder, instruction)
    number = instruction.operands[at + 1] if len(instruction.operands) > at + 1 else None
    given = _number(number, decoder, instruction)
    expects = "expect_tx" in instruction.modifiers
    may_reach = CLUSTER in instruction.modifiers
    target = decoder.target(instruction.operands[0], B64, instruction) if at else None

    def run(machine: Machine) -> None:
        values = machine.spread(given(machine)).astype(np.int64)
        phases = np.zeros(machine.count, np.uint64)

        def each(barrier: Barrier, threads: Array) -> None:
            phases[threads] = barrier.phase
            machine.asynchronous.note_arrivals(barrier, machine.threads[threads])
            if expects:
                barrier.missing_bytes += int(values[threads].sum())
            machine.asynchronous.arrive(barrier, threads.size if expects else int(values[threads].sum()))

        _for_each(machine, address, each, may_reach=may_reach)
        if target is not None:
            target(machine, phases)

    return run


@decodes("mbarrier.expect_tx")
def expect(instruction: Instruction, decoder: Decoder) -> Step:
    """So many bytes more, and no arrival."""
    address = address_of(instruction.operands[0], decoder, instruction)
    size = decoder.source(instruction.operands[1], B32, instruction)
    may_reach = CLUSTER in instruction.modifiers

    def run(machine: Machine) -> None:
        sizes = machine.spread(size(machine)).astype(np.int64)

        def each(barrier: Barrier, threads: Array) -> None:
            barrier.missing_bytes += int(sizes[threads].sum())
            machine.asynchronous.version += 1

        _for_each(machine, address, each, may_reach=may_reach)

    return run


@decodes("mbarrier.test_wait", "mbarrier.try_wait")
def wait(instruction: Instruction, decoder: Decoder) -> Step:
    """`mbarrier.try_wait.parity.shared.b64 p, [b], parity;`: whether the phase of a parity, or of a state, is over."""
    target = decoder.target(instruction.operands[0], PREDICATE, instruction)
    address = address_of(instruction.operands[1], decoder, instruction)
    phase = decoder.source(instruction.operands[2], B32 if "parity" in instruction.modifiers else B64, instruction)

    def run(machine: Machine) -> None:
        phases, holds = machine.spread(phase(machine)), np.zeros(machine.count, np.bool_)
        state, progress = machine.asynchronous, machine.progress

        def each(barrier: Barrier, threads: Array) -> None:
            for parity in np.unique(phases[threads] & phases.dtype.type(1)).tolist():
                asking = threads[(phases[threads] & phases.dtype.type(1)) == parity]
                if state.has_completed(barrier, int(parity)):
                    holds[asking] = True
                    who = machine.threads[asking]
                    progress.synced[who] = np.maximum(progress.synced[who], barrier.completed)
                    if machine.clusters is not None and barrier.passed_on is not None:
                        machine.clusters.acquire(who, barrier.passed_on)

        _for_each(machine, address, each)
        if holds.any():  # what others do to the barrier from now on comes after the wait, not after the phase
            note_uses(machine, locate_barriers(machine, address(machine)))
        machine.stalled = not holds.any()
        target(machine, holds)

    return run


@decodes("cp.async.mbarrier.arrive")
def arrive_after_copies(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.async.mbarrier.arrive.noinc.shared.b64 [b];`: arrive once all copies of the thread so far are done. Without
    `.noinc` the barrier expects one more arrival for it."""
    address = address_of(instruction.operands[0], decoder, instruction)
    counts = "noinc" in instruction.modifiers

    def run(machine: Machine) -> None:
        state = machine.asynchronous

        def each(barrier: Barrier, positions: Array) -> None:
            threads = machine.threads[positions]
            if not counts:
                barrier.missing += threads.size
            state.arrive_after_copies(barrier, threads)

        _for_each(machine, address, each)

    return run

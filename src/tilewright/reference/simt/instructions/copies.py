"""Copies by threads that are waited for in groups (`cp.async`), and the fence between threads and asynchronous
units."""

from __future__ import annotations

import numpy as np

from tilewright.reference.simt.errors import Fault, MemoryAccessError
from tilewright.reference.simt.instructions.barriers import locate_barriers, note_uses
from tilewright.reference.simt.instructions.bits import B32, PREDICATE
from tilewright.reference.simt.instructions.memory import address_of, elements_of
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.memory import rows_of
from tilewright.reference.simt.program import Decoder, Step, decodes, scalar_of, unknown
from tilewright.reference.simt.types import choose
from tilewright.support.ptx.syntax import Address, Immediate, Instruction, Register


@decodes("cp.async.ca", "cp.async.cg")
def copy(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.async.ca.shared.global [d], [s], 16, n;`: n bytes of the source, then zeros. With a predicate in the place of
    n, zeros only where it holds."""
    into, out_of, size, *rest = instruction.operands
    if not isinstance(size, Immediate) or not isinstance(into, Address):
        raise unknown(instruction)
    target, source = address_of(into, decoder, instruction), address_of(out_of, decoder, instruction)
    is_predicate = bool(rest) and isinstance(rest[0], Register) and rest[0].bits == 1
    has_count = bool(rest) and not is_predicate and not (isinstance(rest[0], Register) and rest[0].bits == 64)
    count = decoder.source(rest[0], B32, instruction) if has_count else None
    ignores = decoder.source(rest[0], PREDICATE, instruction) if is_predicate else None
    width = size.value

    def run(machine: Machine) -> None:
        locations = machine.shared.locate(target(machine), width)
        machine.shared.check_aligned(locations, width)
        rows = np.zeros((machine.count, width), np.uint8)
        given = np.full(machine.count, width, np.int64)
        if count is not None:
            given = machine.spread(count(machine)).astype(np.int64)
        elif ignores is not None:
            given = choose(machine.spread(ignores(machine)), 0, width)
        addresses = machine.spread(source(machine))
        for length in np.unique(given[given > 0]).tolist():
            chosen = np.flatnonzero(given == length)
            with machine.only(machine.threads[chosen]):
                rows[chosen, :length] = machine.memory.load_bytes_by_threads(machine, addresses[chosen], length)
        machine.asynchronous.start_copy(locations, rows)

    return run


@decodes("cp.async.commit_group")
def commit(instruction: Instruction, decoder: Decoder) -> Step:
    return lambda machine: machine.asynchronous.commit_copies()


@decodes("cp.async.wait_group")
def wait_for_group(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.async.wait_group n;`: all groups of the thread but the last n have arrived."""
    pending = decoder.source(instruction.operands[0], B32, instruction)
    return lambda machine: machine.asynchronous.wait_for_copies(int(scalar_of(pending(machine))))


@decodes("cp.async.wait_all")
def wait_for_all(instruction: Instruction, decoder: Decoder) -> Step:
    return lambda machine: machine.asynchronous.wait_for_copies(None)


@decodes("fence.proxy.async")
def fence(instruction: Instruction, decoder: Decoder) -> Step:
    """Make what threads wrote visible to asynchronous units."""

    def run(machine: Machine) -> None:
        machine.progress.fenced[machine.threads] = machine.progress.tick()

    return run


@decodes("st.async")
def store_async(instruction: Instruction, decoder: Decoder) -> Step:
    """`st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [d], {a, b}, [barrier];`: a store into shared
    memory of the cluster, whose bytes an mbarrier beside it counts."""
    type_, items = decoder.type_of(instruction), elements_of(instruction.operands[1])
    if "mbarrier::complete_tx::bytes" not in instruction.modifiers:
        raise unknown(instruction)
    target, barrier = (address_of(instruction.operands[n], decoder, instruction) for n in (0, 2))
    sources = decoder.sources(items, type_, instruction)

    def run(machine: Machine) -> None:
        rows = rows_of(machine, [source(machine) for source in sources])
        contents = np.ascontiguousarray(np.broadcast_to(rows, (machine.count, len(sources)))).view(np.uint8)
        into = machine.shared.locate(target(machine), contents.shape[1], may_reach=True, by_unit=True)
        machine.shared.check_aligned(into, contents.shape[1])
        locations = locate_barriers(machine, barrier(machine), may_reach=True, by_unit=True)
        note_uses(machine, locations, by_unit=True)
        state, stride = machine.asynchronous, machine.shared.stride
        size = int(contents.shape[1])
        if np.any(into // stride != locations // stride):
            raise Fault(MemoryAccessError, "the mbarrier of a store is not in the CTA that it stores to", 0)
        for position, thread in enumerate(machine.threads.tolist()):
            counting = state.barrier_at(int(locations[position]))
            state.start_box(counting, thread, int(into[position]) + np.arange(size), contents[position])

    return run

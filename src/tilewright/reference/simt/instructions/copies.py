"""Copies by threads that are waited for in groups (`cp.async`), and the fence between threads and asynchronous
units."""

from __future__ import annotations

import numpy as np

from tilewright.reference.simt.instructions.bits import B32, PREDICATE
from tilewright.reference.simt.instructions.memory import address_of
from tilewright.reference.simt.machine import Machine
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
        places = machine.shared.places(machine, target(machine), width)
        machine.shared.check_aligned(places, width)
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
        machine.asynchronous.start_copy(places, rows)

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
        machine.time += 1
        machine.shared.fenced[machine.threads] = machine.time

    return run

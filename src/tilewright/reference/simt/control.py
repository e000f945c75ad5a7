"""Instructions after which threads may go on elsewhere, or wait: branches, calls, returns, barriers, traps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import DeviceTrap, Fault, SimulationError
from tilewright.reference.simt.library import LIBRARY
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.program import Decoder, Source, scalar_of, unknown
from tilewright.support.ptx.syntax import Immediate, Instruction, Register, Symbol, Vector
from tilewright.support.ptx.types import parse_type

if TYPE_CHECKING:
    from tilewright.reference.simt.scheduler import Scheduler

Control = Callable[["Scheduler", Machine], None]
"""Sends the active threads on."""

CONTROL = {"bra", "brx", "call", "ret", "exit", "trap", "bar", "barrier"}
"""First parts of the opcodes; `bar.warp` is not control flow, but waits for its warp."""

B32, PREDICATE = parse_type("b32"), parse_type("pred")


def decode_control(instruction: Instruction, decoder: Decoder, pc: int) -> Control:
    """The function that executes an instruction and gives its threads new pcs."""
    match instruction.name:
        case "bra":
            return _branch(instruction, decoder)
        case "brx":
            control = _branch_by_index(instruction, decoder)
        case "call":
            control = _call(instruction, decoder, pc)
        case "ret":
            control = _return(decoder)
        case "exit":
            control = _exit
        case "trap":
            control = _trap
        case "bar" | "barrier":
            control = _barrier(instruction, decoder, pc)
        case _:
            raise unknown(instruction)
    return _guarded(instruction, control, pc)


def _guarded(instruction: Instruction, control: Control, pc: int) -> Control:
    """Under a guard, threads for which it does not hold go on after it."""
    guard = instruction.guard
    if guard is None:
        return control
    register, negated = guard.number, instruction.guard_negated

    def run(scheduler: Scheduler, machine: Machine) -> None:
        taken, others = _divide(machine, register, negated)
        if others is not None:
            scheduler.add(pc + 1, others)
        if taken is not None:
            machine.active = _none_if_all(machine, taken)
            control(scheduler, machine)

    return run


def _divide(machine: Machine, register: int, negated: bool) -> tuple[Array | None, Array | None]:
    """The active threads for which a predicate holds, and the others; None for no thread."""
    holds, threads = machine.get(register), machine.threads
    if negated:
        holds = ~holds
    if holds.ndim == 0:
        return (threads, None) if holds else (None, threads)
    if holds.all():
        return threads, None
    if not holds.any():
        return None, threads
    return threads[holds], threads[~holds]


def _none_if_all(machine: Machine, threads: Array) -> Array | None:
    return None if threads.size == machine.total else threads


def _branch(instruction: Instruction, decoder: Decoder) -> Control:
    if instruction.target is None:
        raise unknown(instruction, "the label is not in the function")
    target = decoder.starts[decoder.function.name] + instruction.target
    guard = instruction.guard
    if guard is None:
        return lambda scheduler, machine: scheduler.add(target, machine.threads)
    register, negated = guard.number, instruction.guard_negated

    def run(scheduler: Scheduler, machine: Machine) -> None:
        taken, others = _divide(machine, register, negated)
        if others is not None:
            scheduler.add(machine.pc + 1, others)
        if taken is not None:
            scheduler.add(target, taken)

    return run


def _branch_by_index(instruction: Instruction, decoder: Decoder) -> Control:
    """`brx.idx index, table;`: on at a label of a table, by its index there."""
    start = decoder.starts[decoder.function.name]
    pcs = [start + target for target in instruction.targets if target is not None]
    if instruction.modifiers[:1] != ("idx",) or not pcs or len(pcs) != len(instruction.targets):
        raise unknown(instruction, "the labels are not in the function")
    assert B32 is not None
    which = decoder.source(instruction.operands[0], B32, instruction)

    def run(scheduler: Scheduler, machine: Machine) -> None:
        indices, threads = machine.spread(which(machine)), machine.threads
        outside = np.flatnonzero(indices >= len(pcs))
        if outside.size:
            first = int(outside[0])
            raise Fault(SimulationError, f"label {indices[first]} of a table of {len(pcs)}", first)
        for index, pc in enumerate(pcs):
            chosen = threads[indices == index]
            if chosen.size:
                scheduler.add(pc, chosen)

    return run


def _call(instruction: Instruction, decoder: Decoder, pc: int) -> Control:
    """`call.uni (results), function, (arguments);`"""
    operands = list(instruction.operands)
    results = operands[0] if isinstance(operands[0], Vector) else Vector(())
    operands = operands[1:] if operands[0] is results else operands
    name = operands[0].name if isinstance(operands[0], Symbol) else ""
    arguments = operands[1] if len(operands) > 1 and isinstance(operands[1], Vector) else Vector(())
    names = [item.name for item in arguments.items if isinstance(item, Symbol)]
    if name in LIBRARY:
        return LIBRARY[name](decoder, names, pc)
    callee = decoder.module.functions.get(name)
    if callee is None or name not in decoder.starts:
        raise unknown(instruction, f"'{name}' has no definition")
    caller, start, back = decoder.function.name, decoder.starts[name], decoder.returns[name]
    passed = list(zip(names, (parameter.name for parameter in callee.parameters), strict=True))
    given = [item.name for item in results.items if isinstance(item, Symbol)]
    decoder.links.append((caller, name, passed, list(zip(given, (r.name for r in callee.results), strict=True))))
    link = len(decoder.links) - 1

    def run(scheduler: Scheduler, machine: Machine) -> None:
        for source, target in decoder.copies_in(link):
            machine.put(target, _copied(machine.get(source)))
        machine.put(back, np.uint64(pc + 1))
        scheduler.returns[pc + 1] = decoder.copies_out(link)
        scheduler.add(start, machine.threads)

    return run


def _copied(values: Array) -> Array:
    return values.copy() if values.ndim else values


def _return(decoder: Decoder) -> Control:
    if decoder.function.is_kernel:
        return _exit
    register = decoder.returns[decoder.function.name]

    def run(scheduler: Scheduler, machine: Machine) -> None:
        pcs, threads = machine.get(register), machine.threads
        for pc in np.unique(pcs).tolist():
            chosen = threads if pcs.ndim == 0 else threads[pcs == pc]
            machine.active = _none_if_all(machine, chosen)
            for source, target in scheduler.returns[pc]:
                machine.put(target, _copied(machine.get(source)))
            scheduler.add(pc, chosen)

    return run


def _exit(scheduler: Scheduler, machine: Machine) -> None:
    scheduler.exit(machine.threads)


def _trap(scheduler: Scheduler, machine: Machine) -> None:
    raise Fault(DeviceTrap, "the kernel stopped itself with a trap", 0)


def _barrier(instruction: Instruction, decoder: Decoder, pc: int) -> Control:
    """`bar.sync a{, b}`, `bar.arrive a, b`, `bar.red.op d, a{, b}, p`, and the barrier of a cluster."""
    is_relaxed = "relaxed" in instruction.modifiers
    parts = [part for part in instruction.modifiers if part not in ("cta", "aligned", "release", "relaxed", "acquire")]
    if parts[:1] == ["warp"]:
        return _warp_barrier(pc)
    if parts[:1] == ["cluster"]:
        return _cluster_barrier(pc, waits="wait" in parts, is_relaxed=is_relaxed)
    kind = parts[0] if parts else "sync"
    if kind not in ("sync", "arrive", "red"):
        raise unknown(instruction)
    operands = list(instruction.operands)
    result = operands.pop(0) if kind == "red" else None
    predicate = operands.pop() if kind == "red" else None
    assert B32 is not None and PREDICATE is not None
    which = decoder.source(operands[0] if operands else Immediate(0), B32, instruction)
    count = decoder.source(operands[1], B32, instruction) if len(operands) > 1 else None

    def run(scheduler: Scheduler, machine: Machine) -> None:
        expected = None if count is None else int(scalar_of(count(machine)))
        for identifier, threads in _by_barrier(machine, which(machine)):
            if kind == "arrive":
                scheduler.arrive(identifier, threads, expected)
                scheduler.add(pc + 1, threads)
            else:
                scheduler.wait(identifier, threads, pc + 1, expected)

    if result is None or predicate is None:
        return run
    return _reduction(instruction, decoder, parts, run, result, decoder.source(predicate, PREDICATE, instruction))


def _by_barrier(machine: Machine, identifiers: Array) -> list[tuple[int, Array]]:
    """The active threads by the barrier that they name."""
    if identifiers.ndim == 0:
        return [(int(identifiers), machine.threads)]
    return [(identifier, machine.threads[identifiers == identifier]) for identifier in np.unique(identifiers).tolist()]


def _reduction(
    instruction: Instruction, decoder: Decoder, parts: list[str], run: Control, result: object, predicate: Source
) -> Control:
    """Return what the threads of a CTA make of their predicates. Only for threads that arrive together."""
    assert B32 is not None and PREDICATE is not None and isinstance(result, Register)
    operation = next((part for part in parts if part in ("and", "or", "popc")), None)
    if operation is None:
        raise unknown(instruction)
    target = decoder.target(result, PREDICATE if operation != "popc" else B32, instruction)

    def reduce(scheduler: Scheduler, machine: Machine) -> None:
        ctas = machine.cta_of_thread[machine.threads]
        if ctas.size % machine.threads_per_cta:
            raise Fault(DeviceTrap, "a reduction at a barrier that parts of a CTA reach", 0)
        holds = machine.spread(predicate(machine)).reshape(-1, machine.threads_per_cta)
        combined = {"and": holds.all, "or": holds.any, "popc": holds.sum}[operation](axis=1)
        values = np.repeat(combined, machine.threads_per_cta)
        target(machine, values if operation != "popc" else values.astype(np.uint32))
        run(scheduler, machine)

    return reduce


def _warp_barrier(pc: int) -> Control:
    def run(scheduler: Scheduler, machine: Machine) -> None:
        machine.check_whole_warps()
        machine.progress.warp_synced[machine.warps()] = machine.progress.tick()
        if machine.clusters is not None:
            machine.clusters.join(machine.threads, machine.threads // WARP)
        scheduler.add(pc + 1, machine.threads)

    return run


def _cluster_barrier(pc: int, *, waits: bool, is_relaxed: bool) -> Control:
    def run(scheduler: Scheduler, machine: Machine) -> None:
        if waits:
            scheduler.cluster_barrier.wait(machine.threads, pc + 1)
        else:
            scheduler.cluster_barrier.arrive(machine.threads, is_relaxed=is_relaxed)
            scheduler.add(pc + 1, machine.threads)

    return run

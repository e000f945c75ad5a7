"""mbarriers: arrivals, bytes that copies bring, and waiting for a phase.

A program runs alone, so a wait for a phase that nothing under way can complete would never end: that is an error.
"""

from __future__ import annotations

from typing import Any

from tilewright.dialects import ttng
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.reference.machine import Frame, Values, as_bool, as_int, meaning_of
from tilewright.reference.memory import BarrierMisuse
from tilewright.reference.ttg.buffers import view_of
from tilewright.reference.ttg.in_flight import Barrier, memory_of_program
from tilewright.reference.ttg.scheduling import wait_until


def is_on(frame: Frame, predicate: Any) -> bool:
    """Return whether a predicate that an op may have holds."""
    return predicate is None or as_bool(frame.get(predicate))


@meaning_of(ttng.InitBarrierOp)
def initialise(op: ttng.InitBarrierOp, frame: Frame) -> Values:
    view, count = view_of(frame, op.alloc), op.count.value.data
    view.put(view.check_writable(), 0 * view.positions)
    memory_of_program(frame).barriers[view.storage, view.start] = Barrier(count, count)
    return ()


@meaning_of(ttng.InvalBarrierOp)
def invalidate(op: ttng.InvalBarrierOp, frame: Frame) -> Values:
    view, memory = view_of(frame, op.alloc), memory_of_program(frame)
    barrier = memory.barrier(view)
    if barrier.copies or barrier.cp_async:
        raise BarrierMisuse("a barrier is invalidated while copies that report to it are under way")
    del memory.barriers[view.storage, view.start]
    return ()


@meaning_of(ttng.BarrierExpectOp)
def expect(op: ttng.BarrierExpectOp, frame: Frame) -> Values:
    """One arrival, and so many bytes more."""
    if is_on(frame, op.pred):
        barrier = memory_of_program(frame).barrier(view_of(frame, op.alloc))
        barrier.missing_bytes += op.size.value.data
        barrier.arrive(1)
    return ()


@meaning_of(ttng.ArriveBarrierOp)
def arrive(op: ttng.ArriveBarrierOp, frame: Frame) -> Values:
    if is_on(frame, op.pred):
        arrivals = op.count.value.data * (1 if op.per_warp is None else warps_of_program(op))
        memory_of_program(frame).barrier(view_of(frame, op.alloc)).arrive(arrivals)
    return ()


@meaning_of(ttng.AsyncCopyMbarrierArriveOp)
def arrive_after_copies(op: ttng.AsyncCopyMbarrierArriveOp, frame: Frame) -> Values:
    """An arrival once all `cp.async` so far are done. Unless `noIncrement`, it counts in addition to those that the
    barrier was made for, which then changes nothing but the order."""
    memory = memory_of_program(frame)
    started = [copy for group in memory.groups for copy in group] + memory.copies
    barrier = memory.barrier(view_of(frame, op.barrier))
    barrier.cp_async.append((started, op.no_increment is not None))
    memory.groups.clear()
    memory.copies = []
    return ()


@meaning_of(ttng.WaitBarrierOp)
def wait(op: ttng.WaitBarrierOp, frame: Frame) -> Values:
    """Until the phase of the given parity has completed; copies arrive one by one until it has."""
    if not is_on(frame, op.pred):
        return ()
    memory = memory_of_program(frame)
    barrier, parity = memory.barrier(view_of(frame, op.alloc)), as_int(frame.get(op.phase)) & 1
    if not wait_until(frame, lambda: has_completed(barrier, parity)):
        raise BarrierMisuse(
            f"waits forever: the barrier still misses {barrier.missing} arrivals and {barrier.missing_bytes} bytes"
        )
    return ()


def has_completed(barrier: Barrier, parity: int) -> bool:
    """Return whether the phase of a parity has completed, if need be after some more copies have arrived."""
    while barrier.phase == parity:
        if barrier.copies:
            copy = barrier.copies.popleft()
            copy.finish()
            barrier.missing_bytes -= copy.num_bytes
            barrier.settle()
        elif barrier.cp_async:
            copies, counts = barrier.cp_async.popleft()
            for copy in copies:
                copy.finish()
            if counts:
                barrier.arrive(min(barrier.missing, barrier.count))
        else:
            return False
    return True

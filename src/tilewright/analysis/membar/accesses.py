"""The effects of ops on shared memory: which bytes are read or written, and whether at once or until a wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from tilewright.analysis.allocation import Buffer, BufferKind, ModuleAllocation
from tilewright.analysis.shared_views import Box, view_of
from tilewright.dialects import gpu, tt, ttg, ttng
from tilewright.dialects.ttg.types import MemDescType
from tilewright.support.records import dataclass


class Timing(Enum):
    """When an access happens."""

    NOW = "now"
    COPY = "copy"
    """`cp.async`: done for the thread that issued it when that waits (`ttg.async_wait`)."""
    PRODUCT = "product"
    """Asynchronous `wgmma`: operands are read until the warp waits (`ttng.warp_group_dot_wait`)."""
    STORE = "store"
    """TMA copies out of shared memory: read until the thread that issued them waits (`ttng.async_tma_store_wait`)."""
    BULK = "bulk"
    """TMA copies into shared memory: every thread waits on an mbarrier before it reads, no other barrier is needed."""


@dataclass(frozen=True)
class Slice:
    """Bytes `start` to `stop` of a function's shared memory; or, with `argument`, of the buffer that the function got
    as that argument."""

    start: int
    stop: int
    box: Box | None = None
    argument: BlockArgument | None = None

    def may_overlap(self, other: Slice) -> bool:
        """Return whether two slices may have a byte in common.

        Buffers that a function gets never overlap its own, which lie in its part of the caller's memory; two that it
        gets may be one.
        """
        if (self.argument is None) != (other.argument is None):
            return False
        if self.argument is not other.argument:
            return True
        if self.stop <= other.start or other.stop <= self.start:
            return False
        same = (self.start, self.stop) == (other.start, other.stop)
        return not (same and self.box is not None and other.box is not None and self.box.is_apart(other.box))

    def shifted(self, offset: int) -> Slice:
        """The slice as seen from a caller that placed the function's memory at `offset`."""
        return replace(self, start=self.start + offset, stop=self.stop + offset)


@dataclass(frozen=True, eq=False)
class Access:
    """An op reads or writes a slice. Two accesses are equal only if they are one."""

    op: Operation
    slice: Slice
    is_write: bool
    timing: Timing = Timing.NOW


READ, WRITE = False, True
Touch = tuple[SSAValue, bool, Timing]
"""A memdesc, whether it is written, and when."""


def _tma_load(op: Operation) -> list[Touch]:
    assert isinstance(op, ttng.AsyncTMACopyGlobalToLocalOp | ttng.AsyncTMAGatherOp)
    return [(op.result, WRITE, Timing.BULK), (op.barrier, WRITE, Timing.NOW)]


def _product(op: Operation) -> list[Touch]:
    assert isinstance(op, ttng.WarpGroupDotOp)
    timing = Timing.PRODUCT if op.is_async.value.data else Timing.NOW
    return [(value, READ, timing) for value in (op.a, op.b) if isinstance(value.type, MemDescType)]


def _initial_value(op: Operation) -> list[Touch]:
    return [(op.results[0], WRITE, Timing.NOW)] if op.operands else []


def _operand(index: int, is_write: bool, timing: Timing = Timing.NOW) -> Callable[[Operation], list[Touch]]:
    return lambda op: [(op.operands[index], is_write, timing)]


def _last_operand(is_write: bool, timing: Timing) -> Callable[[Operation], list[Touch]]:
    return lambda op: [(op.operands[-1], is_write, timing)]


def _nothing(op: Operation) -> list[Touch]:
    return []


_TOUCHES: dict[type[Operation], Callable[[Operation], list[Touch]]] = {
    ttg.LocalAllocOp: _initial_value,
    ttg.LocalDeallocOp: _nothing,
    ttg.LocalLoadOp: _operand(0, READ),
    ttg.LocalStoreOp: _operand(1, WRITE),
    ttg.LocalGatherOp: _operand(0, READ),
    ttg.LocalScatterOp: _operand(0, WRITE),
    ttg.LocalAtomicScatterRMWOp: _operand(0, WRITE),
    ttg.AsyncCopyGlobalToLocalOp: _operand(1, WRITE, Timing.COPY),
    ttng.AsyncTMACopyGlobalToLocalOp: _tma_load,
    ttng.AsyncTMAGatherOp: _tma_load,
    ttng.AsyncTMACopyLocalToGlobalOp: _last_operand(READ, Timing.STORE),
    ttng.AsyncTMAReduceOp: _last_operand(READ, Timing.STORE),
    ttng.AsyncTMAScatterOp: _last_operand(READ, Timing.STORE),
    ttng.WarpGroupDotOp: _product,
    ttng.WarpGroupDotWaitOp: _nothing,
    ttng.InitBarrierOp: _operand(0, WRITE),
    ttng.InvalBarrierOp: _operand(0, WRITE),
    ttng.BarrierExpectOp: _operand(0, WRITE),
    ttng.ArriveBarrierOp: _operand(0, WRITE),
    ttng.AsyncCopyMbarrierArriveOp: _operand(0, WRITE),
    ttng.WaitBarrierOp: _operand(0, READ),
    ttng.AsyncSharedStoreOp: lambda op: [(op.operands[1], WRITE, Timing.BULK), (op.operands[2], WRITE, Timing.NOW)],
    ttng.AwaitTurnOp: _nothing,
    ttng.PassTurnOp: _nothing,
    ttng.AsyncTMAPrefetchOp: _nothing,
    ttng.StartRoleOp: _nothing,
    ttg.MemDescIndexOp: _nothing,
    ttg.MemDescSubsliceOp: _nothing,
    ttg.MemDescTransOp: _nothing,
    ttg.MemDescReshapeOp: _nothing,
    ttg.MemDescReinterpretOp: _nothing,
}

BARRIERS = (ttg.LocalBarrierOp, gpu.BarrierOp, ttng.ClusterWaitOp, ttng.ClusterBarrierOp)
"""Ops at which all threads of the CTA meet."""

WAITS: dict[type[Operation], Timing] = {
    ttg.AsyncWaitOp: Timing.COPY,
    ttng.WarpGroupDotWaitOp: Timing.PRODUCT,
    ttng.TMAStoreWaitOp: Timing.STORE,
}
"""What ops wait for. Of each thread only its own copies, of each warp only its own products are done after the wait:
what they did counts as done by the wait, and other threads need a barrier to know of it."""


ORDERED = "ttg.ordered"
"""On copies into buffers that mbarriers guard, and on the waits for them: readers wait until what they read is there,
copies until what they overwrite was read."""


def is_ordered_copy(op: Operation) -> bool:
    """Return whether mbarriers order a copy and the products that read what it copies."""
    return isinstance(op, ttg.AsyncCopyGlobalToLocalOp) and ORDERED in op.attributes


def pending_after(op: Operation) -> int:
    """Return how many groups may still be under way after a wait."""
    attribute = op.properties.get("num") or op.properties.get("pendings")
    return int(getattr(getattr(attribute, "value", None), "data", 1))


def touches_of(op: Operation) -> Sequence[Touch]:
    """Return which memdescs an op reads and writes; of an op that is not known, all that it is given."""
    touches = _TOUCHES.get(type(op))
    if touches is not None:
        return touches(op)
    if op.regions or isinstance(op, tt.CallOp) or _only_forwards(op):
        return ()
    memdescs = [operand for operand in op.operands if isinstance(operand.type, MemDescType)]
    return [(value, kind, Timing.NOW) for value in memdescs for kind in (READ, WRITE)]


def _only_forwards(op: Operation) -> bool:
    return any(isinstance(result.type, MemDescType) for result in op.results) or op.has_trait(
        IsTerminator, value_if_unregistered=False
    )


def meets(op: Operation) -> bool:
    """Return whether all threads of the CTA wait at an op, and see each other's writes after it."""
    if isinstance(op, ttng.ClusterBarrierOp):
        return not op.relaxed.value.data
    return isinstance(op, BARRIERS)


class SliceFinder:
    """From memdescs to the bytes that they may be."""

    def __init__(self, allocation: ModuleAllocation) -> None:
        self._allocation = allocation

    def slices_of(self, value: SSAValue) -> list[Slice]:
        """The parts of buffers that a memdesc may be."""
        view = view_of(value)
        owner = view.root.owner
        if isinstance(owner, ttg.LocalAllocOp):
            return [self._in_buffer(self._buffer(owner), view.start, view.stop, view.box)]
        sources = self._allocation.aliases.of(view.root)
        if sources == frozenset((view.root,)) and isinstance(view.root, BlockArgument):
            return [Slice(view.start, view.stop, view.box, view.root)]
        return [self._whole(source) for source in sources]

    def _whole(self, source: SSAValue) -> Slice:
        if isinstance(source.owner, Operation):
            buffer = self._buffer(source.owner)
            return self._in_buffer(buffer, 0, buffer.size, None)
        assert isinstance(source, BlockArgument)
        view = view_of(source)
        return Slice(view.start, view.stop, None, source)

    def _buffer(self, op: Operation) -> Buffer:
        buffer = self._allocation.buffer_of(op)
        assert buffer is not None, f"no buffer of {op.name}"
        return buffer

    @staticmethod
    def _in_buffer(buffer: Buffer, start: int, stop: int, box: Box | None) -> Slice:
        return Slice(buffer.offset + start, buffer.offset + stop, box)

    def accesses_of(self, op: Operation) -> list[Access]:
        """Return what an op itself does to buffers, its scratch left out."""
        return [
            Access(op, slice_, is_write, timing)
            for value, is_write, timing in touches_of(op)
            for slice_ in self.slices_of(value)
        ]

    def scratch_of(self, op: Operation) -> Slice | None:
        """The scratch of an op."""
        buffer = self._allocation.buffer_of(op)
        if buffer is None or buffer.kind is not BufferKind.SCRATCH:
            return None
        return Slice(buffer.offset, buffer.offset + buffer.size)

    def in_caller(self, accesses: Iterable[Access], call: tt.CallOp) -> list[Access]:
        """Accesses of a callee as its caller sees them: in the call's virtual buffer, and in what it passes."""
        offset = self._allocation.offset_of(call) or 0
        found: list[Access] = []
        for access in accesses:
            argument = access.slice.argument
            if argument is None:
                found.append(replace(access, slice=access.slice.shifted(offset)))
            else:
                passed = self.slices_of(call.operands[argument.index])
                found.extend(replace(access, slice=slice_) for slice_ in passed)
        return found

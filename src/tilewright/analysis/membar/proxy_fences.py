"""The proxy fences that a module needs: after ordinary writes to shared memory, before asynchronous units touch them.

Threads access shared memory through the generic proxy, TMA and `wgmma` through the async proxy. What was written
through one is not visible through the other until `ttng.fence_async_shared` (`fence.proxy.async`) has run in between.
What the units write needs none: whoever waits on their mbarrier sees it.

The rule is that of Triton's `ProxyFenceInsertion`, except that a unit may write what threads have read without a fence:
they signal that the buffer is free only when they have its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Operation

from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.membar.accesses import Access, SliceFinder, Timing
from tilewright.analysis.membar.flow import FlowGraph, Point
from tilewright.dialects import tt, ttng
from tilewright.support.records import dataclass

Writes = frozenset[Access]
"""Writes by threads that no fence has followed yet."""

_ASYNCHRONOUS = (Timing.PRODUCT, Timing.STORE, Timing.BULK)


def is_by_unit(access: Access) -> bool:
    """Return whether TMA or `wgmma` makes an access, and not the threads themselves."""
    if isinstance(access.op, ttng.AsyncSharedStoreOp):
        return False  # `st.async` arrives later, but by way of the threads' proxy
    return access.timing in _ASYNCHRONOUS or isinstance(access.op, ttng.WarpGroupDotOp)


def is_by_threads(access: Access) -> bool:
    """Return whether threads make an access themselves. What `cp.async` has copied needs no fence: those who wait for
    it order it before what follows."""
    is_now = access.timing is Timing.NOW or isinstance(access.op, ttng.AsyncSharedStoreOp)
    return is_now and not is_by_unit(access)


@dataclass(frozen=True)
class FunctionEffects:
    """What callers have to know of a function."""

    has_units: bool = False
    """Whether it has accesses by units, in the functions that it calls as well."""
    left: Writes = frozenset()
    """The writes that it leaves without a fence."""


class ProxyFences:
    """The fences of a module whose buffers lie where `allocation` says; `places` are the ops before which they go."""

    def __init__(self, allocation: ModuleAllocation) -> None:
        self._graph = allocation.graph
        self._finder = SliceFinder(allocation)
        self._effects: dict[tt.FuncOp, FunctionEffects] = {}
        self._known: dict[Operation, tuple[Access, ...]] = {}
        self.places: list[Operation] = []
        for function in self._graph.post_order():
            if not function.is_declaration:
                self._visit(function)

    def _visit(self, function: tt.FuncOp) -> None:
        graph = FlowGraph(function, self._matters)
        fenced: set[Point] = set()
        states = self._states(graph, fenced)
        while (point := next((p for p in graph.points if self._needs_fence(p, states, fenced)), None)) is not None:
            fenced.add(point)
            states = self._states(graph, fenced)
        self.places += [point.op for point in graph.points if point in fenced and point.op is not None]
        has_units = any(self._has_units(point.op) for point in graph.points)
        self._effects[function] = FunctionEffects(has_units, states[graph.exit])

    def _states(self, graph: FlowGraph, fenced: Iterable[Point]) -> dict[Point, Writes]:
        """The writes that no fence has followed where each point begins, with fences before some of the points."""
        states: dict[Point, Writes] = dict.fromkeys(graph.points, frozenset())
        pending = list(reversed(graph.points))
        while pending:
            point = pending.pop()
            after = self._after(point.op, frozenset() if point in fenced else states[point])
            for successor in point.successors:
                if not after <= states[successor]:
                    states[successor] |= after
                    pending.append(successor)
        return states

    def _needs_fence(self, point: Point, states: dict[Point, Writes], fenced: set[Point]) -> bool:
        written = states[point]
        if point in fenced or not written:
            return False
        if isinstance(point.op, tt.CallOp):
            return self._of_callee(point.op).has_units
        return any(
            earlier.slice.may_overlap(access.slice)
            for access in self._accesses(point.op)
            if is_by_unit(access)
            for earlier in written
        )

    def _after(self, op: Operation | None, written: Writes) -> Writes:
        """The writes that no fence has followed after an op, given those before it."""
        if isinstance(op, ttng.FenceAsyncSharedOp):
            return frozenset()
        return written | {access for access in self._accesses(op) if access.is_write and is_by_threads(access)}

    def _has_units(self, op: Operation | None) -> bool:
        if isinstance(op, tt.CallOp):
            return self._of_callee(op).has_units
        return any(map(is_by_unit, self._accesses(op)))

    def _matters(self, op: Operation) -> bool:
        if isinstance(op, tt.CallOp):
            return self._of_callee(op) != FunctionEffects()
        return isinstance(op, ttng.FenceAsyncSharedOp) or bool(self._accesses(op))

    def _accesses(self, op: Operation | None) -> Sequence[Access]:
        """Find what an op does to buffers, its writes to scratch, and what a callee has left without a fence; for one
        op always the same objects."""
        if op is None:
            return ()
        known = self._known.get(op)
        if known is None:
            known = self._known[op] = tuple(self._find_accesses(op))
        return known

    def _find_accesses(self, op: Operation) -> Iterator[Access]:
        if isinstance(op, tt.CallOp):
            yield from self._finder.in_caller(self._of_callee(op).left, op)
            return
        yield from self._finder.accesses_of(op)
        if (scratch := self._finder.scratch_of(op)) is not None:
            yield Access(op, scratch, is_write=True)

    def _of_callee(self, call: tt.CallOp) -> FunctionEffects:
        callee = self._graph.callee(call)
        return FunctionEffects() if callee is None else self._effects[callee]

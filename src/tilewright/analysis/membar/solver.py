"""Computes the barriers that a function needs: after an access, and before a conflicting access by another thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from xdsl.ir import Operation

from tilewright.analysis.membar.accesses import (
    BARRIERS,
    WAITS,
    WRITE,
    Access,
    SliceFinder,
    Timing,
    meets,
    pending_after,
)
from tilewright.analysis.membar.filters import MembarFilter, is_signal_of_all
from tilewright.analysis.membar.flow import FlowGraph, Point
from tilewright.dialects import tt, ttng
from tilewright.support.records import dataclass

NONE: frozenset[Access] = frozenset()
RELEASES = (ttng.ArriveBarrierOp,)
"""Ops that tell others that all threads are done with what they did before."""


@dataclass(frozen=True)
class State:
    """What is unsynchronised: accesses since the last barrier, and asynchronous ones that nothing waited for yet."""

    pending: frozenset[Access] = NONE
    flying: frozenset[Access] = NONE

    def join(self, other: State) -> State:
        """Return what is unsynchronised on one of two paths."""
        if other.pending <= self.pending and other.flying <= self.flying:
            return self
        return State(self.pending | other.pending, self.flying | other.flying)


@dataclass(frozen=True)
class Summary:
    """What callers have to know of a function: accesses before its first barrier, what it leaves unsynchronised,
    whether it can run through without a barrier, what it waits for, and whether it releases before a barrier."""

    exposed: tuple[Access, ...] = ()
    left: State = field(default_factory=State)
    passes: bool = True
    waits: frozenset[Timing] = frozenset()
    releases: bool = False


@dataclass(eq=False)
class Effects:
    """What one point does.

    First `accesses` happen (with `releases`, everything pending has to be done before). If it `meets`, a barrier comes
    next; then `later` accesses are left pending, and `flying` ones start.
    """

    accesses: tuple[Access, ...] = ()
    releases: bool = False
    meets: bool = False
    later: frozenset[Access] = NONE
    flying: frozenset[Access] = NONE
    waits: frozenset[Timing] = frozenset()
    drains: bool = False


class FunctionBarriers:
    """The barriers that one function needs; `places` are the ops before which they go, in order."""

    def __init__(
        self,
        function: tt.FuncOp,
        finder: SliceFinder,
        skips: MembarFilter,
        is_warp_synchronous: Callable[[Operation], bool],
        summary_of: Callable[[tt.CallOp], Summary],
    ) -> None:
        self._finder = finder
        self._skips = skips
        self._is_warp_synchronous = is_warp_synchronous
        self._summary_of = summary_of
        self._graph = FlowGraph(function, self._matters)
        self._effects = {point: self._effects_of(point) for point in self._graph.points}
        self._conflicts: dict[tuple[Access, Access], bool] = {}
        barriers = self._find_needed()
        if any(point.loops for point in barriers):
            barriers = self._without_redundant(barriers)
            barriers = self._out_of_loops(barriers)
        chosen = sorted(barriers, key=lambda point: point.number)
        self.places = [point.before for point in chosen if point.before is not None]
        self.summary = self._summarize(barriers)

    def _matters(self, op: Operation) -> bool:
        if isinstance(op, (*BARRIERS, *WAITS, *RELEASES)):
            return True
        if isinstance(op, tt.CallOp):
            return self._summary_of(op) != Summary()
        return self._finder.scratch_of(op) is not None or bool(self._finder.accesses_of(op))

    def _effects_of(self, point: Point) -> Effects:
        op = point.op
        if op is None or isinstance(op, BARRIERS):
            return Effects(meets=point.meets or (op is not None and meets(op)))
        if type(op) in WAITS:
            return Effects(waits=frozenset({WAITS[type(op)]}), drains=pending_after(op) == 0)
        if isinstance(op, tt.CallOp):
            return self._effects_of_call(op)
        accesses = tuple(self._finder.accesses_of(op))
        later = {a for a in accesses if a.timing in (Timing.NOW, Timing.COPY, Timing.PRODUCT)}
        flying = {a for a in accesses if a.timing in (Timing.COPY, Timing.PRODUCT, Timing.STORE)}
        scratch = self._finder.scratch_of(op)
        if scratch is None:
            return Effects(
                accesses,
                isinstance(op, RELEASES) and not is_signal_of_all(op),
                later=frozenset(later),
                flying=frozenset(flying),
            )
        written, read = Access(op, scratch, WRITE), Access(op, scratch, not WRITE)
        if self._is_warp_synchronous(op):
            return Effects((*accesses, written), later=frozenset({*later, written, read}), flying=frozenset(flying))
        return Effects((*accesses, written), meets=True, later=frozenset({read}), flying=frozenset(flying))

    def _effects_of_call(self, call: tt.CallOp) -> Effects:
        summary = self._summary_of(call)
        return Effects(
            tuple(self._finder.in_caller(summary.exposed, call)),
            summary.releases,
            not summary.passes,
            frozenset(self._finder.in_caller(summary.left.pending, call)),
            frozenset(self._finder.in_caller(summary.left.flying, call)),
            summary.waits,
        )

    def _conflict(self, earlier: Access, later: Access) -> bool:
        key = (earlier, later)
        known = self._conflicts.get(key)
        if known is None:
            known = self._conflicts[key] = (
                (earlier.is_write or later.is_write)
                and earlier.slice.may_overlap(later.slice)
                and not self._skips(earlier, later)
            )
        return known

    def _is_hazard(self, effects: Effects, state: State) -> bool:
        if not state.pending:
            return False
        if effects.releases:
            return True
        return any(self._conflict(earlier, later) for later in effects.accesses for earlier in state.pending)

    @staticmethod
    def _after(effects: Effects, state: State) -> State:
        pending = NONE if effects.meets else state.pending
        flying = state.flying
        if effects.waits:
            done = frozenset(access for access in flying if access.timing in effects.waits)
            pending |= done
            if effects.drains:
                flying -= done
        return State(pending | effects.later, flying | effects.flying)

    def _states(self, barriers: set[Point], on_hazard: Callable[[Point], bool]) -> dict[Point, State] | None:
        """The state on entry of every point, given barriers; `on_hazard` is asked at each hazard whether a barrier was
        put there, and None is returned where it was not."""
        states: dict[Point, State] = {self._graph.entry: State()}
        work = [self._graph.entry]
        while work:
            point = min(work, key=lambda p: p.number)
            work.remove(point)
            state, effects = states[point], self._effects[point]
            if point not in barriers and self._is_hazard(effects, state) and not on_hazard(point):
                return None
            if point in barriers:
                state = State(NONE, state.flying)
            after = self._after(effects, state)
            for successor in point.successors:
                known = states.get(successor)
                joined = after if known is None else known.join(after)
                if known is None or joined is not known:
                    states[successor] = joined
                    if successor not in work:
                        work.append(successor)
        return states

    def _find_needed(self) -> set[Point]:
        barriers: set[Point] = set()

        def put(point: Point) -> bool:
            barriers.add(point)
            return True

        self._states(barriers, put)
        return barriers

    def _is_enough(self, barriers: set[Point]) -> bool:
        return self._states(barriers, lambda point: False) is not None

    def _without_redundant(self, barriers: set[Point]) -> set[Point]:
        """Leaves out barriers that others, put later on the way around a loop, made superfluous."""
        for point in sorted(barriers, key=lambda p: p.number):
            fewer = barriers - {point}
            if self._is_enough(fewer):
                barriers = fewer
        return barriers

    def _out_of_loops(self, barriers: set[Point]) -> set[Point]:
        """Puts a barrier that is only needed for what happened before a loop before the loop."""
        for point in sorted(barriers, key=lambda p: p.number):
            for entry in point.loops:
                moved = (barriers - {point}) | {entry}
                if self._is_enough(moved):
                    barriers = moved
                    break
        return barriers

    def _summarize(self, barriers: set[Point]) -> Summary:
        states = self._states(barriers, lambda point: True)
        assert states is not None
        exposed, passes, releases = self._until_first_barrier(barriers)
        waits = frozenset[Timing]().union(*(effects.waits for effects in self._effects.values()))
        return Summary(tuple(exposed), states.get(self._graph.exit, State()), passes, waits, releases)

    def _until_first_barrier(self, barriers: set[Point]) -> tuple[Iterable[Access], bool, bool]:
        """Return what can be reached from the entry without a barrier: accesses, the exit, a release."""
        exposed: dict[Access, None] = {}
        releases = False
        work, seen = [self._graph.entry], {self._graph.entry}
        while work:
            point = work.pop()
            effects = self._effects[point]
            if point in barriers:
                continue
            exposed.update(dict.fromkeys(effects.accesses))
            releases = releases or effects.releases
            if effects.meets:
                continue
            for successor in point.successors:
                if successor not in seen:
                    seen.add(successor)
                    work.append(successor)
        return exposed, self._graph.exit in seen, releases

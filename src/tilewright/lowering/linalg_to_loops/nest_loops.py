"""Writes the loops of a nest: full vectors, then at most one masked vector, accumulators carried by the loops.

for %i = 0 to %full step 16 { full vectors }        unrolled by 4 with 4 accumulators first, where it pays
for %i = %full to %n step 16 { masked }             runs once or not at all
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from tilewright.lowering.linalg_to_loops.accumulators import Accumulators
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.carried_indices import CarriedIndices
from tilewright.lowering.linalg_to_loops.comparisons import (
    UnmaskedPart,
)
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import JAM, SEGMENT, Nest, Schedule
from tilewright.lowering.linalg_to_loops.prefetching import Prefetching
from tilewright.lowering.linalg_to_loops.step_body import emit_step
from tilewright.lowering.linalg_to_loops.steps import Step, steps_of
from tilewright.lowering.linalg_to_loops.strip_segments import (
    start_segment,
)
from tilewright.lowering.linalg_to_loops.transposed_operands import TransposedOperand, find_transposed_operands
from tilewright.support.cpu_costs import MOST_CARRIED_WORK, MOST_JAMMED_WORK, SHORT_LOOP


class LoopWriter:
    """Writes one version of a nest; what is known of it may change from one version to the next."""

    def __init__(self, emitter: LoopEmitter, nest: Nest, prefetching: Prefetching) -> None:
        self.emitter = emitter
        self.prefetching = prefetching
        self.nest = nest
        self.plain = nest
        """The nest without a loop over segments."""
        self.accumulators = Accumulators(emitter, nest)
        self.indices = CarriedIndices(emitter)
        self.unmasked: UnmaskedPart | None = None

    @property
    def schedule(self) -> Schedule:
        """Of the nest as it is now."""
        return self.nest.schedule

    @property
    def start(self) -> int:
        """The level where accumulators start: the first loop of the reduction, or over segments of its lanes."""
        order, iterators = self.schedule.order, self.nest.iterators
        reduces = self.nest.has_reduction
        carried = (level for level, dim in enumerate(order) if reduces and dim >= 0 and iterators[dim])
        first = next(carried, len(order))
        return first - 1 if first and self.nest.vector_reduces() and order[first - 1] == SEGMENT else first

    def write_level(self, level: int, frames: list[Frame]) -> None:
        """Write everything from the loop at `level` inwards, before accumulators exist."""
        if level == self.start and self.nest.has_reduction:
            self._reduce(level, [frames])
            return
        if level == len(self.schedule.order):
            self._step(frames, [])
            return
        dim = self.schedule.order[level]
        if dim == SEGMENT:

            def inside(inner: list[Frame], carried: list[SSAValue]) -> list[SSAValue]:
                self.write_level(level + 1, inner)
                return carried

            self._in_segments(frames, [], inside)
            with self._without_segments():
                scalar_frames = [frame.without_vectors() for frame in frames]
                self._loops(level, scalar_frames, self._steps_after_segments(scalar_frames))
            return
        if level == len(self.schedule.order) - 2 and (transposed := find_transposed_operands(self.nest)):
            self._blocks(level, frames, transposed)
            return
        with self.emitter.at(frames[-1].cursor):
            steps = self._steps(dim, frames)
        self._loops(level, frames, steps)

    def _blocks(self, level: int, frames: list[Frame], transposed: list[TransposedOperand]) -> None:
        """The two innermost loops by square blocks; then the lanes, and the rows, that are left over."""
        row, column, side = *self.schedule.order[level:], self.schedule.lanes
        outer, bound = frames[-1], self.nest.bounds[row]
        with self.emitter.at(outer.cursor):
            full = self.emitter.align_down(bound, side)
            steps = self._steps(column, frames)
            loop, body = self.emitter.open_for(0, full, side)
        outer.cursor.anchor = loop
        cursor = Cursor(body)
        with self.emitter.at(cursor):
            rows = [Frame(cursor, row, self.emitter.add(body.args[0], index)) for index in range(side)]
        for step in steps:
            if not step.masked:
                self._columns_of_blocks(level + 1, frames, rows, step, transposed)
        self._close([*frames, rows[0]], loop, [])
        self._rows(level, frames, Step(0, full), [step for step in steps if step.masked])
        if not (isinstance(bound, int) and bound % side == 0):
            self._rows(level, frames, Step(full, bound), steps)

    def _columns_of_blocks(
        self, level: int, frames: list[Frame], rows: list[Frame], step: Step, transposed: list[TransposedOperand]
    ) -> None:
        inner, _, loop = self._open(level, [*frames, rows[0]], step, [])
        shared = inner[-1]
        with self.emitter.at(shared.cursor):
            blocks = {
                found.argument: found.load_block(self.emitter, self.nest, inner)
                for found in transposed
                if found.is_inside(self.nest, shared)
            }
        for index, row in enumerate(rows):
            lanes = {argument: block[index] for argument, block in blocks.items()}
            self._step([*frames, row, replace(shared, values={**shared.values, **lanes})], [])
        self._close(inner, loop, [])

    def _rows(self, level: int, frames: list[Frame], step: Step, columns: list[Step]) -> None:
        """The two innermost loops row by row, over some of the columns."""
        if not columns:
            return
        inner, _, loop = self._open(level, frames, step, [])
        for column in columns:
            self.write_loop(level + 1, inner, column)
        self._close(inner, loop, [])

    def _loops(self, level: int, frames: list[Frame], steps: list[Step]) -> None:
        dim = self.schedule.order[level]
        for step in steps:
            if dim == self.schedule.vector_dim and self.nest.has_reduction:
                self._side_by_side(level, frames, step)
            else:
                self.write_loop(level, frames, step)

    def _in_segments(
        self,
        frames: list[Frame],
        carried: list[SSAValue],
        inside: Callable[[list[Frame], list[SSAValue]], list[SSAValue]],
    ) -> list[SSAValue]:
        """The loop over segments of the unmasked part; returns what `inside` makes of `carried`."""
        assert self.schedule.vector_dim is not None
        upper = self.nest.bounds[self.schedule.vector_dim] if self.unmasked is None else self.unmasked.bound
        outer = frames[-1]
        with self.emitter.at(outer.cursor):
            loop, body = self.emitter.while_below(upper, carried)
        outer.cursor.anchor = loop
        inner = Frame(Cursor(body), SEGMENT, body.args[0])
        inner.end = start_segment(BodyValues(self.emitter, self.nest, [*frames, inner]), upper)
        results = inside([*frames, inner], list(body.args[1:]))
        with self.emitter.at(body):
            self.emitter.yield_([self.emitter.ssa(inner.end), *results])
        outer.cursor.anchor = loop.next_op
        return list(loop.results[1:])

    @contextmanager
    def _without_segments(self) -> Generator[None]:
        segmented, self.nest = self.nest, self.plain
        yield
        self.nest = segmented

    def _steps_after_segments(self, frames: list[Frame]) -> list[Step]:
        """Return what segments leave over: the vector dimension after its unmasked part."""
        if self.unmasked is None:
            return []
        assert self.schedule.vector_dim is not None
        with self.emitter.at(frames[-1].cursor):
            return [step for step in self._steps(self.schedule.vector_dim, frames) if not step.is_unmasked]

    def _steps(self, dim: int, frames: list[Frame]) -> list[Step]:
        return steps_of(self.emitter, self.nest, self.unmasked, dim, frames[-1])

    def _open(
        self, level: int, frames: list[Frame], step: Step, carried: list[SSAValue]
    ) -> tuple[list[Frame], list[SSAValue], Operation | None]:
        """Open one loop; a loop that runs exactly once needs no op."""
        dim = self.schedule.order[level]
        width = (
            self.schedule.lanes * step.vectors
            if dim == self.schedule.vector_dim
            else self.schedule.jammed
            if dim == JAM
            else 1
        )
        outer = frames[-1]
        if isinstance(step.lower, int) and isinstance(step.upper, int) and 0 < step.upper - step.lower <= width:
            inner = self._frame(outer.cursor, dim, step, step.lower)
            if step.masked:
                with self.emitter.at(inner.cursor):
                    inner.mask = self.emitter.create_mask(step.upper - step.lower, self.schedule.lanes)
            return [*frames, inner], carried, None
        with self.emitter.at(outer.cursor):
            loop, body = self.emitter.open_for(step.lower, step.upper, width, carried)
        outer.cursor.anchor = loop
        inner = self._frame(Cursor(body), dim, step, body.args[0])
        if step.masked:
            with self.emitter.at(inner.cursor):
                inner.mask = self.emitter.create_mask(self.emitter.sub(step.upper, body.args[0]), self.schedule.lanes)
        return [*frames, inner], list(body.args[1:]), loop

    def _frame(self, cursor: Cursor, dim: int | None, step: Step, induction: Index = 0) -> Frame:
        """The frame of a loop; in the unmasked part its lanes need not make some comparisons."""
        known: dict[object, SSAValue] = (
            {**self.unmasked.comparisons} if step.is_unmasked and self.unmasked is not None else {}
        )
        return Frame(cursor, dim, induction, known, is_unmasked=step.is_unmasked)

    def _close(self, frames: list[Frame], loop: Operation | None, results: list[SSAValue]) -> list[SSAValue]:
        """Close the innermost loop, yielding `results`; their values after it."""
        outer, inner = frames[-2], frames[-1]
        if loop is None:
            return results
        with self.emitter.at(Cursor(inner.cursor.block)):
            self.emitter.yield_(results)
        outer.cursor.anchor = loop.next_op
        return list(loop.results)

    def write_loop(self, level: int, frames: list[Frame], step: Step) -> None:
        if step.vectors > 1:
            raise AssertionError("only reductions are unrolled")
        inner, _, loop = self._open(level, frames, step, [])
        inner[-1].is_streamed = step.streamed
        self.write_level(level + 1, inner)
        self._close(inner, loop, [])

    def _side_by_side(self, level: int, frames: list[Frame], step: Step) -> None:
        """The lanes of the vector loop are separate accumulators; several vectors share one reduction loop."""
        inner, _, loop = self._open(level, frames, step, [])
        self._reduce(level + 1, self._vectors(inner, step))
        self._close(inner, loop, [])

    def _vectors(self, inner: list[Frame], step: Step) -> list[list[Frame]]:
        """The frames of each vector of one iteration of the vector loop, which is the innermost."""
        *outer, shared = inner
        groups = [inner]
        for index in range(1, step.vectors):
            frame = self._frame(shared.cursor, shared.dim, step)
            with self.emitter.at(frame.cursor):
                frame.induction = self.emitter.add(shared.induction, index * self.schedule.lanes)
            groups.append([*outer, frame])
        return groups

    # -- reductions -------------------------------------------------------------------------------------------------

    def _reduce(self, level: int, groups: list[list[Frame]]) -> None:
        """All reduction loops, for one or several groups of accumulators, and what happens to the results."""
        initial: list[SSAValue] = []
        owners = [owner for frames in groups for owner in self._owners(frames)]
        for frames in owners:
            with self.emitter.at(frames[-1].cursor):
                initial.extend(self.accumulators.start(self._values(frames)))
        results = self.accumulators.sets(self._reduction_loops(level, groups, initial))
        for frames, mine in zip(owners, results, strict=True):
            with self.emitter.at(frames[-1].cursor):
                self.accumulators.finish(self._values(frames), mine)

    def _owners(self, frames: list[Frame]) -> list[list[Frame]]:
        """The frames of each set of accumulators: one, or those of iterations that share the reduction, which no loop
        over it is open for."""
        if self.schedule.jammed == 1:
            return [frames]
        cursor, missing = frames[-1].cursor, self.schedule.order[len(frames) - 1 : -1]
        inner = [Frame(cursor, dim) for dim in missing]
        return [[*frames, *inner, last] for last in self._jammed([*frames, *inner])]

    def _jammed(self, frames: list[Frame]) -> list[Frame]:
        """A frame for each of the iterations that share a reduction."""
        cursor, first = frames[-1].cursor, self._first_jammed(frames)
        with self.emitter.at(cursor):
            counters = [self.emitter.add(first, index) for index in range(self.schedule.jammed)]
        return [Frame(cursor, self.schedule.order[-1], counter) for counter in counters]

    def _first_jammed(self, frames: list[Frame]) -> Index:
        """Return the first of the iterations that share a reduction."""
        order = self.schedule.order
        return frames[order.index(JAM) + 1].induction if JAM in order else 0

    def _reduction_loops(self, level: int, groups: list[list[Frame]], carried: list[SSAValue]) -> list[SSAValue]:
        if level == len(self.schedule.order) - (self.schedule.jammed > 1):
            if self.schedule.jammed > 1:
                groups = [[*frames, last] for frames in groups for last in self._jammed(frames)]
            sets = self.accumulators.sets(carried)
            return [result for frames, mine in zip(groups, sets, strict=True) for result in self._step(frames, mine)]
        dim, frames = self.schedule.order[level], groups[0]
        if dim == SEGMENT:
            carried = self._in_segments(
                frames, carried, lambda inner, initial: self._reduction_loops(level + 1, [inner], initial)
            )
            with self._without_segments():
                for step in self._steps_after_segments(frames):
                    carried = self._reduction_loop(level, groups, step, carried)
            return carried
        with self.emitter.at(frames[-1].cursor):
            steps = self._steps(dim, frames)
        for step in steps:
            carried = self._reduction_loop(level, groups, step, carried)
        return carried

    def _reduction_loop(
        self, level: int, groups: list[list[Frame]], step: Step, carried: list[SSAValue]
    ) -> list[SSAValue]:
        if self.schedule.order[level] == self.schedule.vector_dim:
            return self._loop_over_lanes(level, groups[0], step, carried)
        if self._is_short(level, step):
            return self._unrolled(level, groups, step, carried)
        inner, inside, loop = self._open(level, groups[0], step, carried)
        shared = inner[-1]
        inner_groups = [
            inner,
            *([*frames, Frame(shared.cursor, shared.dim, shared.induction)] for frames in groups[1:]),
        ]
        return self._close(inner, loop, self._reduction_loops(level + 1, inner_groups, inside))

    def _is_short(self, level: int, step: Step) -> bool:
        """Return whether a loop around one vector has so few steps that its counter would cost as much as they do."""
        nest = self.nest
        if (
            level != len(nest.schedule.order) - 1 - (nest.schedule.jammed > 1)
            or nest.schedule.lanes == 1
            or nest.schedule.unroll > 1
        ):
            return False
        steps = step.upper - step.lower if isinstance(step.lower, int) and isinstance(step.upper, int) else 0
        most = MOST_CARRIED_WORK if nest.schedule.jammed == 1 else MOST_JAMMED_WORK
        return 1 < steps <= SHORT_LOOP and steps * nest.facts.cost * nest.schedule.jammed <= most

    def _unrolled(self, level: int, groups: list[list[Frame]], step: Step, carried: list[SSAValue]) -> list[SSAValue]:
        """The steps of a short loop, one after the other."""
        dim = self.schedule.order[level]
        assert isinstance(step.lower, int) and isinstance(step.upper, int)
        for index in range(step.lower, step.upper):
            inner = [[*frames, self._frame(frames[-1].cursor, dim, step, index)] for frames in groups]
            carried = self._reduction_loops(level + 1, inner, carried)
        return carried

    def _loop_over_lanes(self, level: int, frames: list[Frame], step: Step, carried: list[SSAValue]) -> list[SSAValue]:
        """A loop whose lanes are reduced, with a set of accumulators for each vector of an iteration."""
        if step.vectors == 1:
            inner, inside, loop = self._open(level, frames, step, carried)
            return self._close(inner, loop, self._reduction_loops(level + 1, [inner], inside))
        accumulators, values = self.accumulators, self._values(frames)
        with self.emitter.at(frames[-1].cursor):
            more = [start for vector in range(1, step.vectors) for start in accumulators.start(values, vector)]
        initial = self.indices.subtract_lanes(values, [*carried, *more])
        inner, inside, loop = self._open(level, frames, step, initial)
        groups = self._vectors(inner, step)
        self.indices.share_first(self.nest, groups)
        results = self._close(inner, loop, self._reduction_loops(level + 1, groups, inside))
        with self.emitter.at(frames[-1].cursor):
            return accumulators.merge(self.indices.add_lanes(values, results))

    def _values(self, frames: list[Frame]) -> BodyValues:
        return BodyValues(self.emitter, self.nest, frames)

    def _step(self, frames: list[Frame], carried: list[SSAValue]) -> list[SSAValue]:
        """One step: what `carried` is after it."""
        values = self._values(frames)
        with self.emitter.at(frames[-1].cursor):
            if values.mask() is None and (
                self.schedule.jammed == 1 or frames[-1].induction == self._first_jammed(frames)
            ):
                self.prefetching.enter_step(values)
            return emit_step(values, self.accumulators, carried)

"""Writes a planned nest as loops: full vectors, then at most one masked vector, accumulators carried by the loops.

for %i = 0 to %full step 16 { full vectors }        unrolled by 4 with 4 accumulators first, where it pays
for %i = %full to %n step 16 { masked }             runs once or not at all
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, linalg, memref, tensor, vector
from tilewright.lowering.atomic_calls import END_ATOMICS
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.combination import fold_lanes
from tilewright.lowering.linalg_to_loops.combiners import identity_of, is_identity
from tilewright.lowering.linalg_to_loops.comparisons import (
    Front,
    Whole,
    find_front,
    find_whole,
    settled_comparisons,
)
from tilewright.lowering.linalg_to_loops.element_access import emit_atomic, emit_store, load_at
from tilewright.lowering.linalg_to_loops.element_numbers import comparisons_in_order, find_carried_numbers
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index, LoopEmitter, default_flags
from tilewright.lowering.linalg_to_loops.external_calls import call_external
from tilewright.lowering.linalg_to_loops.nest_plan import (
    STRETCH,
    Nest,
    Output,
    memory_of,
    plan_nest,
    stride_along,
)
from tilewright.lowering.linalg_to_loops.padding import Padding, find_padding, padded_element
from tilewright.lowering.linalg_to_loops.predication import is_straight
from tilewright.lowering.linalg_to_loops.prefetching import Prefetching
from tilewright.lowering.linalg_to_loops.provable import is_at_most
from tilewright.lowering.linalg_to_loops.rows_together import RowsTogether, plan_rows_together
from tilewright.lowering.linalg_to_loops.sources import Uniform, Window
from tilewright.lowering.linalg_to_loops.streaming import Streaming, plan_streaming
from tilewright.lowering.linalg_to_loops.stretches import (
    number_in_all_lanes,
    plan_stretches,
    start_stretch,
    stretches_pay,
)
from tilewright.lowering.linalg_to_loops.strided_lanes import find_turns, is_narrow

Written = tuple[Output, Window, SSAValue]
"""An output, where it goes, and what one step writes there."""


@dataclass(frozen=True, slots=True)
class Step:
    """One loop over the vector dimension: its range, how many vectors one iteration handles, whether lanes are cut."""

    lower: Index
    upper: Index
    vectors: int
    masked: bool
    streamed: bool = False
    in_front: bool = False
    """Whether it is the loop over the front (see `comparisons.Front`)."""


def emit_nest(emitter: LoopEmitter, nest: Nest, vector_bits: int, prefetching: Prefetching) -> list[SSAValue | None]:
    """Emit a nest at the cursor. Returns the scalar of each output that has no destination, None for the others."""
    plan_nest(nest, vector_bits)
    streaming = plan_streaming(emitter, nest, prefetching.only_written)
    prefetching.plan(nest, streaming)
    return _NestWriter(emitter, nest, prefetching, streaming).write()


class _NestWriter:
    def __init__(self, emitter: LoopEmitter, nest: Nest, prefetching: Prefetching, streaming: Streaming | None):
        self.emitter = emitter
        self.prefetching = prefetching
        self.streaming = streaming
        self.nest = nest
        yield_op = nest.body.last_op
        assert yield_op is not None
        self.yielded = list(yield_op.operands)
        self.reducing = [number for number, output in enumerate(nest.outputs) if output.reduces]
        self.first_output = len(nest.inputs)
        self.scalars: list[SSAValue | None] = [None] * len(nest.outputs)
        self.padding: Padding | None = None
        self.together: RowsTogether | None = None
        self.front: Front | None = None
        self.plain = nest
        """The nest without a loop over stretches."""
        self.numbers: list[int] = []
        """Results that are the number of the element that is chosen."""
        self.neutral: set[SSAValue] = set()
        """Accumulators that change no number they are combined with: of sums 0 changes -0."""

    @property
    def start(self) -> int:
        """The level where accumulators start: the first loop of the reduction, or over stretches of its lanes."""
        order, iterators = self.nest.order, self.nest.iterators
        carried = (level for level, dim in enumerate(order) if self.reducing and dim != STRETCH and iterators[dim])
        first = next(carried, len(order))
        return first - 1 if first and self.nest.vector_reduces() and order[first - 1] == STRETCH else first

    def write(self) -> list[SSAValue | None]:
        if (
            self.nest.vector_reduces()
            and not self.nest.folds()
            and len([dim for dim in self.nest.order if self.nest.iterators[dim]]) == 1
        ):
            self.padding = find_padding(self.emitter, self.nest)
            if self.padding is not None:
                assert self.nest.vector_dim is not None
                self.nest.bounds[self.nest.vector_dim] = self.padding.bound
        if self.padding is None:
            self.together = plan_rows_together(self.emitter, self.nest, self.reducing)
        cursor = self.emitter.cursor
        outside = Frame(Cursor(cursor.block, cursor.anchor))
        for comparison, holds in settled_comparisons(self.emitter, self.nest).items():
            self.nest.depends[comparison] = frozenset()
            outside.values[comparison] = self.emitter.constant(int(holds), comparison.type)
        in_order = comparisons_in_order(self.nest)
        for comparison in in_order:
            self.nest.depends[comparison] = frozenset()
            outside.values[comparison] = self.emitter.constant(1, comparison.type)
        if self.nest.folds():
            self.numbers = find_carried_numbers(self.nest, in_order)
        if self.padding is None:
            self.front = find_front(self.emitter, self.nest)
        stays = self.together is not None or self.nest.folds()
        stretched = None if stays else plan_stretches(self.nest, self.front.comparisons if self.front else ())
        if stretched is not None:
            self._stretched_or_not(stretched, outside)
        else:
            self._row(outside)
        if self.together is not None:
            with self.emitter.at(Cursor(cursor.block, cursor.anchor)):
                self.together.finish(self.nest.outputs, self._combine)
        if self.nest.lanes > 1 and any(isinstance(op, memref.AtomicRMWOp) for op in self.nest.body.ops):
            with self.emitter.at(Cursor(cursor.block, cursor.anchor)):
                call_external(self.emitter, END_ATOMICS, ())
        return self.scalars

    def _row(self, outside: Frame) -> None:
        """What is asked for is not streamed, nor, where launches that fit the caches stream, what may wait for it."""
        streaming, prefetching = self.streaming, self.prefetching
        is_near = streaming is not None and any(prefetching.is_near(window) for _, window in streaming.outputs)
        if streaming is not None and not is_near and not (prefetching.weighs_traffic and self._reads_twice()):
            self._stream_or_not(streaming, outside)
            return
        whole = find_whole(self.emitter, self.nest, self.front) if self.padding is None else None
        if whole is not None:
            self._whole_or_not(whole, outside)
        else:
            self._level(0, [outside])

    def _reads_twice(self) -> bool:
        """Whether one array is read at several places, as a convolution does.

        What is read a little behind the place that was written has the low bits of its address, if the arrays start at
        the same place of a page, and waits for it (Zen 4, four places: 1.8 times as slow with nontemporal stores).
        """
        windows = (memory_of(operand.source) for operand in self.nest.inputs)
        arrays = [window.flat for window in windows if window is not None and not window.owned]
        return len(set(arrays)) < len(arrays)

    def _whole_or_not(self, whole: Whole, outside: Frame) -> None:
        """Two versions of a loop, chosen by whether it needs no comparisons."""

        def without() -> None:
            front, depends = self.front, self.nest.depends
            values = dict(outside.values)
            for comparison, holds in whole.comparisons.items():
                values[comparison] = self.emitter.constant(int(holds), comparison.type)
            self.nest.depends = {**depends, **{comparison: frozenset[int]() for comparison in whole.comparisons}}
            self.front = whole.front or front
            self._level(0, [Frame(self.emitter.cursor, values=values)])
            self.front, self.nest.depends = (front if whole.front is None else None), depends

        def with_comparisons() -> None:
            self._level(0, [Frame(self.emitter.cursor, values=dict(outside.values))])

        self.emitter.choose(whole.condition, without, with_comparisons)

    def _stream_or_not(self, streaming: Streaming, outside: Frame) -> None:
        """Two versions of a loop, chosen by the size of the launch."""
        dim = self.nest.vector_dim
        assert dim is not None
        exact = self.prefetching.weighs_traffic and streaming.loop is None
        elements = self.nest.bounds[dim] if exact else streaming.elements
        pays = streaming.pays(self.emitter, elements, self.prefetching.streamed_from(streaming))
        streamed, plain = self.emitter.if_else(pays)
        frame = Frame(Cursor(streamed), values=dict(outside.values))
        with self.emitter.at(frame.cursor):
            bound, lanes = self.nest.bounds[dim], self.nest.lanes
            head = streaming.head(self.emitter, bound)
            full = self.emitter.add(head, self.emitter.align_down(self.emitter.sub(bound, head), lanes))
        for step in (Step(0, head, 1, masked=True), Step(head, full, 1, masked=False, streamed=True)):
            self._loop(0, [frame], step, [])
        self._loop(0, [frame], Step(full, bound, 1, masked=True), [])
        with self.emitter.at(Cursor(streamed)):
            self.emitter.yield_()
        self._level(0, [Frame(Cursor(plain), values=dict(outside.values))])
        with self.emitter.at(Cursor(plain)):
            self.emitter.yield_()

    def _stretched_or_not(self, stretched: Nest, outside: Frame) -> None:
        """A nest whose vectors run along stretches; where that depends on the divisors, also as it is without."""
        if self.front is not None:
            for comparison, lanes in self.front.comparisons.items():
                outside.values[comparison] = number_in_all_lanes(lanes)
        pays = stretches_pay(BodyValues(self.emitter, stretched, [outside]))
        if pays is True:
            self.nest = stretched
            self._level(0, [outside])
            return
        assert isinstance(pays, SSAValue)
        kept = [number for number in self.reducing if self.nest.outputs[number].dest is None]
        choice, *blocks = self.emitter.if_else_of(pays, [self.yielded[number].type for number in kept])
        for block, nest in zip(blocks, (stretched, self.plain), strict=True):
            self.nest = nest
            with self.emitter.at(Cursor(block)):
                self._level(0, [Frame(self.emitter.cursor, values=dict(outside.values))])
                scalars = [self.scalars[number] for number in kept]
                self.emitter.yield_([scalar for scalar in scalars if scalar is not None])
        for number, result in zip(kept, choice.results, strict=True):
            self.scalars[number] = result

    # -- loops ------------------------------------------------------------------------------------------------------

    def _level(self, level: int, frames: list[Frame]) -> None:
        """Everything from the loop number `level` inwards, before accumulators exist."""
        if level == self.start and self.reducing:
            self._reduce(level, [frames])
            return
        if level == len(self.nest.order):
            self._innermost(frames, [])
            return
        dim = self.nest.order[level]
        if dim == STRETCH:

            def inside(inner: list[Frame], carried: list[SSAValue]) -> list[SSAValue]:
                self._level(level + 1, inner)
                return carried

            self._in_stretches(frames, [], inside)
            with self._without_stretches():
                behind = [frame.without_vectors() for frame in frames]
                self._loops(level, behind, self._steps_behind_stretches(behind))
            return
        with self.emitter.at(frames[-1].cursor):
            steps = self._steps(dim, frames)
        self._loops(level, frames, steps)

    def _loops(self, level: int, frames: list[Frame], steps: list[Step]) -> None:
        dim = self.nest.order[level]
        for step in steps:
            if dim == self.nest.vector_dim and self.nest.has_reduction:
                self._side_by_side(level, frames, step)
            else:
                self._loop(level, frames, step, [])

    def _in_stretches(
        self,
        frames: list[Frame],
        carried: list[SSAValue],
        inside: Callable[[list[Frame], list[SSAValue]], list[SSAValue]],
    ) -> list[SSAValue]:
        """The loop over stretches of the vector dimension, as far as its front; what `inside` makes of `carried`."""
        assert self.nest.vector_dim is not None
        upper = self.nest.bounds[self.nest.vector_dim] if self.front is None else self.front.bound
        outer = frames[-1]
        with self.emitter.at(outer.cursor):
            loop, body = self.emitter.while_below(0, upper, carried)
        outer.cursor.anchor = loop
        inner = Frame(Cursor(body), STRETCH, body.args[0])
        inner.end = start_stretch(BodyValues(self.emitter, self.nest, [*frames, inner]), upper)
        results = inside([*frames, inner], list(body.args[1:]))
        with self.emitter.at(Cursor(body)):
            self.emitter.yield_([self.emitter.ssa(inner.end), *results])
        outer.cursor.anchor = loop.next_op
        return list(loop.results[1:])

    @contextmanager
    def _without_stretches(self) -> Generator[None]:
        stretched, self.nest = self.nest, self.plain
        yield
        self.nest = stretched

    def _steps_behind_stretches(self, frames: list[Frame]) -> list[Step]:
        """What stretches leave over: the vector dimension behind its front."""
        if self.front is None:
            return []
        assert self.nest.vector_dim is not None
        with self.emitter.at(frames[-1].cursor):
            return [step for step in self._steps(self.nest.vector_dim, frames) if not step.in_front]

    def _steps(self, dim: int, frames: list[Frame]) -> list[Step]:
        """How the range of a dimension is cut into loops."""
        bound = self.nest.bounds[dim]
        if dim != self.nest.vector_dim:
            is_only_one = self.nest.iterators[dim] and sum(self.nest.iterators) == 1
            return [Step(int(is_only_one and self.nest.starts_at_first()), bound, 1, masked=False)]
        lanes, steps = self.nest.lanes, list[Step]()
        if (stretch := frames[-1]).dim == STRETCH:
            length = self.emitter.sub(stretch.end, stretch.induction)
            full = self.emitter.add(stretch.induction, self.emitter.align_down(length, lanes))
            in_front = self.front is not None
            return [
                Step(stretch.induction, full, 1, masked=False, in_front=in_front),
                Step(full, stretch.end, 1, masked=True, in_front=in_front),
            ]
        # Where accumulators start as the first elements, loops start behind these.
        start: Index = lanes * self.nest.unroll if self.nest.folds() else 0
        if self.front is not None:
            steps.append(Step(start, self.front.bound, self.nest.unroll, masked=False, in_front=True))
            start = self.emitter.max(start, self.front.bound) if start else self.front.bound
        elif self.nest.unroll > 1:
            stop = self.emitter.align_down(bound, lanes * self.nest.unroll)
            steps.append(Step(start, stop, self.nest.unroll, masked=False))
            start = stop
        full = self.emitter.align_down(bound, lanes)
        steps.append(Step(start, full, 1, masked=False))
        if not (isinstance(bound, int) and bound % lanes == 0):
            steps.append(Step(full, bound, 1, masked=True))
        return [step for step in steps if not (isinstance(step.upper, int) and step.lower == step.upper)]

    def _open(
        self, level: int, frames: list[Frame], step: Step, carried: list[SSAValue]
    ) -> tuple[list[Frame], list[SSAValue], Operation | None]:
        """Open one loop; a loop that runs exactly once needs no op."""
        dim = self.nest.order[level]
        width = self.nest.lanes * step.vectors if dim == self.nest.vector_dim else 1
        outer = frames[-1]
        if isinstance(step.lower, int) and isinstance(step.upper, int) and 0 < step.upper - step.lower <= width:
            inner = self._frame(outer.cursor, dim, step, step.lower)
            if step.masked:
                with self.emitter.at(inner.cursor):
                    inner.mask = self.emitter.create_mask(step.upper - step.lower, self.nest.lanes)
            return [*frames, inner], carried, None
        with self.emitter.at(outer.cursor):
            loop, body = self.emitter.for_loop(step.lower, step.upper, width, carried)
        outer.cursor.anchor = loop
        inner = self._frame(Cursor(body), dim, step, body.args[0])
        if step.masked:
            with self.emitter.at(inner.cursor):
                inner.mask = self.emitter.create_mask(self.emitter.sub(step.upper, body.args[0]), self.nest.lanes)
        return [*frames, inner], list(body.args[1:]), loop

    def _frame(self, cursor: Cursor, dim: int | None, step: Step, induction: Index = 0) -> Frame:
        """The frame of a loop; in the front its lanes need not make some comparisons."""
        known: dict[object, SSAValue] = {**self.front.comparisons} if step.in_front and self.front is not None else {}
        return Frame(cursor, dim, induction, known, in_front=step.in_front)

    def _close(self, frames: list[Frame], loop: Operation | None, results: list[SSAValue]) -> list[SSAValue]:
        """Close the innermost loop, yielding `results`; their values after it."""
        outer, inner = frames[-2], frames[-1]
        if loop is None:
            return results
        with self.emitter.at(Cursor(inner.cursor.block)):
            self.emitter.yield_(results)
        outer.cursor.anchor = loop.next_op
        return list(loop.results)

    def _loop(self, level: int, frames: list[Frame], step: Step, carried: list[SSAValue]) -> None:
        if step.vectors > 1:
            raise AssertionError("only reductions are unrolled")
        inner, _, loop = self._open(level, frames, step, carried)
        inner[-1].is_streamed = step.streamed
        self._level(level + 1, inner)
        self._close(inner, loop, [])

    def _side_by_side(self, level: int, frames: list[Frame], step: Step) -> None:
        """The lanes of the vector loop are separate accumulators; several vectors share one reduction loop."""
        inner, _, loop = self._open(level, frames, step, [])
        groups = [inner]
        for number in range(1, step.vectors):
            frame = self._frame(inner[-1].cursor, inner[-1].dim, step)
            with self.emitter.at(frame.cursor):
                frame.induction = self.emitter.add(inner[-1].induction, number * self.nest.lanes)
            groups.append([*inner[:-1], frame])
        self._reduce(level + 1, groups)
        self._close(inner, loop, [])

    # -- reductions -------------------------------------------------------------------------------------------------

    def _reduce(self, level: int, groups: list[list[Frame]]) -> None:
        """All reduction loops, for one or several groups of accumulators, and what happens to the results."""
        accumulators: list[SSAValue] = []
        for frames in groups:
            with self.emitter.at(frames[-1].cursor):
                accumulators.extend(self._initial(frames, number) for number in self.reducing)
        results = self._reduction_loops(level, groups, accumulators)
        for position, frames in enumerate(groups):
            mine = results[position * len(self.reducing) : (position + 1) * len(self.reducing)]
            with self.emitter.at(frames[-1].cursor):
                self._finish(frames, mine)

    def _initial(self, frames: list[Frame], number: int, vector: int = 0) -> SSAValue:
        """What the accumulator of an output starts from; `vector`: the how manieth of an unrolled loop it is."""
        output = self.nest.outputs[number]
        values = BodyValues(self.emitter, self.nest, frames)
        if self.nest.folds() or self.nest.starts_at_first():
            return self._first_element(frames, number, vector)
        if self.nest.vector_reduces():
            assert output.combiner is not None
            element = self.yielded[number].type
            identity = identity_of(output.combiner, element)
            assert identity is not None
            neutral = values.spread(self.emitter.constant(identity, element), frozenset())
            if not (identity == 0 and output.combiner.op_class is arith.AddfOp):
                self.neutral.add(neutral)
            return neutral
        start = values.read(output.init)
        return values.spread(start, output.init.dims())

    def _first_element(self, frames: list[Frame], number: int, vector: int) -> SSAValue:
        """What is combined first: the elements of number 0, in lanes of the reduced axis of those of a vector."""
        nest, cursor = self.nest, frames[-1].cursor
        assert nest.combination is not None
        inner = [Frame(cursor, dim, vector * nest.lanes) for dim in nest.order[len(frames) - 1 :]]
        values = BodyValues(self.emitter, nest, [*frames, *inner])
        return values.get_lanes(nest.combination.right[number])

    def _reduction_loops(self, level: int, groups: list[list[Frame]], carried: list[SSAValue]) -> list[SSAValue]:
        if level == len(self.nest.order):
            return self._steps_of_groups(groups, carried)
        dim, frames = self.nest.order[level], groups[0]
        if dim == STRETCH:
            carried = self._in_stretches(
                frames, carried, lambda inner, initial: self._reduction_loops(level + 1, [inner], initial)
            )
            with self._without_stretches():
                for step in self._steps_behind_stretches(frames):
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
        lanes_here = self.nest.order[level] == self.nest.vector_dim
        initial = carried
        if lanes_here and step.vectors > 1:
            with self.emitter.at(groups[0][-1].cursor):
                initial = carried + [
                    self._initial(groups[0], number, vector)
                    for vector in range(1, step.vectors)
                    for number in self.reducing
                ]
        counts = self.numbers if lanes_here and step.vectors > 1 else []
        initial = self._count_from_lanes(arith.SubiOp, groups[0], counts, initial)
        inner, inside, loop = self._open(level, groups[0], step, initial)
        shared = inner[-1]
        inner_groups = [inner]
        if lanes_here:
            for number in range(1, step.vectors):
                frame = self._frame(shared.cursor, shared.dim, step)
                with self.emitter.at(shared.cursor):
                    frame.induction = self.emitter.add(shared.induction, number * self.nest.lanes)
                inner_groups.append([*groups[0], frame])
        else:
            inner_groups += [[*frames, Frame(shared.cursor, shared.dim, shared.induction)] for frames in groups[1:]]
        for number in counts:
            self._number_like_first(inner_groups, number)
        results = self._reduction_loops(level + 1, inner_groups, inside)
        results = self._close([groups[0][-1], shared], loop, results)
        results = self._count_from_lanes(arith.AddiOp, groups[0], counts, results)
        if lanes_here and step.vectors > 1:
            with self.emitter.at(groups[0][-1].cursor):
                results = self._merge(results, step.vectors)
        return results

    def _count_from_lanes(
        self,
        op_class: type[arith.AddiOp | arith.SubiOp],
        frames: list[Frame],
        counts: list[int],
        carried: list[SSAValue],
    ) -> list[SSAValue]:
        """Numbers of elements with, or without, their place within the step: that of the vector, and the lane's."""
        changed, width = list(carried), len(self.reducing)
        for number in counts:
            element = self.yielded[number].type
            with self.emitter.at(frames[-1].cursor):
                lanes = BodyValues(self.emitter, self.nest, frames).lane_numbers(element)
                for vector in range(len(carried) // width):
                    place = vector * width + self.reducing.index(number)
                    first = self.emitter.broadcast(
                        self.emitter.constant(vector * self.nest.lanes, element), self.nest.lanes
                    )
                    within = self.emitter.arith(arith.AddiOp, first, lanes)
                    changed[place] = self.emitter.arith(op_class, changed[place], within)
        return changed

    def _number_like_first(self, groups: list[list[Frame]], number: int) -> None:
        """All elements of a step have the number of its first one, which one register holds."""
        combination, shared = self.nest.combination, groups[0][-1]
        assert combination is not None
        with self.emitter.at(shared.cursor):
            first = self.emitter.index_cast(self.emitter.ssa(shared.induction), self.yielded[number].type)
            lanes = self.emitter.broadcast(first, self.nest.lanes)
        for frames in groups:
            frames[-1].values[combination.right[number]] = lanes

    def _merge(self, results: list[SSAValue], vectors: int) -> list[SSAValue]:
        """Pairwise combination of the accumulators of an unrolled loop."""
        width = len(self.reducing)
        sets = [results[number * width : (number + 1) * width] for number in range(vectors)]
        while len(sets) > 1:
            merged = [self._combine_sets(left, right) for left, right in zip(sets[::2], sets[1::2], strict=False)]
            sets = merged + ([sets[-1]] if len(sets) % 2 else [])
        return sets[0]

    def _combine_sets(self, left: list[SSAValue], right: list[SSAValue]) -> list[SSAValue]:
        if self.nest.folds():
            assert self.nest.combination is not None
            return self.nest.combination.apply(self.emitter, left, right)
        return [self._combine(number, a, b) for number, a, b in zip(self.reducing, left, right, strict=True)]

    def _combine(self, number: int, left: SSAValue, right: SSAValue) -> SSAValue:
        combiner = self.nest.outputs[number].combiner
        assert combiner is not None
        return self.emitter.value(
            combiner.op_class,  # pyright: ignore[reportArgumentType]
            (left, right),
            left.type,
            default_flags(combiner.op_class),  # pyright: ignore[reportArgumentType]
        )

    def _steps_of_groups(self, groups: list[list[Frame]], carried: list[SSAValue]) -> list[SSAValue]:
        width = len(self.reducing)
        results: list[SSAValue] = []
        for position, frames in enumerate(groups):
            results.extend(self._innermost(frames, carried[position * width : (position + 1) * width]))
        return results

    # -- the body ---------------------------------------------------------------------------------------------------

    def _innermost(self, frames: list[Frame], accumulators: list[SSAValue]) -> list[SSAValue]:
        """One step: run the body, store what is stored, return the new accumulators."""
        values = BodyValues(self.emitter, self.nest, frames)
        frame = frames[-1]
        for number, accumulator in zip(self.reducing, accumulators, strict=True):
            frame.values[self.nest.body.args[self.first_output + number]] = accumulator
        with self.emitter.at(frame.cursor):
            if values.mask() is None:
                self.prefetching.enter_step(values)
            if not is_straight(self.nest.body):
                self._run_in_order(values, frame)
            else:
                for op in self.nest.body.ops:
                    if isinstance(op, memref.StoreOp):
                        emit_store(values, op)
                    elif isinstance(op, memref.AtomicRMWOp):
                        emit_atomic(values, op)
            written = [
                (output, output.dest, self._yielded(values, output, self.yielded[number]))
                for number, output in enumerate(self.nest.outputs)
                if output.dest is not None and not output.reduces
            ]
            results = [
                values.get_lanes(self._first_term(number, accumulator) or self.yielded[number])
                for number, accumulator in zip(self.reducing, accumulators, strict=True)
            ]
            # All elements are read before the first is written: an output may lie where an input does.
            for outputs in self._in_turn(values, written):
                if len(outputs) > 1:
                    elements = [element for _, _, element in outputs]
                    values.write_in_turn([dest for _, dest, _ in outputs], outputs[0][0].access, elements)
                else:
                    self._write(values, *outputs[0])
            mask = values.mask() if self.nest.vector_reduces() else None
            if mask is not None:
                results = [self.emitter.select(mask, new, old) for new, old in zip(results, accumulators, strict=True)]
        return results

    def _first_term(self, number: int, accumulator: SSAValue) -> SSAValue | None:
        """What an accumulator that still has its neutral element becomes in one step, if that is the term itself."""
        combiner, combined = self.nest.outputs[number].combiner, self.yielded[number].owner
        if accumulator not in self.neutral or combiner is None or not isinstance(combined, combiner.op_class):
            return None
        before = self.nest.body.args[self.first_output + number]
        return next((operand for operand in combined.operands if operand is not before), None)

    def _in_turn(self, values: BodyValues, written: list[Written]) -> Iterator[list[Written]]:
        """Outputs of one step, those together that fill each other's gaps in memory."""
        left = list(written)
        while left:
            output, dest, _ = left[0]
            stride = stride_along(dest, output.access, self.nest.vector_dim or 0)
            group = left[:1]
            if is_narrow(stride) and stride > 1 and self._is_whole(values, output):
                alike = [item for item in left if item[0].access == output.access and self._is_whole(values, item[0])]
                _, windows = find_turns(dest, [window for _, window, _ in alike], stride)
                if len(windows) == stride:
                    group = [next(item for item in alike if item[1] is windows[turn]) for turn in range(stride)]
            left = [item for item in left if item not in group]
            yield group

    def _is_whole(self, values: BodyValues, output: Output) -> bool:
        """Whether all lanes of the current step are written to an output."""
        in_front = not output.is_cut or values.frames[-1].in_front or not self._past(output)
        dims = frozenset(dim for expr in output.access for dim in expr.used_dims())
        return in_front and values.is_lanes(dims) and values.mask() is None

    def _past(self, output: Output) -> list[int]:
        """The dimensions that the nest runs further along than an output is wanted."""
        return [dim for dim, bound in enumerate(self.nest.bounds) if not is_at_most(bound, output.bounds[dim])]

    def _write(self, values: BodyValues, output: Output, dest: Window, element: SSAValue) -> None:
        """Write what one step computed; of an output that is cut only what is in front of its end."""
        past = self._past(output)
        if not output.is_cut or not past or values.frames[-1].in_front:
            values.write(dest, output.access, element, whole_vectors=output.is_alone)
            return
        (dim,) = past
        if dim == self.nest.vector_dim:
            values.write(dest, output.access, element, end=output.bounds[dim])
            return
        place, end = self.emitter.ssa(values.induction(dim)), self.emitter.ssa(output.bounds[dim])
        _, then_block, _ = self.emitter.if_(self.emitter.compare_values("slt", place, end, i1))
        with self.emitter.at(Cursor(then_block)):
            values.write(dest, output.access, element)
            self.emitter.yield_()

    def _yielded(self, values: BodyValues, output: Output, yielded: SSAValue) -> SSAValue:
        """What one step writes to an output."""
        dims = frozenset(dim for expr in output.access for dim in expr.used_dims())
        return values.get_lanes(yielded) if values.is_lanes(dims) else values.get(yielded)

    def _run_in_order(self, values: BodyValues, frame: Frame) -> None:
        """A body that touches memory: its ops are copied in their order, one element at a time."""
        mapper: dict[SSAValue, SSAValue] = {}
        for op in self.nest.body.ops:
            if isinstance(op, linalg.YieldOp):
                continue
            if is_plain_value(op):
                continue
            for inner in op.walk():
                for operand in inner.operands:
                    if operand in self.nest.depends and operand not in mapper:
                        mapper[operand] = values.get(operand)
            copy = self.emitter.insert(op.clone(value_mapper=mapper))
            results: list[SSAValue] = list(copy.results)
            for nested in list(copy.walk()):
                if isinstance(nested, linalg.IndexOp):
                    self._resolve_index(values, nested)
                elif isinstance(nested, tensor.ExtractOp):
                    element = self._resolve_extract(values, nested)
                    if nested is copy:
                        results = [element]
            for result, new in zip(op.results, results, strict=True):
                frame.values[result] = mapper[result] = new

    def _resolve_index(self, values: BodyValues, op: linalg.IndexOp) -> None:
        op.result.replace_all_uses_with(self.emitter.ssa(values.induction(op.dim.value.data)))
        op.detach()
        op.erase()

    def _resolve_extract(self, values: BodyValues, op: tensor.ExtractOp) -> SSAValue:
        """A tensor element becomes a load, or the scalar that all elements are."""
        block = op.parent_block()
        assert block is not None
        with self.emitter.at(Cursor(block, op)):
            source = self.nest.source_of(op.tensor)
            loaded = source.value if isinstance(source, Uniform) else load_at(values, source, list(op.indices))
        op.result.replace_all_uses_with(loaded)
        op.detach()
        op.erase()
        return loaded

    # -- results of reductions --------------------------------------------------------------------------------------

    def _finish(self, frames: list[Frame], accumulators: list[SSAValue]) -> None:
        values = BodyValues(self.emitter, self.nest, frames)
        if self.nest.folds():
            accumulators = self._fold(values, accumulators)
        for number, accumulator in zip(self.reducing, accumulators, strict=True):
            output = self.nest.outputs[number]
            if self.together is not None:
                self.together.keep(number, values.induction(self.nest.order[0]), accumulator, self._combine)
                continue
            result = accumulator
            if self.nest.vector_reduces() and not self.nest.folds():
                result = self._across_lanes(values, number, output, accumulator)
            if output.dest is None:
                self.scalars[number] = result
            else:
                values.write(output.dest, output.access, result)

    def _fold(self, values: BodyValues, accumulators: list[SSAValue]) -> list[SSAValue]:
        """All lanes of all accumulators combined, then with what the results start from."""
        combination = self.nest.combination
        assert combination is not None
        folded = fold_lanes(self.emitter, combination, accumulators)
        if combination.starts_at_first:
            return folded
        starts = [values.read(output.init) for output in self.nest.outputs]
        return combination.apply(self.emitter, starts, folded)

    def _across_lanes(self, values: BodyValues, number: int, output: Output, accumulator: SSAValue) -> SSAValue:
        combiner = output.combiner
        assert combiner is not None
        result = self.emitter.insert(vector.ReductionOp(combiner.kind, accumulator, fastmath=("reassoc",))).results[0]
        if self.padding is not None:
            element_value = padded_element(values, self.padding, number)
            result = self.padding.combine(self.emitter, combiner, result, element_value)
        start = output.init.source
        if isinstance(start, Uniform) and is_identity(combiner, start.value):
            return result
        return self._combine(number, result, values.read(output.init))


def is_plain_value(op: Operation) -> bool:
    """A pure computation on numbers, which can be evaluated wherever its operands are known."""
    return not op.regions and (isinstance(op, linalg.IndexOp) or op.name.startswith(("arith.", "math.", "ub.")))

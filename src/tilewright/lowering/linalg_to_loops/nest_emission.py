"""Writes a planned nest: its loops, or two versions of them and the test that chooses.

if %all_before_the_end { for %i { full vectors } } else { for %i { vectors with comparisons } }
if %is_large { for %i { non-temporal stores } } else { for %i { stores } }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects import memref
from tilewright.lowering.atomic_calls import END_ATOMICS
from tilewright.lowering.linalg_to_loops.batched_rows import plan_batched_rows
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.carried_indices import CarriedIndices
from tilewright.lowering.linalg_to_loops.comparisons import (
    VersionCheck,
    find_unmasked_part,
    find_version_check,
    known_comparisons,
)
from tilewright.lowering.linalg_to_loops.element_indices import comparisons_in_order, find_carried_indices
from tilewright.lowering.linalg_to_loops.emitter import Cursor, LoopEmitter
from tilewright.lowering.linalg_to_loops.external_calls import call_external
from tilewright.lowering.linalg_to_loops.function_state import Decisions
from tilewright.lowering.linalg_to_loops.nest import Nest
from tilewright.lowering.linalg_to_loops.nest_loops import LoopWriter
from tilewright.lowering.linalg_to_loops.padding import find_padding
from tilewright.lowering.linalg_to_loops.prefetching import Prefetching
from tilewright.lowering.linalg_to_loops.sources import memory_of
from tilewright.lowering.linalg_to_loops.steps import streamed_steps
from tilewright.lowering.linalg_to_loops.streaming import Streaming, plan_streaming
from tilewright.lowering.linalg_to_loops.strip_segments import (
    plan_segments,
    scalar_of_splat,
    segments_pay,
    without_signs,
)
from tilewright.lowering.linalg_to_loops.unchanged_lanes import without_unchanged_lanes
from tilewright.lowering.linalg_to_loops.unroll_and_jam import plan_jam


def emit_nest(
    emitter: LoopEmitter, nest: Nest, prefetching: Prefetching, decisions: Decisions
) -> list[SSAValue | None]:
    """Emit a planned nest at the cursor. Returns the scalar of each output that has no destination, None for the
    others."""
    streaming = plan_streaming(emitter, nest, prefetching.traffic.only_written) if decisions.stream else None
    nest = replace(nest, fetches=prefetching.plan(nest, streaming))
    return _NestWriter(emitter, LoopWriter(emitter, nest, prefetching), streaming, decisions).write()


class _NestWriter:
    def __init__(
        self, emitter: LoopEmitter, loops: LoopWriter, streaming: Streaming | None, decisions: Decisions
    ) -> None:
        self.emitter = emitter
        self.loops = loops
        self.streaming = streaming
        self.may_jam = decisions.jam

    def write(self) -> list[SSAValue | None]:
        """Emit all versions at the cursor, and what comes after them."""
        emitter, loops, accumulators = self.emitter, self.loops, self.loops.accumulators
        cursor = emitter.cursor
        self._plan()
        outside = Frame(Cursor(cursor.block, cursor.anchor))
        in_order = comparisons_in_order(loops.nest)
        known = {**known_comparisons(emitter, loops.nest), **dict.fromkeys(in_order, True)}
        self._assume(known)
        nest = loops.plain = loops.nest
        for comparison, holds in known.items():
            outside.values[comparison] = emitter.constant(int(holds), comparison.type)
        if nest.folds():
            loops.indices = CarriedIndices(emitter, find_carried_indices(nest, in_order), accumulators.reducing)
        if accumulators.padding is None:
            loops.unmasked = find_unmasked_part(emitter, nest)
        batched, segmented = accumulators.batched, None
        if batched is None and not nest.folds() and nest.schedule.jammed == 1:
            segmented = plan_segments(nest, loops.unmasked.comparisons if loops.unmasked else ())
        if segmented is not None:
            self._version_segments(segmented, outside)
        else:
            self._row(outside)
        with emitter.at(Cursor(cursor.block, cursor.anchor)):
            if batched is not None:
                batched.finish(nest.outputs, accumulators.combine)
            if nest.schedule.lanes > 1 and any(isinstance(op, memref.AtomicRMWOp) for op in nest.body.ops):
                call_external(emitter, END_ATOMICS, ())
        return accumulators.scalars

    def _plan(self) -> None:
        """Plan how lanes become results: of all past a mask's bound, of many rows batched, or of each row."""
        nest, accumulators = self.loops.nest, self.loops.accumulators
        if nest.vector_reduces() and not nest.folds() and sum(nest.iterators[dim] for dim in nest.schedule.order) == 1:
            accumulators.padding = find_padding(self.emitter, nest)
        if accumulators.padding is None:
            accumulators.batched = plan_batched_rows(self.emitter, nest, accumulators.reducing)
            nest = without_unchanged_lanes(self.emitter, nest)
            jammed = plan_jam(nest) if accumulators.batched is None and self.may_jam else None
            self.loops.nest = jammed or nest
            return
        assert nest.schedule.vector_dim is not None
        bounds = list(nest.bounds)
        bounds[nest.schedule.vector_dim] = accumulators.padding.bound
        self.loops.nest = replace(nest, bounds=tuple(bounds))

    def _assume(self, comparisons: Iterable[SSAValue]) -> None:
        """From here on some comparisons have one result in all iterations."""
        depends = {**self.loops.nest.facts.depends, **dict.fromkeys(comparisons, frozenset[int]())}
        nest = self.loops.nest
        self.loops.nest = replace(nest, facts=replace(nest.facts, depends=depends))

    def _row(self, outside: Frame) -> None:
        """Emit the loops. Outputs that are prefetched, or may wait for reads, get no non-temporal stores."""
        streaming, prefetching = self.streaming, self.loops.prefetching
        is_near = streaming is not None and any(prefetching.tiles.is_near(view) for _, view in streaming.outputs)
        if streaming is not None and not is_near and not (prefetching.traffic.counts_reads and self._reads_twice()):
            self._stream_or_not(streaming, outside)
            return
        version = None
        if self.loops.accumulators.padding is None:
            version = find_version_check(self.emitter, self.loops.nest, self.loops.unmasked)
        if version is not None:
            self._version_loop(version, outside)
        else:
            self.loops.write_level(0, [outside])

    def _reads_twice(self) -> bool:
        """Return whether one array is read at several offsets, as a convolution does.

        If both arrays start at the same offset in a page, a load a little above the address of a store has its low
        address bits, and waits for it (Zen 4, four offsets: 1.8 times as slow with non-temporal stores).
        """
        views = (memory_of(operand.source) for operand in self.loops.nest.inputs)
        arrays = [view.flat for view in views if view is not None and not view.owned]
        return len(set(arrays)) < len(arrays)

    def _version_loop(self, version: VersionCheck, outside: Frame) -> None:
        """Two versions of a loop, chosen by whether it needs no comparisons."""

        def without() -> None:
            unmasked, nest = self.loops.unmasked, self.loops.nest
            values = dict(outside.values)
            for comparison, holds in version.comparisons.items():
                values[comparison] = self.emitter.constant(int(holds), comparison.type)
            self._assume(version.comparisons)
            self.loops.unmasked = version.unmasked or unmasked
            self.loops.write_level(0, [Frame(self.emitter.cursor, values=values)])
            self.loops.unmasked, self.loops.nest = (unmasked if version.unmasked is None else None), nest

        def with_comparisons() -> None:
            self.loops.write_level(0, [Frame(self.emitter.cursor, values=dict(outside.values))])

        self.emitter.choose(version.condition, without, with_comparisons)

    def _stream_or_not(self, streaming: Streaming, outside: Frame) -> None:
        """Two versions of a loop, chosen by the size of the launch."""
        dim = self.loops.nest.schedule.vector_dim
        assert dim is not None
        exact = self.loops.prefetching.traffic.counts_reads and streaming.loop is None
        elements = self.loops.nest.bounds[dim] if exact else streaming.elements
        pays = streaming.pays(self.emitter, elements, self.loops.prefetching.traffic.streamed_from(streaming))

        def streamed() -> None:
            frame, bound = Frame(self.emitter.cursor, values=dict(outside.values)), self.loops.nest.bounds[dim]
            for step in streamed_steps(self.emitter, self.loops.nest, streaming.head(self.emitter, bound), bound):
                self.loops.write_loop(0, [frame], step)

        def plain() -> None:
            self.loops.write_level(0, [Frame(self.emitter.cursor, values=dict(outside.values))])

        self.emitter.choose(pays, streamed, plain)

    def _version_segments(self, segmented: Nest, outside: Frame) -> None:
        """A nest whose vectors run along segments; where that depends on the divisors, also as it is without."""
        if self.loops.unmasked is not None:
            for comparison, lanes in self.loops.unmasked.comparisons.items():
                outside.values[comparison] = scalar_of_splat(lanes)
        values = BodyValues(self.emitter, segmented, [outside])
        pays = segments_pay(values)
        if isinstance(pays, SSAValue):
            self._choose_nest(pays, segmented, self.loops.plain, outside)
        elif (found := without_signs(values)) is not None:
            are_positive, unsigned = found
            self._choose_nest(are_positive, unsigned, segmented, outside)
        else:
            self.loops.nest = segmented
            self.loops.write_level(0, [outside])

    def _choose_nest(self, condition: SSAValue, first: Nest, second: Nest, outside: Frame) -> None:
        """Two versions of a nest, with accumulators for each."""
        accumulators = self.loops.accumulators
        kept = [index for index in accumulators.reducing if self.loops.nest.outputs[index].dest is None]
        choice, *blocks = self.emitter.open_if(condition, [accumulators.nest.yielded[index].type for index in kept])
        for block, nest in zip(blocks, (first, second), strict=True):
            self.loops.nest = nest
            with self.emitter.at(block):
                self.loops.write_level(0, [Frame(self.emitter.cursor, values=dict(outside.values))])
                scalars = [accumulators.scalars[index] for index in kept]
                self.emitter.yield_([scalar for scalar in scalars if scalar is not None])
        for index, result in zip(kept, choice.results, strict=True):
            accumulators.scalars[index] = result

"""Prefetches for the next program, and for the lines that this program will write, while this one computes from caches.

A nest that reads a tile which an earlier nest has read leaves memory idle. Programs run in the order of their ids, so
it is the time to prefetch the lines of the tile that a later nest will write (a store to a line that is not cached has
to read it); that nest then prefetches what the next program reads first:

    %row = muli %pid_x, %stride                     %next = muli (%pid_x + 1), %stride
    for %i { max(x[%row + %i]) }                    for %i { max(x[%row + %i]) }
    for %i { %e[%i] = exp(x[%row + %i] - %m) }  ->  for %i { prefetch y[%row + %i];   %e[%i] = exp(...) }
    for %i { y[%row + %i] = %e[%i] * %r }           for %i { prefetch x[%next + %i];  y[%row + %i] = %e[%i] * %r }

A step that prefetches both waits for free line buffers (measured: softmax and layer norm take 1.2 to 1.7 times as
long), and so does a step that computes little: without an exponential or the like, only the nest that writes
prefetches. Without a later nest that writes, the nest that reads again prefetches the next program's tile. Addresses
past the last program's tile are harmless: a prefetch does not fault.

Outputs whose lines are prefetched get no non-temporal stores, unless what a launch reads counts, too (`streaming.py`):
then the size of the launch decides whether the earlier nest prefetches (softmax of 2048 rows of 4096 on Zen 4: 1.4
times as fast with non-temporal stores, rows of 781 in the caches 1.1 times as fast with prefetches).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TypeAlias

from xdsl.ir import Block, SSAValue

from tilewright.dialects import func
from tilewright.dialects.memref.prefetch import MOST_LOCAL
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.launch_traffic import LaunchTraffic
from tilewright.lowering.linalg_to_loops.nest import Fetch, Nest, Operand, Output, stride_along
from tilewright.lowering.linalg_to_loops.next_row_prefetch import NextRowPrefetch
from tilewright.lowering.linalg_to_loops.program_expressions import ProgramExpressions
from tilewright.lowering.linalg_to_loops.sources import StridedView, memory_of
from tilewright.lowering.linalg_to_loops.stream_prefetch import Stream, plan_streams, plan_word_streams
from tilewright.lowering.linalg_to_loops.streaming import Streaming
from tilewright.support.cpu_costs import HEAVY, LARGEST_TILE_BYTES, LINE_BYTES, NEAR_BYTES
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

_Tile: TypeAlias = "tuple[SSAValue, Index]"
"""The memory that a tile is in, and the offset there."""


def _tile(view: StridedView) -> _Tile:
    return view.flat, view.offset


@dataclass(slots=True)
class _Rereading:
    """A nest that reads tiles again, and what the next program will read of them."""

    nest: Nest
    fetches: list[Fetch]
    steps: list[BodyValues] = field(default_factory=list[BodyValues])
    """Its full steps, as far as they have been emitted."""


class _TileHistory:
    """Which tiles of memory a function's nests have read so far, and which of them have been prefetched."""

    def __init__(self) -> None:
        self.read: set[_Tile] = set()
        self.fetched: set[_Tile] = set()
        self.fetched_if_small: set[_Tile] = set()
        """Tiles of outputs that are prefetched unless the launch is so large that they are streamed."""

    def note_reads(self, nest: Nest) -> None:
        """Note the tiles of the caller's memory that a nest reads."""
        views = (memory_of(operand.source) for operand in nest.inputs)
        self.read.update(_tile(view) for view in views if view is not None and not view.owned)

    def is_new(self, view: StridedView) -> bool:
        """Return whether no nest has read a tile or prefetched it."""
        tile = _tile(view)
        return tile not in self.read and tile not in self.fetched

    def is_near(self, view: StridedView) -> bool:
        """Return whether the lines of an output are brought into the caches: prefetched, or read because they are
        updated.
        """
        tile = _tile(view)
        is_fetched = tile in self.fetched and tile not in self.fetched_if_small
        return is_fetched or any(flat is view.flat for flat, _ in self.read)


class Prefetching:
    """What the nests of a function prefetch, chosen nest by nest as they are emitted."""

    def __init__(self, emitter: LoopEmitter, function: func.FuncOp, facts: TargetFacts, *, is_on: bool):
        self.is_on = is_on
        self.emitter = emitter
        self.facts = facts
        self.traffic = LaunchTraffic(emitter, function, facts)
        self.tiles = _TileHistory()
        grid = emitter.grid_arguments()
        program_id = grid[3] if grid and not function.function_type.outputs.data else None
        self._expressions = ProgramExpressions(emitter, program_id)
        self._rows = NextRowPrefetch(emitter, self._expressions)
        self._rereading: _Rereading | None = None
        """The last nest that reads again what no nest has prefetched yet."""
        self._streams: list[Stream] = []
        """What the nest that is being emitted passes over."""

    def plan(self, nest: Nest, streaming: Streaming | None) -> tuple[Fetch, ...]:
        """Plan which tiles a scheduled nest, which is about to be emitted, prefetches for other nests."""
        if not self.is_on:
            self.traffic.count_reads(nest)
            self.tiles.note_reads(nest)
            return ()
        along = self.facts.loops_prefetch
        rows_ahead = self.facts.prefetches_by_page and (along or all(map(_stays_near, nest.outputs)))
        self._streams = plan_streams(nest, self._is_new, self._continues, along=along, rows_ahead=rows_ahead)
        if self.emitter.cursor.block is not self.emitter.entry:
            self._streams += plan_word_streams(
                nest, lambda view: self._is_new(view) and self.traffic.is_of_program(view.offset)
            )
        self.traffic.count_reads(nest)
        if self._expressions.program_id is None or nest.schedule.vector_dim is None:
            return ()
        if self.emitter.cursor.block is not self.emitter.entry:
            self._rows.note(nest)
            return ()
        fetches: list[Fetch] = []
        for operand in nest.inputs:
            view = memory_of(operand.source)
            if view is None or view.owned or nest.schedule.vector_dim not in operand.dims():
                continue
            tile = _tile(view)
            if (
                tile in self.tiles.read
                and tile not in self.tiles.fetched
                and (fetch := self._following(nest, operand, view))
            ):
                self.tiles.fetched.add(tile)
                fetches.append(fetch)
            self.tiles.read.add(tile)
        taken_over = [fetch for output in nest.outputs for fetch in self._fetch_output(nest, output, streaming)]
        if fetches:
            self._prefetch_next_program()
            self._rereading = _Rereading(nest, fetches)
        return tuple(taken_over)

    def enter_step(self, values: BodyValues) -> None:
        """Emit the prefetches of one full step of a nest: none of lines that get non-temporal stores."""
        only_read = bool(values.nest.fetches) or values.frames[-1].is_streamed
        for stream in self._streams:
            if not (stream.is_write and only_read) and not (stream.by_line and _is_inside_line(values, stream)):
                ahead = self.emitter.mul(stream.distance, stream.stride)
                offset = self.emitter.add(values.linear_index(stream.view, stream.access), ahead)
                self.emitter.prefetch(stream.view.flat, offset, MOST_LOCAL, is_write=stream.is_write)
        for fetch in values.nest.fetches:
            self.emitter.prefetch(fetch.view.flat, values.linear_index(fetch.view, fetch.access), fetch.locality)
        if self._rereading is not None and values.nest.is_version_of(self._rereading.nest):
            self._rereading.steps.append(values)
        self._rows.enter_step(values)

    def _is_new(self, view: StridedView) -> bool:
        return self.tiles.is_new(view) and self._rows.is_new(view)

    def _continues(self, view: StridedView) -> bool:
        """Return whether the offset of a tile follows from the program id, so that the next program's is likely to come
        after it in memory."""
        if self._expressions.program_id is None or self.emitter.cursor.block is not self.emitter.entry:
            return False
        return not isinstance(view.offset, int) and self._expressions.ops_of(view.offset) is not None

    def finish(self) -> None:
        """End the function: the last nests that read something again prefetch the same for the next program."""
        self._prefetch_next_program()
        for row in self._rows.left():
            for values in row.steps:
                self._fetch_in_step(values, row.fetch, is_write=False, stays=row.is_long)

    def _prefetch_next_program(self) -> None:
        """Let the nest that reads something again prefetch it for the next program: no nest after it did."""
        rereading, self._rereading = self._rereading, None
        if rereading is not None:
            for values in rereading.steps:
                for fetch in rereading.fetches:
                    self._fetch_in_step(values, fetch, is_write=False)

    def _fetch_output(self, nest: Nest, output: Output, streaming: Streaming | None) -> Sequence[Fetch]:
        """Let an earlier nest over the same elements prefetch the lines of an output, and this nest the tiles that the
        earlier one would have prefetched, which are returned."""
        view, earlier = output.dest, self._rereading
        if view is None or view.owned or earlier is None or not earlier.steps:
            return ()
        tile = _tile(view)
        assert earlier.nest.schedule.vector_dim is not None
        if (
            tile in self.tiles.fetched
            or nest.extents != earlier.nest.extents
            or nest.schedule.vector_dim != earlier.nest.schedule.vector_dim
        ):
            return ()
        if output.access != earlier.fetches[0].access:
            return ()
        if stride_along(view, output.access, earlier.nest.schedule.vector_dim) != 1 or view.bytes > LARGEST_TILE_BYTES:
            return ()
        self._rereading = None
        if earlier.nest.facts.cost >= HEAVY:
            self._prefetch_lines(earlier, view, output, streaming)
        return earlier.fetches

    def _prefetch_lines(
        self, earlier: _Rereading, view: StridedView, output: Output, streaming: Streaming | None
    ) -> None:
        first = earlier.steps[0].frames[-1].cursor.block
        if first is self.emitter.entry:
            return
        with self.emitter.at(_before(self.emitter.entry, first)):
            offset, *strides = (self._expressions.copy(part) for part in (view.offset, *view.strides))
            is_streamed = self._is_streamed(earlier.nest, streaming)
        if offset is None or None in strides:
            return
        self.tiles.fetched.add(_tile(view))
        if is_streamed is not False:
            self.tiles.fetched_if_small.add(_tile(view))
        copied = replace(view, offset=offset, strides=tuple(strides))  # pyright: ignore[reportArgumentType]
        for values in earlier.steps:
            fetch = Fetch(copied, output.access, _locality_of(view, NEAR_BYTES))
            self._fetch_in_step(values, fetch, is_write=True, stays=is_streamed)

    def _is_streamed(self, nest: Nest, streaming: Streaming | None) -> SSAValue | bool:
        """Return whether the launch is so large that a later nest over the same elements streams its outputs."""
        if streaming is None or not self.traffic.counts_reads or nest.schedule.vector_dim is None:
            return False
        elements = self._expressions.copy(nest.bounds[nest.schedule.vector_dim])
        return elements is not None and streaming.is_large(
            self.emitter, elements, self.traffic.streamed_from(streaming)
        )

    def _fetch_in_step(
        self, values: BodyValues, fetch: Fetch, *, is_write: bool, stays: SSAValue | bool = False
    ) -> None:
        """Add a prefetch to a step that has been emitted; of the tile's first line alone if it `stays` there."""
        inside = values.frames[-1].cursor.block
        frames = [Frame(_before(frame.cursor.block, inside), frame.dim, frame.induction) for frame in values.frames]
        step = BodyValues(self.emitter, values.nest, frames)
        if inside is self.emitter.entry:
            return
        with self.emitter.at(frames[-1].cursor):
            index = step.linear_index(fetch.view, fetch.access)
            index = self.emitter.select_index(stays, fetch.view.offset, index)
            self.emitter.prefetch(fetch.view.flat, index, fetch.locality, is_write=is_write)

    def _following(self, nest: Nest, operand: Operand, view: StridedView) -> Fetch | None:
        """The tile that the next program reads where this one reads `view`."""
        assert nest.schedule.vector_dim is not None
        if stride_along(view, operand.access, nest.schedule.vector_dim) != 1 or view.bytes > LARGEST_TILE_BYTES:
            return None
        if isinstance(view.offset, int) or (following := self._expressions.in_next_program(view.offset)) is None:
            return None
        near = NEAR_BYTES if nest.facts.cost >= HEAVY else self.facts.fetched_near_bytes
        return Fetch(replace(view, offset=following), operand.access, _locality_of(view, near))


def _is_inside_line(values: BodyValues, stream: Stream) -> bool:
    """Return whether a step of an unrolled loop begins inside of a cache line, counted from the first step."""
    offset = 0
    for expr, stride in zip(stream.access, stream.view.strides, strict=True):
        number = values.affine(expr)
        offset += number * stride if isinstance(number, int) and isinstance(stride, int) else 0
    return offset % LINE_BYTES != 0


def _stays_near(output: Output) -> bool:
    """Return whether nothing but an accumulator or a buffer is written."""
    return output.reduces or (output.dest is not None and output.dest.owned)


def _locality_of(view: StridedView, near: int) -> int:
    return 3 if view.bytes <= near else 2


def _before(block: Block, inside: Block) -> Cursor:
    """Return the position in `block` before the loop that holds `inside`, or the end of the loop body itself."""
    if block is inside:
        return Cursor(block, block.last_op)
    op = inside.parent_op()
    while op is not None and op.parent_block() is not block:
        op = op.parent_op()
    assert op is not None
    return Cursor(block, op)

"""The general micro-kernel: C += A B by register tiles, operands read in place and widened as they are loaded.

Loops over register tiles of C; a full tile keeps its accumulators in registers over all of k. Tiles at the edge go in
strips of a few rows (those past the end are the last one again, which is stored more than once) with masked columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter, Phi, vector_constant
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.support.facts import TargetFacts

PARAMETERS = (
    *("a_ptr", "a_row_stride", "a_k_stride", "b_ptr", "b_row_stride", "c_ptr", "c_row_stride"),
    *("k_count", "m_count", "n_count"),
)
OUTPUT_PARAMETERS = ("out_ptr", "out_row_stride")
EDGE_ROWS = 4

UNROLLED = 2
"""Steps of k that an iteration takes of the loops that ask for lines: counters and addresses cost power, too, which is
what limits the clock (1536 x 1536 x 1536 on AVX2: 1.6 % less time; on AVX-512: 0.7 %)."""


@dataclass(frozen=True)
class Strides:
    """Distances in bytes, as i64 registers."""

    a_row: str
    a_k: str
    b_row: str
    c_row: str


@dataclass(frozen=True)
class Rows:
    """Where the rows of a tile are: the first one, and bytes from one to the next."""

    first: str
    stride: str


@dataclass(frozen=True)
class KState:
    """What the loop over k carries: k, the offset of A in bytes, the row of B, the accumulators row by row."""

    k: str
    a_offset: str
    b: str
    sums: list[str]
    lines: tuple[str, ...] = ()
    """The lines to ask for next, one of each kind that the loop asks for."""

    @property
    def values(self) -> list[str]:
        """All of them, in the order of `TileWriter.state_phis`."""
        return [self.k, self.a_offset, self.b, *self.sums, *self.lines]


@dataclass(frozen=True)
class LinesAhead:
    """Cache lines of a kind that will be needed: steps of k ask for one each, `count` of them in a row."""

    first: str
    stride: str
    """Bytes from one to the next."""
    count: int
    level: int
    """The cache that they go to, as `llvm.prefetch` counts: 3 is the nearest."""
    is_written: bool = False


class TileWriter:
    """Writes one micro-kernel. Subclasses change how operands are loaded and multiplied."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile) -> None:
        self.fn = fn
        self.element = element
        self.tile = tile
        self.vector = LaneBuilder(fn, tile.lanes)
        self.scalar = LaneBuilder(fn, 0)
        self.result: Rows | None = None
        """Where the tile at hand is written to; None: where its old elements are."""

    # ---------------------------------------------------------------------------------------------------- structure

    @cached_property
    def strides(self) -> Strides:
        """Of the parameters; computed where they are first asked for, which is at the start of a kernel."""
        size = self.element.bytes
        return Strides(
            self.scaled("%a_row_stride", size),
            self.scaled("%a_k_stride", size),
            self.scaled("%b_row_stride", size),
            self.scaled("%c_row_stride", self.element.accumulator_bytes),
        )

    def scaled(self, value: str, factor: int) -> str:
        return value if factor == 1 else self.fn.binary("mul", "i64", value, factor)

    def write(self) -> None:
        """The whole body: all register tiles of C, full ones and edges."""
        fn = self.fn
        a, b, c = (fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr") for name in "abc")
        _ = self.strides  # computed here, for all blocks
        self.loop("%m_count", self.tile.rows, lambda row: self._columns(a, b, c, row))
        fn.ret()

    def _columns(self, a: str, b: str, c: str, row: str) -> None:
        fn = self.fn
        rows_left = fn.binary("sub", "i64", "%m_count", row)
        a_at = self.advance(a, fn.binary("mul", "i64", row, self.strides.a_row))
        c_row = self.advance(c, fn.binary("mul", "i64", row, self.strides.c_row))
        rows_full = fn.icmp("uge", "i64", rows_left, self.tile.rows)

        def column(position: str) -> None:
            left = fn.binary("sub", "i64", "%n_count", position)
            b_at = self.advance(b, self.scaled(position, self.b_column_bytes))
            c_at = self.advance(c_row, self.scaled(position, self.element.accumulator_bytes))
            columns_full = fn.icmp("uge", "i64", left, self.tile.columns)
            full, edge, done = (fn.new_label(hint) for hint in ("full", "edge", "done"))
            fn.branch_if(fn.binary("and", "i1", rows_full, columns_full), full, edge)
            fn.start(full)
            self.full_tile(a_at, b_at, c_at, self.tile.rows)
            fn.branch(done)
            fn.start(edge)
            self._edge(a_at, b_at, c_at, rows_left, left)
            fn.branch(done)
            fn.start(done)

        self.loop("%n_count", self.tile.columns, column)

    @property
    def b_column_bytes(self) -> int:
        """Bytes from one column of B to the next."""
        return self.element.bytes

    def advance(self, pointer: str, offset: str) -> str:
        return self.fn.address("i8", pointer, offset)

    def loop(self, count: str, step: int, body: Callable[[str], None]) -> None:
        """``for i in range(0, count, step): body(i)``."""
        self.fn.loop("0", count, step, body)

    # -------------------------------------------------------------------------------------------------------- tiles

    def full_tile(self, a: str, b: str, c: str, count: int) -> None:
        """`count` rows of C, with full columns, from C's old values."""
        rows = [a, *(self._opaque(self._row_offset(a, self.strides.a_row, row)) for row in range(1, count))]
        addresses = self._vectors(Rows(c, self.strides.c_row), count)
        stored = self._vectors(self.result, count) if self.result is not None else addresses
        text = self.vector.type(self.element.accumulator)
        size = self.element.accumulator_bytes
        sums = self.accumulate(rows, b, self.start_of_tile(addresses), masks=None)
        for row, row_addresses in zip(sums, stored, strict=True):
            for value, at in zip(row, row_addresses, strict=True):
                self.fn.store(text, value, at, align=size)

    def _vectors(self, place: Rows, count: int) -> list[list[str]]:
        """Addresses of the vectors of some rows of C."""
        rows = [place.first, *(self._row_offset(place.first, place.stride, row) for row in range(1, count))]
        return [[self._vector_at(base, v) for v in range(self.tile.vectors)] for base in rows]

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        """Return what the sums of a full tile start from: C's elements."""
        text, size = self.vector.type(self.element.accumulator), self.element.accumulator_bytes
        return [[self.fn.load(text, at, align=size) for at in row] for row in addresses]

    def _opaque(self, value: str, type: str = "ptr") -> str:
        """The same value, kept in a register: else LLVM makes it, or sums with it, of others in every step of k."""
        return self.fn.opaque(type, value)

    def _row_offset(self, base: str, stride: str, row: int) -> str:
        return self.advance(base, self.scaled(stride, row))

    def _vector_at(self, base: str, vector: int) -> str:
        return self.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes)) if vector else base

    @property
    def edge_rows(self) -> int:
        """The number of rows that `_edge` is called for."""
        return self.tile.rows

    @property
    def strips(self) -> tuple[tuple[int, int], ...]:
        """Vectors and rows of the strips that an edge is taken in: the first that has all its columns."""
        return ((self.tile.vectors, min(EDGE_ROWS, self.tile.rows)),)

    def _edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        """Strips of a few rows with masked columns; at most `edge_rows` rows and the columns of one register tile."""
        fn = self.fn
        bound = fn.call("i64", "llvm.umin.i64", [("i64", rows_left), ("i64", str(self.edge_rows))])
        done = fn.new_label("done")
        *narrow, (vectors, rows) = self.strips
        for few, more_rows in narrow:
            suffices, wider = fn.new_label("suffices"), fn.new_label("wider")
            fn.branch_if(fn.icmp("ule", "i64", columns_left, few * self.tile.lanes), suffices, wider)
            fn.start(suffices)
            self._take_strips((few, more_rows), a, b, c, bound, columns_left)
            fn.branch(done)
            fn.start(wider)
        self._take_strips((vectors, rows), a, b, c, bound, columns_left)
        fn.branch(done)
        fn.start(done)

    def _take_strips(self, shape: tuple[int, int], a: str, b: str, c: str, bound: str, columns_left: str) -> None:
        fn, (vectors, rows) = self.fn, shape
        last = fn.binary("sub", "i64", bound, 1)
        masks = [self._column_mask(columns_left, v) for v in range(vectors)]

        def strip(first: str) -> None:
            numbers = [first, *(fn.binary("add", "i64", first, row) for row in range(1, rows))]
            held = [fn.call("i64", "llvm.umin.i64", [("i64", number), ("i64", last)]) for number in numbers]
            a_rows = [self.advance(a, fn.binary("mul", "i64", row, self.strides.a_row)) for row in held]
            c_rows = self._rows_at(Rows(c, self.strides.c_row), held)
            stored = self._rows_at(self.result, held) if self.result is not None else c_rows
            start = self.start_of_edge(c_rows, held, masks)
            sums = self.accumulate(a_rows, b, start, masks)
            for base, row in zip(stored, sums, strict=True):
                self._store_strip_row(base, row, masks)

        self.loop(bound, rows, strip)

    def _rows_at(self, place: Rows, numbers: Sequence[str]) -> list[str]:
        return [self.advance(place.first, self.fn.binary("mul", "i64", row, place.stride)) for row in numbers]

    def _column_mask(self, columns_left: str, vector: int) -> str:
        """Lanes of a vector whose column exists."""
        lanes = self.tile.lanes
        numbers = vector_constant("i64", (str(vector * lanes + lane) for lane in range(lanes)))
        spread = self.spread(columns_left, "i64")
        return self.fn.icmp("ult", f"<{lanes} x i64>", numbers, spread)

    def spread(self, value: str, scalar: str) -> str:
        """A scalar in every lane."""
        text = self.vector.type(scalar)
        single = self.fn.insert_element(text, "poison", scalar, value, 0)
        mask = f"<{self.tile.lanes} x i32> zeroinitializer"
        return self.fn.shuffle(text, single, "poison", mask)

    def start_of_edge(self, c_rows: list[str], numbers: Sequence[str], masks: list[str]) -> list[list[str]]:
        """Return what the sums of some rows at the edge start from; `numbers` count from the first row of the tile."""
        return [[self.masked_start(base, v, mask) for v, mask in enumerate(masks)] for base in c_rows]

    def masked_start(self, base: str, vector: int, mask: str) -> str:
        """Return what the sums of a row at the edge start from."""
        at = self._vector_at(base, vector)
        text = self.vector.type(self.element.accumulator)
        return self.fn.masked_load(text, at, mask, align=self.element.accumulator_bytes)

    def _store_strip_row(self, base: str, row: list[str], masks: list[str]) -> None:
        text, align = self.vector.type(self.element.accumulator), self.element.accumulator_bytes
        for vector, (value, mask) in enumerate(zip(row, masks, strict=True)):
            self.fn.masked_store(text, value, self._vector_at(base, vector), mask, align=align)

    # ------------------------------------------------------------------------------------------------- the inner loop

    @property
    def b_step(self) -> str:
        """Bytes from one row of B to the next."""
        return self.strides.b_row

    @property
    def steps(self) -> str:
        """The number of steps of k of the inner loop."""
        return "%k_count"

    def accumulate(self, rows: list[str], b: str, start: list[list[str]], masks: list[str] | None) -> list[list[str]]:
        """start + A B over all k, for rows of A at the given addresses; the columns of B masked if `masks` is given."""
        fn = self.fn
        text = self.vector.type(self.element.accumulator)
        width = len(start[0])
        old = [value for row in start for value in row]
        some, done, before = fn.new_label("some"), fn.new_label("kdone"), fn.label
        fn.branch_if(fn.icmp("sgt", "i64", self.steps, 0), some, done)
        fn.start(some)
        begin = KState("0", "0", b, old)
        # Tiles with fewer rows are few: two more loops would cost more time to compile than they save.
        asks = masks is None and self.chunk and len(rows) == self.tile.rows
        end = self._chunks(rows, begin) if asks else self._steps(rows, begin, self.steps, masks)
        latch = fn.label
        fn.branch(done)
        fn.start(done)
        results: list[str] = []
        for first, last in zip(old, end.sums, strict=True):
            result = fn.detached_phi(text)
            result.add(first, before)
            result.add(last, latch)
            fn.place_phis([result])
            results.append(result.name)
        return [results[at : at + width] for at in range(0, len(results), width)]

    def _chunks(self, rows: list[str], begin: KState) -> KState:
        """The loop over k in chunks, in which each step asks for a line that is needed after this tile.

        for k in steps by CHUNK, as far as they come in pairs:
          if there is a whole chunk:  an even number of steps for each entry of `lines_ahead` but the last
          the pairs that are left of the chunk, or of all, with the lines of the last entry
        the last step, if their number is odd
        """
        fn = self.fn
        paired = fn.binary("and", "i64", self.steps, -UNROLLED)

        def body(state: KState) -> KState:
            *entries, last = self.lines_ahead(state, len(rows))
            end = fn.binary("add nsw", "i64", state.k, self.chunk)

            def whole() -> KState:
                led = state
                for kinds in entries:
                    lines = sum(kind.count for kind in kinds)
                    count = -(-lines // UNROLLED) * UNROLLED
                    led = self._steps(rows, led, fn.binary("add nsw", "i64", led.k, count), None, kinds, 1)
                return led

            merged = self._if(fn.icmp("sle", "i64", end, paired), state, whole)
            end = fn.call("i64", "llvm.smin.i64", [("i64", end), ("i64", paired)])
            return self._steps(rows, merged, end, None, last, UNROLLED)

        some = fn.icmp("sgt", "i64", paired, 0)
        after = self._if(some, begin, lambda: self._repeat(begin, paired, body))
        is_odd = fn.icmp("slt", "i64", paired, self.steps)
        return self._if(is_odd, after, lambda: self._steps(rows, after, self.steps, None))

    def _if(self, condition: str, state: KState, body: Callable[[], KState]) -> KState:
        """``body() if condition else state``."""
        fn = self.fn
        some, done, before = fn.new_label("whole"), fn.new_label("rest"), fn.label
        fn.branch_if(condition, some, done)
        fn.start(some)
        led = body()
        after = fn.label
        fn.branch(done)
        fn.start(done)
        return self._merge(state, before, led, after)

    def _merge(self, first: KState, before: str, second: KState, after: str) -> KState:
        """The state at the start of a block: that of one predecessor, or that of the other."""
        phis, merged = self._state_phis(first)
        for phi, one, other in zip(phis, first.values, second.values, strict=True):
            phi.add(one, before)
            phi.add(other, after)
        return merged

    def _state_phis(self, like: KState) -> tuple[list[Phi], KState]:
        """Phis for the values of a state, and the state that they make."""
        fn, text = self.fn, self.vector.type(self.element.accumulator)
        k, a_offset, b = fn.phi("i64", "k"), fn.phi("i64", "ao"), fn.phi("ptr", "bp")
        sums = [fn.phi(text, "c") for _ in like.sums]
        lines = [fn.phi("ptr", "line") for _ in like.lines]
        state = KState(k.name, a_offset.name, b.name, [phi.name for phi in sums], tuple(phi.name for phi in lines))
        return [k, a_offset, b, *sums, *lines], state

    def _steps(
        self,
        rows: list[str],
        begin: KState,
        end: str,
        masks: list[str] | None,
        kinds: tuple[LinesAhead, ...] = (),
        unrolled: int = 1,
    ) -> KState:
        """Steps of k up to `end`, `unrolled` of them at least and a multiple of that.

        They take turns to ask for lines of `kinds`.
        """
        fn = self.fn

        def body(state: KState) -> KState:
            first = state.k
            for step in range(unrolled):
                if step:
                    state = replace(state, a_offset=self._opaque(state.a_offset, "i64"))
                state = self._step(rows, state, masks)
                if kinds:
                    state = self._ask(state, step % len(kinds), kinds)
            return replace(state, k=fn.binary("add nsw", "i64", first, unrolled))

        lines = tuple(self._opaque(kind.first) for kind in kinds)
        return replace(self._repeat(replace(begin, lines=lines), end, body), lines=())

    def _step(self, rows: list[str], state: KState, masks: list[str] | None) -> KState:
        """One step of k, which is not counted yet."""
        width = len(state.sums) // len(rows)
        columns = [self.load_b(state.b, v, None if masks is None else masks[v]) for v in range(width)]
        sums: list[str] = []
        for number, base in enumerate(rows):
            value = self.load_a(self.advance(base, state.a_offset))
            for column, old in zip(columns, state.sums[number * width :], strict=False):
                sums.append(self.multiply_add(value, column, old))
        a_offset = self.fn.binary("add", "i64", state.a_offset, self.strides.a_k)
        return replace(state, a_offset=a_offset, b=self.advance(state.b, self.b_step), sums=sums)

    def _ask(self, state: KState, number: int, kinds: tuple[LinesAhead, ...]) -> KState:
        """Ask for a line of one kind."""
        fn, kind, line = self.fn, kinds[number], state.lines[number]
        fn.prefetch(line, level=kind.level, is_written=kind.is_written)
        following = self.advance(line, kind.stride)
        return replace(state, lines=(*state.lines[:number], following, *state.lines[number + 1 :]))

    def _repeat(self, begin: KState, end: str, body: Callable[[KState], KState]) -> KState:
        """``do state = body(state) while state.k < end``."""
        fn = self.fn
        loop, done, before = fn.new_label("k"), fn.new_label("done"), fn.label
        fn.branch(loop)
        fn.start(loop)
        phis, state = self._state_phis(begin)
        after = body(state)
        for phi, first, following in zip(phis, begin.values, after.values, strict=True):
            phi.add(first, before)
            phi.add(following, fn.label)
        fn.branch_if(fn.icmp("slt", "i64", after.k, end), loop, done)
        fn.start(done)
        return after

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        """accumulator + a b, lane by lane."""
        return self.element.multiply_add(self.vector, a, b, accumulator)

    @property
    def chunk(self) -> int:
        """Steps of k that ask for the lines of one `lines_ahead`; 0: no step asks for any."""
        return 0

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        """Return what the steps of a chunk ask for in a tile of so many rows.

        An entry is for a loop, whose steps take turns to ask for a line of each kind; the last one gets the steps that
        the others leave.
        """
        raise NotImplementedError

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        size = self.element.bytes
        at = self.advance(base, str(vector * self.tile.lanes * size)) if vector else base
        if mask is not None:
            loaded = self.fn.masked_load(self.vector.type(self.element.memory), at, mask, align=size)
        else:
            loaded = self.fn.load(self.vector.type(self.element.memory), at, align=size)
        return self.element.widen(self.vector, loaded)

    def load_a(self, address: str) -> str:
        value = self.fn.load(self.element.memory, address, align=self.element.bytes)
        return self.spread(self.element.widen(self.scalar, value), self.element.accumulator)


def kernel_function(
    name: str, module: ModuleText, more: Sequence[str] = (), *, attributes: str = "noinline nounwind"
) -> FunctionText:
    """An empty function with the micro-kernels' ABI, and more parameters at the end."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in (*PARAMETERS, *more)]
    return FunctionText(module, name, "void", parameters, linkage="internal", attributes=attributes)


def emit_tile_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, rows: int, columns: int
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>``."""
    fn = kernel_function(name, module)
    TileWriter(fn, element, plan_register_tile(facts, rows, columns, element.accumulator_bits)).write()
    return fn.text()

"""The micro-kernel for whole blocks: B is packed, a few panels at a time, into the stack frame.

    for k0 in k by KC:  for g0 in n by PANELS NR:  panels = B[k0:, g0:], widened, columns padded with zeros
      for n0 in the group by NR:  for m0 in m by MR:  C[m0:, n0:] += A[m0:, k0:] panel

A panel that the kernel packs takes two thirds of the first level cache, one that is there already what the processor
goes over as fast (`TargetFacts.panel_bytes`). Rows that MR does not divide go by tiles of four rows: with MR = 6 that
serves every even count from 4 on.

B in place costs a new page and, for row lengths that are powers of two, the same few cache sets for each step of k,
once for every MR rows of C. Packing costs that once a block, four panels of a row at a time; the panels' rows are
aligned, and narrow types are widened once. B whose rows are short is as good as a panel: it stays in place.

While a tile is computed, each step of k asks for one line that is needed later: of the A and C of the next tile, of
the B that comes next. Asked for in bursts, they hold up the loads of the steps after.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, Parameter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.panels import PanelWriter, padded_depth
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import KState, LinesAhead, Rows, Strides, TileWriter
from tilewright.support.facts import TargetFacts

GROUP_COLUMNS = 128
"""Columns that are packed together, so that each row of B is visited once for several panels."""

CHUNK = 16
"""Steps of k that ask for a line of each row of A, a row of C and the lines of B."""

PREFETCHED_ROWS = 4
"""Lines of B that a chunk of k asks for."""

SHORT_ROWS = 4
"""Rows of the tiles for what is left of the rows."""

EDGE_ROWS = 8
"""Rows of a panel without all of its columns that are done at a time."""

SHORT_ROW_BYTES = 512
"""Rows of B at most this far apart are read in place."""

_EDGE_PARAMETERS = (
    *(("a", "ptr"), ("a_row", "i64"), ("a_k", "i64"), ("b", "ptr"), ("b_step", "i64"), ("c", "ptr"), ("c_row", "i64")),
    *(("result", "ptr"), ("result_row", "i64"), ("steps", "i64"), ("rows", "i64"), ("columns", "i64")),
    *(("from_zero", "i1"), ("sums", "ptr")),
)


@dataclass(frozen=True)
class Upcoming:
    """The lines of B that a tile asks for, `PREFETCHED_ROWS` in each chunk of k."""

    first: str
    per_chunk: str
    """Bytes by which they move from one chunk to the next."""
    stride: str
    """Bytes from one to the next."""


@dataclass(frozen=True)
class Ahead:
    """What is asked for while a tile is computed: the next rows of A, lines of B, the next rows of C."""

    a: str
    b: Upcoming
    c: Rows


@dataclass(frozen=True)
class Step:
    """One step of the outermost loop."""

    first: str
    """Of its steps of k, `depth` many."""
    depth: str
    is_first: str
    """Whether it is the first one."""
    output: Rows | None = None
    """Where it leaves its sums, if not in C."""


@dataclass(frozen=True)
class RowLimits:
    """How many rows of A there are, and at which of them the full tiles end, and the short ones after them."""

    count: str
    full: str = ""
    short: str = ""


class BlockWriter(PanelWriter):
    """Writes one kernel for whole blocks."""

    a_level = 2
    """The cache that the next rows of A are asked for into."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, panel_bytes: int, kernel: MatmulKernel
    ) -> None:
        super().__init__(fn, element, tile, transposed_b=kernel.transposed_b)
        self.kernel = kernel
        self.has_edges = kernel.has_edges
        self.k_panel = max(64, panel_bytes // self.panel_row_bytes // 32 * 32)
        self.panels = max(1, GROUP_COLUMNS // tile.columns)
        self.limits = RowLimits("%m_count")
        self.k_count = "%k_count"
        """How many steps of k there are, at most `k_panel` of which a panel has at a time."""
        self.k_group = 1
        """Elements of k in a step."""
        self.step = Step("", "", "")
        self.first_row = ""
        self.next_b = ""
        self.ahead = Ahead("", Upcoming("", "", ""), Rows("", ""))
        self.panel_stride = str(self.panel_row_bytes)
        self.b_align = min(64, tile.lanes * element.accumulator_bytes)

    # ------------------------------------------------------------------------------------------------------ structure

    @property
    def source_strides(self) -> Strides:
        """Those of the matrices, where `strides` has those of a copy of A."""
        return self.strides

    @cached_property
    def k_step(self) -> str:
        """The number of steps of k in one block of K; the last block may have fewer.

        K is divided evenly: in a short last block tiles would wait for C, which the steps before it have no time to
        prefetch.
        """
        fn, most = self.fn, self.k_panel
        times = fn.binary("udiv", "i64", fn.binary("add", "i64", self.k_count, most - 1), most)
        times = fn.call("i64", "llvm.umax.i64", [("i64", times), ("i64", "1")])
        above = fn.binary("add", "i64", self.k_count, times)
        share = fn.binary("udiv", "i64", fn.binary("sub", "i64", above, 1), times)
        share = fn.call("i64", "llvm.umax.i64", [("i64", share), ("i64", "1")])
        return fn.binary("and", "i64", fn.binary("add", "i64", share, CHUNK - 1), -CHUNK)

    def write(self) -> None:
        """The whole body."""
        fn = self.fn
        a, b, c = (fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr") for name in "abc")
        _ = self.strides, self.k_step  # computed here, for all blocks
        self.limits = self.limits_of(self.limits.count)
        group = self._packed_group(b, c) if self.kernel.packed_b else self._packing_group(b, c)

        def depth_step(k0: str) -> None:
            left = fn.binary("sub", "i64", self.k_count, k0)
            depth = fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", self.k_step)])
            self.step = Step(k0, depth, fn.icmp("eq", "i64", k0, 0))
            if self.kernel.output is not None:
                is_last = fn.icmp("sle", "i64", left, self.k_step)
                self.step = replace(self.step, output=self._output(is_last, c))
            group(k0, self.advance(a, self._product(self.scaled(k0, self.k_group), self.source_strides.a_k)))

        depth = self.k_count
        if self.kernel.from_zero:
            # A sum without terms is 0, too.
            depth = fn.call("i64", "llvm.smax.i64", [("i64", depth), ("i64", "1")])
        fn.loop("0", depth, self.k_step, depth_step)
        fn.ret()

    def _output(self, is_last: str, c: str) -> Rows:
        """Return where this step of k leaves its sums: the last one does so where they are wanted."""
        fn = self.fn
        out = fn.cast("inttoptr", "i64", "%out_ptr", "ptr")
        out_row = self.scaled("%out_row_stride", self.element.accumulator_bytes)
        return Rows(
            fn.select(is_last, "ptr", out, c),
            fn.select(is_last, "i64", out_row, self.strides.c_row),
        )

    def _packed_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """All panels, where they are."""
        fn, b = self.fn, self.packed_panels(b)
        panel_depth = padded_depth(fn, self.k_count)

        def group(k0: str, a_k: str) -> None:
            b_k = self.advance(b, self.scaled(k0, self.panel_row_bytes))
            b_next = self.advance(b_k, self.scaled(self.k_step, self.panel_row_bytes))

            def one_panel(a: str, c: str, n0: str) -> None:
                c_n = self.advance(c, self.scaled(n0, self.element.accumulator_bytes))
                following = fn.binary("add", "i64", n0, self.tile.columns)
                is_last = fn.icmp("uge", "i64", following, "%n_count")
                at_side = self.panel_at(b_k, panel_depth, following)
                self.next_b = fn.select(is_last, "ptr", b_next, at_side)
                self.rows_of_panel(
                    self.panel_at(b_k, panel_depth, n0), a, c_n, n0, fn.binary("sub", "i64", "%n_count", n0)
                )

            def panels(a: str, c: str) -> None:
                self.loop("%n_count", self.tile.columns, lambda n0: one_panel(a, c, n0))

            self.all_rows(a_k, c, panels)

        return group

    def packed_panels(self, b: str) -> str:
        """Return where the panels are; `b` is the parameter."""
        return b

    def _packing_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """Groups of panels, packed into the stack frame."""
        fn = self.fn
        panels = fn.alloca(f"[{self.panels * self.k_panel * self.panel_row_bytes} x i8]", align=64)
        in_place = self._is_like_a_panel()

        def groups(k0: str, a_k: str) -> None:
            row, column = self._b_strides()
            b_k = self.advance(b, fn.binary("mul", "i64", k0, row))
            b_next = self.advance(b_k, self._product(row, self.k_step))

            def one_group(g0: str) -> None:
                width = self.panels * self.tile.columns
                following = self.advance(b_k, fn.binary("mul", "i64", fn.binary("add", "i64", g0, width), column))
                is_last = fn.icmp("uge", "i64", fn.binary("add", "i64", g0, width), "%n_count")
                self.next_b = fn.select(is_last, "ptr", b_next, following)
                self._group(panels, a_k, self.advance(b_k, fn.binary("mul", "i64", g0, column)), c, g0, in_place)

            self.loop("%n_count", self.panels * self.tile.columns, one_group)

        return groups

    def _b_strides(self) -> tuple[str, str]:
        """Bytes from the rows of one step of k to those of the next, and from one column of B to the next."""
        size, stride = self.element.bytes, self.strides.b_row
        if self.transposed_b:
            return str(size * self.k_group), stride
        return self.scaled(stride, self.k_group), str(size)

    def _is_like_a_panel(self) -> str | None:
        """Return whether B needs no packing; None if it does anyhow."""
        fn = self.fn
        if self.transposed_b or self.element.memory != self.element.accumulator:
            return None
        stride = self.strides.b_row
        is_short = fn.icmp("ule", "i64", stride, SHORT_ROW_BYTES)
        whole = fn.icmp("eq", "i64", fn.binary("urem", "i64", "%n_count", self.tile.columns), 0)
        in_place = fn.binary("and", "i1", is_short, whole)
        self.b_align = self.element.bytes
        self.panel_stride = fn.select(in_place, "i64", stride, self.panel_row_bytes)
        return in_place

    def _group(self, panels: str, a: str, b: str, c: str, first: str, in_place: str | None) -> None:
        """Pack the panels from column `first` on and run all rows of A over them."""
        fn = self.fn
        left = fn.binary("sub", "i64", "%n_count", first)
        columns = fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", str(self.panels * self.tile.columns))])
        start, depth = panels, str(self.k_panel)
        if in_place is None:
            self.pack(panels, depth, b, self.strides.b_row, self.step.depth, columns)
        else:
            start = fn.select(in_place, "ptr", b, panels)
            depth = fn.select(in_place, "i64", 1, self.k_panel)
            pack, ready = fn.new_label("pack"), fn.new_label("ready")
            fn.branch_if(in_place, ready, pack)
            fn.start(pack)
            self.pack(panels, str(self.k_panel), b, self.strides.b_row, self.step.depth, columns)
            fn.branch(ready)
            fn.start(ready)
        c_group = self.advance(c, self.scaled(first, self.element.accumulator_bytes))

        def one_panel(a: str, c: str, n0: str) -> None:
            c_n = self.advance(c, self.scaled(n0, self.element.accumulator_bytes))
            self.rows_of_panel(self.panel_at(start, depth, n0), a, c_n, n0, fn.binary("sub", "i64", columns, n0))

        self.all_rows(a, c_group, lambda a, c: self.loop(columns, self.tile.columns, lambda n0: one_panel(a, c, n0)))

    def all_rows(self, a: str, c: str, body: Callable[[str, str], None]) -> None:
        """Emit the work on all rows, of A from k0 on and of C, while some panels are packed."""
        body(a, c)

    def rows_of_panel(self, panel: str, a: str, c: str, n0: str, columns: str) -> None:
        """All rows of A over one packed panel, of which `columns` exist."""
        fn = self.fn

        def at(m0: str) -> tuple[str, str]:
            return (
                self.advance(a, fn.binary("mul", "i64", m0, self.strides.a_row)),
                self.advance(c, fn.binary("mul", "i64", m0, self.strides.c_row)),
            )

        def set_result(m0: str) -> None:
            if (output := self.step.output) is not None:
                column = self.advance(output.first, self.scaled(n0, self.element.accumulator_bytes))
                self.result = Rows(self.advance(column, fn.binary("mul", "i64", m0, output.stride)), output.stride)

        def tile(m0: str, rows: int) -> None:
            a_m, c_m = at(m0)
            self.first_row = m0
            set_result(m0)
            next_c = self._below(c_m, rows)
            next_a = self.advance(a_m, self.scaled(self.strides.a_row, rows))
            b = self._upcoming_panel(m0) if self.kernel.packed_b else self._upcoming_rows(n0, m0)
            self.ahead = Ahead(next_a, b, next_c)
            self.full_tile(a_m, panel, c_m, rows)

        def rest(m0: str) -> None:
            a_m, c_m = at(m0)
            self.first_row = m0
            set_result(m0)
            self._edge(a_m, panel, c_m, fn.binary("sub", "i64", self.limits.count, m0), columns)

        full_rows, short_rows = self.limits.full, self.limits.short
        if self.has_edges:
            is_whole = fn.icmp("uge", "i64", columns, self.tile.columns)
            full_rows = fn.select(is_whole, "i64", full_rows, 0)
            short_rows = fn.select(is_whole, "i64", short_rows, 0)
        fn.loop("0", full_rows, self.tile.rows, lambda m0: tile(m0, self.tile.rows))
        if self.tile.rows > SHORT_ROWS:
            fn.loop(full_rows, short_rows, SHORT_ROWS, lambda m0: tile(m0, SHORT_ROWS))
        if self.has_edges:
            fn.loop(short_rows, self.limits.count, self.edge_rows, rest)

    # ------------------------------------------------------------------------------------------------------ edges

    def _edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        """A call of a function that all kernels of a module share."""
        fn, result = self.fn, self.result or Rows(c, self.strides.c_row)
        name = f"tw_mk_edge_{self.element.name}_{ACCUMULATOR_NAMES[self.element.accumulator]}_{self.tile.columns}"
        fn.module.define_once(name, lambda: self._edge_function(name))
        values = (
            a, self.strides.a_row, self.strides.a_k, b, self.b_step, c, self.strides.c_row, result.first, result.stride,
            self.steps, rows_left, columns_left, self.step.is_first if self.kernel.from_zero else "false",
            self.sums_of_tile(),
        )  # fmt: skip
        types = (type for _, type in _EDGE_PARAMETERS)
        fn.call("void", name, zip(types, values, strict=True))

    def _edge_function(self, name: str) -> str:
        """The same writer with the function's parameters in place of what it has computed."""
        parameters = [Parameter(type, f"%{parameter}") for parameter, type in _EDGE_PARAMETERS]
        fn = FunctionText(self.fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        writer = copy(self)
        writer.fn, writer.vector = fn, LaneBuilder(fn, self.tile.lanes)
        writer.scalar = LaneBuilder(fn, 0)
        writer.strides = Strides("%a_row", "%a_k", "", "%c_row")
        writer.panel_stride, writer.b_align = "%b_step", self.element.bytes
        writer.result, writer.step = Rows("%result", "%result_row"), Step("", "%steps", "%from_zero")
        writer.kernel = replace(self.kernel, from_zero=True)
        writer.set_sums_of_tile("%sums")
        TileWriter._edge(writer, "%a", "%b", "%c", "%rows", "%columns")
        fn.ret()
        return fn.text()

    def sums_of_tile(self) -> str:
        """Return what a number of each of the tile's rows is subtracted of, for kernels that do; as a pointer."""
        return "null"

    def set_sums_of_tile(self, pointer: str) -> None:
        """Take another one."""

    @property
    def edge_rows(self) -> int:
        return EDGE_ROWS

    @property
    def strips(self) -> tuple[tuple[int, int], ...]:
        """Of half the vectors or fewer, twice the rows: else too few sums are under way at a time."""
        vectors = self.tile.vectors
        return tuple((few, SHORT_ROWS * (2 if 2 * few <= vectors else 1)) for few in range(1, vectors + 1))

    def _below(self, c: str, rows: int) -> Rows:
        """The rows of C after those of a tile, where they will be written to."""
        place = self.result or Rows(c, self.strides.c_row)
        return Rows(self._row_offset(place.first, place.stride, rows), place.stride)

    def _upcoming_panel(self, m0: str) -> Upcoming:
        """Lines of the next panel, one after the other."""
        number = self.fn.binary("udiv", "i64", m0, self.tile.rows)
        lines = self.scaled(number, self.k_panel // CHUNK * PREFETCHED_ROWS)
        offset = self.fn.binary("urem", "i64", self.scaled(lines, 64), self.k_panel * self.panel_row_bytes)
        return Upcoming(self.advance(self.next_b, offset), str(PREFETCHED_ROWS * 64), "64")

    def _upcoming_rows(self, n0: str, m0: str) -> Upcoming:
        """Rows of the next group: successive tiles take other lines of a row, then other rows of a chunk of k.

        Of a transposed B they take other columns, and successive chunks of k other lines of these.
        """
        fn, b, stride = self.fn, self.next_b, self.strides.b_row
        panel = fn.binary("udiv", "i64", n0, self.tile.columns)
        position = fn.binary("add", "i64", self._product(panel, self.limits.count), m0)
        number = fn.binary("udiv", "i64", position, self.tile.rows)
        if self.transposed_b:
            column = fn.binary("and", "i64", self.scaled(number, PREFETCHED_ROWS), GROUP_COLUMNS - 1)
            return Upcoming(self.advance(b, self._product(column, stride)), str(CHUNK * self.element.bytes), stride)
        line = fn.binary("and", "i64", self.scaled(number, 64), GROUP_COLUMNS * self.element.bytes - 1)
        lines = GROUP_COLUMNS * self.element.bytes // 64
        blocks = CHUNK // PREFETCHED_ROWS
        block = fn.binary("and", "i64", fn.binary("udiv", "i64", number, lines), blocks - 1)
        row = self._product(self.scaled(block, PREFETCHED_ROWS), stride)
        return Upcoming(self.advance(self.advance(b, line), row), self.scaled(stride, CHUNK), stride)

    def _product(self, first: str, second: str) -> str:
        return self.fn.binary("mul", "i64", first, second)

    def limits_of(self, count: str) -> RowLimits:
        fn, rows = self.fn, self.tile.rows
        left = fn.binary("urem", "i64", count, rows)
        if rows % SHORT_ROWS == 2:
            # 2 or 3 left over: with one full tile less it is 8 or 9, two short tiles.
            odd = fn.binary("and", "i64", left, 6)
            enough = fn.icmp("ugt", "i64", count, rows)
            less = fn.binary("and", "i1", fn.icmp("eq", "i64", odd, 2), enough)
            left = fn.select(less, "i64", fn.binary("add", "i64", left, rows), left)
        full = fn.binary("sub", "i64", count, left)
        rest = fn.binary("and", "i64", left, SHORT_ROWS - 1)
        return RowLimits(count, full, fn.binary("sub", "i64", count, rest))

    # ------------------------------------------------------------------------------------------------------ start of C

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        """C's old elements, or zeros for the first terms of a sum from zero."""
        if not self.kernel.from_zero:
            return super().start_of_tile(addresses)
        fn = self.fn
        load, ready, before = fn.new_label("load"), fn.new_label("ready"), fn.label
        fn.branch_if(self.step.is_first, ready, load)
        fn.start(load)
        loaded = super().start_of_tile(addresses)
        after = fn.label
        fn.branch(ready)
        fn.start(ready)
        phis = [[fn.phi(self.vector.type(self.element.accumulator)) for _ in row] for row in loaded]
        for row, values in zip(phis, loaded, strict=True):
            for phi, value in zip(row, values, strict=True):
                phi.add("zeroinitializer", before)
                phi.add(value, after)
        return [[phi.name for phi in row] for row in phis]

    def masked_start(self, base: str, vector: int, mask: str) -> str:
        """The same for a row of an edge."""
        if self.kernel.from_zero:
            nothing = self.spread(self.step.is_first, "i1")
            text = self.vector.type("i1")
            mask = self.fn.select(nothing, text, "zeroinitializer", mask, condition_type=text)
        return super().masked_start(base, vector, mask)

    # ------------------------------------------------------------------- what the inner loop asks for: B is a panel

    @property
    def chunk(self) -> int:
        return CHUNK

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        """A row of C, which is waited for, into the first level cache; the next rows of A and of B into the second.

        In the first, rows of A that are a power of two apart would take the place of the panel.
        """
        fn, ahead = self.fn, self.ahead
        number = fn.binary("udiv", "i64", state.k, CHUNK)
        c_row = self.advance(ahead.c.first, fn.binary("mul", "i64", number, ahead.c.stride))
        c = LinesAhead(c_row, "64", -(-self.panel_row_bytes // 64), level=3, is_written=True)
        a = LinesAhead(self.advance(ahead.a, state.a_offset), self.strides.a_row, rows, level=self.a_level)
        b = self.advance(ahead.b.first, self._product(number, ahead.b.per_chunk))
        return [(c,), (a, LinesAhead(b, ahead.b.stride, PREFETCHED_ROWS, level=2))]

    @property
    def b_step(self) -> str:
        return self.panel_stride

    @property
    def steps(self) -> str:
        return self.step.depth

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        at = self.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes))
        return self.fn.load(self.vector.type(self.element.accumulator), at, align=self.b_align)


def plan_block_tile(facts: TargetFacts, element: ElementKind, columns: int) -> RegisterTile:
    """The register tile that a kernel for blocks with so many columns works in.

    Wide and low tiles need the fewest loads a step: 6 x 4 vectors take 10 loads for 24 products, at 32 registers.
    """
    registers, lanes = facts.vector_registers, facts.lanes(element.accumulator_bits)
    vectors = min(max(1, columns // lanes), registers // 8)
    return RegisterTile(8 if registers == 32 and vectors < 4 else 6, vectors, lanes)


def fills_tiles(tile: RegisterTile, m_count: int, n_count: int) -> bool:
    """Return whether blocks of this size have no edges."""
    if m_count < tile.rows or n_count <= 0 or n_count % tile.columns:
        return False
    return m_count % 2 == 0 if tile.rows % SHORT_ROWS == 2 else m_count % SHORT_ROWS == 0

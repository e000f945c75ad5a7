"""The micro-kernel for whole blocks: B is packed, a few panels at a time, into the stack frame.

    for k0 in k by KC:  for g0 in n by PANELS NR:  panels = B[k0:, g0:], widened, columns padded with zeros
      for n0 in the group by NR:  for m0 in m by MR:  C[m0:, n0:] += A[m0:, k0:] panel

A panel that the kernel packs takes two thirds of the first level cache, one that is there already what the processor
goes over as fast (`TargetFacts.panel_bytes`). Rows that MR does not divide go by tiles of four rows: with MR = 6 that
serves every even count from 4 on.

B in place costs a new page and, for row lengths that are powers of two, the same few cache sets for each step of k,
once for every MR rows of C. Packing costs that once a block, four panels of a row at a time; the panels' rows are
aligned, and narrow types are widened once. B whose rows are short is as good as a panel: it stays in place.

While a tile is computed, each step of k prefetches one line that is needed later (`prefetching.py`): of the A and C of
the next tile, of the B that comes next. Bursts of prefetches hold up the loads of the steps after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, Parameter
from tilewright.codegen.microkernels.block_tiles import SHORT_ROWS, RowLimits, Step, Upcoming
from tilewright.codegen.microkernels.copied_rows import CopiedRows
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.filling import PanelFilling
from tilewright.codegen.microkernels.grouping import Grouping
from tilewright.codegen.microkernels.k_loop import KState, LinesAhead
from tilewright.codegen.microkernels.panels import call_fill, padded_depth, panel_at
from tilewright.codegen.microkernels.prefetching import (
    CHUNK,
    GROUP_COLUMNS,
    Ahead,
    lines_of_chunk,
    lines_of_columns,
    lines_of_panel,
    lines_of_rows,
)
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import Rows, Strides, TileWriter
from tilewright.codegen.microkernels.word_panels import call_fill_words
from tilewright.codegen.microkernels.words import WORD_BYTES, elements_of

EDGE_ROWS = 8
"""Rows of a panel without all of its columns that are done at a time."""

SHORT_ROW_BYTES = 512
"""Rows of B at most this far apart are read in place."""

_EDGE_PARAMETERS = (
    *(("a", "ptr"), ("a_row", "i64"), ("a_k", "i64"), ("b", "ptr"), ("b_step", "i64"), ("c", "ptr"), ("c_row", "i64")),
    *(("result", "ptr"), ("result_row", "i64"), ("steps", "i64"), ("rows", "i64"), ("columns", "i64")),
    *(("from_zero", "i1"), ("sums", "ptr")),
)


def steps_of_panel(panel_bytes: int, tile: RegisterTile, element: ElementKind) -> int:
    """Return how many steps of k a panel of at most so many bytes has."""
    return max(64, panel_bytes // (tile.columns * element.accumulator_bytes) // 32 * 32)


class BlockWriter(TileWriter):
    """Writes one kernel for whole blocks.

    Rows of A are read in place, or from the copies that `copies` makes; panels that are empty yet are filled by
    `filling`; `grouping` says how words are multiplied, without it elements are.
    """

    def __init__(
        self,
        fn: FunctionText,
        element: ElementKind,
        tile: RegisterTile,
        k_panel: int,
        kernel: MatmulKernel,
        *,
        copies: CopiedRows | None = None,
        filling: PanelFilling | None = None,
        grouping: Grouping | None = None,
    ) -> None:
        super().__init__(fn, element, tile)
        self.kernel = kernel
        self.has_edges = kernel.has_edges
        self.transposed_b = kernel.transposed_b
        self.k_panel = k_panel
        """Steps of k that a panel has at most."""
        self.copies = copies
        self.filling = filling
        self.grouping = grouping
        self.k_group = 1 if grouping is None else grouping.group
        """Elements of k in a step."""
        self.k_count = "%k_count" if copies is None else copies.k_count
        """How many steps of k there are."""
        self.lane_type = element.accumulator if grouping is None else "i32"
        """What one lane multiplies: an element, or a word."""
        self.sums = "" if copies is None else copies.sums
        """Where the sums lie, one for each row, that results start less by; empty: there are none."""
        if copies is not None:
            self.strides = copies.strides
        self.panel_row_bytes = tile.columns * element.accumulator_bytes
        self.panels = max(1, GROUP_COLUMNS // tile.columns)
        self.limits = RowLimits("%m_count")
        self.step = Step("", "", "")
        self.first_row = ""
        self.next_b = ""
        self.ahead = Ahead("", Upcoming("", "", ""), Rows("", ""))
        self.panel_stride = str(self.panel_row_bytes)
        self.b_align = min(64, tile.lanes * element.accumulator_bytes)

    # ------------------------------------------------------------------------------------------------------ structure

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
        self.limits = RowLimits.of(fn, self.tile, "%m_count")
        group = self._packed_group(b, c) if self.kernel.packed_b else self._packing_group(b, c)

        def depth_step(k0: str) -> None:
            left = fn.binary("sub", "i64", self.k_count, k0)
            depth = fn.minimum(left, self.k_step)
            self.step = Step(k0, depth, fn.icmp("eq", "i64", k0, 0))
            if self.kernel.output is not None:
                is_last = fn.icmp("sle", "i64", left, self.k_step)
                self.step = replace(self.step, output=self._output(is_last, c))
            a_k = self.strides.a_k if self.copies is None else self.copies.source.a_k
            group(k0, fn.advance(a, fn.scaled(fn.scaled(k0, self.k_group), a_k)))

        depth = self.k_count
        if self.kernel.from_zero:
            # A sum without terms is 0, too.
            depth = fn.maximum(depth, "1")
        fn.loop("0", depth, self.k_step, depth_step)
        fn.ret()

    def _output(self, is_last: str, c: str) -> Rows:
        """Return where this step of k stores its sums: the last one to the output, the others to C."""
        fn = self.fn
        out = fn.cast("inttoptr", "i64", "%out_ptr", "ptr")
        out_row = fn.scaled("%out_row_stride", self.element.accumulator_bytes)
        return Rows(
            fn.select(is_last, "ptr", out, c),
            fn.select(is_last, "i64", out_row, self.strides.c_row),
        )

    def _packed_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """Read all panels in place."""
        fn = self.fn
        if self.filling is not None:
            b = self.filling.start(self._b_strides(), self.strides.b_row, self.k_step)
        panel_depth = padded_depth(fn, self.k_count)

        def group(k0: str, a_k: str) -> None:
            b_k = fn.advance(b, fn.scaled(k0, self.panel_row_bytes))
            b_next = fn.advance(b_k, fn.scaled(self.k_step, self.panel_row_bytes))

            def one_panel(a: str, c: str, n0: str) -> None:
                c_n = fn.advance(c, fn.scaled(n0, self.element.accumulator_bytes))
                following = fn.binary("add", "i64", n0, self.tile.columns)
                is_last = fn.icmp("uge", "i64", following, "%n_count")
                at_side = self._panel_at(b_k, panel_depth, following)
                self.next_b = fn.select(is_last, "ptr", b_next, at_side)
                self._rows_of_panel(
                    self._panel_at(b_k, panel_depth, n0), a, c_n, n0, fn.binary("sub", "i64", "%n_count", n0)
                )

            def panels(a: str, c: str) -> None:
                fn.loop("0", "%n_count", self.tile.columns, lambda n0: one_panel(a, c, n0))

            self._all_rows(a_k, c, panels)

        return group

    def _panel_at(self, base: str, panel_depth: str, column: str) -> str:
        return panel_at(self.fn, base, panel_depth, column, self.element.accumulator_bytes)

    def _packing_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """Groups of panels, packed into the stack frame."""
        fn = self.fn
        panels = fn.alloca(f"[{self.panels * self.k_panel * self.panel_row_bytes} x i8]", align=64)
        in_place = self._is_like_a_panel()

        def groups(k0: str, a_k: str) -> None:
            row, column = self._b_strides()
            b_k = fn.advance(b, fn.scaled(k0, row))
            b_next = fn.advance(b_k, fn.scaled(row, self.k_step))

            def one_group(g0: str) -> None:
                width = self.panels * self.tile.columns
                following = fn.advance(b_k, fn.scaled(fn.binary("add", "i64", g0, width), column))
                is_last = fn.icmp("uge", "i64", fn.binary("add", "i64", g0, width), "%n_count")
                self.next_b = fn.select(is_last, "ptr", b_next, following)
                self._group(panels, a_k, fn.advance(b_k, fn.scaled(g0, column)), c, g0, in_place)

            fn.loop("0", "%n_count", self.panels * self.tile.columns, one_group)

        return groups

    def _b_strides(self) -> tuple[str, str]:
        """Bytes from the rows of one step of k to those of the next, and from one column of B to the next."""
        size, stride = self.element.bytes, self.strides.b_row
        if self.transposed_b:
            return str(size * self.k_group), stride
        return self.fn.scaled(stride, self.k_group), str(size)

    def _is_like_a_panel(self) -> str | None:
        """Emit the check of whether B needs no packing; None if it always does."""
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
        columns = fn.minimum(left, self.panels * self.tile.columns)
        start, depth = panels, str(self.k_panel)
        if in_place is None:
            self._pack(panels, b, columns)
        else:
            start = fn.select(in_place, "ptr", b, panels)
            depth = fn.select(in_place, "i64", 1, self.k_panel)
            pack, ready = fn.new_label("pack"), fn.new_label("ready")
            fn.branch_if(in_place, ready, pack)
            fn.start(pack)
            self._pack(panels, b, columns)
            fn.branch(ready)
            fn.start(ready)
        c_group = fn.advance(c, fn.scaled(first, self.element.accumulator_bytes))

        def one_panel(a: str, c: str, n0: str) -> None:
            c_n = fn.advance(c, fn.scaled(n0, self.element.accumulator_bytes))
            self._rows_of_panel(self._panel_at(start, depth, n0), a, c_n, n0, fn.binary("sub", "i64", columns, n0))

        self._all_rows(
            a, c_group, lambda a, c: fn.loop("0", columns, self.tile.columns, lambda n0: one_panel(a, c, n0))
        )

    def _pack(self, panels: str, b: str, columns: str) -> None:
        """Pack the columns of this step's part of B that start at `b`."""
        element, tile, grouping = self.element, self.tile, self.grouping
        values = (panels, str(self.k_panel), b, self.strides.b_row)
        if grouping is None:
            call_fill(self.fn, element, tile, (*values, self.step.depth, columns), transposed_b=self.transposed_b)
            return
        values = (*values, elements_of(self.fn, grouping, self.step), columns)
        call_fill_words(self.fn, element, tile, grouping, values, transposed_b=self.transposed_b)

    def _all_rows(self, a: str, c: str, body: Callable[[str, str], None]) -> None:
        """Emit the work on all rows, of A from k0 on and of C, while some panels are packed: in one, or, where they are
        copied, in chunks.
        """
        fn, copies, limits, step = self.fn, self.copies, self.limits, self.step
        if copies is None:
            body(a, c)
            return

        def chunk(m0: str, count: str) -> None:
            self.limits = RowLimits.of(fn, self.tile, count)
            copy = copies.copy_rows(fn.advance(a, fn.scaled(m0, copies.source.a_row)), count, step)
            if (output := step.output) is not None:
                first = fn.advance(output.first, fn.scaled(m0, output.stride))
                self.step = replace(step, output=Rows(first, output.stride))
            body(copy, fn.advance(c, fn.scaled(m0, self.strides.c_row)))

        copies.each_chunk(limits.count, chunk)
        self.limits, self.step = limits, step

    def _rows_of_panel(self, panel: str, a: str, c: str, n0: str, columns: str) -> None:
        """All rows of A over one packed panel, of which `columns` exist."""
        fn, filling = self.fn, self.filling
        if filling is not None:
            filling.enter_panel(n0, self.step.first, self.next_b)

        def at(m0: str) -> tuple[str, str]:
            return (
                fn.advance(a, fn.scaled(m0, self.strides.a_row)),
                fn.advance(c, fn.scaled(m0, self.strides.c_row)),
            )

        def set_result(m0: str) -> None:
            if (output := self.step.output) is not None:
                column = fn.advance(output.first, fn.scaled(n0, self.element.accumulator_bytes))
                self.result = Rows(fn.advance(column, fn.scaled(m0, output.stride)), output.stride)

        def tile(m0: str, rows: int) -> None:
            a_m, c_m = at(m0)
            self.first_row = m0
            set_result(m0)
            next_c = self._below(c_m, rows)
            next_a = fn.advance(a_m, fn.scaled(self.strides.a_row, rows))
            self.ahead = Ahead(next_a, self._upcoming(n0, m0), next_c)
            self.full_tile(a_m, panel, c_m, rows)
            if filling is not None:
                filling.pack_rows(m0, rows)

        def rest(m0: str) -> None:
            a_m, c_m = at(m0)
            self.first_row = m0
            set_result(m0)
            rows_left = fn.binary("sub", "i64", self.limits.count, m0)
            self._call_edge(a_m, panel, c_m, rows_left, columns)
            if filling is not None:
                filling.pack_rows(m0, fn.minimum(rows_left, self.edge_rows))

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

    def _call_edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        """A call of a function that all kernels of a module share."""
        fn, result = self.fn, self.result or Rows(c, self.strides.c_row)
        name = f"tw_mk_edge_{self.element.name}_{ACCUMULATOR_NAMES[self.element.accumulator]}_{self.tile.columns}"
        fn.module.define_once(name, lambda: self._edge_function(name))
        values = (
            a, self.strides.a_row, self.strides.a_k, b, self.b_step, c, self.strides.c_row, result.first, result.stride,
            self.steps, rows_left, columns_left, self.step.is_first if self.kernel.from_zero else "false",
            self._sums_of_tile() if self.sums else "null",
        )  # fmt: skip
        types = (type for _, type in _EDGE_PARAMETERS)
        fn.call("void", name, zip(types, values, strict=True))

    def _edge_function(self, name: str) -> str:
        """Write the shared function by a copy of this writer that reads the function's parameters."""
        parameters = [Parameter(type, f"%{parameter}") for parameter, type in _EDGE_PARAMETERS]
        fn = FunctionText(self.fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        writer = copy(self)
        writer.fn, writer.vector = fn, LaneBuilder(fn, self.tile.lanes)
        writer.scalar = LaneBuilder(fn, 0)
        writer.strides = Strides("%a_row", "%a_k", "", "%c_row")
        writer.panel_stride, writer.b_align = "%b_step", self.element.bytes
        writer.result, writer.step = Rows("%result", "%result_row"), Step("", "%steps", "%from_zero")
        writer.kernel = replace(self.kernel, from_zero=True)
        writer.sums, writer.first_row = "%sums" if self.sums else "", "0"
        writer._edge("%a", "%b", "%c", "%rows", "%columns")
        fn.ret()
        return fn.text()

    @property
    def edge_rows(self) -> int:
        return EDGE_ROWS

    @property
    def strips(self) -> tuple[tuple[int, int], ...]:
        """Strips of half the vectors or fewer have twice the rows: else too few sums are in flight."""
        vectors = self.tile.vectors
        return tuple((few, SHORT_ROWS * (2 if 2 * few <= vectors else 1)) for few in range(1, vectors + 1))

    def _upcoming(self, n0: str, m0: str) -> Upcoming:
        """The lines of B that the tile at a column and a row prefetches."""
        if self.kernel.packed_b:
            filled = lines_of_panel(self.fn, self.tile, self.next_b, m0, self.k_panel, self.panel_row_bytes)
            return filled if self.filling is None else self.filling.upcoming(m0, filled)
        b = Rows(self.next_b, self.strides.b_row)
        if self.transposed_b:
            return lines_of_columns(self.fn, self.tile, b, (n0, m0), self.limits.count, self.element.bytes)
        return lines_of_rows(self.fn, self.tile, b, (n0, m0), self.limits.count, self.element.bytes)

    def _below(self, c: str, rows: int) -> Rows:
        """The rows of C after those of a tile, where they will be stored."""
        place = self.result or Rows(c, self.strides.c_row)
        return Rows(self._row_offset(place.first, place.stride, rows), place.stride)

    # ------------------------------------------------------------------------------------------------------ start of C

    def _sums_of_tile(self) -> str:
        """The sums of the tile's rows, as a pointer."""
        return self.fn.advance(self.sums, self.fn.scaled(self.first_row, WORD_BYTES))

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        """C's old elements, or zeros for the first terms of a sum from zero, less the sums of the rows."""
        start = self._old_elements(addresses)
        if not self.sums:
            return start
        first = self._sums_of_tile()
        return self._without(start, [self.fn.advance(first, str(WORD_BYTES * row)) for row in range(len(start))])

    def start_of_edge(self, c_rows: list[str], numbers: Sequence[str], masks: list[str]) -> list[list[str]]:
        start = super().start_of_edge(c_rows, numbers, masks)
        if not self.sums:
            return start
        first = self._sums_of_tile()
        return self._without(start, [self.fn.advance(first, self.fn.scaled(row, WORD_BYTES)) for row in numbers])

    def _without(self, start: list[list[str]], sums: list[str]) -> list[list[str]]:
        """Subtract from each row the sum at an address."""
        rows: list[list[str]] = []
        for row, address in zip(start, sums, strict=True):
            excess = self.vector.broadcast(self.fn.load("i32", address, align=WORD_BYTES), "i32")
            rows.append([self.vector.sub(value, excess) for value in row])
        return rows

    def _old_elements(self, addresses: list[list[str]]) -> list[list[str]]:
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
            nothing = self.vector.broadcast(self.step.is_first, "i1")
            text = self.vector.type("i1")
            mask = self.fn.select(nothing, text, "zeroinitializer", mask, condition_type=text)
        return super().masked_start(base, vector, mask)

    # ---------------------------------------------------------------------- operands of the inner loop: B is a panel

    @property
    def chunk(self) -> int:
        return CHUNK

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        level = 2 if self.copies is None else self.copies.level
        return lines_of_chunk(
            self.fn,
            self.ahead,
            state,
            a_stride=self.strides.a_row,
            rows=rows,
            row_bytes=self.panel_row_bytes,
            level=level,
        )

    @property
    def b_step(self) -> str:
        return self.panel_stride

    @property
    def steps(self) -> str:
        return self.step.depth

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        at = self.fn.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes))
        return self.fn.load(self.vector.type(self.lane_type), at, align=self.b_align)

    def load_a(self, address: str) -> str:
        value = self.fn.load(self.lane_type, address, align=self.element.accumulator_bytes)
        return self.vector.broadcast(value, self.lane_type)

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        if self.grouping is None:
            return super().multiply_add(a, b, accumulator)
        return self.grouping.multiply_add(self.vector, a, b, accumulator, self.element)

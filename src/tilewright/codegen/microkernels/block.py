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

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block_tiles import SHORT_ROWS, BlockShape, PanelRows, RowLimits, Step, Upcoming
from tilewright.codegen.microkernels.copied_rows import CopiedRows
from tilewright.codegen.microkernels.filling import PanelFilling
from tilewright.codegen.microkernels.panel_tiles import PanelTiles
from tilewright.codegen.microkernels.panels import call_fill, padded_depth, panel_at
from tilewright.codegen.microkernels.prefetching import CHUNK, Ahead, lines_of_columns, lines_of_panel, lines_of_rows
from tilewright.codegen.microkernels.tile import Rows, Strides
from tilewright.codegen.microkernels.word_panels import call_fill_words
from tilewright.codegen.microkernels.words import elements_of

SHORT_ROW_BYTES = 512
"""Rows of B at most this far apart are read in place."""


class BlockWriter:
    """Writes one kernel for whole blocks: the loops over k, panels and rows; `PanelTiles` writes their bodies.

    Rows of A are read in place, or from the copies that `copies` makes; panels that are empty yet are filled by
    `filling`.
    """

    def __init__(
        self,
        fn: FunctionText,
        shape: BlockShape,
        *,
        copies: CopiedRows | None = None,
        filling: PanelFilling | None = None,
    ) -> None:
        self.fn = fn
        self.shape = shape
        self.copies = copies
        self.filling = filling
        self.k_count = "%k_count" if copies is None else copies.k_count
        """How many steps of k there are."""
        self.bases = [fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr") for name in "abc"]
        strides = Strides.of_parameters(fn, shape.element) if copies is None else copies.strides
        self.tiles = PanelTiles(
            fn, shape, shape.panel_rows, strides=strides, sums="" if copies is None else copies.sums
        )
        self.limits = RowLimits("%m_count")
        self.next_b = ""
        """The panel that comes next."""

    # ------------------------------------------------------------------------------------------------------ structure

    @cached_property
    def k_step(self) -> str:
        """The number of steps of k in one block of K; the last block may have fewer.

        K is divided evenly: in a short last block tiles would wait for C, which the steps before it have no time to
        prefetch.
        """
        fn, most = self.fn, self.shape.k_panel
        times = fn.binary("udiv", "i64", fn.binary("add", "i64", self.k_count, most - 1), most)
        times = fn.call("i64", "llvm.umax.i64", [("i64", times), ("i64", "1")])
        above = fn.binary("add", "i64", self.k_count, times)
        share = fn.binary("udiv", "i64", fn.binary("sub", "i64", above, 1), times)
        share = fn.call("i64", "llvm.umax.i64", [("i64", share), ("i64", "1")])
        return fn.binary("and", "i64", fn.binary("add", "i64", share, CHUNK - 1), -CHUNK)

    def write(self) -> None:
        """The whole body."""
        fn, (a, b, c) = self.fn, self.bases
        _ = self.k_step  # computed here, for all blocks
        self.limits = RowLimits.of(fn, self.shape.tile, "%m_count")
        group = self._packed_group(b, c) if self.shape.kernel.packed_b else self._packing_group(b, c)

        def depth_step(k0: str) -> None:
            left = fn.binary("sub", "i64", self.k_count, k0)
            depth = fn.minimum(left, self.k_step)
            self.tiles.step = Step(k0, depth, fn.icmp("eq", "i64", k0, 0))
            if self.shape.kernel.output is not None:
                is_last = fn.icmp("sle", "i64", left, self.k_step)
                self.tiles.step = replace(self.tiles.step, output=self._output(is_last, c))
            a_k = self.tiles.strides.a_k if self.copies is None else self.copies.source.a_k
            group(k0, fn.advance(a, fn.scaled(fn.scaled(k0, self.shape.k_group), a_k)))

        depth = self.k_count
        if self.shape.kernel.from_zero:
            # A sum without terms is 0, too.
            depth = fn.maximum(depth, "1")
        fn.loop("0", depth, self.k_step, depth_step)
        fn.ret()

    def _output(self, is_last: str, c: str) -> Rows:
        """Return where this step of k stores its sums: the last one to the output, the others to C."""
        fn = self.fn
        out = fn.cast("inttoptr", "i64", "%out_ptr", "ptr")
        out_row = fn.scaled("%out_row_stride", self.shape.element.accumulator_bytes)
        return Rows(
            fn.select(is_last, "ptr", out, c),
            fn.select(is_last, "i64", out_row, self.tiles.strides.c_row),
        )

    def _packed_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """Read all panels in place."""
        fn = self.fn
        if self.filling is not None:
            b = self.filling.start(self._b_strides(), self.tiles.strides.b_row, self.k_step)
        panel_depth = padded_depth(fn, self.k_count)

        def group(k0: str, a_k: str) -> None:
            b_k = fn.advance(b, fn.scaled(k0, self.shape.row_bytes))
            b_next = fn.advance(b_k, fn.scaled(self.k_step, self.shape.row_bytes))

            def one_panel(a: str, c: str, n0: str) -> None:
                c_n = fn.advance(c, fn.scaled(n0, self.shape.element.accumulator_bytes))
                following = fn.binary("add", "i64", n0, self.shape.tile.columns)
                is_last = fn.icmp("uge", "i64", following, "%n_count")
                at_side = self._panel_at(b_k, panel_depth, following)
                self.next_b = fn.select(is_last, "ptr", b_next, at_side)
                self._rows_of_panel(
                    self._panel_at(b_k, panel_depth, n0), a, c_n, n0, fn.binary("sub", "i64", "%n_count", n0)
                )

            def panels(a: str, c: str) -> None:
                fn.loop("0", "%n_count", self.shape.tile.columns, lambda n0: one_panel(a, c, n0))

            self._all_rows(a_k, c, panels)

        return group

    def _panel_at(self, base: str, panel_depth: str, column: str) -> str:
        return panel_at(self.fn, base, panel_depth, column, self.shape.element.accumulator_bytes)

    def _packing_group(self, b: str, c: str) -> Callable[[str, str], None]:
        """Groups of panels, packed into the stack frame."""
        fn = self.fn
        panels = fn.alloca(f"[{self.shape.panels * self.shape.k_panel * self.shape.row_bytes} x i8]", align=64)
        in_place = self._is_like_a_panel()

        def groups(k0: str, a_k: str) -> None:
            row, column = self._b_strides()
            b_k = fn.advance(b, fn.scaled(k0, row))
            b_next = fn.advance(b_k, fn.scaled(row, self.k_step))

            def one_group(g0: str) -> None:
                width = self.shape.panels * self.shape.tile.columns
                following = fn.advance(b_k, fn.scaled(fn.binary("add", "i64", g0, width), column))
                is_last = fn.icmp("uge", "i64", fn.binary("add", "i64", g0, width), "%n_count")
                self.next_b = fn.select(is_last, "ptr", b_next, following)
                self._group(panels, a_k, fn.advance(b_k, fn.scaled(g0, column)), c, g0, in_place)

            fn.loop("0", "%n_count", self.shape.panels * self.shape.tile.columns, one_group)

        return groups

    def _b_strides(self) -> tuple[str, str]:
        """Bytes from the rows of one step of k to those of the next, and from one column of B to the next."""
        size, stride = self.shape.element.bytes, self.tiles.strides.b_row
        if self.shape.kernel.transposed_b:
            return str(size * self.shape.k_group), stride
        return self.fn.scaled(stride, self.shape.k_group), str(size)

    def _is_like_a_panel(self) -> str | None:
        """Emit the check of whether B needs no packing; None if it always does."""
        fn = self.fn
        if self.shape.kernel.transposed_b or self.shape.element.memory != self.shape.element.accumulator:
            return None
        stride = self.tiles.strides.b_row
        is_short = fn.icmp("ule", "i64", stride, SHORT_ROW_BYTES)
        whole = fn.icmp("eq", "i64", fn.binary("urem", "i64", "%n_count", self.shape.tile.columns), 0)
        in_place = fn.binary("and", "i1", is_short, whole)
        self.tiles.panel = PanelRows(
            fn.select(in_place, "i64", stride, self.shape.row_bytes), align=self.shape.element.bytes
        )
        return in_place

    def _group(self, panels: str, a: str, b: str, c: str, first: str, in_place: str | None) -> None:
        """Pack the panels from column `first` on and run all rows of A over them."""
        fn = self.fn
        left = fn.binary("sub", "i64", "%n_count", first)
        columns = fn.minimum(left, self.shape.panels * self.shape.tile.columns)
        start, depth = panels, str(self.shape.k_panel)
        if in_place is None:
            self._pack(panels, b, columns)
        else:
            start = fn.select(in_place, "ptr", b, panels)
            depth = fn.select(in_place, "i64", 1, self.shape.k_panel)
            pack, ready = fn.new_label("pack"), fn.new_label("ready")
            fn.branch_if(in_place, ready, pack)
            fn.start(pack)
            self._pack(panels, b, columns)
            fn.branch(ready)
            fn.start(ready)
        c_group = fn.advance(c, fn.scaled(first, self.shape.element.accumulator_bytes))

        def one_panel(a: str, c: str, n0: str) -> None:
            c_n = fn.advance(c, fn.scaled(n0, self.shape.element.accumulator_bytes))
            self._rows_of_panel(self._panel_at(start, depth, n0), a, c_n, n0, fn.binary("sub", "i64", columns, n0))

        self._all_rows(
            a, c_group, lambda a, c: fn.loop("0", columns, self.shape.tile.columns, lambda n0: one_panel(a, c, n0))
        )

    def _pack(self, panels: str, b: str, columns: str) -> None:
        """Pack the columns of this step's part of B that start at `b`."""
        element, tile, grouping = self.shape.element, self.shape.tile, self.shape.grouping
        values = (panels, str(self.shape.k_panel), b, self.tiles.strides.b_row)
        if grouping is None:
            call_fill(
                self.fn,
                element,
                tile,
                (*values, self.tiles.step.depth, columns),
                transposed_b=self.shape.kernel.transposed_b,
            )
            return
        values = (*values, elements_of(self.fn, grouping, self.tiles.step), columns)
        call_fill_words(self.fn, element, tile, grouping, values, transposed_b=self.shape.kernel.transposed_b)

    def _all_rows(self, a: str, c: str, body: Callable[[str, str], None]) -> None:
        """Emit the work on all rows, of A from k0 on and of C, while some panels are packed: in one, or, where they are
        copied, in chunks.
        """
        fn, copies, limits, step = self.fn, self.copies, self.limits, self.tiles.step
        if copies is None:
            body(a, c)
            return

        def chunk(m0: str, count: str) -> None:
            self.limits = RowLimits.of(fn, self.shape.tile, count)
            copy = copies.copy_rows(fn.advance(a, fn.scaled(m0, copies.source.a_row)), count, step)
            if (output := step.output) is not None:
                first = fn.advance(output.first, fn.scaled(m0, output.stride))
                self.tiles.step = replace(step, output=Rows(first, output.stride))
            body(copy, fn.advance(c, fn.scaled(m0, self.tiles.strides.c_row)))

        copies.each_chunk(limits.count, chunk)
        self.limits, self.tiles.step = limits, step

    def _rows_of_panel(self, panel: str, a: str, c: str, n0: str, columns: str) -> None:
        """All rows of A over one packed panel, of which `columns` exist."""
        fn, tiles, filling = self.fn, self.tiles, self.filling
        a_level = 2 if self.copies is None else self.copies.level
        if filling is not None:
            filling.enter_panel(n0, self.tiles.step.first, self.next_b)

        def at(m0: str) -> tuple[str, str]:
            return (
                fn.advance(a, fn.scaled(m0, tiles.strides.a_row)),
                fn.advance(c, fn.scaled(m0, tiles.strides.c_row)),
            )

        def enter(m0: str) -> None:
            tiles.first_row = m0
            if (output := tiles.step.output) is not None:
                column = fn.advance(output.first, fn.scaled(n0, self.shape.element.accumulator_bytes))
                tiles.result = Rows(fn.advance(column, fn.scaled(m0, output.stride)), output.stride)

        def tile(m0: str, rows: int) -> None:
            a_m, c_m = at(m0)
            enter(m0)
            next_c = tiles.rows_below(c_m, rows)
            next_a = fn.advance(a_m, fn.scaled(tiles.strides.a_row, rows))
            tiles.ahead = Ahead(next_a, self._upcoming(n0, m0), next_c, a_level)
            tiles.full_tile(a_m, panel, c_m, rows)
            if filling is not None:
                filling.pack_rows(m0, rows)

        def rest(m0: str) -> None:
            a_m, c_m = at(m0)
            enter(m0)
            rows_left = fn.binary("sub", "i64", self.limits.count, m0)
            tiles.call_edge(a_m, panel, c_m, rows_left, columns)
            if filling is not None:
                filling.pack_rows(m0, fn.minimum(rows_left, tiles.edge_rows))

        full_rows, short_rows = self.limits.full, self.limits.short
        if self.shape.kernel.has_edges:
            is_whole = fn.icmp("uge", "i64", columns, self.shape.tile.columns)
            full_rows = fn.select(is_whole, "i64", full_rows, 0)
            short_rows = fn.select(is_whole, "i64", short_rows, 0)
        fn.loop("0", full_rows, self.shape.tile.rows, lambda m0: tile(m0, self.shape.tile.rows))
        if self.shape.tile.rows > SHORT_ROWS:
            fn.loop(full_rows, short_rows, SHORT_ROWS, lambda m0: tile(m0, SHORT_ROWS))
        if self.shape.kernel.has_edges:
            fn.loop(short_rows, self.limits.count, tiles.edge_rows, rest)

    def _upcoming(self, n0: str, m0: str) -> Upcoming:
        """The lines of B that the tile at a column and a row prefetches."""
        if self.shape.kernel.packed_b:
            filled = lines_of_panel(self.fn, self.shape.tile, self.next_b, m0, self.shape.k_panel, self.shape.row_bytes)
            return filled if self.filling is None else self.filling.upcoming(m0, filled)
        b = Rows(self.next_b, self.tiles.strides.b_row)
        if self.shape.kernel.transposed_b:
            return lines_of_columns(self.fn, self.shape.tile, b, (n0, m0), self.limits.count, self.shape.element.bytes)
        return lines_of_rows(self.fn, self.shape.tile, b, (n0, m0), self.limits.count, self.shape.element.bytes)

"""Register tiles whose B is a panel: full tiles prefetch while they compute; a shared function does the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText, Parameter
from tilewright.codegen.microkernels.block_tiles import SHORT_ROWS, BlockShape, PanelRows, Step, Upcoming
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES
from tilewright.codegen.microkernels.k_loop import KState, LinesAhead
from tilewright.codegen.microkernels.prefetching import CHUNK, Ahead, lines_of_chunk
from tilewright.codegen.microkernels.tile import Rows, Strides, TileWriter
from tilewright.codegen.microkernels.words import WORD_BYTES

EDGE_ROWS = 8
"""Rows of a panel without all of its columns that are done at a time."""

_EDGE_PARAMETERS = (
    *(("a", "ptr"), ("a_row", "i64"), ("a_k", "i64"), ("b", "ptr"), ("b_step", "i64"), ("c", "ptr"), ("c_row", "i64")),
    *(("result", "ptr"), ("result_row", "i64"), ("steps", "i64"), ("rows", "i64"), ("columns", "i64")),
    *(("from_zero", "i1"), ("sums", "ptr")),
)


class PanelTiles(TileWriter):
    """Writes the tiles of a kernel for whole blocks, with the strides of the rows of A that they read.

    `sums` points to a sum for each row of A, which the row's results start less by; empty: there are none.
    """

    def __init__(self, fn: FunctionText, shape: BlockShape, panel: PanelRows, *, strides: Strides, sums: str) -> None:
        super().__init__(fn, shape.element, shape.tile)
        self.shape = shape
        self.strides = strides
        self.sums = sums
        self.panel = panel
        self.step = Step("", "", "")
        self.first_row = ""
        """The row of the block that the tile begins at."""
        self.ahead = Ahead("", Upcoming("", "", ""), Rows("", ""))

    def rows_below(self, c: str, rows: int) -> Rows:
        """The rows of C after those of a tile at `c`, where they will be stored."""
        stored = self.result or Rows(c, self.strides.c_row)
        return Rows(self._row_offset(stored.first, stored.stride, rows), stored.stride)

    # ------------------------------------------------------------------------------------------------------ edges

    def call_edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        """Call the function for edges that all kernels of a module share."""
        fn, result = self.fn, self.result or Rows(c, self.strides.c_row)
        name = f"tw_mk_edge_{self.element.name}_{ACCUMULATOR_NAMES[self.element.accumulator]}_{self.tile.columns}"
        fn.module.define_once(name, lambda: self._edge_function(name))
        values = (
            a, self.strides.a_row, self.strides.a_k, b, self.b_step, c, self.strides.c_row, result.first, result.stride,
            self.steps, rows_left, columns_left, self.step.is_first if self.shape.kernel.from_zero else "false",
            self._sums_of_tile() if self.sums else "null",
        )  # fmt: skip
        types = (type for _, type in _EDGE_PARAMETERS)
        fn.call("void", name, zip(types, values, strict=True))

    def _edge_function(self, name: str) -> str:
        """Write the shared function: a writer of its own, which reads the function's parameters."""
        parameters = [Parameter(type, f"%{parameter}") for parameter, type in _EDGE_PARAMETERS]
        fn = FunctionText(self.fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        shape = replace(self.shape, kernel=replace(self.shape.kernel, from_zero=True))
        panel, strides = PanelRows("%b_step", self.element.bytes), Strides("%a_row", "%a_k", "", "%c_row")
        writer = PanelTiles(fn, shape, panel, strides=strides, sums="%sums" if self.sums else "")
        writer.step = Step("", "%steps", "%from_zero")
        writer.result, writer.first_row = Rows("%result", "%result_row"), "0"
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

    def start_of_edge(self, c_rows: list[str], row_indices: Sequence[str], masks: list[str]) -> list[list[str]]:
        start = super().start_of_edge(c_rows, row_indices, masks)
        if not self.sums:
            return start
        first = self._sums_of_tile()
        return self._without(start, [self.fn.advance(first, self.fn.scaled(row, WORD_BYTES)) for row in row_indices])

    def _without(self, start: list[list[str]], sums: list[str]) -> list[list[str]]:
        """Subtract from each row the sum at an address."""
        rows: list[list[str]] = []
        for row, address in zip(start, sums, strict=True):
            excess = self.vector.broadcast(self.fn.load("i32", address, align=WORD_BYTES), "i32")
            rows.append([self.vector.sub(value, excess) for value in row])
        return rows

    def _old_elements(self, addresses: list[list[str]]) -> list[list[str]]:
        if not self.shape.kernel.from_zero:
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
        if self.shape.kernel.from_zero:
            nothing = self.vector.broadcast(self.step.is_first, "i1")
            text = self.vector.type("i1")
            mask = self.fn.select(nothing, text, "zeroinitializer", mask, condition_type=text)
        return super().masked_start(base, vector, mask)

    # ---------------------------------------------------------------------- operands of the inner loop: B is a panel

    @property
    def chunk(self) -> int:
        return CHUNK

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        return lines_of_chunk(
            self.fn, self.ahead, state, a_stride=self.strides.a_row, rows=rows, row_bytes=self.shape.row_bytes
        )

    @property
    def b_step(self) -> str:
        return self.panel.stride

    @property
    def steps(self) -> str:
        return self.step.depth

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        at = self.fn.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes))
        return self.fn.load(self.vector.type(self.shape.lane_type), at, align=self.panel.align)

    def load_a(self, address: str) -> str:
        value = self.fn.load(self.shape.lane_type, address, align=self.element.accumulator_bytes)
        return self.vector.broadcast(value, self.shape.lane_type)

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        if self.shape.grouping is None:
            return super().multiply_add(a, b, accumulator)
        return self.shape.grouping.multiply_add(self.vector, a, b, accumulator, self.element)

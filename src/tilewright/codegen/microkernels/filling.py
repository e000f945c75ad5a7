"""Kernels for whole blocks that fill the panels of B, if these are empty yet, while they multiply.

    for k0 in k by KC:  for n0 in n by NR:  for m0 in m by MR:
      C[m0:, n0:] += A[m0:, k0:] panel[k0, n0];  a few more rows of the next panel are packed

Packing all of B first takes as long as memory takes to give B and to take the panels: 4 % of a product of 512 x 512 x
512, 2 % of one three times as large each way. Here it goes on beside the multiplications: each tile asks for the lines
that are packed after the next one. Only the first panel is waited for.

b_ptr is what ``tw_mk_reserve_...`` gave, odd if the panels are empty; b_row_stride is the stride of B itself, and one
more parameter says where that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block import BlockWriter, Upcoming
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.panels import padded_depth
from tilewright.codegen.microkernels.spec import MatmulKernel

SOURCE_PARAMETERS = ("source_ptr",)

_FRACTION_BITS = 16
"""Rows to be packed for each row of A are counted in fractions of so many bits."""

_COLUMNS_ASKED_FOR = 8
"""Columns of a transposed B by which successive chunks of k move on."""


@dataclass(frozen=True)
class Piece:
    """A panel that is packed while another one is multiplied by: `depth` rows and `columns` columns of B.

    The depth is not positive where there is no panel left.
    """

    panel: str
    source: str
    depth: str
    columns: str


class FillingBlockWriter(BlockWriter):
    """Writes one kernel."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, panel_bytes: int, kernel: MatmulKernel
    ) -> None:
        super().__init__(fn, element, tile, panel_bytes, kernel)
        self.granule = tile.lanes if kernel.transposed_b else 1
        self.source = fn.cast("inttoptr", "i64", "%source_ptr", "ptr")
        self.is_empty = fn.cast("trunc", "i64", "%b_ptr", "i1")
        self.panel_depth = padded_depth(fn, "%k_count")
        rows = fn.call("i64", "llvm.smax.i64", [("i64", "%m_count"), ("i64", "1")])
        scaled = fn.binary("add", "i64", rows, (self.k_panel << _FRACTION_BITS) - 1)
        self.rate = fn.binary("udiv", "i64", scaled, rows)
        self.piece = Piece("", "", "", "")

    def packed_panels(self, b: str) -> str:
        """The panels, of which the first, or, where there is nothing to multiply, all are packed here."""
        fn = self.fn
        panels = fn.cast("inttoptr", "i64", fn.binary("and", "i64", "%b_ptr", -2), "ptr")
        has_rows = fn.icmp("sgt", "i64", "%m_count", 0)
        depth = self._least("%k_count", self.k_step)
        columns = self._least("%n_count", str(self.tile.columns))
        depth = fn.select(has_rows, "i64", depth, "%k_count")
        columns = fn.select(has_rows, "i64", columns, "%n_count")
        self._if_empty(lambda: self._pack(panels, self.source, depth, columns))
        return panels

    def _least(self, first: str, second: str) -> str:
        return self.fn.call("i64", "llvm.smin.i64", [("i64", first), ("i64", second)])

    def _pack(self, panels: str, source: str, depth: str, columns: str) -> None:
        self.pack(panels, self.panel_depth, source, self.strides.b_row, depth, columns)

    # ------------------------------------------------------------------------------------------------ while multiplying

    def rows_of_panel(self, panel: str, a: str, c: str, n0: str, columns: str) -> None:
        self.piece = self._next_piece(n0)
        super().rows_of_panel(panel, a, c, n0, columns)

    def _next_piece(self, n0: str) -> Piece:
        """The panel at the side, or, after the last, the first one of the next step of k."""
        fn = self.fn
        following = fn.binary("add", "i64", n0, self.tile.columns)
        is_last = fn.icmp("sge", "i64", following, "%n_count")
        below = fn.binary("add", "i64", self.step.first, self.k_step)
        k = fn.select(is_last, "i64", below, self.step.first)
        n = fn.select(is_last, "i64", 0, following)
        row, column = self._b_strides()
        source = self.advance(self.advance(self.source, self._product(k, row)), self._product(n, column))
        depth = self._least(fn.binary("sub", "i64", "%k_count", k), self.k_step)
        columns = self._least(fn.binary("sub", "i64", "%n_count", n), str(self.tile.columns))
        return Piece(self.next_b, source, depth, columns)

    def full_tile(self, a: str, b: str, c: str, count: int) -> None:
        super().full_tile(a, b, c, count)
        self._if_empty(lambda: self._pack_rows(self.fn.binary("add", "i64", self.first_row, count)))

    def _edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        super()._edge(a, b, c, rows_left, columns_left)
        rows = self._least(rows_left, str(self.edge_rows))
        self._if_empty(lambda: self._pack_rows(self.fn.binary("add", "i64", self.first_row, rows)))

    def _if_empty(self, body: Callable[[], None]) -> None:
        fn = self.fn
        fill, done = fn.new_label("fill"), fn.new_label("filled")
        fn.branch_if(self.is_empty, fill, done)
        fn.start(fill)
        body()
        fn.branch(done)
        fn.start(done)

    def _pack_rows(self, end: str) -> None:
        """Pack the part of the next panel that the rows of A from the tile's first one up to `end` stand for."""
        fn, piece = self.fn, self.piece
        first, last = self._due(self.first_row), self._due(end)
        panel = self.advance(piece.panel, self.scaled(first, self.panel_row_bytes))
        source = self.advance(piece.source, self._product(first, self._b_strides()[0]))
        self._pack(panel, source, fn.binary("sub", "i64", last, first), piece.columns)

    def _due(self, rows: str) -> str:
        """Return how many rows of the next panel are packed when so many rows of A are done: all of them at the
        last.
        """
        fn = self.fn
        due = fn.binary("lshr", "i64", self._product(rows, self.rate), _FRACTION_BITS)
        if self.granule > 1:
            due = fn.binary("and", "i64", fn.binary("add", "i64", due, self.granule - 1), -self.granule)
        return self._least(due, self.piece.depth)

    def _upcoming_panel(self, m0: str) -> Upcoming:
        """Lines of the next panel or, where that is empty, of what is packed after the next tile."""
        fn, filled = self.fn, super()._upcoming_panel(m0)
        due = self._due(fn.binary("add", "i64", m0, self.tile.rows))
        row, column = self._b_strides()
        first = self.advance(self.piece.source, self._product(due, row))
        per_chunk, stride = (self.scaled(column, _COLUMNS_ASKED_FOR), column) if self.transposed_b else (row, "64")
        return Upcoming(
            fn.select(self.is_empty, "ptr", first, filled.first),
            fn.select(self.is_empty, "i64", per_chunk, filled.per_chunk),
            fn.select(self.is_empty, "i64", stride, filled.stride),
        )


__all__ = ["SOURCE_PARAMETERS", "FillingBlockWriter"]

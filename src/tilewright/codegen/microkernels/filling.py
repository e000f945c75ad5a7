"""Filling the panels of B, if these are empty yet, while a kernel for whole blocks multiplies by them.

    for k0 in k by KC:  for n0 in n by NR:  for m0 in m by MR:
      C[m0:, n0:] += A[m0:, k0:] panel[k0, n0];  a few more rows of the next panel are packed

Packing all of B first takes as long as memory takes to give B and to take the panels: 4 % of a matmul of 512 x 512 x
512, 2 % of one three times as large each way. Here it goes on beside the multiplications: each tile prefetches the
lines that are packed after the next one. Only the first panel is waited for.

b_ptr is what ``tw_mk_reserve_...`` gave, odd if the panels are empty; b_row_stride is the stride of B itself, and one
more parameter says where that is.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block_tiles import Upcoming
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.panels import call_fill, padded_depth
from tilewright.support.records import dataclass

SOURCE_PARAMETERS = ("source_ptr",)

_FRACTION_BITS = 16
"""Rows to be packed for each row of A are counted in fractions of so many bits."""

_PREFETCHED_COLUMNS = 8
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


class PanelFilling:
    """Packs the panels of a kernel while it multiplies by them."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile, k_panel: int, *, transposed_b: bool):
        self.fn = fn
        self.element = element
        self.tile = tile
        self.transposed_b = transposed_b
        self.granule = tile.lanes if transposed_b else 1
        self.source = fn.cast("inttoptr", "i64", "%source_ptr", "ptr")
        self.is_empty = fn.cast("trunc", "i64", "%b_ptr", "i1")
        self.panel_depth = padded_depth(fn, "%k_count")
        rows = fn.maximum("%m_count", "1")
        scaled = fn.binary("add", "i64", rows, (k_panel << _FRACTION_BITS) - 1)
        self.rate = fn.binary("udiv", "i64", scaled, rows)
        self.piece = Piece("", "", "", "")
        self.k_step = self.b_row = self.row = self.column = ""

    def start(self, strides: tuple[str, str], b_row: str, k_step: str) -> str:
        """The panels, of which the first, or, where there is nothing to multiply, all are packed here.

        `strides`: bytes from one row of B to the next, and from one column; `b_row`: the one of them that is given.
        """
        fn = self.fn
        (self.row, self.column), self.b_row, self.k_step = strides, b_row, k_step
        panels = fn.cast("inttoptr", "i64", fn.binary("and", "i64", "%b_ptr", -2), "ptr")
        has_rows = fn.icmp("sgt", "i64", "%m_count", 0)
        depth = fn.minimum("%k_count", k_step)
        columns = fn.minimum("%n_count", self.tile.columns)
        depth = fn.select(has_rows, "i64", depth, "%k_count")
        columns = fn.select(has_rows, "i64", columns, "%n_count")
        self._if_empty(lambda: self._pack(panels, self.source, depth, columns))
        return panels

    def _pack(self, panels: str, source: str, depth: str, columns: str) -> None:
        values = (panels, self.panel_depth, source, self.b_row, depth, columns)
        call_fill(self.fn, self.element, self.tile, values, transposed_b=self.transposed_b)

    def enter_panel(self, n0: str, k0: str, following_panel: str) -> None:
        """From here on, pack the panel at the side, or, after the last, the first one of the next step of k."""
        fn = self.fn
        following = fn.binary("add", "i64", n0, self.tile.columns)
        is_last = fn.icmp("sge", "i64", following, "%n_count")
        below = fn.binary("add", "i64", k0, self.k_step)
        k = fn.select(is_last, "i64", below, k0)
        n = fn.select(is_last, "i64", 0, following)
        source = fn.advance(fn.advance(self.source, fn.scaled(k, self.row)), fn.scaled(n, self.column))
        depth = fn.minimum(fn.binary("sub", "i64", "%k_count", k), self.k_step)
        columns = fn.minimum(fn.binary("sub", "i64", "%n_count", n), self.tile.columns)
        self.piece = Piece(following_panel, source, depth, columns)

    def _if_empty(self, body: Callable[[], None]) -> None:
        fn = self.fn
        fill, done = fn.new_label("fill"), fn.new_label("filled")
        fn.branch_if(self.is_empty, fill, done)
        fn.start(fill)
        body()
        fn.branch(done)
        fn.start(done)

    def pack_rows(self, first: str, count: str | int) -> None:
        """Pack the part of the next panel that `count` rows of A from `first` on stand for."""
        self._if_empty(lambda: self._pack_part(first, self.fn.binary("add", "i64", first, count)))

    def _pack_part(self, first: str, end: str) -> None:
        fn, piece = self.fn, self.piece
        begin, last = self._due(first), self._due(end)
        panel = fn.advance(piece.panel, fn.scaled(begin, self.tile.columns * self.element.accumulator_bytes))
        source = fn.advance(piece.source, fn.scaled(begin, self.row))
        self._pack(panel, source, fn.binary("sub", "i64", last, begin), piece.columns)

    def _due(self, rows: str) -> str:
        """Return how many rows of the next panel are packed when so many rows of A are done: all of them at the
        last.
        """
        fn = self.fn
        due = fn.binary("lshr", "i64", fn.scaled(rows, self.rate), _FRACTION_BITS)
        if self.granule > 1:
            due = fn.binary("and", "i64", fn.binary("add", "i64", due, self.granule - 1), -self.granule)
        return fn.minimum(due, self.piece.depth)

    def upcoming(self, m0: str, filled: Upcoming) -> Upcoming:
        """Lines of the next panel, `filled`, or, where that is empty, of what is packed after the next tile."""
        fn = self.fn
        due = self._due(fn.binary("add", "i64", m0, self.tile.rows))
        first = fn.advance(self.piece.source, fn.scaled(due, self.row))
        per_chunk, stride = self.row, "64"
        if self.transposed_b:
            per_chunk, stride = fn.scaled(self.column, _PREFETCHED_COLUMNS), self.column
        return Upcoming(
            fn.select(self.is_empty, "ptr", first, filled.first),
            fn.select(self.is_empty, "i64", per_chunk, filled.per_chunk),
            fn.select(self.is_empty, "i64", stride, filled.stride),
        )

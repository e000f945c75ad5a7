"""What the tiles of kernels for whole blocks prefetch: the next rows of A, lines of B, the next rows of C."""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block_tiles import GROUP_COLUMNS, Upcoming
from tilewright.codegen.microkernels.elements import RegisterTile
from tilewright.codegen.microkernels.k_loop import KState, LinesAhead
from tilewright.codegen.microkernels.tile import Rows
from tilewright.support.records import dataclass

CHUNK = 16
"""Steps of k that prefetch a line of each row of A, a row of C and the lines of B."""

PREFETCHED_ROWS = 4
"""Lines of B that a chunk of k prefetches."""


@dataclass(frozen=True)
class Ahead:
    """What is prefetched while a tile is computed: the next rows of A, lines of B, the next rows of C."""

    a: str
    b: Upcoming
    c: Rows
    a_level: int = 2
    """The cache that the rows of A go to, as `llvm.prefetch` counts: 3 is the nearest."""


def lines_of_panel(
    fn: FunctionText, tile: RegisterTile, next_panel: str, m0: str, k_panel: int, row_bytes: int
) -> Upcoming:
    """Lines of the next panel, one after the other; `row_bytes` are those of a row of a panel."""
    tile_index = fn.binary("udiv", "i64", m0, tile.rows)
    lines = fn.scaled(tile_index, k_panel // CHUNK * PREFETCHED_ROWS)
    offset = fn.binary("urem", "i64", fn.scaled(lines, 64), k_panel * row_bytes)
    return Upcoming(fn.advance(next_panel, offset), str(PREFETCHED_ROWS * 64), "64")


def lines_of_rows(
    fn: FunctionText, tile: RegisterTile, b: Rows, position: tuple[str, str], rows: str, element_bytes: int
) -> Upcoming:
    """Rows of the next group of panels: successive tiles take other lines of a row, then other rows of a chunk of k.

    `position`: the column and the row of the tile; `rows`: how many rows A has.
    """
    tile_index = _tile_index(fn, tile, position, rows)
    line = fn.binary("and", "i64", fn.scaled(tile_index, 64), GROUP_COLUMNS * element_bytes - 1)
    lines = GROUP_COLUMNS * element_bytes // 64
    blocks = CHUNK // PREFETCHED_ROWS
    block = fn.binary("and", "i64", fn.binary("udiv", "i64", tile_index, lines), blocks - 1)
    row = fn.scaled(fn.scaled(block, PREFETCHED_ROWS), b.stride)
    return Upcoming(fn.advance(fn.advance(b.first, line), row), fn.scaled(b.stride, CHUNK), b.stride)


def lines_of_columns(
    fn: FunctionText, tile: RegisterTile, b: Rows, position: tuple[str, str], rows: str, element_bytes: int
) -> Upcoming:
    """The same of a transposed B: other columns, and successive chunks of k other lines of these."""
    tile_index = _tile_index(fn, tile, position, rows)
    column = fn.binary("and", "i64", fn.scaled(tile_index, PREFETCHED_ROWS), GROUP_COLUMNS - 1)
    return Upcoming(fn.advance(b.first, fn.scaled(column, b.stride)), str(CHUNK * element_bytes), b.stride)


def _tile_index(fn: FunctionText, tile: RegisterTile, position: tuple[str, str], rows: str) -> str:
    """Count the tiles before the one at a position."""
    n0, m0 = position
    panel = fn.binary("udiv", "i64", n0, tile.columns)
    row = fn.binary("add", "i64", fn.scaled(panel, rows), m0)
    return fn.binary("udiv", "i64", row, tile.rows)


def lines_of_chunk(
    fn: FunctionText, ahead: Ahead, state: KState, *, a_stride: str, rows: int, row_bytes: int
) -> list[tuple[LinesAhead, ...]]:
    """A row of C, which is waited for, into the first level cache; the next rows of B, and of A if `a_level` says so,
    into the second.

    In the first, rows of A that are a power of two apart would take the place of the panel.
    """
    chunk_index = fn.binary("udiv", "i64", state.k, CHUNK)
    c_row = fn.advance(ahead.c.first, fn.scaled(chunk_index, ahead.c.stride))
    c = LinesAhead(c_row, "64", -(-row_bytes // 64), level=3, is_written=True)
    a = LinesAhead(fn.advance(ahead.a, state.a_offset), a_stride, rows, level=ahead.a_level)
    b = fn.advance(ahead.b.first, fn.scaled(chunk_index, ahead.b.per_chunk))
    return [(c,), (a, LinesAhead(b, ahead.b.stride, PREFETCHED_ROWS, level=2))]

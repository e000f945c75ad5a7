"""The parts of the work of kernels for whole blocks: register tiles, how rows are divided among them, steps of k."""

from __future__ import annotations

from typing import Self

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.grouping import Grouping
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import Rows
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

GROUP_COLUMNS = 128
"""Columns that are packed together, so that each row of B is visited once for several panels."""

SHORT_ROWS = 4
"""Rows of the tiles for what is left of the rows."""


def steps_of_panel(panel_bytes: int, tile: RegisterTile, element: ElementKind) -> int:
    """Return how many steps of k a panel of at most so many bytes has."""
    return max(64, panel_bytes // (tile.columns * element.accumulator_bytes) // 32 * 32)


@dataclass(frozen=True)
class PanelRows:
    """How tiles read the rows of a panel."""

    stride: str
    """Bytes from one to the next."""
    align: int


@dataclass(frozen=True)
class BlockShape:
    """What a kernel for whole blocks multiplies, in which register tiles and by how much of k at a time."""

    element: ElementKind
    tile: RegisterTile
    k_panel: int
    """Steps of k that a panel has at most."""
    kernel: MatmulKernel
    grouping: Grouping | None = None
    """How words are multiplied; None: elements are."""

    @property
    def k_group(self) -> int:
        """Elements of k in a step."""
        return 1 if self.grouping is None else self.grouping.group

    @property
    def lane_type(self) -> str:
        """The type of a lane of the operands: of an element, or i32 for a word of several."""
        return self.element.accumulator if self.grouping is None else "i32"

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a panel."""
        return self.tile.columns * self.element.accumulator_bytes

    @property
    def panel_rows(self) -> PanelRows:
        """The rows of a panel that is packed, which are aligned."""
        return PanelRows(str(self.row_bytes), align=min(64, self.tile.lanes * self.element.accumulator_bytes))

    @property
    def panels(self) -> int:
        """Panels that are packed together."""
        return max(1, GROUP_COLUMNS // self.tile.columns)


@dataclass(frozen=True)
class RowLimits:
    """How many rows of A there are, and at which of them the full tiles end, and the short ones after them."""

    count: str
    full: str = ""
    short: str = ""

    @classmethod
    def of(cls, fn: FunctionText, tile: RegisterTile, count: str) -> Self:
        """Divide `count` rows."""
        left = fn.binary("urem", "i64", count, tile.rows)
        if tile.rows % SHORT_ROWS == 2:
            # 2 or 3 left over: with one full tile less it is 8 or 9, two short tiles.
            odd = fn.binary("and", "i64", left, 6)
            enough = fn.icmp("ugt", "i64", count, tile.rows)
            less = fn.binary("and", "i1", fn.icmp("eq", "i64", odd, 2), enough)
            left = fn.select(less, "i64", fn.binary("add", "i64", left, tile.rows), left)
        full = fn.binary("sub", "i64", count, left)
        rest = fn.binary("and", "i64", left, SHORT_ROWS - 1)
        return cls(count, full, fn.binary("sub", "i64", count, rest))


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
class Upcoming:
    """The lines of B that a tile prefetches, a few in each chunk of k."""

    first: str
    per_chunk: str
    """Bytes by which they move from one chunk to the next."""
    stride: str
    """Bytes from one to the next."""


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

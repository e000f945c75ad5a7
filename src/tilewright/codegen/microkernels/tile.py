"""The general micro-kernel: C += A B by register tiles, operands read in place and widened as they are loaded.

Loops over register tiles of C; a full tile keeps its accumulators in registers over all of k. Tiles at the edge go in
strips of a few rows (those past the end are the last one again, which is stored more than once) with masked columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.codegen.microkernels.k_loop import KLoop, KState, LinesAhead
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

PARAMETERS = (
    *("a_ptr", "a_row_stride", "a_k_stride", "b_ptr", "b_row_stride", "c_ptr", "c_row_stride"),
    *("k_count", "m_count", "n_count"),
)
OUTPUT_PARAMETERS = ("out_ptr", "out_row_stride")
EDGE_ROWS = 4


@dataclass(frozen=True)
class Strides:
    """Distances in bytes, as i64 registers."""

    a_row: str
    a_k: str
    b_row: str
    c_row: str

    @classmethod
    def of_parameters(cls, fn: FunctionText, element: ElementKind) -> Self:
        """Those of the matrices that a kernel is given."""
        size = element.bytes
        return cls(
            fn.scaled("%a_row_stride", size),
            fn.scaled("%a_k_stride", size),
            fn.scaled("%b_row_stride", size),
            fn.scaled("%c_row_stride", element.accumulator_bytes),
        )


@dataclass(frozen=True)
class Rows:
    """Where the rows of a tile are: the first one, and bytes from one to the next."""

    first: str
    stride: str


class TileWriter:
    """Writes one micro-kernel. Subclasses change how operands (`TileOperands`) are loaded and multiplied."""

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
        return Strides.of_parameters(self.fn, self.element)

    def write(self) -> None:
        """The whole body: all register tiles of C, full ones and edges."""
        fn = self.fn
        a, b, c = (fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr") for name in "abc")
        _ = self.strides  # computed here, for all blocks
        fn.loop("0", "%m_count", self.tile.rows, lambda row: self._columns(a, b, c, row))
        fn.ret()

    def _columns(self, a: str, b: str, c: str, row: str) -> None:
        fn = self.fn
        rows_left = fn.binary("sub", "i64", "%m_count", row)
        a_at = fn.advance(a, fn.scaled(row, self.strides.a_row))
        c_row = fn.advance(c, fn.scaled(row, self.strides.c_row))
        rows_full = fn.icmp("uge", "i64", rows_left, self.tile.rows)

        def column(position: str) -> None:
            left = fn.binary("sub", "i64", "%n_count", position)
            b_at = fn.advance(b, fn.scaled(position, self.b_column_bytes))
            c_at = fn.advance(c_row, fn.scaled(position, self.element.accumulator_bytes))
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

        fn.loop("0", "%n_count", self.tile.columns, column)

    @property
    def b_column_bytes(self) -> int:
        """Bytes from one column of B to the next."""
        return self.element.bytes

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

    def _vectors(self, block: Rows, count: int) -> list[list[str]]:
        """Addresses of the vectors of some rows of C."""
        rows = [block.first, *(self._row_offset(block.first, block.stride, row) for row in range(1, count))]
        return [[self._vector_at(base, v) for v in range(self.tile.vectors)] for base in rows]

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        """Return what the sums of a full tile start from: C's elements."""
        text, size = self.vector.type(self.element.accumulator), self.element.accumulator_bytes
        return [[self.fn.load(text, at, align=size) for at in row] for row in addresses]

    def _opaque(self, value: str) -> str:
        """The same address, kept in a register: else LLVM makes it, or sums with it, of others in every step of k."""
        return self.fn.opaque("ptr", value)

    def _row_offset(self, base: str, stride: str, row: int) -> str:
        return self.fn.advance(base, self.fn.scaled(stride, row))

    def _vector_at(self, base: str, vector: int) -> str:
        return self.fn.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes)) if vector else base

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
        masks = [self.vector.lanes_below(columns_left, v * self.tile.lanes) for v in range(vectors)]

        def strip(first: str) -> None:
            row_indices = [first, *(fn.binary("add", "i64", first, row) for row in range(1, rows))]
            held = [fn.call("i64", "llvm.umin.i64", [("i64", row_index), ("i64", last)]) for row_index in row_indices]
            a_rows = [fn.advance(a, fn.scaled(row, self.strides.a_row)) for row in held]
            c_rows = self._rows_at(Rows(c, self.strides.c_row), held)
            stored = self._rows_at(self.result, held) if self.result is not None else c_rows
            start = self.start_of_edge(c_rows, held, masks)
            sums = self.accumulate(a_rows, b, start, masks)
            for base, row in zip(stored, sums, strict=True):
                self._store_strip_row(base, row, masks)

        fn.loop("0", bound, rows, strip)

    def _rows_at(self, block: Rows, row_indices: Sequence[str]) -> list[str]:
        return [self.fn.advance(block.first, self.fn.scaled(row, block.stride)) for row in row_indices]

    def start_of_edge(self, c_rows: list[str], row_indices: Sequence[str], masks: list[str]) -> list[list[str]]:
        """Return what the sums of some rows at the edge start from; `row_indices` count from the first row."""
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

    def accumulate(
        self, rows: Sequence[str], b: str, start: list[list[str]], masks: list[str] | None
    ) -> list[list[str]]:
        """start + A B over all k, for rows of A at the given addresses; the columns of B masked if `masks` is given."""
        loop = KLoop(self.fn, self.vector.type(self.element.accumulator), self.strides.a_k, self)
        # Tiles with fewer rows are few: two more loops would cost more time to compile than they save.
        prefetches = masks is None and self.chunk > 0 and len(rows) == self.tile.rows
        return loop.run(rows, b, start, masks, prefetches=prefetches)

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        """accumulator + a b, lane by lane."""
        return self.element.multiply_add(self.vector, a, b, accumulator)

    @property
    def chunk(self) -> int:
        return 0

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        raise NotImplementedError

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        size = self.element.bytes
        at = self.fn.advance(base, str(vector * self.tile.lanes * size)) if vector else base
        if mask is not None:
            loaded = self.fn.masked_load(self.vector.type(self.element.memory), at, mask, align=size)
        else:
            loaded = self.fn.load(self.vector.type(self.element.memory), at, align=size)
        return self.element.widen(self.vector, loaded)

    def load_a(self, address: str) -> str:
        value = self.fn.load(self.element.memory, address, align=self.element.bytes)
        return self.vector.broadcast(self.element.widen(self.scalar, value), self.element.accumulator)


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

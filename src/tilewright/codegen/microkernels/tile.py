"""The general micro-kernel: C += A B by register tiles, operands read in place and widened as they are loaded.

Loops over register tiles of C; a full tile keeps its accumulators in registers over all of k. Tiles at the edge go in
strips of at most four rows (rows past the end repeat the last one and are not stored) with masked columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter, vector_constant
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.ir.facts import TargetFacts

PARAMETERS = (
    *("a_ptr", "a_row_stride", "a_k_stride", "b_ptr", "b_row_stride", "c_ptr", "c_row_stride"),
    *("k_count", "m_count", "n_count"),
)
EDGE_ROWS = 4


@dataclass(frozen=True)
class Strides:
    """Distances in bytes, as i64 registers."""

    a_row: str
    a_k: str
    b_row: str
    c_row: str


class TileWriter:
    """Writes one micro-kernel. Subclasses change how operands are loaded and multiplied."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile) -> None:
        self.fn = fn
        self.element = element
        self.tile = tile
        self.vector = LaneBuilder(fn, tile.lanes)
        self.scalar = LaneBuilder(fn, 0)
        self.strides = self._byte_strides()

    # ---------------------------------------------------------------------------------------------------- structure

    def _byte_strides(self) -> Strides:
        size = self.element.bytes
        return Strides(
            self.scaled("%a_row_stride", size),
            self.scaled("%a_k_stride", size),
            self.scaled("%b_row_stride", size),
            self.scaled("%c_row_stride", self.element.accumulator_bytes),
        )

    def scaled(self, value: str, factor: int) -> str:
        return value if factor == 1 else self.fn.value(f"mul i64 {value}, {factor}")

    def write(self) -> None:
        """The whole body: all register tiles of C, full ones and edges."""
        fn = self.fn
        a, b, c = (fn.value(f"inttoptr i64 %{name}_ptr to ptr") for name in "abc")
        self.loop("%m_count", self.tile.rows, lambda row: self._columns(a, b, c, row))
        fn.terminate("ret void")

    def _columns(self, a: str, b: str, c: str, row: str) -> None:
        fn = self.fn
        rows_left = fn.value(f"sub i64 %m_count, {row}")
        a_at = self.advance(a, fn.value(f"mul i64 {row}, {self.strides.a_row}"))
        c_row = self.advance(c, fn.value(f"mul i64 {row}, {self.strides.c_row}"))
        rows_full = fn.value(f"icmp uge i64 {rows_left}, {self.tile.rows}")

        def column(position: str) -> None:
            left = fn.value(f"sub i64 %n_count, {position}")
            b_at = self.advance(b, self.scaled(position, self.b_column_bytes))
            c_at = self.advance(c_row, self.scaled(position, self.element.accumulator_bytes))
            columns_full = fn.value(f"icmp uge i64 {left}, {self.tile.columns}")
            full, edge, done = (fn.new_label(hint) for hint in ("full", "edge", "done"))
            fn.branch_if(fn.value(f"and i1 {rows_full}, {columns_full}"), full, edge)
            fn.start(full)
            self.full_tile(a_at, b_at, c_at)
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
        return self.fn.value(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def loop(self, count: str, step: int, body: Callable[[str], None]) -> None:
        """``for i in range(0, count, step): body(i)``."""
        fn = self.fn
        loop, done, before = fn.new_label("loop"), fn.new_label("done"), fn.label
        fn.branch_if(fn.value(f"icmp sgt i64 {count}, 0"), loop, done)
        fn.start(loop)
        counter = fn.phi("i64", "i")
        counter.add("0", before)
        body(counter.name)
        following = fn.value(f"add nsw i64 {counter.name}, {step}")
        again = fn.value(f"icmp slt i64 {following}, {count}")
        counter.add(following, fn.label)
        fn.branch_if(again, loop, done)
        fn.start(done)

    # -------------------------------------------------------------------------------------------------------- tiles

    def full_tile(self, a: str, b: str, c: str) -> None:
        """C of full rows and columns, from C's old values."""
        rows = [a, *(self._opaque(self._row_offset(a, self.strides.a_row, row)) for row in range(1, self.tile.rows))]
        c_rows = [c, *(self._row_offset(c, self.strides.c_row, row) for row in range(1, self.tile.rows))]
        addresses = [[self._vector_at(base, v) for v in range(self.tile.vectors)] for base in c_rows]
        text = self.vector.type(self.element.accumulator)
        size = self.element.accumulator_bytes
        start = [[self.fn.value(f"load {text}, ptr {at}, align {size}") for at in row] for row in addresses]
        sums = self.accumulate(rows, b, start, masks=None)
        for row, row_addresses in zip(sums, addresses, strict=True):
            for value, at in zip(row, row_addresses, strict=True):
                self.fn.emit(f"store {text} {value}, ptr {at}, align {size}")

    def _opaque(self, pointer: str) -> str:
        """The same pointer, kept in a register: else LLVM recomputes it from others in every step of k."""
        return self.fn.value(f'call ptr asm "", "=r,0"(ptr {pointer})')

    def _row_offset(self, base: str, stride: str, row: int) -> str:
        return self.advance(base, self.scaled(stride, row))

    def _vector_at(self, base: str, vector: int) -> str:
        return self.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes)) if vector else base

    def _edge(self, a: str, b: str, c: str, rows_left: str, columns_left: str) -> None:
        """Strips of a few rows with masked columns; at most the rows and columns of one register tile."""
        fn = self.fn
        rows = min(EDGE_ROWS, self.tile.rows)
        bound = fn.call("i64", "llvm.umin.i64", [("i64", rows_left), ("i64", str(self.tile.rows))])
        last = fn.value(f"sub i64 {bound}, 1")
        masks = [self._column_mask(columns_left, v) for v in range(self.tile.vectors)]

        def strip(first: str) -> None:
            numbers = [first, *(fn.value(f"add i64 {first}, {row}") for row in range(1, rows))]
            held = [fn.call("i64", "llvm.umin.i64", [("i64", number), ("i64", last)]) for number in numbers]
            a_rows = [self.advance(a, fn.value(f"mul i64 {row}, {self.strides.a_row}")) for row in held]
            c_rows = [self.advance(c, fn.value(f"mul i64 {row}, {self.strides.c_row}")) for row in held]
            start = [[self._masked_load_c(base, v, masks[v]) for v in range(self.tile.vectors)] for base in c_rows]
            sums = self.accumulate(a_rows, b, start, masks)
            for number, base, row in zip(numbers, c_rows, sums, strict=True):
                self._store_row_if(fn.value(f"icmp ule i64 {number}, {last}"), base, row, masks)

        self.loop(bound, rows, strip)

    def _column_mask(self, columns_left: str, vector: int) -> str:
        """Lanes of a vector whose column exists."""
        lanes = self.tile.lanes
        numbers = vector_constant("i64", (str(vector * lanes + lane) for lane in range(lanes)))
        spread = self.spread(columns_left, "i64")
        return self.fn.value(f"icmp ult <{lanes} x i64> {numbers}, {spread}")

    def spread(self, value: str, scalar: str) -> str:
        """A scalar in every lane."""
        text = self.vector.type(scalar)
        single = self.fn.value(f"insertelement {text} poison, {scalar} {value}, i32 0")
        mask = f"<{self.tile.lanes} x i32> zeroinitializer"
        return self.fn.value(f"shufflevector {text} {single}, {text} poison, {mask}")

    def _masked_load_c(self, base: str, vector: int, mask: str) -> str:
        at = self._vector_at(base, vector)
        return self.masked_load(self.element.accumulator, self.element.accumulator_bytes, at, mask)

    def masked_load(self, scalar: str, align: int, address: str, mask: str) -> str:
        """Lanes that are off read nothing and give 0."""
        text, mask_text = self.vector.type(scalar), self.vector.type("i1")
        name = f"llvm.masked.load.{intrinsic_suffix(scalar, self.tile.lanes)}.p0"
        self.fn.declare(f"declare {text} @{name}(ptr, {mask_text}, {text})")
        arguments = [(f"ptr align {align}", address), (mask_text, mask), (text, "zeroinitializer")]
        return self.fn.call(text, name, arguments)

    def _store_row_if(self, condition: str, base: str, row: list[str], masks: list[str]) -> None:
        fn = self.fn
        store, skip = fn.new_label("store"), fn.new_label("skip")
        fn.branch_if(condition, store, skip)
        fn.start(store)
        text, mask_text = self.vector.type(self.element.accumulator), self.vector.type("i1")
        name = f"llvm.masked.store.{intrinsic_suffix(self.element.accumulator, self.tile.lanes)}.p0"
        fn.declare(f"declare void @{name}({text}, ptr, {mask_text})")
        for vector, (value, mask) in enumerate(zip(row, masks, strict=True)):
            at = self._vector_at(base, vector)
            align = self.element.accumulator_bytes
            fn.call("void", name, [(text, value), (f"ptr align {align}", at), (mask_text, mask)])
        fn.branch(skip)
        fn.start(skip)

    # ------------------------------------------------------------------------------------------------- the inner loop

    @property
    def b_step(self) -> str:
        """Bytes from one row of B to the next."""
        return self.strides.b_row

    @property
    def steps(self) -> str:
        """How many steps of k the inner loop takes."""
        return "%k_count"

    def accumulate(self, rows: list[str], b: str, start: list[list[str]], masks: list[str] | None) -> list[list[str]]:
        """start + A B over all k, for rows of A at the given addresses; the columns of B masked if `masks` is given."""
        fn = self.fn
        text = self.vector.type(self.element.accumulator)
        loop, done, before = fn.new_label("k"), fn.new_label("kdone"), fn.label
        fn.branch_if(fn.value(f"icmp sgt i64 {self.steps}, 0"), loop, done)
        fn.start(loop)
        k, a_offset, b_at = fn.phi("i64", "k"), fn.phi("i64", "ao"), fn.phi("ptr", "bp")
        sums = [[fn.phi(text, "c") for _ in row] for row in start]
        k.add("0", before)
        a_offset.add("0", before)
        b_at.add(b, before)
        columns = [self.load_b(b_at.name, v, None if masks is None else masks[v]) for v in range(len(start[0]))]
        updated: list[list[str]] = []
        for base, row in zip(rows, sums, strict=True):
            value = self._load_a(self.advance(base, a_offset.name))
            updated.append(
                [
                    self.element.multiply_add(self.vector, value, column, phi.name)
                    for column, phi in zip(columns, row, strict=True)
                ]
            )
        next_k = fn.value(f"add nsw i64 {k.name}, 1")
        next_a = fn.value(f"add i64 {a_offset.name}, {self.strides.a_k}")
        next_b = self.advance(b_at.name, self.b_step)
        again = fn.value(f"icmp slt i64 {next_k}, {self.steps}")
        for phi, value in ((k, next_k), (a_offset, next_a), (b_at, next_b)):
            phi.add(value, fn.label)
        latch = fn.label
        fn.branch_if(again, loop, done)
        fn.start(done)
        results: list[list[str]] = []
        for row, new_row, old_row in zip(sums, updated, start, strict=True):
            results.append([])
            for phi, new, old in zip(row, new_row, old_row, strict=True):
                phi.add(old, before)
                phi.add(new, latch)
                result = fn.detached_phi(text)
                result.add(old, before)
                result.add(new, latch)
                fn.place_phis([result])
                results[-1].append(result.name)
        return results

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        size = self.element.bytes
        at = self.advance(base, str(vector * self.tile.lanes * size)) if vector else base
        if mask is not None:
            loaded = self.masked_load(self.element.memory, size, at, mask)
        else:
            loaded = self.fn.value(f"load {self.vector.type(self.element.memory)}, ptr {at}, align {size}")
        return self.element.widen(self.vector, loaded)

    def _load_a(self, address: str) -> str:
        value = self.fn.value(f"load {self.element.memory}, ptr {address}, align {self.element.bytes}")
        return self.spread(self.element.widen(self.scalar, value), self.element.accumulator)


def kernel_function(name: str, module: ModuleText) -> FunctionText:
    """An empty function with the micro-kernels' ABI."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in PARAMETERS]
    return FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")


def emit_tile_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, rows: int, columns: int
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>``."""
    fn = kernel_function(name, module)
    TileWriter(fn, element, plan_register_tile(facts, rows, columns, element.accumulator_bits)).write()
    return fn.text()

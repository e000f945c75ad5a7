"""The micro-kernel for whole blocks: B is packed, a few panels at a time, into the stack frame.

    for k0 in k by 256:  for g0 in n by 4 NR:  panels = B[k0:, g0:], widened, columns padded with zeros
      for n0 in the group by NR:  for m0 in m by MR:  C[m0:, n0:] += A[m0:, k0:] panel

B in place costs a new page and, for row lengths that are powers of two, the same few cache sets for each step of k,
once for every MR rows of C. Packing costs that once a block, four panels of a row at a time; the panels' rows are
aligned, and narrow types are widened once.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.codegen.microkernels.tile import TileWriter, kernel_function
from tilewright.ir.facts import TargetFacts

K_PANEL = 256
"""Steps of k in a panel: 32 KiB of 32 columns of f32."""

PANELS = 4
"""Panels that are packed together, so that each row of B is visited once for all of them."""

SMALLEST_BLOCK = 16
"""Kernels for at least this many rows pack B."""


class BlockWriter(TileWriter):
    """Writes one kernel for whole blocks."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile, *, has_edges: bool) -> None:
        super().__init__(fn, element, tile)
        self.has_edges = has_edges
        self.panel_row_bytes = tile.columns * element.accumulator_bytes
        self.depth = ""

    def write(self) -> None:
        """The whole body."""
        fn = self.fn
        panels = fn.entry_value(f"alloca [{PANELS * K_PANEL * self.panel_row_bytes} x i8], align 64")
        a, b, c = (fn.value(f"inttoptr i64 %{name}_ptr to ptr") for name in "abc")

        def depth_step(k0: str) -> None:
            left = fn.value(f"sub i64 %k_count, {k0}")
            self.depth = fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", str(K_PANEL))])
            a_k = self.advance(a, fn.value(f"mul i64 {k0}, {self.strides.a_k}"))
            b_k = self.advance(b, fn.value(f"mul i64 {k0}, {self.strides.b_row}"))
            self.loop("%n_count", PANELS * self.tile.columns, lambda g0: self._group(panels, a_k, b_k, c, g0))

        self.loop("%k_count", K_PANEL, depth_step)
        fn.terminate("ret void")

    def _group(self, panels: str, a: str, b: str, c: str, first: str) -> None:
        """Pack the panels from column `first` on and run all rows of A over them."""
        fn = self.fn
        left = fn.value(f"sub i64 %n_count, {first}")
        columns = fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", str(PANELS * self.tile.columns))])
        self._pack(panels, self.advance(b, self.scaled(first, self.element.bytes)), columns)
        c_group = self.advance(c, self.scaled(first, self.element.accumulator_bytes))

        def one_panel(n0: str) -> None:
            panel = self.advance(panels, self.scaled(n0, K_PANEL * self.element.accumulator_bytes))
            c_n = self.advance(c_group, self.scaled(n0, self.element.accumulator_bytes))
            self._rows(panel, a, c_n, fn.value(f"sub i64 {columns}, {n0}"))

        self.loop(columns, self.tile.columns, one_panel)

    def _rows(self, panel: str, a: str, c: str, columns: str) -> None:
        """All rows of A over one packed panel, of which `columns` exist."""
        fn = self.fn
        full = fn.value(f"icmp uge i64 {columns}, {self.tile.columns}")

        def rows(m0: str) -> None:
            left = fn.value(f"sub i64 %m_count, {m0}")
            a_m = self.advance(a, fn.value(f"mul i64 {m0}, {self.strides.a_row}"))
            c_m = self.advance(c, fn.value(f"mul i64 {m0}, {self.strides.c_row}"))
            if not self.has_edges:
                self.full_tile(a_m, panel, c_m)
                return
            enough = fn.value(f"icmp uge i64 {left}, {self.tile.rows}")
            inner, edge, done = (fn.new_label(hint) for hint in ("full", "edge", "done"))
            fn.branch_if(fn.value(f"and i1 {enough}, {full}"), inner, edge)
            fn.start(inner)
            self.full_tile(a_m, panel, c_m)
            fn.branch(done)
            fn.start(edge)
            self._edge(a_m, panel, c_m, left, columns)
            fn.branch(done)
            fn.start(done)

        self.loop("%m_count", self.tile.rows, rows)

    def _pack(self, panels: str, b: str, columns: str) -> None:
        """Rows of the panels from rows of B, widened; columns past the last become 0."""
        fn = self.fn

        def row(k: str) -> None:
            source = self.advance(b, fn.value(f"mul i64 {k}, {self.strides.b_row}"))
            target = self.advance(panels, self.scaled(k, self.panel_row_bytes))

            def piece(n0: str) -> None:
                left = fn.value(f"sub i64 {columns}, {n0}")
                from_row = self.advance(source, self.scaled(n0, self.element.bytes))
                into = self.advance(target, self.scaled(n0, K_PANEL * self.element.accumulator_bytes))
                if not self.has_edges:
                    self._pack_row(into, from_row, None)
                    return
                whole, partial, done = (fn.new_label(hint) for hint in ("whole", "partial", "packed"))
                fn.branch_if(fn.value(f"icmp uge i64 {left}, {self.tile.columns}"), whole, partial)
                fn.start(whole)
                self._pack_row(into, from_row, None)
                fn.branch(done)
                fn.start(partial)
                self._pack_row(into, from_row, [self._column_mask(left, v) for v in range(self.tile.vectors)])
                fn.branch(done)
                fn.start(done)

            self.loop(columns, self.tile.columns, piece)

        self.loop(self.depth, 1, row)

    def _pack_row(self, target: str, source: str, masks: list[str] | None) -> None:
        """One row of one panel."""
        fn = self.fn
        text, memory = self.vector.type(self.element.accumulator), self.vector.type(self.element.memory)
        for vector in range(self.tile.vectors):
            at = self.advance(source, str(vector * self.tile.lanes * self.element.bytes))
            if masks is None:
                loaded = fn.value(f"load {memory}, ptr {at}, align {self.element.bytes}")
            else:
                loaded = self.masked_load(self.element.memory, self.element.bytes, at, masks[vector])
            to = self.advance(target, str(vector * self.tile.lanes * self.element.accumulator_bytes))
            fn.emit(f"store {text} {self.element.widen(self.vector, loaded)}, ptr {to}, align 64")

    # What the inner loop asks for: columns come from the panel.

    @property
    def b_step(self) -> str:
        return str(self.panel_row_bytes)

    @property
    def steps(self) -> str:
        return self.depth

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        at = self.advance(base, str(vector * self.tile.lanes * self.element.accumulator_bytes))
        return self.fn.value(f"load {self.vector.type(self.element.accumulator)}, ptr {at}, align 64")


def plan_block_tile(facts: TargetFacts, element: ElementKind, rows: int, columns: int) -> RegisterTile:
    """The register tile that a kernel for blocks of rows x columns works in."""
    register_rows = 8 if facts.vector_bits >= 512 or not facts.triple.startswith("x86_64") else 4
    lanes = facts.lanes(element.accumulator_bits)
    return plan_register_tile(facts, min(rows, register_rows), min(columns, 2 * lanes), element.accumulator_bits)


def emit_block_kernel(
    name: str, module: ModuleText, element: ElementKind, tile: RegisterTile, *, has_edges: bool = True
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>`` for blocks of at least 16 rows."""
    fn = kernel_function(name, module)
    BlockWriter(fn, element, tile, has_edges=has_edges).write()
    return fn.text()

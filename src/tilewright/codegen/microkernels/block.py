"""The micro-kernel for whole blocks: B is packed, one panel at a time, into the stack frame.

    for k0 in k by 256:  for n0 in n by NR:  panel = B[k0:, n0:], widened, columns padded with zeros
      for m0 in m by MR:  C[m0:, n0:] += A[m0:, k0:] panel

B in place costs a new page and, for row lengths that are powers of two, the same few cache sets for each step of k, once
for every MR rows of C. The panel costs that once a block, its rows are aligned, and narrow types are widened once.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.codegen.microkernels.tile import TileWriter, kernel_function
from tilewright.ir.facts import TargetFacts

K_PANEL = 256
"""Steps of k in a panel: 32 KiB of 32 columns of f32."""

SMALLEST_BLOCK = 16
"""Kernels for at least this many rows pack B."""


class BlockWriter(TileWriter):
    """Writes one kernel for whole blocks."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile) -> None:
        super().__init__(fn, element, tile)
        self.panel_row_bytes = tile.columns * element.accumulator_bytes
        self.depth = ""

    def write(self) -> None:
        """The whole body."""
        fn = self.fn
        panel = fn.entry_value(f"alloca [{K_PANEL * self.panel_row_bytes} x i8], align 64")
        a, b, c = (fn.value(f"inttoptr i64 %{name}_ptr to ptr") for name in "abc")

        def depth_step(k0: str) -> None:
            left = fn.value(f"sub i64 %k_count, {k0}")
            self.depth = fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", str(K_PANEL))])
            a_k = self.advance(a, fn.value(f"mul i64 {k0}, {self.strides.a_k}"))
            b_k = self.advance(b, fn.value(f"mul i64 {k0}, {self.strides.b_row}"))
            self.loop("%n_count", self.tile.columns, lambda n0: self._panel(panel, a_k, b_k, c, n0))

        self.loop("%k_count", K_PANEL, depth_step)
        fn.terminate("ret void")

    def _panel(self, panel: str, a: str, b: str, c: str, n0: str) -> None:
        """Pack one panel and run all rows of A over it."""
        fn = self.fn
        columns = fn.value(f"sub i64 %n_count, {n0}")
        b_n = self.advance(b, self.scaled(n0, self.element.bytes))
        c_n = self.advance(c, self.scaled(n0, self.element.accumulator_bytes))
        full = fn.value(f"icmp uge i64 {columns}, {self.tile.columns}")
        whole, partial, packed = (fn.new_label(hint) for hint in ("whole", "partial", "packed"))
        fn.branch_if(full, whole, partial)
        fn.start(whole)
        self._pack(panel, b_n, None)
        fn.branch(packed)
        fn.start(partial)
        self._pack(panel, b_n, [self._column_mask(columns, v) for v in range(self.tile.vectors)])
        fn.branch(packed)
        fn.start(packed)

        def rows(m0: str) -> None:
            left = fn.value(f"sub i64 %m_count, {m0}")
            a_m = self.advance(a, fn.value(f"mul i64 {m0}, {self.strides.a_row}"))
            c_m = self.advance(c_n, fn.value(f"mul i64 {m0}, {self.strides.c_row}"))
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

    def _pack(self, panel: str, b: str, masks: list[str] | None) -> None:
        """The panel's rows from B's, widened; columns that are masked off become 0."""
        fn = self.fn
        text = self.vector.type(self.element.accumulator)
        memory = self.vector.type(self.element.memory)

        def row(k: str) -> None:
            source = self.advance(b, fn.value(f"mul i64 {k}, {self.strides.b_row}"))
            target = self.advance(panel, self.scaled(k, self.panel_row_bytes))
            for vector in range(self.tile.vectors):
                at = self.advance(source, str(vector * self.tile.lanes * self.element.bytes))
                if masks is None:
                    loaded = fn.value(f"load {memory}, ptr {at}, align {self.element.bytes}")
                else:
                    loaded = self.masked_load(self.element.memory, self.element.bytes, at, masks[vector])
                to = self.advance(target, str(vector * self.tile.lanes * self.element.accumulator_bytes))
                fn.emit(f"store {text} {self.element.widen(self.vector, loaded)}, ptr {to}, align 64")

        self.loop(self.depth, 1, row)

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


def emit_block_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, rows: int, columns: int
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>`` for blocks of at least 16 rows."""
    fn = kernel_function(name, module)
    register_rows = 8 if facts.vector_bits >= 512 or not facts.triple.startswith("x86_64") else 4
    lanes = facts.lanes(element.accumulator_bits)
    tile = plan_register_tile(facts, min(rows, register_rows), min(columns, 2 * lanes), element.accumulator_bits)
    BlockWriter(fn, element, tile).write()
    return fn.text()

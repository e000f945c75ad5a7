"""Panels: B brought into the order in which the kernels for whole blocks read it.

A panel is NR columns of B, row after row, widened to the accumulator type, rows aligned; columns past the last are 0:

    panel[k][n] = B[k][first + n]

B with adjacent columns is copied row by row, B with adjacent rows (``_nt``) by squares transposed in registers.

``tw_mk_panels_<a>_<acc>_<NR>[_nt]`` packs all of B at once, for loops in which B does not change. It has the ABI

    (i64 b_ptr, i64 b_stride, i64 panels_ptr, i64 k_count, i64 n_count)

and gives each panel `padded_depth` rows. `b_stride` is that of the dimension whose elements are not adjacent.

The code itself is in ``tw_mk_fill_<a>_<acc>_<NR>[_nt]``, which the kernels call for a few panels at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile

DEPTH_MULTIPLE = 32
"""Rows of a panel are a multiple of this, so that squares may write past the last row."""

ROWS_AHEAD = 8
"""How many rows ahead B is prefetched: a row is too short for the hardware prefetcher."""

FILL_PARAMETERS = ("panels", "panel_depth", "b", "stride", "depth", "columns")
PANEL_PARAMETERS = ("b_ptr", "b_stride", "panels_ptr", "k_count", "n_count")


def padded_depth(fn: FunctionText, depth: str) -> str:
    """Rows that a panel takes, of which `depth` are used."""
    return fn.binary("and", "i64", fn.binary("add", "i64", depth, DEPTH_MULTIPLE - 1), -DEPTH_MULTIPLE)


def panel_at(fn: FunctionText, base: str, panel_depth: str, column: str, element_bytes: int) -> str:
    """The panel that starts at a column; panels have `panel_depth` rows."""
    return fn.advance(base, fn.scaled(fn.scaled(column, element_bytes), panel_depth))


def call_fill(
    fn: FunctionText, element: ElementKind, tile: RegisterTile, values: Sequence[str], *, transposed_b: bool
) -> None:
    """Pack `depth` rows and `columns` columns of B into panels of `panel_depth` rows; `stride` is in bytes.

    `values` are those of `FILL_PARAMETERS`. The code is in a function that all kernels of a module share.
    """
    name = f"tw_mk_fill_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}_{tile.columns}"
    name += "_nt" * transposed_b
    types = ["ptr" if parameter in ("panels", "b") else "i64" for parameter in FILL_PARAMETERS]

    def define() -> str:
        parameters = [Parameter(type, f"%{parameter}") for type, parameter in zip(types, FILL_PARAMETERS, strict=True)]
        inner = FunctionText(fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        _PanelWriter(inner, element, tile).write_fill(*(f"%{n}" for n in FILL_PARAMETERS), transposed_b=transposed_b)
        inner.ret()
        return inner.text()

    fn.module.define_once(name, define)
    fn.call("void", name, zip(types, values, strict=True))


class _PanelWriter:
    """Writes the code that packs."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile) -> None:
        self.fn = fn
        self.element = element
        self.tile = tile
        self.vector = LaneBuilder(fn, tile.lanes)
        self.later_rows = ""
        self.panel_row_bytes = tile.columns * element.accumulator_bytes

    def write_fill(
        self, panels: str, panel_depth: str, b: str, stride: str, depth: str, columns: str, *, transposed_b: bool
    ) -> None:
        """The code that packs."""
        fn = self.fn
        if transposed_b:
            self._pack_squares(panels, panel_depth, b, stride, depth, columns)
            return

        def row(k: str) -> None:
            source = fn.advance(b, fn.scaled(k, stride))
            self.later_rows = fn.scaled(stride, ROWS_AHEAD)
            target = fn.advance(panels, fn.scaled(k, self.panel_row_bytes))

            def piece(n0: str) -> None:
                self._pack_piece(
                    panel_at(fn, target, panel_depth, n0, self.element.accumulator_bytes), source, n0, columns
                )

            fn.loop("0", columns, self.tile.columns, piece)

        fn.loop("0", depth, 1, row)

    # ------------------------------------------------------------------------------------------------------ row by row

    def _pack_piece(self, target: str, source: str, n0: str, columns: str) -> None:
        fn = self.fn
        from_row = fn.advance(source, fn.scaled(n0, self.element.bytes))
        left = fn.binary("sub", "i64", columns, n0)
        whole, partial, done = (fn.new_label(hint) for hint in ("whole", "partial", "packed"))
        fn.branch_if(fn.icmp("uge", "i64", left, self.tile.columns), whole, partial)
        fn.start(whole)
        later = fn.advance(from_row, self.later_rows)
        for line in range(0, self.tile.columns * self.element.bytes, 64):
            at = fn.advance(later, str(line)) if line else later
            fn.prefetch(at, level=3)
        self._pack_row(target, from_row, None)
        fn.branch(done)
        fn.start(partial)
        self._pack_row(
            target, from_row, [self.vector.lanes_below(left, v * self.tile.lanes) for v in range(self.tile.vectors)]
        )
        fn.branch(done)
        fn.start(done)

    def _pack_row(self, target: str, source: str, masks: list[str] | None) -> None:
        """One row of one panel."""
        fn = self.fn
        memory = self.vector.type(self.element.memory)
        for vector in range(self.tile.vectors):
            at = fn.advance(source, str(vector * self.tile.lanes * self.element.bytes))
            if masks is None:
                loaded = fn.load(memory, at, align=self.element.bytes)
            else:
                loaded = fn.masked_load(memory, at, masks[vector], align=self.element.bytes)
            self._store_row(target, vector, self.element.widen(self.vector, loaded))

    def _store_row(self, row: str, vector: int, value: str) -> None:
        bytes_in = vector * self.tile.lanes * self.element.accumulator_bytes
        to = self.fn.advance(row, str(bytes_in)) if bytes_in else row
        align = min(64, self.tile.lanes * self.element.accumulator_bytes)
        self.fn.store(self.vector.type(self.element.accumulator), value, to, align=align)

    # --------------------------------------------------------------------------------------------------------- squares

    def _pack_squares(self, panels: str, panel_depth: str, b: str, stride: str, depth: str, columns: str) -> None:
        """Squares of lanes x lanes: columns of B are loaded along k, transposed, and stored along n."""
        fn, lanes = self.fn, self.tile.lanes
        padded = fn.binary("add", "i64", columns, self.tile.columns - 1)
        padded = fn.binary("sub", "i64", padded, fn.binary("urem", "i64", padded, self.tile.columns))

        def strip(n0: str) -> None:
            within = fn.binary("urem", "i64", n0, self.tile.columns)
            first = fn.binary("sub", "i64", n0, within)
            target = panel_at(fn, panels, panel_depth, first, self.element.accumulator_bytes)
            target = fn.advance(target, fn.scaled(within, self.element.accumulator_bytes))
            source = fn.advance(b, fn.scaled(n0, stride))
            left = fn.binary("sub", "i64", columns, n0)

            def square(k: str) -> None:
                from_k = fn.advance(source, fn.scaled(k, self.element.bytes))
                loaded = self._square(from_k, stride, fn.binary("sub", "i64", depth, k), left)
                for row, value in enumerate(transpose_square(fn, loaded, self.element.accumulator)):
                    to = fn.advance(target, fn.scaled(fn.binary("add", "i64", k, row), self.panel_row_bytes))
                    self._store_row(to, 0, value)

            fn.loop("0", depth, lanes, square)

        fn.loop("0", padded, lanes, strip)

    def _square(self, source: str, stride: str, k_left: str, n_left: str) -> list[str]:
        """`lanes` columns of B from `source` on, `lanes` elements of each, widened; what does not exist is 0."""
        fn, lanes = self.fn, self.tile.lanes
        memory, accumulator = self.vector.type(self.element.memory), self.vector.type(self.element.accumulator)
        enough_k = fn.icmp("sge", "i64", k_left, lanes)
        enough_n = fn.icmp("sge", "i64", n_left, lanes)
        whole, partial, done = (fn.new_label(hint) for hint in ("whole", "partial", "loaded"))
        fn.branch_if(fn.binary("and", "i1", enough_k, enough_n), whole, partial)
        fn.start(whole)
        columns = [fn.advance(source, fn.scaled(stride, index)) for index in range(lanes)]
        plain = [fn.load(memory, at, align=self.element.bytes) for at in columns]
        plain = [self.element.widen(self.vector, value) for value in plain]
        after_whole = fn.label
        fn.branch(done)
        fn.start(partial)
        masked: list[str] = []
        for index in range(lanes):
            exists = fn.icmp("slt", "i64", index, n_left)
            count = fn.select(exists, "i64", k_left, 0)
            at = fn.advance(source, fn.scaled(stride, index))
            loaded = fn.masked_load(memory, at, self.vector.lanes_below(count), align=self.element.bytes)
            masked.append(self.element.widen(self.vector, loaded))
        after_partial = fn.label
        fn.branch(done)
        fn.start(done)
        phis = [fn.phi(accumulator) for _ in plain]
        for phi, full, cut in zip(phis, plain, masked, strict=True):
            phi.add(full, after_whole)
            phi.add(cut, after_partial)
        return [phi.name for phi in phis]


def transpose_square(fn: FunctionText, rows: Sequence[str], scalar: str) -> list[str]:
    """As many vectors as they have lanes, transposed by exchanging halves of halves: log2(side) rounds.

    After two of them LLVM may look no further back: searching all chains of shuffles for shorter ones takes it 10 ms,
    and there are none."""
    rows = list(rows)
    side = len(rows)
    type = f"<{side} x {scalar}>"
    distance = side // 2
    while distance:
        upper = [lane if not lane & distance else side + lane - distance for lane in range(side)]
        lower = [lane + distance if not lane & distance else side + lane for lane in range(side)]
        for index in range(side):
            if index & distance:
                continue
            first, second = rows[index], rows[index + distance]
            rows[index], rows[index + distance] = (
                fn.shuffle(type, first, second, f"<{side} x i32> <{', '.join(f'i32 {lane}' for lane in order)}>")
                for order in (upper, lower)
            )
        if distance > 1 and distance == side // 4:
            rows = [_fenced(fn, row, side, scalar) for row in rows]
        distance //= 2
    return rows


def _fenced(fn: FunctionText, value: str, lanes: int, scalar: str) -> str:
    """The same vector, of which LLVM's rules for what uses it do not see how it was made."""
    if scalar in ("float", "double"):
        type = f"<{lanes} x {scalar}>"
        suffix = "f32" if scalar == "float" else "f64"
        return fn.call(type, f"llvm.arithmetic.fence.v{lanes}{suffix}", [(type, value)])
    floats = fn.cast("bitcast", f"<{lanes} x {scalar}>", value, f"<{lanes} x float>")
    return fn.cast("bitcast", f"<{lanes} x float>", _fenced(fn, floats, lanes, "float"), f"<{lanes} x {scalar}>")


def emit_panels(name: str, module: ModuleText, element: ElementKind, tile: RegisterTile, *, transposed_b: bool) -> str:
    """The definition of ``tw_mk_panels_<a>_<acc>_<NR>[_nt]``."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in PANEL_PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    b, panels = (fn.cast("inttoptr", "i64", f"%{pointer}_ptr", "ptr") for pointer in ("b", "panels"))
    stride = fn.scaled("%b_stride", element.bytes)
    values = (panels, padded_depth(fn, "%k_count"), b, stride, "%k_count", "%n_count")
    call_fill(fn, element, tile, values, transposed_b=transposed_b)
    fn.ret()
    return fn.text()

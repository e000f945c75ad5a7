"""Panels of words: what `panels.py` makes of B for kernels that multiply words (see `grouping.py`).

    panel[k // g][n] = (B[k][first + n], ..., B[k + g - 1][first + n])

What is cut off by the end of B is copied, elements one by one, to a buffer with zeros around it, and read from there.
``tw_mk_fill_words_<a>_<acc>_<NR>[_nt]`` packs some of B, ``tw_mk_panels_<a>_<acc>_<NR>[_nt]`` all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.grouping import Grouping
from tilewright.codegen.microkernels.panels import (
    FILL_PARAMETERS,
    PANEL_PARAMETERS,
    ROWS_AHEAD,
    padded_depth,
    panel_at,
    transpose_square,
)
from tilewright.codegen.microkernels.words import WORD_BYTES, WordWriter


class WordPanelWriter(WordWriter):
    """Writes the code that packs."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, grouping: Grouping, *, transposed_b: bool
    ) -> None:
        super().__init__(fn, element, tile, grouping)
        self.transposed_b = transposed_b
        self.row_bytes = tile.columns * WORD_BYTES

    def write_fill(self) -> None:
        """The body of ``tw_mk_fill_words_...``; `%depth` counts rows of B, `%panel_depth` those of a panel."""
        if self.transposed_b:
            self._fill_squares()
        else:
            self._fill_rows()
        self.fn.ret()

    def _store_row(self, address: str, words: str) -> None:
        if self.grouping.offsets_b:
            words = self.vector.xor(words, self.vector.int(0x80808080 - 2**32))
        align = min(64, self.tile.lanes * WORD_BYTES)
        self.fn.store(self.words_text, words, address, align=align)

    def _zeros(self, size: int) -> str:
        """A buffer of zeros."""
        buffer = self.fn.alloca(f"[{size} x i8]", align=64)
        self.fn.store(f"[{size} x i8]", "zeroinitializer", buffer, align=64)
        return buffer

    def _copy_elements(self, target: str, source: str, count: str) -> None:
        fn, text, size = self.fn, self.element.memory, self.element.bytes

        def element(at: str) -> None:
            offset = fn.scaled(at, size)
            value = fn.load(text, fn.advance(source, offset), align=size)
            fn.store(text, value, fn.advance(target, offset), align=size)

        fn.loop("0", count, 1, element)

    # -------------------------------------------------------------------------------------------------- columns adjoin

    def _fill_rows(self) -> None:
        fn, size, columns = self.fn, self.element.bytes, self.tile.columns
        nothing = self._zeros(columns * size)
        edges = [self._zeros(columns * size) for _ in range(self.group)]

        def word(index: str) -> None:
            first = fn.scaled(index, self.group)
            rows = [fn.binary("add", "i64", first, n) if n else first for n in range(self.group)]
            exist = [fn.icmp("slt", "i64", row, "%depth") for row in rows]
            held = [fn.advance("%b", fn.scaled(row, "%stride")) for row in rows]
            target = fn.advance("%panels", fn.scaled(index, self.row_bytes))

            def piece(n0: str) -> None:
                into, offset = panel_at(fn, target, "%panel_depth", n0, WORD_BYTES), fn.scaled(n0, size)
                left = fn.binary("sub", "i64", "%columns", n0)
                sources = [
                    fn.select(exists, "ptr", fn.advance(row, offset), nothing)
                    for exists, row in zip(exist, held, strict=True)
                ]
                self._whole_or_edge(
                    fn.icmp("sge", "i64", left, columns),
                    lambda: self._words_of_rows(into, sources, fn.scaled("%stride", ROWS_AHEAD)),
                    lambda: self._edge_of_rows(into, sources, left, edges),
                )

            fn.loop("0", "%columns", columns, piece)

        fn.loop("0", self.words_of("%depth"), 1, word)

    def _whole_or_edge(self, condition: str, whole: Callable[[], None], edge: Callable[[], None]) -> None:
        fn = self.fn
        labels, done = (fn.new_label("whole"), fn.new_label("edge")), fn.new_label("packed")
        fn.branch_if(condition, *labels)
        for label, body in zip(labels, (whole, edge), strict=True):
            fn.start(label)
            body()
            fn.branch(done)
        fn.start(done)

    def _words_of_rows(self, target: str, sources: Sequence[str], ahead: str) -> None:
        """One row of one panel; the rows of B that come later are prefetched."""
        fn, lanes = self.fn, self.tile.lanes
        for source in sources if ahead else ():
            later = fn.advance(source, ahead)
            for line in range(0, self.tile.columns * self.element.bytes, 64):
                fn.prefetch(fn.advance(later, str(line)), level=3)
        for vector in range(self.tile.vectors):
            offset = str(vector * lanes * self.element.bytes)
            words = self.load_joined([fn.advance(source, offset) for source in sources])
            self._store_row(fn.advance(target, str(vector * lanes * WORD_BYTES)), words)

    def _edge_of_rows(self, target: str, sources: Sequence[str], left: str, edges: list[str]) -> None:
        for source, edge in zip(sources, edges, strict=True):
            self._copy_elements(edge, source, left)
        self._words_of_rows(target, edges, "")

    # ----------------------------------------------------------------------------------------------------- rows adjoin

    def _fill_squares(self) -> None:
        """Squares of lanes x lanes words: columns of B are loaded along k, transposed, and stored along n."""
        fn, lanes, size = self.fn, self.tile.lanes, self.element.bytes
        deep = lanes * self.group
        buffer = fn.alloca(f"[{lanes * deep * size} x i8]", align=64)
        padded = self._rounded("%columns")

        def strip(n0: str) -> None:
            within = fn.binary("urem", "i64", n0, self.tile.columns)
            target = panel_at(fn, "%panels", "%panel_depth", fn.binary("sub", "i64", n0, within), WORD_BYTES)
            target = fn.advance(target, fn.scaled(within, WORD_BYTES))
            source = fn.advance("%b", fn.scaled(n0, "%stride"))
            n_left = fn.binary("sub", "i64", "%columns", n0)

            def square(k: str) -> None:
                from_k = fn.advance(source, fn.scaled(k, size))
                k_left = fn.binary("sub", "i64", "%depth", k)
                into = fn.advance(target, fn.scaled(fn.binary("udiv", "i64", k, self.group), self.row_bytes))
                enough_k = fn.icmp("sge", "i64", k_left, deep)
                enough_n = fn.icmp("sge", "i64", n_left, lanes)
                whole = fn.binary("and", "i1", enough_k, enough_n)
                self._whole_or_edge(
                    whole,
                    lambda: self._square(into, from_k, "%stride"),
                    lambda: self._edge_of_square(into, from_k, n_left, k_left, buffer),
                )

            fn.loop("0", "%depth", deep, square)

        fn.loop("0", padded, lanes, strip)

    def _rounded(self, columns: str) -> str:
        """Up to whole panels."""
        above = self.fn.binary("add", "i64", columns, self.tile.columns - 1)
        return self.fn.binary("sub", "i64", above, self.fn.binary("urem", "i64", above, self.tile.columns))

    def _square(self, target: str, source: str, stride: str) -> None:
        columns = [self.load_words(self.fn.advance(source, self.fn.scaled(stride, n))) for n in range(self.tile.lanes)]
        for row, words in enumerate(transpose_square(self.fn, columns, "i32")):
            self._store_row(self.fn.advance(target, str(row * self.row_bytes)), words)

    def _edge_of_square(self, target: str, source: str, n_left: str, k_left: str, buffer: str) -> None:
        fn, lanes = self.fn, self.tile.lanes
        line = lanes * self.group * self.element.bytes
        fn.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)")
        arguments = [("ptr align 64", buffer), ("i8", "0"), ("i64", str(lanes * line)), ("i1", "false")]
        fn.call("void", "llvm.memset.p0.i64", arguments)
        zero_or_more = fn.maximum(n_left, "0")
        columns = fn.minimum(zero_or_more, lanes)
        count = fn.minimum(k_left, lanes * self.group)

        def column(index: str) -> None:
            from_k = fn.advance(source, fn.scaled(index, "%stride"))
            self._copy_elements(fn.advance(buffer, fn.scaled(index, line)), from_k, count)

        fn.loop("0", columns, 1, column)
        self._square(target, buffer, str(line))


def call_fill_words(
    fn: FunctionText, element: ElementKind, tile: RegisterTile, grouping: Grouping, values: tuple[str, ...],
    *, transposed_b: bool,
) -> None:  # fmt: skip
    """A call that packs: panels, rows of a panel, B, its stride in bytes, its rows, its columns."""
    name = f"tw_mk_fill_words_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}_{tile.columns}"
    name += "_nt" * transposed_b
    types = ["ptr" if parameter in ("panels", "b") else "i64" for parameter in FILL_PARAMETERS]

    def define() -> str:
        parameters = [Parameter(type, f"%{name}") for type, name in zip(types, FILL_PARAMETERS, strict=True)]
        inner = FunctionText(fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        WordPanelWriter(inner, element, tile, grouping, transposed_b=transposed_b).write_fill()
        return inner.text()

    fn.module.define_once(name, define)
    fn.call("void", name, zip(types, values, strict=True))


def emit_word_panels(
    name: str, module: ModuleText, element: ElementKind, tile: RegisterTile, grouping: Grouping, *, transposed_b: bool
) -> str:
    """The definition of ``tw_mk_panels_<a>_<acc>_<NR>[_nt]``."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in PANEL_PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    writer = WordWriter(fn, element, tile, grouping)
    b, panels = (fn.cast("inttoptr", "i64", f"%{pointer}_ptr", "ptr") for pointer in ("b", "panels"))
    stride = fn.scaled("%b_stride", element.bytes)
    depth = padded_depth(fn, writer.words_of("%k_count"))
    call_fill_words(
        fn, element, tile, grouping, (panels, depth, b, stride, "%k_count", "%n_count"), transposed_b=transposed_b
    )
    fn.ret()
    return fn.text()

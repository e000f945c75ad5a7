"""B in the form that AMX tiles are loaded from: groups of rows interleaved, panel after panel.

A panel is 32 columns and up to `PANEL_BYTES` of k: two tiles side by side for each step of k. Rows that make one word
(two of bf16, four of int8) lie side by side in it:

    panel[k // g][n][k % g] = B[k][n]

Panels of successive columns follow each other; rows past the last, up to a whole tile, and columns past the last are 0.
``tw_mk_fill_<a>_<acc>_32[_nt]`` packs some of B; ``tw_mk_panels_<a>_<acc>_32[_nt]`` all of it, those of the first
`PANEL_BYTES` of k first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind
from tilewright.codegen.microkernels.panels import PANEL_PARAMETERS, ROWS_AHEAD, transpose_square

BLOCK = 32
"""Rows and columns of C that four tiles hold."""

PANEL_BYTES = 1024
"""Bytes of k in a panel: 512 bf16 or 1024 int8. Longer ones leave the first level cache, shorter ones load and store C
more often."""

_FILL_PARAMETERS = (
    *(("panels", "ptr"), ("column_bytes", "i64"), ("b", "ptr")),
    *(("stride", "i64"), ("depth", "i64"), ("columns", "i64")),
)


def tile_depth(element: ElementKind) -> int:
    """Steps of k in a tile."""
    return 64 // element.bytes


def words_group(element: ElementKind) -> int:
    """Elements along k that make a word of 32 bits."""
    return 4 // element.bytes


def lanes_below(fn: FunctionText, count: str, lanes: int) -> str:
    """The mask of the lanes below `count`, which may be negative or large."""
    return LaneBuilder(fn, lanes).lanes_below(count, predicate="slt")


def either(
    fn: FunctionText, condition: str, type: str, first: Callable[[], list[str]], second: Callable[[], list[str]]
) -> list[str]:
    """The values of one of two branches."""
    labels = fn.new_label("whole"), fn.new_label("partial")
    done = fn.new_label("loaded")
    fn.branch_if(condition, *labels)
    found: list[tuple[list[str], str]] = []
    for label, write in zip(labels, (first, second), strict=True):
        fn.start(label)
        found.append((write(), fn.label))
        fn.branch(done)
    fn.start(done)
    phis = [fn.phi(type) for _ in found[0][0]]
    for values, label in found:
        for phi, value in zip(phis, values, strict=True):
            phi.add(value, label)
    return [phi.name for phi in phis]


def interleave(fn: FunctionText, rows: Sequence[str], lanes: int, bits: int) -> str:
    """Lanes of several rows side by side, as 32-bit words: two rows a step."""
    while len(rows) > 1:
        order = ", ".join(f"i32 {lane // 2 + (lane % 2) * lanes}" for lane in range(2 * lanes))
        type = f"<{lanes} x i{bits}>"
        paired = [
            fn.shuffle(type, first, second, f"<{2 * lanes} x i32> <{order}>")
            for first, second in zip(rows[::2], rows[1::2], strict=True)
        ]
        rows = [fn.cast("bitcast", f"<{2 * lanes} x i{bits}>", v, f"<{lanes} x i{2 * bits}>") for v in paired]
        bits *= 2
    return rows[0]


class AmxPanelWriter:
    """Writes code that packs."""

    def __init__(self, fn: FunctionText, element: ElementKind, *, transposed_b: bool = False) -> None:
        self.fn = fn
        self.element = element
        self.transposed_b = transposed_b
        self.k_tile = tile_depth(element)
        self.column_bytes = str(PANEL_BYTES)
        """Bytes that a column takes in a panel."""
        self.k_panel = PANEL_BYTES // element.bytes
        self.group = words_group(element)

    def write_panels(self) -> None:
        """The body of a routine that packs all of B."""
        fn = self.fn
        b, panels = (fn.cast("inttoptr", "i64", f"%{pointer}_ptr", "ptr") for pointer in ("b", "panels"))
        stride = fn.binary("mul", "i64", "%b_stride", self.element.bytes)
        row = str(self.element.bytes) if self.transposed_b else stride

        def step(k0: str) -> None:
            depth = fn.minimum(fn.binary("sub", "i64", "%k_count", k0), self.k_panel)
            target = self.start_panels(panels, k0, depth)
            self.pack(target, fn.advance(b, fn.scaled(k0, row)), stride, depth, "%n_count")

        fn.loop("0", "%k_count", self.k_panel, step)
        fn.ret()

    def pack(self, panels: str, b: str, stride: str, depth: str, columns: str) -> None:
        """Pack `depth` rows and `columns` columns of B, by a function that all kernels of a module share."""
        name = f"tw_mk_fill_{self.element.name}_{ACCUMULATOR_NAMES[self.element.accumulator]}_{BLOCK}"
        name += "_nt" * self.transposed_b
        self.fn.module.define_once(name, lambda: self._fill_function(name))
        values = (panels, self.column_bytes, b, stride, depth, columns)
        types = (type for _, type in _FILL_PARAMETERS)
        self.fn.call("void", name, zip(types, values, strict=True))

    def _fill_function(self, name: str) -> str:
        parameters = [Parameter(type, f"%{parameter}") for parameter, type in _FILL_PARAMETERS]
        fn = FunctionText(self.fn.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
        writer = AmxPanelWriter(fn, self.element, transposed_b=self.transposed_b)
        writer.column_bytes = "%column_bytes"
        fill = writer._fill_squares if self.transposed_b else writer._fill_rows
        fill("%panels", "%b", "%stride", "%depth", "%columns")
        fn.ret()
        return fn.text()

    def _fill_rows(self, panels: str, b: str, stride: str, depth: str, columns: str) -> None:
        """Interleave groups of rows of B; rows past `depth`, up to a whole tile, and columns past `columns` are 0."""
        fn = self.fn
        padded = fn.binary("and", "i64", fn.binary("add", "i64", depth, self.k_tile - 1), -self.k_tile)

        def rows(k: str, *, whole: bool) -> None:
            k_rows = [fn.binary("add", "i64", k, position) for position in range(self.group)]
            sources = [fn.advance(b, fn.scaled(k_row, stride)) for k_row in k_rows]
            exist = None if whole else [fn.icmp("ult", "i64", k_row, depth) for k_row in k_rows]
            target = fn.advance(panels, fn.scaled(k, 4 * BLOCK // self.group))

            def piece(n0: str) -> None:
                masks: list[str] | None = None
                if exist is not None:
                    bits = self.mask_bits(fn.minimum(fn.binary("sub", "i64", columns, n0), BLOCK))
                    masks = [self.mask_if(exists, bits) for exists in exist]
                into = fn.advance(target, fn.scaled(n0, self.column_bytes))
                if masks is None:
                    self._fetch_later(sources, fn.scaled(n0, self.element.bytes), stride)
                self._pack_rows(into, [fn.advance(s, fn.scaled(n0, self.element.bytes)) for s in sources], masks)

            fn.loop("0", columns, BLOCK, piece)

        rest = fn.binary(
            "or", "i64", fn.binary("and", "i64", columns, BLOCK - 1), fn.binary("sub", "i64", padded, depth)
        )
        whole, partial, done = (fn.new_label(hint) for hint in ("whole", "partial", "packed"))
        fn.branch_if(fn.icmp("eq", "i64", rest, 0), whole, partial)
        fn.start(whole)
        fn.loop("0", padded, self.group, lambda k: rows(k, whole=True))
        fn.branch(done)
        fn.start(partial)
        fn.loop("0", padded, self.group, lambda k: rows(k, whole=False))
        fn.branch(done)
        fn.start(done)

    def _fetch_later(self, sources: Sequence[str], offset: str, stride: str) -> None:
        """Prefetch rows that are packed some steps later."""
        fn = self.fn
        for source in sources:
            later = fn.advance(fn.advance(source, offset), fn.scaled(stride, ROWS_AHEAD))
            fn.prefetch(later, level=3)

    def _pack_rows(self, target: str, sources: list[str], masks: list[str] | None) -> None:
        """One group of rows of one panel; elements that `masks` leave out become 0."""
        fn = self.fn
        size, scalar = self.element.bytes, self.element.memory
        text = f"<{BLOCK} x {scalar}>"
        if masks is None:
            rows = [fn.load(text, source, align=size) for source in sources]
        else:
            pairs = zip(sources, masks, strict=True)
            rows = [self.fn.masked_load(text, source, mask, align=size) for source, mask in pairs]
        fn.store(f"<{BLOCK} x i32>", interleave(fn, rows, BLOCK, 8 * size), target, align=64)

    def _fill_squares(self, panels: str, b: str, stride: str, depth: str, columns: str) -> None:
        """The same from a B with adjacent rows: sixteen columns and as many groups of k are a square of words."""
        fn = self.fn
        padded = fn.binary("and", "i64", fn.binary("add", "i64", columns, BLOCK - 1), -BLOCK)

        def strip(n0: str) -> None:
            within = fn.binary("and", "i64", n0, BLOCK - 1)
            first = fn.binary("sub", "i64", n0, within)
            target = fn.advance(panels, fn.scaled(first, self.column_bytes))
            target = fn.advance(target, fn.scaled(within, 4))
            source = fn.advance(b, fn.scaled(n0, stride))
            left = fn.binary("sub", "i64", columns, n0)

            def square(k: str) -> None:
                from_k = fn.advance(source, fn.scaled(k, self.element.bytes))
                words = self._square(from_k, stride, fn.binary("sub", "i64", depth, k), left)
                into = fn.advance(target, fn.scaled(k, 4 * BLOCK // self.group))
                for row, value in enumerate(transpose_square(fn, words, "i32")):
                    fn.store("<16 x i32>", value, fn.advance(into, str(4 * BLOCK * row)), align=64)

            fn.loop("0", depth, self.k_tile, square)

        fn.loop("0", padded, 16, strip)

    def _square(self, source: str, stride: str, k_left: str, n_left: str) -> list[str]:
        """Sixteen columns of B, a whole tile of k of each, as words; what does not exist is 0."""
        fn, scalar, lanes = self.fn, self.element.memory, self.k_tile
        text = f"<{lanes} x {scalar}>"
        enough_k = fn.icmp("sge", "i64", k_left, lanes)
        enough_n = fn.icmp("sge", "i64", n_left, 16)
        columns = [fn.advance(source, fn.scaled(stride, index)) if index else source for index in range(16)]

        def whole() -> list[str]:
            return [fn.load("<16 x i32>", at, align=self.element.bytes) for at in columns]

        def partial() -> list[str]:
            masked: list[str] = []
            for index, at in enumerate(columns):
                exists = fn.icmp("slt", "i64", index, n_left)
                count = fn.select(exists, "i64", k_left, 0)
                loaded = self.fn.masked_load(text, at, lanes_below(fn, count, lanes), align=self.element.bytes)
                masked.append(fn.cast("bitcast", text, loaded, "<16 x i32>"))
            return masked

        return either(fn, fn.binary("and", "i1", enough_k, enough_n), "<16 x i32>", whole, partial)

    def mask_if(self, condition: str, bits: str) -> str:
        """`bits` as lanes, or none of them."""
        return self.fn.cast("bitcast", "i32", self.fn.select(condition, "i32", bits, 0), f"<{BLOCK} x i1>")

    def start_panels(self, panels: str, k0: str, depth: str) -> str:
        """Return where the panels for `depth` steps from k0 on start; from here on, panels are of that depth."""
        fn = self.fn
        width = fn.binary("and", "i64", fn.binary("add", "i64", "%n_count", BLOCK - 1), -BLOCK)
        rows = fn.binary("and", "i64", fn.binary("add", "i64", depth, self.k_tile - 1), -self.k_tile)
        self.column_bytes = fn.scaled(rows, self.element.bytes)
        return fn.advance(panels, fn.scaled(fn.scaled(k0, self.element.bytes), width))

    def mask_bits(self, count: str) -> str:
        """The same for 32 lanes, as an i32; `count` is 1 to 32."""
        shift = self.fn.binary("sub", "i64", 32, count)
        return self.fn.cast("trunc", "i64", self.fn.binary("lshr", "i64", 4294967295, shift), "i32")


def emit_amx_panels(name: str, module: ModuleText, element: ElementKind, *, transposed_b: bool) -> str:
    """The definition of ``tw_mk_panels_<a>_<acc>_32[_nt]``."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in PANEL_PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    AmxPanelWriter(fn, element, transposed_b=transposed_b).write_panels()
    return fn.text()

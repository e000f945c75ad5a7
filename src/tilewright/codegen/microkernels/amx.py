"""Matmuls on AMX tiles: bf16 into f32 and int8 into i32, the loops around blocks of C (see `amx_blocks.py`).

A kernel of at least 16 x 16 is meant to be called with whole blocks: it brings B into the form of panels itself (see
`amx_panels.py`), one panel of 32 columns and up to `PANEL_BYTES` of k at a time, into its stack frame, and runs all
rows of A over the panel:

    for k0 in k by KC:  for g0 in n by 128:  pack B[k0:, g0:] as four panels
      for n0 in the group by 32:  for m0 in m by 32:  C[m0:, n0:] += A[m0:, k0:] panel

With B in panels (`_panels`) nothing is packed. Kernels of 16 rows (``tw_mk_bf16_f32_16x32``) have blocks of 16 x 32.

A kernel of known size (``_of_32x64x64``: rows, columns, terms) has no loops and is meant to be inlined.

A is read in place where its rows start with cache lines and have whole tiles of k, else from a copy, made of some rows
at a time for all panels: a row of a tile that lies in two lines takes two accesses, each time it is read (1000 x 1000
x 1000: 4.6 -> 2.0 ms). A transposed A (a_k_stride other than 1) is copied, too (`amx_copies.py`), unless the kernel is
one that never gets such (``_direct``), and so are few rows that do not fill their blocks: once for all panels.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tilewright.codegen.float_formats import BF16
from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.amx_blocks import (
    TILE_ROWS,
    AmxBlockWriter,
    Frame,
    Step,
    configure_tiles,
    release_tiles,
)
from tilewright.codegen.microkernels.amx_copies import call_transposing_copy
from tilewright.codegen.microkernels.amx_panels import BLOCK, PANEL_BYTES, AmxPanelWriter, lanes_below, tile_depth
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import OUTPUT_PARAMETERS, Rows, kernel_function
from tilewright.support.facts import TargetFacts

MOST_PRODUCTS = 32
"""Steps of k of all blocks together that a kernel of known size may have: each is some 80 bytes of code."""

PANELS = 4
"""Panels that are packed together, so that each row of B is visited once for all of them."""

_COPIED_ROWS = 128
"""Rows of A that are copied at a time."""
_COPY_STRIDE = PANEL_BYTES + 64
"""Bytes from one of them to the next: successive rows are in other sets of the cache."""

_FEATURES = {"bf16": ("amx-tile", "amx-bf16"), "i8": ("amx-tile", "amx-int8")}


def has_amx_form(kernel: MatmulKernel, facts: TargetFacts) -> bool:
    """Return whether a kernel of this size for these types runs on AMX tiles."""
    return uses_amx(kernel.element, facts) and kernel.rows >= TILE_ROWS and kernel.width >= TILE_ROWS


def uses_amx(element: str, facts: TargetFacts) -> bool:
    """Return whether there are kernels on AMX tiles for this element type."""
    features = _FEATURES.get(element)
    return features is not None and all(map(facts.has, features))


def amx_outputs(element: ElementKind) -> tuple[str, ...]:
    """The types that the kernels have a form ``_out`` for."""
    return ("i32",) if element.is_integer else ("f32", BF16.name)


def has_size(kernel: MatmulKernel, counts: tuple[int, int, int]) -> bool:
    """Return whether there is a variant of a kernel for just so many rows, columns and terms."""
    rows, columns, depth = counts
    blocks = (_height(rows), BLOCK, tile_depth(kernel.kind))
    is_whole = not any(count % step for count, step in zip(counts, blocks, strict=True))
    if not is_whole or not kernel.packed_b or kernel.output is not None:
        return False
    return 0 < rows * columns * depth <= MOST_PRODUCTS * math.prod(blocks) and depth <= PANEL_BYTES // kernel.kind.bytes


def _height(rows: int) -> int:
    """Rows of a block in kernels of so many rows."""
    return TILE_ROWS if rows == TILE_ROWS else BLOCK


class AmxKernelWriter:
    """Writes one kernel: loops around blocks of `height` rows."""

    def __init__(
        self, fn: FunctionText, facts: TargetFacts, element: ElementKind, kernel: MatmulKernel, height: int
    ) -> None:
        self.fn = fn
        self.element = element
        self.kernel = kernel
        self.height = height
        self.panels = AmxPanelWriter(fn, element, transposed_b=kernel.transposed_b)
        self.blocks = AmxBlockWriter(fn, facts, element, kernel, height)

    def write(self) -> None:
        """The body."""
        fn = self.fn
        if not self.kernel.is_configured:
            configure_tiles(fn)
        frame = Frame(*(fn.alloca(f"[{size} x i8]", align=64) for size in self._frame_sizes()))
        depth = "%k_count"
        if self.kernel.from_zero:
            # A sum without terms is 0, too.
            depth = fn.maximum(depth, "1")
        multiply, matrices = self._multiply_panels if self.kernel.packed_b else self._multiply_groups, self._matrices()
        fn.loop("0", depth, self.panels.k_panel, lambda k0: multiply(frame, matrices, k0))
        self._end()

    def write_of_size(self, rows: int, columns: int, depth: int) -> None:
        """The body for counts that are known, and make whole blocks: instructions on tiles, one after the other."""
        if not self.kernel.is_configured:
            configure_tiles(self.fn)
        a, b, c = self._matrices()
        for n0 in range(0, columns, BLOCK):
            panel = self.fn.advance(b.first, str(n0 * depth * self.element.bytes))
            for m0 in range(0, rows, self.height):
                row = str(m0)
                self.blocks.known_block(
                    panel, self._block_of(a, row, "0", 1), self._block_of(c, row, str(n0), 4), depth
                )
        self._end()

    def _end(self) -> None:
        if not self.kernel.is_configured:
            release_tiles(self.fn)
        self.fn.ret()

    def _matrices(self) -> tuple[Rows, Rows, Rows]:
        size = self.element.bytes
        return self._matrix("a", size), self._matrix("b", size), self._matrix("c", 4)

    def _frame_sizes(self) -> tuple[int, int, int]:
        panels = 0 if self.kernel.packed_b else PANELS * PANEL_BYTES * BLOCK
        return panels, PANEL_BYTES * BLOCK, 4 * BLOCK * BLOCK

    def _matrix(self, name: str, size: int) -> Rows:
        first = self.fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr")
        return Rows(first, self.fn.scaled(f"%{name}_row_stride", size))

    def _step(self, k0: str, a: Rows, c: Rows) -> Step:
        fn = self.fn
        left = fn.binary("sub", "i64", "%k_count", k0)
        depth = fn.minimum(left, self.panels.k_panel)
        bits = fn.binary("or", "i64", fn.cast("ptrtoint", "ptr", a.first, "i64"), a.stride)
        cut = fn.binary("or", "i64", bits, fn.scaled(depth, self.element.bytes))
        is_copy = fn.icmp("ne", "i64", fn.binary("and", "i64", cut, 63), 0)
        if not self.kernel.direct_a:
            is_copy = fn.binary("or", "i1", is_copy, fn.icmp("ne", "i64", "%a_k_stride", 1))
        cut_off = fn.icmp("ne", "i64", fn.binary("and", "i64", "%m_count", self.height - 1), 0)
        few = fn.icmp("sle", "i64", "%m_count", _COPIED_ROWS)
        is_copy = fn.binary("or", "i1", is_copy, fn.binary("and", "i1", cut_off, few))
        step = Step(depth, fn.icmp("eq", "i64", k0, 0), is_copy)
        return self._with_output(step, left, c) if self.kernel.output is not None else step

    def _with_output(self, step: Step, left: str, c: Rows) -> Step:
        """The same with results that go elsewhere; `left`: how many terms it and the later steps have."""
        fn = self.fn
        is_last = fn.icmp("sle", "i64", left, self.panels.k_panel)
        out = fn.cast("inttoptr", "i64", "%out_ptr", "ptr")
        if self.blocks.narrow is not None:
            output = Rows(out, fn.scaled("%out_row_stride", self.blocks.narrow.bits // 8))
            return replace(step, is_last=is_last, output=output)
        first = fn.select(is_last, "ptr", out, c.first)
        stride = fn.select(is_last, "i64", fn.scaled("%out_row_stride", 4), c.stride)
        return replace(step, is_last=is_last, output=Rows(first, stride))

    def _multiply_groups(self, frame: Frame, matrices: tuple[Rows, Rows, Rows], k0: str) -> None:
        """One step of k, by panels that are packed a few at a time."""
        fn, size = self.fn, self.element.bytes
        a, b, c = matrices
        a_k = self._from_k(a, k0)
        step = self._step(k0, a_k, c)
        row, column = (str(size), b.stride) if self.kernel.transposed_b else (b.stride, str(size))
        b_k = fn.advance(b.first, fn.scaled(k0, row))

        def group(g0: str) -> None:
            columns = fn.minimum(fn.binary("sub", "i64", "%n_count", g0), PANELS * BLOCK)
            self.panels.pack(frame.panel, fn.advance(b_k, fn.scaled(g0, column)), b.stride, step.depth, columns)
            self._all_rows(frame, step, a_k, Rows(fn.advance(c.first, fn.scaled(g0, 4)), c.stride), columns)

        fn.loop("0", "%n_count", PANELS * BLOCK, group)

    def _multiply_panels(self, frame: Frame, matrices: tuple[Rows, Rows, Rows], k0: str) -> None:
        """One step of k, by the panels that b_ptr points at."""
        a, b, c = matrices
        a_k = self._from_k(a, k0)
        step = self._step(k0, a_k, c)
        panels = self.panels.start_panels(b.first, k0, step.depth)
        self._all_rows(replace(frame, panel=panels), step, a_k, c, "%n_count")

    def _from_k(self, a: Rows, k0: str) -> Rows:
        k = k0 if self.kernel.direct_a else self.fn.scaled(k0, "%a_k_stride")
        return Rows(self.fn.advance(a.first, self.fn.scaled(k, self.element.bytes)), a.stride)

    def _all_rows(self, frame: Frame, step: Step, a: Rows, c: Rows, columns: str) -> None:
        """All rows of A over packed panels with `columns` columns, of which the first one belongs to `c`: in one chunk
        where they are, or in copies of some rows at a time."""
        fn = self.fn
        copies = fn.alloca(f"[{_COPIED_ROWS * _COPY_STRIDE} x i8]", align=64)
        size = fn.select(step.is_copy, "i64", _COPIED_ROWS, "%m_count")
        stride = fn.select(step.is_copy, "i64", _COPY_STRIDE, a.stride)

        def chunk(m0: str) -> None:
            first = fn.advance(a.first, fn.scaled(m0, a.stride))
            left = fn.binary("sub", "i64", "%m_count", m0)
            rows = fn.minimum(left, size)
            copy, ready = fn.new_label("copy"), fn.new_label("ready")
            fn.branch_if(step.is_copy, copy, ready)
            fn.start(copy)
            if not self.kernel.direct_a:
                self._copy_transposed(copies, Rows(first, a.stride), rows, step.depth, ready)
            self._copy_chunk(copies, Rows(first, a.stride), rows, step.depth)
            fn.branch(ready)
            fn.start(ready)
            source = Rows(fn.select(step.is_copy, "ptr", copies, first), stride)
            output = None if step.output is None else self._block_of(step.output, m0, "0", 1)
            self._each_block(
                frame, replace(step, output=output), source, self._block_of(c, m0, "0", 4), (rows, columns)
            )

        fn.loop("0", "%m_count", size, chunk)

    def _copy_transposed(self, target: str, a: Rows, rows: str, depth: str, done: str) -> None:
        """Copy a transposed A, and go on at `done`; else go on here."""
        fn = self.fn
        transposed, straight = fn.new_label("transposed"), fn.new_label("straight")
        fn.branch_if(fn.icmp("eq", "i64", "%a_k_stride", 1), straight, transposed)
        fn.start(transposed)
        k_stride = fn.scaled("%a_k_stride", self.element.bytes)
        values = target, str(_COPY_STRIDE), a.first, a.stride, k_stride, rows, depth
        call_transposing_copy(fn, self.element, values)
        fn.branch(done)
        fn.start(straight)

    def _copy_chunk(self, target: str, a: Rows, rows: str, depth: str) -> None:
        """Copy the rows of a chunk, up to a whole tile of k, with zeros past `depth`."""
        fn, lanes, scalar, size = self.fn, self.panels.k_tile, self.element.memory, self.element.bytes
        text = f"<{lanes} x {scalar}>"
        whole = fn.binary("and", "i64", depth, -lanes)
        rest = lanes_below(fn, fn.binary("sub", "i64", depth, whole), lanes)

        def row(index: str) -> None:
            source = fn.advance(a.first, fn.scaled(index, a.stride))
            into = fn.advance(target, fn.scaled(index, _COPY_STRIDE))

            def line(k: str) -> None:
                offset = fn.scaled(k, size)
                value = fn.load(text, fn.advance(source, offset), align=size)
                fn.store(text, value, fn.advance(into, offset), align=64)

            def last_line(k: str) -> None:
                offset = fn.scaled(k, size)
                value = self.fn.masked_load(text, fn.advance(source, offset), rest, align=size)
                fn.store(text, value, fn.advance(into, offset), align=64)

            fn.loop("0", whole, lanes, line)
            fn.loop(whole, depth, lanes, last_line)

        fn.loop("0", rows, 1, row)

    def _each_block(self, frame: Frame, step: Step, a: Rows, c: Rows, counts: tuple[str, str]) -> None:
        """Rows of A over packed panels, as many as `counts` says."""
        fn = self.fn
        m_count, n_count = counts
        narrow_bytes = 4 if self.blocks.narrow is None else self.blocks.narrow.bits // 8

        def panel(n0: str) -> None:
            found = replace(frame, panel=fn.advance(frame.panel, fn.scaled(n0, self.panels.column_bytes)))
            columns = fn.minimum(fn.binary("sub", "i64", n_count, n0), BLOCK)

            def block(m0: str) -> None:
                start = self._block_of(c, m0, n0, 4)
                result = start if step.output is None else self._block_of(step.output, m0, n0, narrow_bytes)
                rows = fn.minimum(fn.binary("sub", "i64", m_count, m0), self.height)
                self.blocks.block(found, step, self._block_of(a, m0, "0", 1), start, result, (rows, columns))

            fn.loop("0", m_count, self.height, block)

        fn.loop("0", n_count, BLOCK, panel)

    def _block_of(self, matrix: Rows, m0: str, n0: str, size: int) -> Rows:
        """A matrix from a row and a column on; its elements have `size` bytes."""
        row = self.fn.advance(matrix.first, self.fn.scaled(m0, matrix.stride))
        return Rows(row if n0 == "0" else self.fn.advance(row, self.fn.scaled(n0, size)), matrix.stride)


def emit_amx_kernel(name: str, module: ModuleText, facts: TargetFacts, kernel: MatmulKernel) -> str:
    """The definition of a kernel of at least 16 x 16 on AMX tiles; one of 16 rows has blocks of so many."""
    element = kernel.kind.on(facts)
    if kernel.counts is not None:
        fn = kernel_function(name, module, attributes="alwaysinline nounwind")
        AmxKernelWriter(fn, facts, element, kernel, _height(kernel.counts[0])).write_of_size(*kernel.counts)
        return fn.text()
    fn = kernel_function(name, module, OUTPUT_PARAMETERS if kernel.output is not None else ())
    AmxKernelWriter(fn, facts, element, kernel, _height(kernel.rows)).write()
    return fn.text()

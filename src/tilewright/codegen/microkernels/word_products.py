"""Kernels for whole blocks that multiply words of 2 or 4 elements along k by one instruction (see `grouping.py`).

They are kernels of `block.py` whose steps of k take a word each: A is copied as words (`copied_rows.py`), B is packed
as panels of words (`word_panels.py`), and register tiles, edges and loops are those of f32. Rows of A that are words as
they are, are read in place.

Where elements of B are increased by 128, the sums of each step start from what that adds:

    sum_k a[k] (b[k] + 128) - 128 sum_k a[k]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.copied_rows import PADDING, CopyingBlockWriter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.grouping import Grouping
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.word_panels import call_fill
from tilewright.codegen.microkernels.words import COPY_PARAMETERS, SUM_PARAMETERS, WORD_BYTES, emit_copy, emit_sums


class WordBlockWriter(CopyingBlockWriter):
    """Writes one kernel."""

    def __init__(
        self,
        fn: FunctionText,
        element: ElementKind,
        tile: RegisterTile,
        panel_bytes: int,
        kernel: MatmulKernel,
        grouping: Grouping,
    ) -> None:
        super().__init__(fn, element, tile, panel_bytes, kernel)
        self.grouping = grouping
        self.k_group = grouping.group
        above = fn.binary("add", "i64", "%k_count", grouping.group - 1)
        self.k_count = fn.binary("sdiv", "i64", above, grouping.group)
        self.sums = self.in_place = ""
        if grouping.bits == 8 * element.bytes and not grouping.offsets_b:
            is_whole = fn.icmp("eq", "i64", fn.binary("urem", "i64", "%k_count", grouping.group), 0)
            self.in_place = fn.binary("and", "i1", self.in_rows, is_whole)
            a_row = fn.select(self.in_place, "i64", self.source_strides.a_row, self.strides.a_row)
            self.strides = replace(self.strides, a_row=a_row)
            self.a_level = 2
        if grouping.offsets_b:
            self.sums = fn.alloca(f"[{self.most_rows + PADDING} x i32]", align=64)

    def _elements(self) -> str:
        """Return how many elements of k this step of the outermost loop takes."""
        fn = self.fn
        left = fn.binary("sub", "i64", "%k_count", self.scaled(self.step.first, self.k_group))
        return fn.call("i64", "llvm.smin.i64", [("i64", left), ("i64", self.scaled(self.step.depth, self.k_group))])

    def pack(self, panels: str, panel_depth: str, b: str, stride: str, depth: str, columns: str) -> None:
        values = (panels, panel_depth, b, stride, self._elements(), columns)
        call_fill(self.fn, self.element, self.tile, self.grouping, values, transposed_b=self.transposed_b)

    def copy_rows(self, a: str) -> str:
        if not self.in_place:
            self._copy_words(a)
            return self.copy
        fn = self.fn
        copy, done = fn.new_label("copy"), fn.new_label("copied")
        fn.branch_if(self.in_place, done, copy)
        fn.start(copy)
        self._copy_words(a)
        fn.branch(done)
        fn.start(done)
        return fn.select(self.in_place, "ptr", a, self.copy)

    def _copy_words(self, a: str) -> None:
        source = self.source_strides
        values = (
            *(a, source.a_row, source.a_k, self.limits.count, self._elements()),
            *(self.copy, self.line_stride, self.in_rows),
        )
        self._call("words", COPY_PARAMETERS, values)
        if self.sums:
            values = (self.copy, self.line_stride, self.in_rows, self.limits.count, self.step.depth, self.sums)
            self._call("sums", SUM_PARAMETERS, values)

    def _call(self, what: str, parameters: tuple[tuple[str, str], ...], values: tuple[str, ...]) -> None:
        element, module = self.element, self.fn.module
        name = f"tw_mk_{what}_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}"
        emit = emit_copy if what == "words" else emit_sums
        module.define_once(name, lambda: emit(name, module, element, self.tile, self.grouping))
        types = (type for _, type in parameters)
        self.fn.call("void", name, zip(types, values, strict=True))

    # -------------------------------------------------------------------------------------------------- the inner loop

    def load_a(self, address: str) -> str:
        return self.spread(self.fn.load("i32", address, align=WORD_BYTES), "i32")

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        at = self.advance(base, str(vector * self.tile.lanes * WORD_BYTES))
        return self.fn.load(self.vector.type("i32"), at, align=self.b_align)

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        return self.grouping.multiply_add(self.vector, a, b, accumulator, self.element)

    # --------------------------------------------------------------------------------------------- what sums start from

    def sums_of_tile(self) -> str:
        return self.advance(self.sums, self.scaled(self.first_row, WORD_BYTES)) if self.sums else "null"

    def set_sums_of_tile(self, pointer: str) -> None:
        self.sums, self.first_row = pointer if self.sums else "", "0"

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        start = super().start_of_tile(addresses)
        if not self.sums:
            return start
        first = self.sums_of_tile()
        return self._without(start, [self.advance(first, str(WORD_BYTES * row)) for row in range(len(start))])

    def start_of_edge(self, c_rows: list[str], numbers: Sequence[str], masks: list[str]) -> list[list[str]]:
        start = super().start_of_edge(c_rows, numbers, masks)
        if not self.sums:
            return start
        first = self.sums_of_tile()
        return self._without(start, [self.advance(first, self.scaled(row, WORD_BYTES)) for row in numbers])

    def _without(self, start: list[list[str]], sums: list[str]) -> list[list[str]]:
        """Less the sum at an address for each row."""
        rows: list[list[str]] = []
        for row, address in zip(start, sums, strict=True):
            excess = self.spread(self.fn.load("i32", address, align=WORD_BYTES), "i32")
            rows.append([self.vector.sub(value, excess) for value in row])
        return rows


__all__ = ["WordBlockWriter"]

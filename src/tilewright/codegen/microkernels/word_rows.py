"""Rows of A for kernels that multiply words of 2 or 4 elements along k by one instruction (see `grouping.py`).

Steps of k of `block.py` take a word each then: A is copied as words (`copied_rows.py`), B is packed
as panels of words (`word_panels.py`), and register tiles, edges and loops are those of f32. Rows of A that are words as
they are, are read in place.

Where elements of B are increased by 128, the sums of each step start from what that adds:

    sum_k a[k] (b[k] + 128) - 128 sum_k a[k]
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block_tiles import Step
from tilewright.codegen.microkernels.copied_rows import PADDING, CopiedRows
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.grouping import Grouping
from tilewright.codegen.microkernels.words import COPY_PARAMETERS, SUM_PARAMETERS, elements_of, emit_copy, emit_sums


class WordRows(CopiedRows):
    """Copies of rows of A as words, and the sums of those rows where elements of B are increased."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, k_panel: int, grouping: Grouping
    ) -> None:
        super().__init__(fn, element, tile, k_panel)
        self.grouping = grouping
        above = fn.binary("add", "i64", "%k_count", grouping.group - 1)
        self.k_count = fn.binary("sdiv", "i64", above, grouping.group)
        self.in_place = ""
        if grouping.bits == 8 * element.bytes and not grouping.offsets_b:
            is_whole = fn.icmp("eq", "i64", fn.binary("urem", "i64", "%k_count", grouping.group), 0)
            self.in_place = fn.binary("and", "i1", self.in_rows, is_whole)
            a_row = fn.select(self.in_place, "i64", self.source.a_row, self.strides.a_row)
            self.strides = replace(self.strides, a_row=a_row)
            self.level = 2
        if grouping.offsets_b:
            self.sums = fn.alloca(f"[{self.most_rows + PADDING} x i32]", align=64)

    def copy_rows(self, a: str, rows: str, step: Step) -> str:
        if not self.in_place:
            self._copy_words(a, rows, step)
            return self.copy
        fn = self.fn
        copy, done = fn.new_label("copy"), fn.new_label("copied")
        fn.branch_if(self.in_place, done, copy)
        fn.start(copy)
        self._copy_words(a, rows, step)
        fn.branch(done)
        fn.start(done)
        return fn.select(self.in_place, "ptr", a, self.copy)

    def _copy_words(self, a: str, rows: str, step: Step) -> None:
        elements = elements_of(self.fn, self.grouping, step)
        values = (
            *(a, self.source.a_row, self.source.a_k, rows, elements),
            *(self.copy, self.line_stride, self.in_rows),
        )
        self._call("words", COPY_PARAMETERS, values)
        if self.sums:
            values = (self.copy, self.line_stride, self.in_rows, rows, step.depth, self.sums)
            self._call("sums", SUM_PARAMETERS, values)

    def _call(self, what: str, parameters: tuple[tuple[str, str], ...], values: tuple[str, ...]) -> None:
        element, module = self.element, self.fn.module
        name = f"tw_mk_{what}_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}"
        emit = emit_copy if what == "words" else emit_sums
        module.define_once(name, lambda: emit(name, module, element, self.tile, self.grouping))
        types = (type for _, type in parameters)
        self.fn.call("void", name, zip(types, values, strict=True))

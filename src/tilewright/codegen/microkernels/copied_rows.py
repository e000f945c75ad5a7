"""Kernels for whole blocks that multiply a copy of A, brought into the form that register tiles read.

    for m0 in m by MC:  copy = A[m0:m0 + MC, k0:k0 + KC];  register tiles read `copy` in place of A

The copy is made once for all columns of a group of panels, and lies in the stack frame. It is made along the dimension
in which elements of A are adjacent: a transposed A stays transposed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block import BlockWriter
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import Rows, Strides

ROW_MULTIPLE = 24
"""Rows of a chunk are a multiple of this, so that they fill register tiles of any height."""

CHUNK_BYTES = 128 << 10
"""Bytes of a chunk. It stays in the second level cache, together with the panels."""

LONGEST_LINE = 256
"""Steps of k in a chunk at most: the longer its lines, the fewer rows it has, and the sooner another panel is read."""

PADDING = 16
"""Elements between the lines of a chunk, lest their distance be a power of two."""


class CopyingBlockWriter(BlockWriter):
    """Writes one kernel. Subclasses copy; an element of the copy is as large as one of C."""

    a_level = 3
    """The first level cache, where lines of a chunk keep a distance."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, panel_bytes: int, kernel: MatmulKernel
    ) -> None:
        super().__init__(fn, element, tile, panel_bytes, kernel)
        self.k_panel = min(self.k_panel, LONGEST_LINE)
        size = element.accumulator_bytes
        rows = CHUNK_BYTES // (self.k_panel * size)
        self.chunk_rows = max(1, rows // ROW_MULTIPLE) * ROW_MULTIPLE
        self.most_rows = self.chunk_rows + self.chunk_rows // 2
        row, column = (self.k_panel + PADDING) * size, (self.most_rows + PADDING) * size
        self.copy = fn.alloca(f"[{max(self.most_rows * row, self.k_panel * column)} x i8]", align=64)
        self.in_rows = fn.icmp("eq", "i64", "%a_k_stride", 1)
        self._source_strides = super().strides
        self.line_stride = self.either(str(row), str(column))
        a_row, a_k = self.either(str(row), str(size)), self.either(str(size), str(column))
        self.strides = replace(self._source_strides, a_row=a_row, a_k=a_k)

    @property
    def source_strides(self) -> Strides:
        return self._source_strides

    def either(self, rows: str, columns: str) -> str:
        """One number where rows of A are copied, another where columns are."""
        return self.fn.select(self.in_rows, "i64", rows, columns)

    def copy_rows(self, a: str) -> str:
        """Copy `limits.count` rows of A, `depth` steps of k of each; where they are to be read."""
        raise NotImplementedError

    def all_rows(self, a: str, c: str, body: Callable[[str, str], None]) -> None:
        """`body` for one chunk after the other. What would be less than half a chunk is left to the one before."""
        fn, step = self.fn, self.chunk_rows
        limits, step_of_k = self.limits, self.step
        end = fn.call("i64", "llvm.smax.i64", [("i64", fn.binary("sub", "i64", limits.count, step // 2)), ("i64", "1")])

        def chunk(m0: str) -> None:
            is_last = fn.icmp("sge", "i64", fn.binary("add", "i64", m0, step), end)
            left = fn.binary("sub", "i64", limits.count, m0)
            self.limits = self.limits_of(fn.select(is_last, "i64", left, step))
            copy = self.copy_rows(self._row(a, m0, self.source_strides.a_row))
            if (output := step_of_k.output) is not None:
                self.step = replace(step_of_k, output=Rows(self._row(output.first, m0, output.stride), output.stride))
            body(copy, self._row(c, m0, self.strides.c_row))

        self.loop(end, step, chunk)
        self.limits, self.step = limits, step_of_k

    def _row(self, first: str, number: str, stride: str) -> str:
        return self.advance(first, self.fn.binary("mul", "i64", number, stride))


__all__ = ["CopyingBlockWriter"]

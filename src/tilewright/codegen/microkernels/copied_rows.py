"""Copies of rows of A for kernels for whole blocks, in the form that register tiles read.

    for m0 in m by MC:  copy = A[m0:m0 + MC, k0:k0 + KC];  register tiles read `copy` in place of A

The copy is made once for all columns of a group of panels, and lies in the stack frame. It is made along the dimension
in which elements of A are adjacent: a transposed A stays transposed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.block_tiles import Step
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.tile import Strides

ROW_MULTIPLE = 24
"""Rows of a chunk are a multiple of this, so that they fill register tiles of any height."""

CHUNK_BYTES = 128 << 10
"""Bytes of a chunk. It stays in the second level cache, together with the panels."""

LONGEST_LINE = 256
"""Steps of k in a chunk at most: the longer its lines, the fewer rows it has, and the sooner another panel is read."""

PADDING = 16
"""Elements between the lines of a chunk, lest their distance be a power of two."""


class CopiedRows(ABC):
    """Copies of A that register tiles read. Subclasses copy; an element of the copy is as large as one of C."""

    level = 3
    """The cache that the next rows are prefetched into: the first one, where lines of a chunk keep a distance."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile, k_panel: int) -> None:
        self.fn = fn
        self.element = element
        self.tile = tile
        size = element.accumulator_bytes
        rows = CHUNK_BYTES // (k_panel * size)
        self.chunk_rows = max(1, rows // ROW_MULTIPLE) * ROW_MULTIPLE
        self.most_rows = self.chunk_rows + self.chunk_rows // 2
        row, column = (k_panel + PADDING) * size, (self.most_rows + PADDING) * size
        self.copy = fn.alloca(f"[{max(self.most_rows * row, k_panel * column)} x i8]", align=64)
        self.in_rows = fn.icmp("eq", "i64", "%a_k_stride", 1)
        self.source = Strides.of_parameters(fn, element)
        """Strides of the matrices."""
        self.line_stride = self.either(str(row), str(column))
        a_row, a_k = self.either(str(row), str(size)), self.either(str(size), str(column))
        self.strides = replace(self.source, a_row=a_row, a_k=a_k)
        """Strides of what register tiles read."""
        self.k_count = "%k_count"
        """How many steps of k there are."""
        self.sums = ""
        """Where what is subtracted from the results of each row lies, if anything is."""

    def either(self, rows: str, columns: str) -> str:
        """Select one i64 where rows of A are copied, another where columns are."""
        return self.fn.select(self.in_rows, "i64", rows, columns)

    @abstractmethod
    def copy_rows(self, a: str, rows: str, step: Step) -> str:
        """Copy rows of A, the steps of k that `step` takes of each; returns where they are to be read."""

    def each_chunk(self, count: str, body: Callable[[str, str], None]) -> None:
        """`body(m0, rows)` for one chunk after the other. What would be less than half a chunk is left to the one
        before.
        """
        fn, chunk_rows = self.fn, self.chunk_rows
        end = fn.maximum(fn.binary("sub", "i64", count, chunk_rows // 2), "1")

        def chunk(m0: str) -> None:
            is_last = fn.icmp("sge", "i64", fn.binary("add", "i64", m0, chunk_rows), end)
            left = fn.binary("sub", "i64", count, m0)
            body(m0, fn.select(is_last, "i64", left, chunk_rows))

        fn.loop("0", end, chunk_rows, chunk)

"""What a micro-kernel does, as a value, and the symbol that a module of the loops stage declares it by.

`MatmulKernel` and `PanelRoutine` are the only descriptions of micro-kernels. Modules hold them as attributes of the
functions that they declare (`lowering/microkernel_attributes.py`); names are only written. Whoever wants a variant
replaces a field.

    MatmulKernel("bf16", "f32", 1024, 1024, from_zero=True).symbol  ==  "tw_mk_bf16_f32_1024x1024_zero"
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from tilewright.codegen.microkernels.elements import ElementKind, element_kind
from tilewright.support.records import dataclass

WHOLE_BLOCK = 1024
"""A tile size that no Triton block exceeds in both directions: one call for the whole block."""

SMALLEST_BLOCK = 16
"""Kernels for at least this many rows pack B."""

MOST_ROWS = 4
"""Rows that the kernels for a few rows take at most."""

_PREFIX = "tw_mk_"


@dataclass(frozen=True, slots=True)
class MatmulKernel:
    """C[m x n] += A[m x k] B[k x n], on operands that are described by address and strides.

    Raises ValueError for a combination that no kernel has.
    """

    element: str
    """Type of the elements of A and B: `f32`, `f64`, `f16`, `bf16`, `i8`, or a float8 by its MLIR name."""
    accumulator: str
    """Type of the elements of C: `f32`, `f64` or `i32`."""
    rows: int
    """Rows of the tile of C that the caller computes at a time."""
    columns: int
    """Columns of that tile."""
    for_few_rows: bool = False
    """There are never more than `rows` rows; B is read where it is."""
    transposed_b: bool = False
    """The rows of B are adjacent, in place of its columns; the stride of B is that between columns."""
    from_zero: bool = False
    """C = A B: the old elements of C are not read."""
    panel_columns: int = 0
    """B is in panels of this many columns, as a `PanelRoutine` makes them; 0: B is a matrix."""
    fills_panels: bool = False
    """Where b_ptr is odd the panels are empty yet: the kernel packs them from the matrix that one more parameter
    (i64 source_ptr) points at."""
    output: str | None = None
    """Element type of a separate result, to which two more parameters (i64 out_ptr, i64 out_row_stride) point; C is
    scratch memory for the sums then."""
    has_edges: bool = True
    """Some register tiles of C are not full."""
    direct_a: bool = False
    """The stride of A along k is 1. Kernels on matrix units leave out the code for other strides."""
    counts: tuple[int, int, int] | None = None
    """The only rows, columns and terms that the kernel is for."""
    is_configured: bool = False
    """The caller has configured the matrix unit, and releases it."""

    def __post_init__(self) -> None:
        kind = self.kind
        if self.for_few_rows and (self.rows > MOST_ROWS or self._has_form_of_blocks):
            raise ValueError(f"'{self.symbol}': kernels for a few rows have at most {MOST_ROWS} rows and fewer forms")
        has_form = self.transposed_b or self.from_zero or self._has_form_of_blocks
        if has_form and self.rows < SMALLEST_BLOCK and not self.for_few_rows:
            raise ValueError(f"'{self.symbol}': only kernels for at least {SMALLEST_BLOCK} rows have forms")
        if self.fills_panels and not (self.packed_b and kind.memory == kind.accumulator):
            raise ValueError(f"'{self.symbol}': only kernels that read panels of elements as they are fill them")
        if self.output is not None and not self.packed_b:
            raise ValueError(f"'{self.symbol}': only kernels that read panels have a separate output")

    @property
    def _has_form_of_blocks(self) -> bool:
        return (
            bool(self.panel_columns or self.fills_panels or self.output or self.direct_a or self.is_configured)
            or not self.has_edges
        )

    @property
    def kind(self) -> ElementKind:
        """The types, as LLVM IR has them."""
        return element_kind(self.element, self.accumulator)

    @property
    def packed_b(self) -> bool:
        """B is in panels."""
        return self.panel_columns > 0

    @property
    def width(self) -> int:
        """Columns that the kernel goes by: those of a panel, or of the tile."""
        return self.panel_columns or self.columns

    @property
    def rounded_output(self) -> str | None:
        """The type that results are rounded to on their way out; None: they keep their type."""
        return None if self.output == self.accumulator else self.output

    @property
    def has_panels(self) -> bool:
        """The kernel is for whole blocks: B may be in panels."""
        return self.rows >= SMALLEST_BLOCK

    @property
    def symbol(self) -> str:
        """The name that modules declare and define the kernel by."""
        output = "" if self.output is None else "_out" if self.output == self.accumulator else f"_out_{self.output}"
        return "".join(
            (
                f"{_PREFIX}{self.element}_{self.accumulator}_{self.rows}x{self.width}",
                "_few" * self.for_few_rows,
                "_nt" * self.transposed_b,
                "_zero" * self.from_zero,
                "_panels" * self.packed_b,
                "_fills" * self.fills_panels,
                output,
                "_exact" * (not self.has_edges),
                "_direct" * self.direct_a,
                "" if self.counts is None else "_of_{}x{}x{}".format(*self.counts),
                "_configured" * self.is_configured,
            )
        )


class Packing(StrEnum):
    """How a `PanelRoutine` comes by the panels."""

    PACK = "panels"
    """Pack B into memory of the caller's."""
    CACHE = "cache"
    """Pack B unless the pack cache has it."""
    RESERVE = "reserve"
    """Find B in the pack cache, or memory there that the first kernel fills."""


@dataclass(frozen=True, slots=True)
class PanelRoutine:
    """Brings B into the form of panels."""

    packing: Packing
    element: str
    accumulator: str
    columns: int
    """Columns of a panel."""
    transposed_b: bool = False
    """The rows of B are adjacent."""

    @property
    def kind(self) -> ElementKind:
        """The types, as LLVM IR has them."""
        return element_kind(self.element, self.accumulator)

    @property
    def symbol(self) -> str:
        """The name that modules declare and define the routine by."""
        form = "_nt" * self.transposed_b
        return f"{_PREFIX}{self.packing}_{self.element}_{self.accumulator}_{self.columns}{form}"


Routine: TypeAlias = MatmulKernel | PanelRoutine

"""Which micro-kernel multiplies two types."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute

from tilewright.codegen.microkernels import MOST_ROWS, SMALLEST_BLOCK, WHOLE_BLOCK, preferred_block
from tilewright.dialects.types import bit_width
from tilewright.ir.facts import TargetFacts


@dataclass(frozen=True, slots=True)
class MicroKernel:
    """The shape, the types and the form of a micro-kernel."""

    operand: str
    accumulator: str
    rows: int
    columns: int
    transposed_b: bool = False
    """Rows of B are adjacent in memory, in place of columns."""
    from_zero: bool = False
    """C = A B, in place of C += A B."""
    panel_columns: int = 0
    """B is in panels of so many columns; 0: it is not."""
    fills_panels: bool = False
    """The panels may be empty yet: the kernel packs what B has."""
    output: str | None = None
    """The type of a result that goes elsewhere; C is scratch memory then."""

    @property
    def symbol(self) -> str:
        form = "_few" * self.is_for_few
        form += f"{'_nt' * self.transposed_b}{'_zero' * self.from_zero}{'_panels' * bool(self.panel_columns)}"
        form += "_fills" * self.fills_panels
        if self.output is not None:
            form += "_out" if self.output == self.accumulator else f"_out_{self.output}"
        return f"tw_mk_{self.operand}_{self.accumulator}_{self.rows}x{self.panel_columns or self.columns}{form}"

    @property
    def is_for_few(self) -> bool:
        """Whether the kernel takes whole blocks of a few rows."""
        return self.rows <= MOST_ROWS and self.columns == WHOLE_BLOCK

    @property
    def has_forms(self) -> bool:
        """Whether the kernel takes whole blocks: B may be transposed then, and sums start from zero."""
        return self.has_panels or self.is_for_few

    @property
    def has_panels(self) -> bool:
        """Whether there are the other variants above of it, too."""
        return self.rows >= SMALLEST_BLOCK


def find_micro_kernel(
    operand: Attribute, accumulator: Attribute, vector_bits: int, facts: TargetFacts | None = None
) -> MicroKernel | None:
    """The micro-kernel for two operands of one type; None where the general nest has to do."""
    names: tuple[str, str] | None = None
    match operand, accumulator:
        case (Float32Type(), Float32Type()):
            names = ("f32", "f32")
        case (BFloat16Type(), Float32Type()):
            names = ("bf16", "f32")
        case (Float16Type(), Float32Type()):
            names = ("f16", "f32")
        case (Float64Type(), Float64Type()):
            names = ("f64", "f64")
        case (IntegerType() as narrow, IntegerType() as wide) if (narrow.width.data, wide.width.data) == (8, 32):
            names = ("i8", "i32")
        case _:
            return None
    if facts is not None and facts.vector_bits == vector_bits:
        return MicroKernel(*names, *preferred_block(*names, facts))
    lanes = max(1, vector_bits // bit_width(accumulator))
    return MicroKernel(*names, 8 if vector_bits >= 512 else 4, 2 * lanes)

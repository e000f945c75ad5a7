"""Which micro-kernel multiplies two types."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute

from tilewright.codegen.microkernels import WHOLE_BLOCK, MatmulKernel
from tilewright.dialects.types import bit_width
from tilewright.ir.facts import TargetFacts


def find_micro_kernel(
    operand: Attribute, accumulator: Attribute, vector_bits: int, facts: TargetFacts | None = None
) -> MatmulKernel | None:
    """The micro-kernel for two operands of one type; None where the general nest has to do."""
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
        return MatmulKernel(*names, WHOLE_BLOCK, WHOLE_BLOCK)
    lanes = max(1, vector_bits // bit_width(accumulator))
    return MatmulKernel(*names, 8 if vector_bits >= 512 else 4, 2 * lanes)

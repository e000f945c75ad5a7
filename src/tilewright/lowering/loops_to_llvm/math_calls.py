"""Library functions on any float type: narrow floats are computed in f32 and rounded once."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.lowering.loops_to_llvm.conversions import narrow, widen
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.types import F32, ScalarType


def emit_math(low: CpuFunctionLowering, b: LaneBuilder, name: str, operands: Sequence[str], scalar: ScalarType) -> str:
    """A library function on any float type."""
    library = low.module.math
    if scalar.text in ("float", "double") and not scalar.is_soft_float:
        return library.call(low.fn, name, scalar.text, b.lanes, operands)
    wide = [widen(b, v, scalar) if scalar.is_soft_float else b.cast("fpext", v, scalar.text, "float") for v in operands]
    result = library.call(low.fn, name, "float", b.lanes, wide)
    return narrow(b, result, F32, scalar)

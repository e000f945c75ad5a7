"""ttg.convert_layout."""

from __future__ import annotations

from tilewright.analysis.scratch import conversion_plan
from tilewright.dialects import ttg
from tilewright.layouts.between_ctas import ClusterConversion
from tilewright.layouts.swizzle import SharedMemoryConversion
from tilewright.lowering.ttg_to_llvm.conversion import convert_registers
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers


@lowers(ttg.ConvertLayoutOp)
def lower_convert_layout(op: ttg.ConvertLayoutOp, fn: GpuFunctionLowering) -> None:
    plan = conversion_plan(op)
    scratch = None
    if isinstance(plan, SharedMemoryConversion | ClusterConversion):
        scratch = fn.shared_pointer(op)
    fn.set(op.result, convert_registers(fn, plan, fn.element(op.src), fn.registers(op.src), scratch))

"""Where a program is in the grid, barriers, and global scratch memory."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from tilewright.dialects import gpu, llvm, tt, ttg
from tilewright.dialects.tt.enums import ProgramIDDim
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers

SCRATCH_OFFSET = "ttg.global_scratch_memory_offset"


@lowers(tt.GetProgramIdOp)
def lower_program_id(op: tt.GetProgramIdOp, fn: GpuFunctionLowering) -> None:
    axis = ProgramIDDim.of(op.axis).value
    fn.set(op.result, fn.emitter.program_id(fn.text, axis, fn.module.num_ctas))


@lowers(tt.GetNumProgramsOp)
def lower_num_programs(op: tt.GetNumProgramsOp, fn: GpuFunctionLowering) -> None:
    axis = ProgramIDDim.of(op.axis).value
    fn.set(op.result, fn.emitter.num_programs(fn.text, axis, fn.module.num_ctas))


@lowers(ttg.LocalBarrierOp, gpu.BarrierOp)
def lower_barrier(op: Operation, fn: GpuFunctionLowering) -> None:
    fn.barrier()


@lowers(tt.GridDependencyWaitOp)
def lower_grid_dependency_wait(op: tt.GridDependencyWaitOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.grid_dependency(fn.text, "wait")


@lowers(tt.GridDependencyLaunchDependentsOp)
def lower_launch_dependents(op: tt.GridDependencyLaunchDependentsOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.grid_dependency(fn.text, "launch_dependents")


@lowers(llvm.AssumeOp)
def lower_assume(op: llvm.AssumeOp, fn: GpuFunctionLowering) -> None:
    fn.text.call("void", "llvm.assume", [("i1", fn.scalar(op.operands[0]))])


@lowers(ttg.GlobalScratchAllocOp)
def lower_global_scratch_alloc(op: ttg.GlobalScratchAllocOp, fn: GpuFunctionLowering) -> None:
    """A part of the program's own piece of the scratch buffer; pieces follow each other in the order of programs."""
    offset = op.attributes.get(SCRATCH_OFFSET)
    if fn.scratch_base is None or not isinstance(offset, IntegerAttr):
        raise op_error(op, f"needs global scratch memory and has no {SCRATCH_OFFSET}", pass_name=PASS_NAME)
    address = f"getelementptr i8, ptr addrspace(1) {fn.program_scratch()}, i64 {offset.value.data}"
    fn.set(op.result, fn.text.value(address))

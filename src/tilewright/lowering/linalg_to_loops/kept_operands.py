"""Operands that are packed once for all programs of a thread that multiply by them.

func.call @tw_mk_f32_f32_1024x1024_zero(%a, ..., %b, ..., %c, ...)
  ->
%panels = func.call @tw_mk_keep_f32_f32_64(%b, %b_stride, %store, %k, %n, %number)
scf.if %panels != 0 {
  func.call @tw_mk_f32_f32_1024x64_zero_panels(%a, ..., %panels, ..., %c, ...)
} else {
  func.call @tw_mk_f32_f32_1024x1024_zero(%a, ..., %b, ..., %c, ...)
}

Programs that share columns of C share B, and packing it is what a product of few rows spends its time with. B must be
an argument that the kernel does not write to, directly or through another argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import SymbolRefAttr, i8
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import STORE_BYTES, STORES, PanelPlan, plan_panels
from tilewright.dialects import func
from tilewright.lowering.linalg_to_loops.dot_operands import Panel, in_place
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.micro_kernel import MicroKernel, declare
from tilewright.lowering.linalg_to_loops.provable import constant_of


def plan_kept(
    lowering: FunctionLowering, kernel: MicroKernel, root: SSAValue, shape: tuple[int, ...], a: Panel
) -> PanelPlan | None:
    """The panels of a B behind an argument; None where it may change, or C, of this shape, is not one block."""
    facts = lowering.context.facts
    if facts is None or not kernel.has_forms or root not in lowering.constant_arguments:
        return None
    rows, columns = shape
    if rows > kernel.rows or columns > kernel.columns or lowering.stores >= STORES:
        return None
    plan = plan_panels(kernel.operand, kernel.accumulator, 1, columns, facts, transposed_b=kernel.transposed_b)
    return plan if plan.takes_any_a or constant_of(a.strides[-1]) == 1 else None


def multiply_by_kept(
    lowering: FunctionLowering,
    kernel: MicroKernel,
    plan: PanelPlan,
    b: Panel,
    counts: tuple[Index, Index],
    multiply: Callable[[MicroKernel, Panel], None],
    otherwise: Callable[[], None],
) -> None:
    """`multiply` by the panels of B, of `counts` rows and columns, or, where they are not kept, do something else."""
    emitter = lowering.emitter
    number = lowering.stores
    lowering.stores += 1
    store = in_place(emitter, lowering.memory.new_buffer(i8, (STORE_BYTES,)))
    declare(lowering, plan.keeping_symbol, 6, 1)
    stride = b.strides[-1 if kernel.transposed_b else -2]
    operands = (b.address, stride, store.address, *counts, number)
    call = emitter.create(
        func.CallOp,
        [emitter.ssa(value) for value in operands],
        (INDEX,),
        {"callee": SymbolRefAttr(plan.keeping_symbol)},
    )
    panels = call.results[0]
    is_kept = emitter.compare("ne", panels, 0)
    assert isinstance(is_kept, SSAValue)
    then_block, else_block = emitter.if_else(is_kept)
    with emitter.at(Cursor(then_block)):
        form = replace(kernel, panel_columns=plan.columns, transposed_b=False)
        multiply(form, Panel(panels, (0, 0), 1))
        emitter.yield_()
    with emitter.at(Cursor(else_block)):
        otherwise()
        emitter.yield_()


__all__ = ["multiply_by_kept", "plan_kept"]

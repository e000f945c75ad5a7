"""Operands that are packed once for all programs of a thread that multiply by them.

func.call @tw_mk_f32_f32_1024x1024_zero(%a, ..., %b, ..., %c, ...)
  ->
%panels = func.call @tw_mk_reserve_f32_f32_64(%b, %b_stride, %cache, %k, %n, %number)
scf.if %panels != 0 {
  func.call @tw_mk_f32_f32_1024x64_zero_panels_fills(%a, ..., %panels, %b_stride, %c, ..., %b)
} else {
  func.call @tw_mk_f32_f32_1024x1024_zero(%a, ..., %b, ..., %c, ...)
}

Programs that share columns of C share B, and packing it is what a product of few rows spends its time with. B must be
an argument that the kernel does not write to, directly or through another argument. Where no two programs can have the
same B, each packs what it multiplies by at the moment. In a matmul of views (`linalg-recognize-k-loops`) B is all
columns of a matrix; elsewhere, as the keys and values of attention, it is a block of a size that is known, for which a
cache always has room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import i1, i8
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.microkernels import (
    MAX_PACK_CACHES,
    PACK_CACHE_BYTES,
    MatmulKernel,
    Packing,
    PanelPlan,
    PanelRoutine,
    fits_pack_cache,
    plan_panels,
)
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.dot_operands import (
    Factor,
    Panel,
    copied_panel,
    find_invariant_loop,
    in_place,
    is_contiguous,
    is_full,
    plan_operand_panels,
)
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index
from tilewright.lowering.linalg_to_loops.external_calls import call_microkernel
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.sources import Box, Window
from tilewright.support.facts import TargetFacts


def plan_cached_panels(kernel: MatmulKernel, shape: tuple[int, ...], facts: TargetFacts) -> PanelPlan | None:
    """The panels of a B that other programs may share; None where C, of this shape, is not one block."""
    rows, columns = shape
    if not kernel.has_panels or rows > kernel.rows or columns > kernel.columns:
        return None
    return plan_panels(kernel.element, kernel.accumulator, 1, columns, facts, transposed_b=kernel.transposed_b)


def may_cache(lowering: FunctionLowering, b: Window) -> bool:
    """Return whether B is an argument that does not change, and there is room for another cache."""
    is_constant = b.root in lowering.known.constant_arguments and b.is_all_of_root()
    return is_constant and lowering.decided.pack_caches < MAX_PACK_CACHES


def cached_operand(
    lowering: FunctionLowering, op: Operation, kernel: MatmulKernel, b: Factor, k_count: Index
) -> tuple[MatmulKernel, Panel] | None:
    """B in panels that other programs may have packed; None where it may change, or is as good in place."""
    inner = b.source.inner if isinstance(b.source, Box) else b.source
    if not isinstance(inner, Window) or not may_cache(lowering, inner):
        return None
    rows_adjoin = not is_contiguous(b.source, 1)
    if (rows_adjoin and not is_contiguous(b.source, 0)) or (not rows_adjoin and kernel.element == kernel.accumulator):
        return None
    plan = plan_operand_panels(lowering, kernel, b, k_count)
    if plan is None or not fits_pack_cache(plan.bytes) or find_invariant_loop(op, b.value) is not None:
        return None
    emitter = lowering.emitter
    full = is_full(emitter, b.source, b.shape, -1, 0) if isinstance(b.source, Box) else True
    if full is False:
        return None
    routine = plan.routine_by(Packing.KEEP)
    if full is True:
        address = _cached(lowering, routine, in_place(emitter, inner), rows_adjoin, b.shape)
    else:
        choice, then_block, else_block = emitter.open_if(full, [INDEX])
        with emitter.at(then_block):
            emitter.yield_([_cached(lowering, routine, in_place(emitter, inner), rows_adjoin, b.shape)])
        with emitter.at(else_block):
            emitter.yield_([_packed_copy(lowering, plan, b, rows_adjoin)])
        address = choice.results[0]
    form = replace(kernel, panel_columns=plan.routine.columns, transposed_b=False)
    return form, Panel(address, (0, 0), 1)


def _cached(
    lowering: FunctionLowering, routine: PanelRoutine, b: Panel, rows_adjoin: bool, counts: tuple[Index, ...]
) -> SSAValue:
    """A call of a routine that caches panels: their address, or 0."""
    emitter = lowering.emitter
    number = lowering.decided.pack_caches
    lowering.decided.pack_caches += 1
    cache = in_place(emitter, lowering.memory.new_scratch(PACK_CACHE_BYTES))
    operands = (b.address, b.strides[-1 if rows_adjoin else -2], cache.address, *counts, number)
    return call_microkernel(emitter, routine, operands, (INDEX,)).results[0]


def _packed_copy(lowering: FunctionLowering, plan: PanelPlan, b: Factor, rows_adjoin: bool) -> SSAValue:
    """The panels of a B that is cut off by the end of its matrix: of a copy with its padding."""
    source, shape = b.source, b.shape
    if rows_adjoin:
        source, shape = sources.permute(source, (1, 0)), shape[::-1]
    copy = copied_panel(lowering, source, shape)
    packed = in_place(lowering.emitter, lowering.memory.new_buffer(i8, (plan.bytes,)))
    call_microkernel(lowering.emitter, plan.routine, (copy.address, copy.strides[0], packed.address, *b.shape))
    return packed.address


def multiply_by_cached(
    lowering: FunctionLowering,
    kernel: MatmulKernel,
    plan: PanelPlan,
    b: Panel,
    counts: tuple[Index, Index],
    shared: SSAValue | bool,
    multiply: Callable[[MatmulKernel, Panel], SSAValue | bool],
    otherwise: Callable[[], None],
) -> SSAValue:
    """`multiply` by the panels of B, of `counts` rows and columns, or, where these are too large or not `shared` with
    other programs, do something else.

    What `multiply` says, false for the other.
    """
    emitter = lowering.emitter
    routine = plan.routine_by(Packing.RESERVE if plan.kernels_fill else Packing.KEEP)
    if isinstance(shared, bool):
        panels = _cached(lowering, routine, b, kernel.transposed_b, counts)
    else:
        found, then_block, else_block = emitter.open_if(shared, [INDEX])
        with emitter.at(then_block):
            emitter.yield_([_cached(lowering, routine, b, kernel.transposed_b, counts)])
        with emitter.at(else_block):
            emitter.yield_([emitter.constant(0, INDEX)])
        panels = found.results[0]
    is_cached = emitter.compare("ne", panels, 0)
    assert isinstance(is_cached, SSAValue)
    choice, then_block, else_block = emitter.open_if(is_cached, [i1])
    with emitter.at(then_block):
        if plan.kernels_fill:
            form = replace(kernel, panel_columns=plan.routine.columns, fills_panels=True)
            packed = Panel(panels, b.strides, 1, b.address)
        else:
            form = replace(kernel, panel_columns=plan.routine.columns, transposed_b=False)
            packed = Panel(panels, (0, 0), 1)
        emitter.yield_([emitter.truth(multiply(form, packed))])
    with emitter.at(else_block):
        otherwise()
        emitter.yield_([emitter.truth(False)])
    return choice.results[0]


__all__ = ["cached_operand", "may_cache", "multiply_by_cached", "plan_cached_panels"]

"""Matrix multiplication on register tiles, as LLVM IR functions generated on demand.

A module that declares a `MatmulKernel` or a `PanelRoutine` (`spec.py`) gets its definition. Kernels have
the ABI

    (i64 a_ptr, i64 a_row_stride, i64 a_k_stride, i64 b_ptr, i64 b_row_stride, i64 c_ptr, i64 c_row_stride,
     i64 k_count, i64 m_count, i64 n_count)

with byte addresses and strides in elements: C[m x n] += A[m x k] B[k x n]; columns of B and C are adjacent. The rows
and columns of a kernel are the sizes that the caller tiles by; any m_count and n_count are right, those that fill
register tiles are fast. Kernels that fill panels have one more parameter (i64 source_ptr), those with a separate
output two more (i64 out_ptr, i64 out_row_stride), in this order. Kernels of 16 rows call that for 4 where there are no
more. Panel routines are described in `panels.py` and `pack_cache.py`, which of these forms there are by `PanelPlan`.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels.amx import emit_amx_kernel, has_amx_form, has_size
from tilewright.codegen.microkernels.amx_blocks import configure_tiles, release_tiles
from tilewright.codegen.microkernels.amx_panels import emit_amx_panels
from tilewright.codegen.microkernels.few_rows import emit_few_rows_kernel
from tilewright.codegen.microkernels.pack_cache import (
    MAX_PACK_CACHES,
    PACK_CACHE_BYTES,
    emit_pack_cache,
    fits_pack_cache,
)
from tilewright.codegen.microkernels.selection import (
    PanelPlan,
    configured_variant,
    direct_variant,
    exact_variant,
    flushes_subnormals,
    panel_form,
    plan_panels,
    variant_for_rows,
)
from tilewright.codegen.microkernels.spec import (
    MOST_ROWS,
    SMALLEST_BLOCK,
    WHOLE_BLOCK,
    MatmulKernel,
    Packing,
    PanelRoutine,
    Routine,
)
from tilewright.codegen.microkernels.tile import emit_tile_kernel
from tilewright.codegen.microkernels.whole_blocks import emit_block_kernel, emit_block_panels
from tilewright.support.facts import TargetFacts


def define_routine(routine: Routine, module: ModuleText, facts: TargetFacts) -> None:
    """Add the definition of a micro-kernel or panel routine, and of what it calls, to a module, once.

    Raises ValueError for a variant that this machine does not have.
    """
    module.define_once(routine.symbol, lambda: _definition(routine, module, facts))


def _definition(routine: Routine, module: ModuleText, facts: TargetFacts) -> str:
    match routine:
        case MatmulKernel():
            return _emit_kernel(routine, module, facts)
        case PanelRoutine():
            return _emit_panel_routine(routine, module, facts)


def _emit_kernel(kernel: MatmulKernel, module: ModuleText, facts: TargetFacts) -> str:
    name, on_tiles = kernel.symbol, has_amx_form(kernel, facts)
    if kernel.counts is not None and not (on_tiles and has_size(replace(kernel, counts=None), kernel.counts)):
        raise ValueError(f"'{name}': there is no kernel for just this size")
    if on_tiles:
        return emit_amx_kernel(name, module, facts, kernel)
    if kernel.for_few_rows:
        return emit_few_rows_kernel(name, module, facts, kernel)
    if kernel.rounded_output is not None:
        raise ValueError(f"'{name}': only kernels on AMX tiles round their results")
    if kernel.rows < SMALLEST_BLOCK:
        return emit_tile_kernel(name, module, facts, kernel.kind.on(facts), kernel.rows, kernel.columns)
    few = _kernel_for_few_rows(kernel)
    if few is not None:
        define_routine(few, module, facts)
    return emit_block_kernel(name, module, facts, kernel, "" if few is None else few.symbol)


def _kernel_for_few_rows(kernel: MatmulKernel) -> MatmulKernel | None:
    """Return what a kernel calls where there are few rows, if that may be."""
    if kernel.rows > SMALLEST_BLOCK or kernel.packed_b or not kernel.has_edges or kernel.kind.is_integer:
        return None
    return replace(kernel, rows=MOST_ROWS, columns=WHOLE_BLOCK, for_few_rows=True)


def _emit_panel_routine(routine: PanelRoutine, module: ModuleText, facts: TargetFacts) -> str:
    name, kind = routine.symbol, routine.kind.on(facts)
    if routine.packing is Packing.RESERVE:
        return emit_pack_cache(name, module, None, routine.columns, *panel_form(kind, facts))
    if routine.packing is Packing.CACHE:
        packing = replace(routine, packing=Packing.PACK)
        define_routine(packing, module, facts)
        return emit_pack_cache(name, module, packing.symbol, routine.columns, *panel_form(kind, facts))
    if has_amx_form(MatmulKernel(routine.element, routine.accumulator, WHOLE_BLOCK, routine.columns), facts):
        return emit_amx_panels(name, module, kind, transposed_b=routine.transposed_b)
    return emit_block_panels(name, module, facts, routine)


__all__ = [
    "MAX_PACK_CACHES",
    "MOST_ROWS",
    "PACK_CACHE_BYTES",
    "SMALLEST_BLOCK",
    "WHOLE_BLOCK",
    "MatmulKernel",
    "Packing",
    "PanelPlan",
    "PanelRoutine",
    "Routine",
    "configure_tiles",
    "configured_variant",
    "define_routine",
    "direct_variant",
    "exact_variant",
    "fits_pack_cache",
    "flushes_subnormals",
    "plan_panels",
    "release_tiles",
    "variant_for_rows",
]

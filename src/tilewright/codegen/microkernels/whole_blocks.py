"""Which kernel multiplies whole blocks, and which packs B for it: by words, by widened elements, or as they are."""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.block import BlockWriter
from tilewright.codegen.microkernels.block_tiles import BlockShape, plan_block_tile, steps_of_panel
from tilewright.codegen.microkernels.copied_rows import LONGEST_LINE, CopiedRows
from tilewright.codegen.microkernels.filling import SOURCE_PARAMETERS, PanelFilling
from tilewright.codegen.microkernels.grouping import find_grouping
from tilewright.codegen.microkernels.panels import emit_panels
from tilewright.codegen.microkernels.spec import MOST_ROWS, MatmulKernel, PanelRoutine
from tilewright.codegen.microkernels.tile import OUTPUT_PARAMETERS, PARAMETERS, kernel_function
from tilewright.codegen.microkernels.widened_rows import WidenedRows
from tilewright.codegen.microkernels.word_panels import emit_word_panels
from tilewright.codegen.microkernels.word_rows import WordRows
from tilewright.support.facts import TargetFacts


def emit_block_kernel(name: str, module: ModuleText, facts: TargetFacts, kernel: MatmulKernel, few_rows: str) -> str:
    """The definition of a kernel for blocks of at least 16 rows; `few_rows` is the kernel, if any, that it leaves those
    of few rows to."""
    source = SOURCE_PARAMETERS if kernel.fills_panels else ()
    fn = kernel_function(name, module, (*source, *(OUTPUT_PARAMETERS if kernel.output is not None else ())))
    if few_rows:
        _leave_few_rows(fn, few_rows)
    element = kernel.kind.on(facts)
    tile = plan_block_tile(facts, element, kernel.width)
    grouping = find_grouping(element, facts)
    panel_bytes = facts.panel_bytes if kernel.packed_b else facts.near_bytes
    k_panel = steps_of_panel(panel_bytes, tile, element)
    copies: CopiedRows | None = None
    filling: PanelFilling | None = None
    if grouping is not None or element.memory != element.accumulator:
        k_panel = min(k_panel, LONGEST_LINE)
        if grouping is not None:
            copies = WordRows(fn, element, tile, k_panel, grouping)
        else:
            copies = WidenedRows(fn, element, tile, k_panel)
    elif kernel.fills_panels:
        filling = PanelFilling(fn, element, tile, k_panel, transposed_b=kernel.transposed_b)
    BlockWriter(fn, BlockShape(element, tile, k_panel, kernel, grouping), copies=copies, filling=filling).write()
    return fn.text()


def _leave_few_rows(fn: FunctionText, few_rows: str) -> None:
    """``if m_count <= MOST_ROWS: return few_rows(...)``."""
    few, more = fn.new_label("few"), fn.new_label("more")
    fn.branch_if(fn.icmp("sle", "i64", "%m_count", MOST_ROWS), few, more)
    fn.start(few)
    fn.call("void", few_rows, [("i64", f"%{name}") for name in PARAMETERS])
    fn.ret()
    fn.start(more)


def emit_block_panels(name: str, module: ModuleText, facts: TargetFacts, routine: PanelRoutine) -> str:
    """The definition of a routine that packs B for these kernels."""
    element = routine.kind.on(facts)
    tile, grouping = plan_block_tile(facts, element, routine.columns), find_grouping(element, facts)
    if grouping is not None:
        return emit_word_panels(name, module, element, tile, grouping, transposed_b=routine.transposed_b)
    return emit_panels(name, module, element, tile, transposed_b=routine.transposed_b)

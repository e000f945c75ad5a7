"""Which kernel multiplies whole blocks, and which packs B for it: by words, by widened elements, or as they are."""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.block import BlockForm, BlockWriter
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.few_rows import MOST_ROWS
from tilewright.codegen.microkernels.filling import SOURCE_PARAMETERS, FillingBlockWriter
from tilewright.codegen.microkernels.grouping import find_grouping
from tilewright.codegen.microkernels.panels import emit_panels
from tilewright.codegen.microkernels.tile import OUTPUT_PARAMETERS, PARAMETERS, kernel_function
from tilewright.codegen.microkernels.widened_rows import WideningBlockWriter
from tilewright.codegen.microkernels.word_panels import emit_word_panels
from tilewright.codegen.microkernels.word_products import WordBlockWriter
from tilewright.ir.facts import TargetFacts


def emit_block_kernel(
    name: str,
    module: ModuleText,
    facts: TargetFacts,
    element: ElementKind,
    tile: RegisterTile,
    form: BlockForm,
    few_rows: str | None = None,
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>`` for blocks of at least 16 rows; `few_rows` is the kernel
    that it leaves those of few rows to."""
    more = (*(SOURCE_PARAMETERS if form.fills_panels else ()), *(OUTPUT_PARAMETERS if form.separate_output else ()))
    fn = kernel_function(name, module, more)
    if few_rows is not None:
        _leave_few_rows(fn, few_rows)
    grouping = find_grouping(element, facts)
    panel_bytes = facts.panel_bytes if form.packed_b else facts.near_bytes
    if grouping is not None:
        writer = WordBlockWriter(fn, element, tile, panel_bytes, form, grouping)
    elif element.memory != element.accumulator:
        writer = WideningBlockWriter(fn, element, tile, panel_bytes, form)
    elif form.fills_panels:
        writer = FillingBlockWriter(fn, element, tile, panel_bytes, form)
    else:
        writer = BlockWriter(fn, element, tile, panel_bytes, form)
    writer.write()
    return fn.text()


def _leave_few_rows(fn: FunctionText, few_rows: str) -> None:
    """``if m_count <= MOST_ROWS: return few_rows(...)``."""
    few, more = fn.new_label("few"), fn.new_label("more")
    fn.branch_if(fn.value(f"icmp sle i64 %m_count, {MOST_ROWS}"), few, more)
    fn.start(few)
    fn.emit(f"call void @{few_rows}({', '.join(f'i64 %{name}' for name in PARAMETERS)})")
    fn.terminate("ret void")
    fn.start(more)


def emit_block_panels(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, tile: RegisterTile, *, transposed_b: bool
) -> str:
    """The definition of ``tw_mk_panels_<a>_<acc>_<NR>[_nt]`` for these kernels."""
    grouping = find_grouping(element, facts)
    if grouping is not None:
        return emit_word_panels(name, module, element, tile, grouping, transposed_b=transposed_b)
    return emit_panels(name, module, element, tile, transposed_b=transposed_b)


__all__ = ["emit_block_kernel", "emit_block_panels"]

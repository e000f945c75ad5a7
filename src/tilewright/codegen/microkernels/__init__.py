"""Matrix multiplication on register tiles, as LLVM IR functions generated on demand.

A module that declares ``@tw_mk_<a type>_<accumulator type>_<MR>x<NR>[_nt][_zero][_panels]`` gets its definition. All
have the ABI

    (i64 a_ptr, i64 a_row_stride, i64 a_k_stride, i64 b_ptr, i64 b_row_stride, i64 c_ptr, i64 c_row_stride,
     i64 k_count, i64 m_count, i64 n_count)

with byte addresses and strides in elements: C[m x n] += A[m x k] B[k x n]; columns of B and C are adjacent. `MR` and
`NR` are the sizes that the caller tiles by; any m_count and n_count are right, those that fill register tiles are fast.

Kernels for whole blocks (MR of at least 16) have forms, in this order: `_nt`: rows of B are adjacent, and b_row_stride
is the distance of its columns; `_zero`: C = A B; `_panels`: b_ptr points at panels that `tw_mk_panels_...` made;
`_fills`: or, where it is odd, at memory for panels that the kernel makes itself, of the B that one more parameter (i64
source_ptr) points at; `_out` (with `_panels`): C is scratch memory, two more parameters (i64 out_ptr, i64
out_row_stride) say where the result goes; `_out_bf16`: rounded to that type. `PanelPlan` says which of these there are.
`_of_32x64x64`: the counts m, n and k, for which `exact_name` chooses a variant of the kernel.

`_few`, in front of `_nt` and `_zero`, the only forms of these: kernels for never more than MR rows, 1, 2 or 4. Kernels
of 16 rows call that of 4 where there are no more.

`tw_mk_keep_...` gives panels that are packed once for many programs, `tw_mk_reserve_...` memory for such (see
`keeping.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels.amx import amx_outputs, emit_amx_kernel, has_amx_form, has_size
from tilewright.codegen.microkernels.amx_blocks import configure_tiles, release_tiles
from tilewright.codegen.microkernels.amx_panels import BLOCK as AMX_COLUMNS
from tilewright.codegen.microkernels.amx_panels import emit_amx_panels, tile_depth
from tilewright.codegen.microkernels.block import (
    SMALLEST_BLOCK,
    BlockForm,
    fills_tiles,
    plan_block_tile,
)
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, element_kind
from tilewright.codegen.microkernels.few_rows import MOST_ROWS, emit_few_rows_kernel
from tilewright.codegen.microkernels.grouping import find_grouping
from tilewright.codegen.microkernels.keeping import (
    KEEPING_PREFIXES,
    STORE_BYTES,
    STORES,
    emit_keeping,
    keeps_always,
)
from tilewright.codegen.microkernels.panels import DEPTH_MULTIPLE
from tilewright.codegen.microkernels.tile import emit_tile_kernel
from tilewright.codegen.microkernels.whole_blocks import emit_block_kernel, emit_block_panels
from tilewright.ir.facts import TargetFacts

MICROKERNEL_PREFIX = "tw_mk_"
WHOLE_BLOCK = 1024
"""A tile size that no Triton block exceeds in both directions: one call for the whole block."""

_NAME = re.compile(
    r"tw_mk_(?P<a>\w+?)_(?P<acc>f32|f64|i32)_(?P<mr>\d+)x(?P<nr>\d+)(?P<few>_few)?"
    r"(?P<nt>_nt)?(?P<zero>_zero)?(?P<panels>_panels)?(?P<fills>_fills)?(?P<out>_out(?:_(?P<output>bf16))?)?"
    r"(?P<exact>_exact)?(?P<direct>_direct)?(?P<size>_of_\d+x\d+x\d+)?"
    r"(?P<configured>_configured)?$"
)
_PANELS_NAME = re.compile(
    r"tw_mk_(?P<how>panels|keep|reserve)_(?P<a>\w+?)_(?P<acc>f32|f64|i32)_(?P<nr>\d+)(?P<nt>_nt)?$"
)


@dataclass(frozen=True)
class MicrokernelName:
    """The parts of a micro-kernel's name."""

    element: ElementKind
    rows: int
    columns: int
    form: BlockForm
    is_for_few: bool = False
    """Whether there are never more rows than these, nor is B packed."""
    size: tuple[int, int, int] | None = None
    """The only rows of A, columns of B and terms that the kernel is for."""


def parse_name(name: str) -> MicrokernelName:
    """Take a micro-kernel's name apart. Raises ValueError for one that does not exist."""
    match = _NAME.match(name)
    if match is None:
        raise ValueError(f"'{name}' is not the name of a micro-kernel")
    element = element_kind(match["a"], match["acc"])
    form = BlockForm(
        has_edges=not match["exact"],
        transposed_b=bool(match["nt"]),
        from_zero=bool(match["zero"]),
        packed_b=bool(match["panels"]),
        fills_panels=bool(match["fills"]),
        separate_output=bool(match["out"]),
        output=match["output"],
        direct_a=bool(match["direct"]),
        is_configured=bool(match["configured"]),
    )
    rows = int(match["mr"])
    is_for_few = bool(match["few"])
    if is_for_few and (rows > MOST_ROWS or form != BlockForm(transposed_b=form.transposed_b, from_zero=form.from_zero)):
        raise ValueError(f"'{name}': kernels for a few rows have other forms, and at most {MOST_ROWS} rows")
    if rows < SMALLEST_BLOCK and not is_for_few and form != BlockForm():
        raise ValueError(f"'{name}': only kernels for at least {SMALLEST_BLOCK} rows have forms")
    if form.fills_panels and not (form.packed_b and element.memory == element.accumulator):
        raise ValueError(f"'{name}': only kernels that read panels of elements as they are fill them")
    if form.separate_output and not form.packed_b:
        raise ValueError(f"'{name}': only kernels that read panels have a separate output")
    size = None
    if match["size"]:
        m_count, n_count, k_count = map(int, match["size"].removeprefix("_of_").split("x"))
        size = m_count, n_count, k_count
    return MicrokernelName(element, rows, int(match["nr"]), form, is_for_few, size)


def is_product(name: str) -> bool:
    """Whether a function is a micro-kernel that multiplies matrices: all that it writes are sums of products, and
    panels to memory that is for nothing else."""
    return _NAME.match(name) is not None


def flushes_subnormals(element: str, accumulator: str, facts: TargetFacts) -> bool:
    """Whether the kernels for whole blocks take subnormal operands for zeros."""
    kind = element_kind(element, accumulator)
    by_tiles = has_amx_form(kind, WHOLE_BLOCK, WHOLE_BLOCK, facts)
    return element == "bf16" and (by_tiles or find_grouping(kind, facts) is not None)


EXACT = "_exact"
"""What names of kernels without edges end with."""


def exact_name(name: str, m_count: int, n_count: int, facts: TargetFacts, k_count: int | None = None) -> str:
    """The kernel to call for counts that are known: the variant without edges where they fill its register tiles; on
    AMX tiles, that for few rows, or for this size, whose a_k_stride must be 1: without a `k_count` there is none."""
    if _PANELS_NAME.match(name) is not None:
        return name
    parts = parse_name(name)
    if parts.rows < SMALLEST_BLOCK:
        return name
    if has_amx_form(parts.element, parts.rows, parts.columns, facts):
        if k_count is not None and has_size(parts.element, parts.form, (m_count, n_count, k_count)):
            return f"{name}_of_{m_count}x{n_count}x{k_count}"
        return name.replace(f"_{parts.rows}x", f"_{SMALLEST_BLOCK}x") if m_count <= SMALLEST_BLOCK else name
    lanes = facts.lanes(parts.element.accumulator_bits)
    widths = (parts.columns,) if parts.form.packed_b else (parts.columns, 2 * lanes, lanes)
    for columns in widths:
        if fills_tiles(plan_block_tile(facts, parts.element, columns), m_count, n_count):
            return name.replace(f"x{parts.columns}", f"x{columns}") + EXACT
    return name


def direct_name(name: str, facts: TargetFacts) -> str:
    """The kernel to call where a_k_stride is known to be 1: of some, a variant without code for other strides."""
    if _PANELS_NAME.match(name) is not None:
        return name
    parts = parse_name(name)
    if parts.size is not None or not has_amx_form(parts.element, parts.rows, parts.columns, facts):
        return name
    return f"{name}_direct"


def configured_name(name: str, facts: TargetFacts) -> str | None:
    """The kernel to call between `configure_tiles` and `release_tiles`; None for one that does not use AMX tiles."""
    if _PANELS_NAME.match(name) is not None:
        return None
    parts = parse_name(name)
    if not has_amx_form(parts.element, parts.rows, parts.columns, facts):
        return None
    return f"{name}_configured"


@dataclass(frozen=True)
class PanelPlan:
    """How all of B is packed at once: by which routine, for kernels of how many columns, in how many bytes."""

    symbol: str
    columns: int
    bytes: int
    reads_any_a: bool
    """Whether the kernels read A in place with any strides; else they copy it where its a_k_stride is not 1."""
    outputs: tuple[str, ...]
    """The types that the kernels have a form `_out` for."""
    kernels_fill: bool
    """Whether these have the form `_fills`."""

    @property
    def keeping_symbol(self) -> str:
        """The routine that packs it once for many programs."""
        return self.symbol.replace("_panels_", "_keep_")

    @property
    def reserving_symbol(self) -> str:
        """The routine that leaves packing to the first kernel that reads the panels."""
        return self.symbol.replace("_panels_", "_reserve_")


def plan_panels(
    element: str, accumulator: str, k_count: int, n_count: int, facts: TargetFacts, *, transposed_b: bool
) -> PanelPlan:
    """The panels for a B of this shape."""
    kind = element_kind(element, accumulator)
    has_tiles = has_amx_form(kind, WHOLE_BLOCK, WHOLE_BLOCK, facts)
    if has_tiles:
        columns = AMX_COLUMNS
    else:
        lanes = facts.lanes(kind.accumulator_bits)
        widest = plan_block_tile(facts, kind, WHOLE_BLOCK).columns
        columns = next((c for c in (widest, 2 * lanes, lanes) if n_count % c == 0), widest)
    stored, multiple = _panel_form(kind, facts, has_tiles=has_tiles)
    symbol = f"tw_mk_panels_{element}_{accumulator}_{columns}{'_nt' if transposed_b else ''}"
    rows, width = -(-k_count // multiple) * multiple, -(-n_count // columns) * columns
    outputs = amx_outputs(kind) if has_tiles else (accumulator,)
    return PanelPlan(
        symbol, columns, rows * width * stored, reads_any_a=not has_tiles, outputs=outputs,
        kernels_fill=kind.memory == kind.accumulator,
    )  # fmt: skip


def _panel_form(kind: ElementKind, facts: TargetFacts, *, has_tiles: bool) -> tuple[int, int]:
    """Bytes of an element in a panel, and what the rows of B in a panel are filled up to a multiple of."""
    if has_tiles:
        return kind.bytes, tile_depth(kind)
    grouping = find_grouping(kind, facts)
    group = 1 if grouping is None else grouping.group
    return kind.accumulator_bytes // group, DEPTH_MULTIPLE * group


def preferred_block(element: str, accumulator: str, facts: TargetFacts) -> tuple[int, int]:
    """Rows and columns to tile C by: whole blocks, as the kernels pack B themselves. Raises ValueError."""
    element_kind(element, accumulator)
    return WHOLE_BLOCK, WHOLE_BLOCK


def rows_for(element: str, accumulator: str, rows: int, facts: TargetFacts) -> int:
    """Rows to tile a C of at most so many rows by; up to `MOST_ROWS` of them have the kernels `_few`, up to
    `SMALLEST_BLOCK` those that turn to these. On AMX tiles `exact_name` finds kernels for few rows by itself where the
    count is known."""
    if rows > SMALLEST_BLOCK:
        return WHOLE_BLOCK
    kind = element_kind(element, accumulator)
    if has_amx_form(kind, WHOLE_BLOCK, WHOLE_BLOCK, facts):
        return SMALLEST_BLOCK
    if kind.is_integer:
        return WHOLE_BLOCK
    return next((few for few in (1, 2, MOST_ROWS) if rows <= few), SMALLEST_BLOCK)


def emit_microkernel(name: str, module: ModuleText, facts: TargetFacts) -> str:
    """The definition of a micro-kernel (or packing routine) for a machine. Raises ValueError for an unknown name."""
    if (panels := _PANELS_NAME.match(name)) is not None:
        return _emit_panel_routine(name, panels, module, facts)
    parts = parse_name(name)
    parts = replace(parts, element=parts.element.on(facts))
    has_tiles = has_amx_form(parts.element, parts.rows, parts.columns, facts)
    if parts.size is not None and not (has_tiles and has_size(parts.element, parts.form, parts.size)):
        raise ValueError(f"'{name}': there is no kernel for just this size")
    if has_tiles:
        return emit_amx_kernel(name, module, facts, parts.element, parts.rows, parts.form, parts.size)
    if parts.is_for_few:
        form = parts.form.transposed_b, parts.form.from_zero
        return emit_few_rows_kernel(name, module, facts, parts.element, parts.rows, form)
    if parts.form.output is not None:
        raise ValueError(f"'{name}': only kernels on AMX tiles round their results")
    if parts.rows >= SMALLEST_BLOCK:
        tile = plan_block_tile(facts, parts.element, parts.columns)
        few = _few_rows_name(parts)
        if few is not None:
            module.define_once(few, lambda: emit_microkernel(few, module, facts))
        return emit_block_kernel(name, module, facts, parts.element, tile, parts.form, few)
    return emit_tile_kernel(name, module, facts, parts.element, parts.rows, parts.columns)


def _few_rows_name(parts: MicrokernelName) -> str | None:
    """What a kernel calls where there are few rows, if that may be."""
    form, kind = parts.form, parts.element
    if parts.rows > SMALLEST_BLOCK or form.packed_b or not form.has_edges or kind.is_integer:
        return None
    names = f"{kind.name}_{ACCUMULATOR_NAMES[kind.accumulator]}"
    return f"tw_mk_{names}_{MOST_ROWS}x{WHOLE_BLOCK}_few{'_nt' * form.transposed_b}{'_zero' * form.from_zero}"


def _emit_panel_routine(name: str, parts: re.Match[str], module: ModuleText, facts: TargetFacts) -> str:
    kind, columns = element_kind(parts["a"], parts["acc"]).on(facts), int(parts["nr"])
    transposed = bool(parts["nt"])
    has_tiles = has_amx_form(kind, WHOLE_BLOCK, columns, facts)
    if parts["how"] == "reserve":
        return emit_keeping(name, module, None, columns, *_panel_form(kind, facts, has_tiles=has_tiles))
    if parts["how"] == "keep":
        panels = name.replace("_keep_", "_panels_")
        module.define_once(panels, lambda: emit_microkernel(panels, module, facts))
        return emit_keeping(name, module, panels, columns, *_panel_form(kind, facts, has_tiles=has_tiles))
    if has_tiles:
        return emit_amx_panels(name, module, kind, transposed_b=transposed)
    tile = plan_block_tile(facts, kind, columns)
    return emit_block_panels(name, module, facts, kind, tile, transposed_b=transposed)


__all__ = [
    "EXACT",
    "KEEPING_PREFIXES",
    "MICROKERNEL_PREFIX",
    "MOST_ROWS",
    "SMALLEST_BLOCK",
    "STORES",
    "STORE_BYTES",
    "WHOLE_BLOCK",
    "MicrokernelName",
    "PanelPlan",
    "configure_tiles",
    "configured_name",
    "direct_name",
    "emit_microkernel",
    "exact_name",
    "flushes_subnormals",
    "is_product",
    "keeps_always",
    "parse_name",
    "plan_panels",
    "preferred_block",
    "release_tiles",
    "rows_for",
]

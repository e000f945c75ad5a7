"""Which micro-kernel serves best: variants for what a call is known to pass, block sizes, the form of panels."""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.microkernels.amx import amx_outputs, has_amx_form, has_size, uses_amx
from tilewright.codegen.microkernels.amx_panels import BLOCK as AMX_COLUMNS
from tilewright.codegen.microkernels.amx_panels import tile_depth
from tilewright.codegen.microkernels.block_tiles import fills_tiles, plan_block_tile
from tilewright.codegen.microkernels.elements import ElementKind, element_kind
from tilewright.codegen.microkernels.grouping import find_grouping
from tilewright.codegen.microkernels.panels import DEPTH_MULTIPLE
from tilewright.codegen.microkernels.spec import (
    MOST_ROWS,
    SMALLEST_BLOCK,
    WHOLE_BLOCK,
    MatmulKernel,
    Packing,
    PanelRoutine,
)
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass


def exact_variant(
    kernel: MatmulKernel, m_count: int, n_count: int, facts: TargetFacts, k_count: int | None = None
) -> MatmulKernel:
    """The kernel to call for counts that are known: the variant without edges where they fill its register tiles; on
    AMX tiles, that for few rows, or for this size, whose a_k_stride must be 1: without a `k_count` there is none."""
    if kernel.rows < SMALLEST_BLOCK:
        return kernel
    if has_amx_form(kernel, facts):
        if k_count is not None and has_size(kernel, (m_count, n_count, k_count)):
            return replace(kernel, counts=(m_count, n_count, k_count))
        return replace(kernel, rows=SMALLEST_BLOCK) if m_count <= SMALLEST_BLOCK else kernel
    lanes = facts.lanes(kernel.kind.accumulator_bits)
    for columns in (kernel.width,) if kernel.packed_b else (kernel.columns, 2 * lanes, lanes):
        if fills_tiles(plan_block_tile(facts, kernel.kind, columns), m_count, n_count):
            return replace(kernel, columns=kernel.columns if kernel.packed_b else columns, has_edges=False)
    return kernel


def direct_variant(kernel: MatmulKernel, facts: TargetFacts) -> MatmulKernel:
    """The kernel to call where a_k_stride is known to be 1: of some, a variant without code for other strides."""
    return replace(kernel, direct_a=True) if kernel.counts is None and has_amx_form(kernel, facts) else kernel


def configured_variant(kernel: MatmulKernel, facts: TargetFacts) -> MatmulKernel | None:
    """The kernel to call between `configure_tiles` and `release_tiles`; None for one that does not use AMX tiles."""
    return replace(kernel, is_configured=True) if has_amx_form(kernel, facts) else None


def flushes_subnormals(element: str, accumulator: str, facts: TargetFacts) -> bool:
    """Return whether the kernels for whole blocks take subnormal operands for zeros."""
    kind = element_kind(element, accumulator)
    return element == "bf16" and (uses_amx(element, facts) or find_grouping(kind, facts) is not None)


@dataclass(frozen=True, slots=True)
class PanelPlan:
    """How all of B is packed at once: by which routine, in how many bytes, and what kernels on the panels can do."""

    routine: PanelRoutine
    rows: int
    """Of each panel."""
    panels: int
    element_bytes: int
    """Of an element in a panel."""
    reads_any_a: bool
    """The kernels read A in place with any strides; else they copy it where its a_k_stride is not 1."""
    outputs: tuple[str, ...]
    """The types that the kernels can give a separate result."""
    kernels_fill: bool
    """The kernels can fill panels that are empty."""

    @property
    def bytes(self) -> int:
        """Of all panels together."""
        return self.panels * self.rows * self.routine.columns * self.element_bytes

    def by(self, packing: Packing) -> PanelPlan:
        """The plan with a routine that comes by the panels in another way."""
        return replace(self, routine=replace(self.routine, packing=packing))


def plan_panels(
    element: str, accumulator: str, k_count: int, n_count: int, facts: TargetFacts, *, transposed_b: bool = False
) -> PanelPlan:
    """The panels for a B of this shape."""
    kind, on_tiles = element_kind(element, accumulator), uses_amx(element, facts)
    if on_tiles:
        columns = AMX_COLUMNS
    else:
        lanes = facts.lanes(kind.accumulator_bits)
        widest = plan_block_tile(facts, kind, WHOLE_BLOCK).columns
        columns = next((c for c in (widest, 2 * lanes, lanes) if n_count % c == 0), widest)
    element_bytes, multiple = panel_form(kind, facts)
    return PanelPlan(
        PanelRoutine(Packing.PACK, element, accumulator, columns, transposed_b),
        rows=-(-k_count // multiple) * multiple,
        panels=-(-n_count // columns),
        element_bytes=element_bytes,
        reads_any_a=not on_tiles,
        outputs=amx_outputs(kind) if on_tiles else (accumulator,),
        kernels_fill=kind.memory == kind.accumulator,
    )


def panel_form(kind: ElementKind, facts: TargetFacts) -> tuple[int, int]:
    """Bytes of an element in a panel, and what the rows of B in a panel are padded to a multiple of."""
    if uses_amx(kind.name, facts):
        return kind.bytes, tile_depth(kind)
    grouping = find_grouping(kind, facts)
    group = 1 if grouping is None else grouping.group
    return kind.accumulator_bytes // group, DEPTH_MULTIPLE * group


def variant_for_rows(kernel: MatmulKernel, rows: int, facts: TargetFacts) -> MatmulKernel:
    """The kernel to tile a C of at most so many rows by: up to `MOST_ROWS`, one for few rows; up to `SMALLEST_BLOCK`,
    one that turns to these. On AMX tiles `exact_variant` finds kernels for few rows where the count is known."""
    if rows > SMALLEST_BLOCK:
        return replace(kernel, rows=WHOLE_BLOCK)
    if uses_amx(kernel.element, facts):
        return replace(kernel, rows=SMALLEST_BLOCK)
    if kernel.kind.is_integer:
        return replace(kernel, rows=WHOLE_BLOCK)
    for few in (1, 2, MOST_ROWS):
        if rows <= few:
            return replace(kernel, rows=few, for_few_rows=True)
    return replace(kernel, rows=SMALLEST_BLOCK)

"""How the operands of a product are read: in place, from a copy, or from panels that were packed before a loop.

scf.for { %s = linalg.matmul ins(%k, %q) ... }        %q does not change in the loop
  ->  call @tw_mk_panels_f32_f32_64(%q, ...) ; scf.for { call @tw_mk_..._panels(%k, ...) }
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.codegen.microkernels import MatmulKernel, PanelPlan, plan_panels
from tilewright.dialects import memref, scf
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.costs import LARGEST_PACKED_OPERAND
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.external_calls import call_microkernel
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
)
from tilewright.lowering.linalg_to_loops.provable import constant_of, is_same, known
from tilewright.lowering.linalg_to_loops.sources import Box, Source, Uniform, Window, Words
from tilewright.support.facts import TargetFacts


@dataclass(frozen=True, slots=True)
class Panel:
    """An operand of the product in memory: byte address of its first element, strides in elements."""

    address: SSAValue
    strides: tuple[Index, ...]
    element_bytes: int
    packed_from: SSAValue | None = None
    """Where the operand itself is, if the address is that of memory for its panels; the strides are its own, too."""


@dataclass(frozen=True, slots=True)
class Factor:
    """One side of a product: the tensor, how it is read now, its shape."""

    value: SSAValue
    source: Source
    shape: tuple[int, ...]


def panel(
    lowering: FunctionLowering,
    source: Source,
    shape: tuple[int, ...],
    *,
    k_dim: int,
    k_count: Index,
    unit_columns: bool = False,
) -> Panel:
    """An operand in place if it can be read there, else a copy in the arena."""
    match source:
        case Window() if not unit_columns or constant_of(source.strides[-1]) == 1:
            return in_place(lowering.emitter, source)
        case Box(inner=Window() as inner) if not unit_columns or constant_of(inner.strides[-1]) == 1:
            return box_panel(lowering, source, shape, k_dim, k_count)
        case _:
            return copied_panel(lowering, source, shape)


def in_place(emitter: LoopEmitter, window: Window) -> Panel:
    """Address arithmetic only."""
    size = bit_width(window.element) // 8
    base = emitter.value(memref.ExtractAlignedPointerAsIndexOp, (window.flat,), INDEX)
    return Panel(emitter.ssa(emitter.add(base, emitter.mul(window.offset, size))), window.strides, size)


def copied_panel(lowering: FunctionLowering, source: Source, shape: tuple[int, ...]) -> Panel:
    """A contiguous copy in the arena."""
    element = _element_of(source)
    buffer = lowering.memory.new_buffer(element, shape)
    lowering.copy(source, buffer)
    return in_place(lowering.emitter, buffer)


def _element_of(source: Source) -> Attribute:
    match source:
        case Uniform():
            return source.value.type
        case Window():
            return source.element
        case Box():
            return source.fill.type
        case Words():
            return i32


def box_panel(lowering: FunctionLowering, box: Box, shape: tuple[int, ...], k_dim: int, k_count: Index) -> Panel:
    """In place where the box turns out to be full; the k dimension may be cut by the number of terms instead."""
    emitter, inner = lowering.emitter, box.inner
    assert isinstance(inner, Window)
    full = is_full(emitter, box, shape, k_dim, k_count)
    if full is True:
        return in_place(emitter, inner)
    if full is False:
        return copied_panel(lowering, box, shape)
    dynamic = list(inner.strides)
    types = [INDEX] * (1 + len(dynamic))
    op, then_block, else_block = emitter.open_if(full, types)
    with emitter.at(then_block):
        direct = in_place(emitter, inner)
        emitter.yield_([direct.address, *(emitter.ssa(stride) for stride in direct.strides)])
    with emitter.at(else_block):
        copy = copied_panel(lowering, box, shape)
        emitter.yield_([copy.address, *(emitter.ssa(stride) for stride in copy.strides)])
    address, *strides = op.results
    kept: list[Index] = [1 if constant_of(old) == 1 and dim == len(shape) - 1 else new
                         for dim, (old, new) in enumerate(zip(inner.strides, strides, strict=True))]  # fmt: skip
    return Panel(address, tuple(kept), bit_width(inner.element) // 8)


def is_full(emitter: LoopEmitter, box: Box, shape: tuple[int, ...], k_dim: int, k_count: Index) -> SSAValue | bool:
    """Return whether a box has all elements of its shape; of the k dimension, up to `k_count`."""
    full: SSAValue | bool = True
    for dim, extent in enumerate(shape):
        if dim == k_dim and box.low[dim] == 0 and is_same(box.high[dim], k_count):
            continue
        if not (isinstance(box.low[dim], int) and box.low[dim] == 0):
            full = emitter.both(full, emitter.compare("sle", box.low[dim], 0))
        full = emitter.both(full, emitter.compare("sge", known(box.high[dim]), extent))
    return full


def _unpacked(
    lowering: FunctionLowering, kernel: MatmulKernel, source: Source, shape: tuple[int, ...], k_count: Index
) -> tuple[MatmulKernel, Panel]:
    """B where it is, or a copy, with adjacent columns or, where the kernel can read that, adjacent rows."""
    batch = len(shape) - 2
    if is_contiguous(source, batch) and not is_contiguous(source, batch + 1):
        order = (*range(batch), batch + 1, batch)
        turned = panel(lowering, sources.permute(source, order), tuple(shape[dim] for dim in order),
                       k_dim=batch + 1, k_count=k_count, unit_columns=True)  # fmt: skip
        strides = (*turned.strides[:batch], turned.strides[batch + 1], turned.strides[batch])
        return replace(kernel, transposed_b=True), replace(turned, strides=strides)
    return kernel, panel(lowering, source, shape, k_dim=batch, k_count=k_count, unit_columns=True)


def plan_operand_panels(
    lowering: FunctionLowering, kernel: MatmulKernel, b: Factor, k_count: Index
) -> PanelPlan | None:
    """Plan how all of B is packed at once; None where it is better read where it is."""
    if len(b.shape) != 2 or k_count != b.shape[0]:
        return None
    return plan_block_panels(kernel, b.shape, lowering.facts, is_transposed=not is_contiguous(b.source, 1))


def plan_block_panels(
    kernel: MatmulKernel, shape: tuple[int, ...], facts: TargetFacts, *, is_transposed: bool
) -> PanelPlan | None:
    """Plan the panels of a B of so many rows and columns; None where it is better read where it is."""
    depth, columns = shape
    if not kernel.has_panels or columns > kernel.columns:
        return None
    plan = plan_panels(kernel.element, kernel.accumulator, depth, columns, facts, transposed_b=is_transposed)
    return plan if plan.bytes <= LARGEST_PACKED_OPERAND else None


def find_invariant_loop(op: Operation, operand: SSAValue) -> Operation | None:
    """The outermost loop around `op` in which an operand of it does not change."""
    block = block_of(operand)
    found: Operation | None = None
    parent = op.parent_op()
    inside = op
    while parent is not None and inside.parent_block() is not block:
        if isinstance(parent, scf.ForOp | scf.WhileOp):
            found = parent
        inside, parent = parent, parent.parent_op()
    return found if parent is not None else None


def b_operand(
    lowering: FunctionLowering, op: Operation, kernel: MatmulKernel, b: Factor, k_count: Index
) -> tuple[MatmulKernel, Panel]:
    """B as the kernel reads it: packed before a loop that does not change it, else in place or copied."""
    plan = plan_operand_panels(lowering, kernel, b, k_count)
    loop = find_invariant_loop(op, b.value) if plan is not None else None
    if plan is None or loop is None:
        return _unpacked(lowering, kernel, b.source, b.shape, k_count)
    emitter = lowering.emitter
    block = loop.parent_block()
    assert block is not None
    depth, columns = b.shape
    source = lowering.source_before(b.value, loop)
    with emitter.at(Cursor(block, loop)):
        kernel, plain = _unpacked(lowering, kernel, source, b.shape, depth)
        packed = lowering.memory.new_buffer(i8, (plan.bytes,))
        place = in_place(emitter, packed)
        stride = plain.strides[-1 if kernel.transposed_b else -2]
        call_microkernel(emitter, plan.routine, (plain.address, stride, place.address, depth, columns))
    kernel = replace(kernel, panel_columns=plan.routine.columns, transposed_b=False)
    return kernel, Panel(place.address, (0, 0), place.element_bytes)


def is_contiguous(source: Source, dim: int) -> bool:
    """Return whether neighbours in a dimension are neighbours in memory."""
    window = source.inner if isinstance(source, Box) else source
    return isinstance(window, Window) and constant_of(window.strides[dim]) == 1


def block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent_block()

"""How the operands of a matmul are read: in place, or from a copy with their padding."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import memref
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops import sources
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, Splat, StridedView, Words
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, fold_index, is_same


@dataclass(frozen=True, slots=True)
class MatrixAddress:
    """An operand of a matmul in memory: byte address of its first element, strides in elements."""

    address: SSAValue
    strides: tuple[Index, ...]
    element_bytes: int
    packed_from: SSAValue | None = None
    """Where the matrix itself is, if the address is that of memory for its panels; the strides are its own, too."""


def operand_address(
    lowering: FunctionLowering,
    source: Source,
    shape: tuple[int, ...],
    *,
    k_dim: int,
    k_count: Index,
    unit_columns: bool = False,
) -> MatrixAddress:
    """An operand in place if it can be read there, else a copy in the arena."""
    match source:
        case StridedView() if not unit_columns or constant_of(source.strides[-1]) == 1:
            return in_place(lowering.emitter, source)
        case PaddedView(inner=StridedView() as inner) if not unit_columns or constant_of(inner.strides[-1]) == 1:
            return box_address(lowering, source, shape, k_dim, k_count)
        case _:
            return copied_operand(lowering, source, shape)


def in_place(emitter: LoopEmitter, view: StridedView) -> MatrixAddress:
    """Address arithmetic only."""
    size = bit_width(view.element) // 8
    base = emitter.value(memref.ExtractAlignedPointerAsIndexOp, (view.flat,), INDEX)
    return MatrixAddress(emitter.ssa(emitter.add(base, emitter.mul(view.offset, size))), view.strides, size)


def copied_operand(lowering: FunctionLowering, source: Source, shape: tuple[int, ...]) -> MatrixAddress:
    """A contiguous copy in the arena."""
    element = _element_of(source)
    buffer = lowering.memory.new_buffer(element, shape)
    lowering.copy(source, buffer)
    return in_place(lowering.emitter, buffer)


def _element_of(source: Source) -> Attribute:
    match source:
        case Splat():
            return source.value.type
        case StridedView():
            return source.element
        case PaddedView():
            return source.fill.type
        case Words():
            return i32


def box_address(
    lowering: FunctionLowering, padded: PaddedView, shape: tuple[int, ...], k_dim: int, k_count: Index
) -> MatrixAddress:
    """Read a padded view in place if a run-time check finds it full; along K the number of terms may be cut instead."""
    emitter, inner = lowering.emitter, padded.inner
    assert isinstance(inner, StridedView)
    full = is_full(emitter, padded, shape, k_dim, k_count)
    if full is True:
        return in_place(emitter, inner)
    if full is False:
        return copied_operand(lowering, padded, shape)
    dynamic = list(inner.strides)
    types = [INDEX] * (1 + len(dynamic))
    op, then_block, else_block = emitter.open_if(full, types)
    with emitter.at(then_block):
        direct = in_place(emitter, inner)
        emitter.yield_([direct.address, *(emitter.ssa(stride) for stride in direct.strides)])
    with emitter.at(else_block):
        copy = copied_operand(lowering, padded, shape)
        emitter.yield_([copy.address, *(emitter.ssa(stride) for stride in copy.strides)])
    address, *strides = op.results
    kept: list[Index] = [1 if constant_of(old) == 1 and dim == len(shape) - 1 else new
                         for dim, (old, new) in enumerate(zip(inner.strides, strides, strict=True))]  # fmt: skip
    return MatrixAddress(address, tuple(kept), bit_width(inner.element) // 8)


def is_full(
    emitter: LoopEmitter, padded: PaddedView, shape: tuple[int, ...], k_dim: int, k_count: Index
) -> SSAValue | bool:
    """Return whether a padded view has all elements of its shape; of the k dimension, up to `k_count`."""
    full: SSAValue | bool = True
    for dim, extent in enumerate(shape):
        if dim == k_dim and padded.low[dim] == 0 and is_same(padded.high[dim], k_count):
            continue
        if not (isinstance(padded.low[dim], int) and padded.low[dim] == 0):
            full = emitter.both(full, emitter.compare("sle", padded.low[dim], 0))
        full = emitter.both(full, emitter.compare("sge", fold_index(padded.high[dim]), extent))
    return full


def right_operand(
    lowering: FunctionLowering, source: Source, shape: tuple[int, ...], k_count: Index
) -> tuple[MatrixAddress, bool]:
    """B where it is, or a copy, with adjacent columns or adjacent rows; whether its rows are adjacent."""
    batch = len(shape) - 2
    if is_contiguous(source, batch) and not is_contiguous(source, batch + 1):
        order = (*range(batch), batch + 1, batch)
        transposed = operand_address(lowering, sources.permute(source, order), tuple(shape[dim] for dim in order),
                                     k_dim=batch + 1, k_count=k_count, unit_columns=True)  # fmt: skip
        strides = (*transposed.strides[:batch], transposed.strides[batch + 1], transposed.strides[batch])
        return replace(transposed, strides=strides), True
    return operand_address(lowering, source, shape, k_dim=batch, k_count=k_count, unit_columns=True), False


def is_contiguous(source: Source, dim: int) -> bool:
    """Return whether neighbours in a dimension are neighbours in memory."""
    view = source.inner if isinstance(source, PaddedView) else source
    return isinstance(view, StridedView) and constant_of(view.strides[dim]) == 1

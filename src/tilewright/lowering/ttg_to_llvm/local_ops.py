"""Buffers in shared memory: allocation, loads and stores of tensors, views.

A slice begins at a multiple of its size (the verifier sees to it), so the place of an element in the buffer is its
place in the slice XOR the place where the slice begins, see `SharedValue`.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import ttg
from tilewright.dialects.construction import static_values
from tilewright.layouts.access import AccessKind
from tilewright.lowering.ttg_to_llvm.buffers import (
    as_buffer,
    buffer_addresses,
    pads_of,
    plan_buffer_access,
    reaches_elsewhere,
    slot_bytes,
    slots_before,
    static_image,
    tile_of,
    writer_predicate,
)
from tilewright.lowering.ttg_to_llvm.cluster_access import load_in_cluster, store_in_cluster
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.shared_access import emit_loads, emit_stores, step_pointer
from tilewright.lowering.ttg_to_llvm.values import RANK_SHIFT, SharedValue, is_literal

STORE_MATRIX_CAPABILITY, LOAD_MATRIX_CAPABILITY = 90, 75


@lowers(ttg.LocalAllocOp)
def lower_local_alloc(op: ttg.LocalAllocOp, fn: GpuFunctionLowering) -> None:
    fn.set(op.result, SharedValue(fn.shared_pointer(op)))
    if op.src is not None:
        _store(fn, op.src, op.result)


@lowers(ttg.LocalDeallocOp)
def lower_local_dealloc(op: ttg.LocalDeallocOp, fn: GpuFunctionLowering) -> None:
    """Lifetimes are the allocation's business."""


@lowers(ttg.LocalStoreOp)
def lower_local_store(op: ttg.LocalStoreOp, fn: GpuFunctionLowering) -> None:
    _store(fn, op.src, op.dst)


def _store(fn: GpuFunctionLowering, tensor: SSAValue, target: SSAValue) -> None:
    """Write a tensor to a buffer; of threads that hold the same element one writes."""
    buffer = as_buffer(target)
    if reaches_elsewhere(fn.layout(tensor), buffer, writes=True):
        store_in_cluster(fn, tensor, target)
        return
    matrices = fn.facts.capability >= STORE_MATRIX_CAPABILITY
    access, offsets = plan_buffer_access(fn, tensor, buffer, writes=True, matrices=matrices)
    addresses = buffer_addresses(fn, fn.shared(target), access, buffer)
    predicate = writer_predicate(fn, offsets, whole_warps=access.kind is not AccessKind.VECTOR)
    emit_stores(fn, access, addresses, fn.element(tensor), fn.registers(tensor), predicate=predicate)


@lowers(ttg.LocalLoadOp)
def lower_local_load(op: ttg.LocalLoadOp, fn: GpuFunctionLowering) -> None:
    buffer = as_buffer(op.src)
    if reaches_elsewhere(fn.layout(op.result), buffer, writes=False):
        fn.set(op.result, load_in_cluster(fn, op.result, op.src))
        return
    matrices = fn.facts.capability >= LOAD_MATRIX_CAPABILITY
    access, _ = plan_buffer_access(fn, op.result, buffer, writes=False, matrices=matrices)
    addresses = buffer_addresses(fn, fn.shared(op.src), access, buffer)
    registers = [""] * len(access.copies)
    emit_loads(fn, access, addresses, fn.element(op.result), registers)
    fn.set(op.result, registers)


# ---------------------------------------------------------------------------------------------------------------- views


@lowers(ttg.MemDescIndexOp)
def lower_memdesc_index(op: ttg.MemDescIndexOp, fn: GpuFunctionLowering) -> None:
    size = slot_bytes(as_buffer(op.result))
    index = fn.scalar(op.index)
    offset = str(int(index) * size) if is_literal(index) else fn.text.binary("mul", "i32", index, size)
    source = fn.shared(op.src)
    fn.set(op.result, SharedValue(step_pointer(fn, source.base, offset), source.flip))


@lowers(ttg.MemDescSubsliceOp)
def lower_memdesc_subslice(op: ttg.MemDescSubsliceOp, fn: GpuFunctionLowering) -> None:
    source, type, offsets = fn.shared(op.src), as_buffer(op.src), static_values(op.offsets)
    tile = tile_of(type)
    before = slots_before(type, offsets) * slot_bytes(type)  # whole buffers lie one after the other
    offset, rank = static_image(tile, offsets[-len(tile.get_shape()) :])
    if pads_of(type):  # gaps come in between: such layouts permute nothing, and offsets add up
        before, offset = before + offset, 0
    base = step_pointer(fn, source.base, str(before)) if before else source.base
    moved = offset | rank << RANK_SHIFT
    flip = str(int(source.flip) ^ moved) if is_literal(source.flip) else f"xor i32 {source.flip}, {moved}"
    fn.set(op.result, SharedValue(base, flip if is_literal(source.flip) or not moved else fn.text.value(flip)))


@lowers(ttg.MemDescTransOp, ttg.MemDescReshapeOp, ttg.MemDescReinterpretOp)
def lower_view(
    op: ttg.MemDescTransOp | ttg.MemDescReshapeOp | ttg.MemDescReinterpretOp, fn: GpuFunctionLowering
) -> None:
    """The same memory under another layout."""
    fn.set(op.result, fn.shared(op.src))

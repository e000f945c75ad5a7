"""Loads and stores of vectors, gathers and scatters; masked-off lanes touch no memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.codegen.lane_builder import intrinsic_suffix
from tilewright.dialects import vector
from tilewright.lowering.loops_to_llvm.addressing import (
    element_address,
    emit_element_load,
    emit_element_store,
    from_memory,
    memory_text,
    memory_type,
    nontemporal_suffix,
    to_memory,
)
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.gather_to_permute import (
    LaneOffsets,
    compare_offsets,
    gather_or_permute,
    may_permute,
)
from tilewright.lowering.loops_to_llvm.mask_bits import for_masked_store, for_scalar_use
from tilewright.lowering.loops_to_llvm.masked_access import emit_masked_load, emit_masked_store, may_become_masked_store
from tilewright.lowering.loops_to_llvm.types import ValueType


def _alignment(op: Operation) -> int:
    """The promised alignment in bytes, 0 when there is none."""
    attr = op.properties.get("alignment") or op.attributes.get("alignment")
    return attr.value.data if isinstance(attr, IntegerAttr) else 0


@lowers(vector.LoadOp)
def lower_load(op: vector.LoadOp, low: CpuFunctionLowering) -> None:
    base = op.operands[0]
    address = element_address(low, base, low.memref(base), op.operands[1:])
    value = emit_element_load(low, op.results[0].type, address, nontemporal_suffix(low, op), _alignment(op))
    if may_become_masked_store(op):
        value = low.fn.unary("freeze", low.type_of(op.results[0]).text, value)  # LLVM sees no load through it
    low.set(op.results[0], value)


@lowers(vector.StoreOp)
def lower_store(op: vector.StoreOp, low: CpuFunctionLowering) -> None:
    value, base = op.operands[0], op.operands[1]
    address = element_address(low, base, low.memref(base), op.operands[2:])
    emit_element_store(low, value.type, low.get(value), address, nontemporal_suffix(low, op), _alignment(op))


@lowers(vector.MaskedLoadOp)
def lower_masked_load(op: vector.MaskedLoadOp, low: CpuFunctionLowering) -> None:
    address, (mask, passed) = _first_address(low, op)
    type = low.type_of(op.results[0])
    other = to_memory(low, type, low.get(passed))
    at = (address, _alignment(op) or type.scalar.bytes)
    loaded = emit_masked_load(low, type, memory_text(type), at, low.get(mask), other)
    low.set(op.results[0], from_memory(low, type, loaded))


@lowers(vector.MaskedStoreOp)
def lower_masked_store(op: vector.MaskedStoreOp, low: CpuFunctionLowering) -> None:
    address, (mask, value) = _first_address(low, op)
    type = low.type_of(value)
    stored, lanes = to_memory(low, type, low.get(value)), low.get(mask)
    if type.scalar.memory.startswith("i"):
        stored, lanes = for_masked_store(low, stored, lanes, 8 * type.scalar.bytes, type.lanes)
    at = (address, _alignment(op) or type.scalar.bytes)
    emit_masked_store(low, type, memory_text(type), at, lanes, stored)


def _first_address(low: CpuFunctionLowering, op: Operation) -> tuple[str, Sequence[SSAValue]]:
    """The address that an access by lanes is made at, or that its lanes count from, and the operands after it."""
    base, *others = op.operands
    rank = cast("MemRefType[Attribute]", base.type).get_num_dims()
    return element_address(low, base, low.memref(base), others[:rank]), others[rank:]


def _lane_addresses(low: CpuFunctionLowering, text: str, address: str, indices: SSAValue) -> str:
    return low.fn.address(text, address, low.get(indices), index_type=low.type_of(indices).text)


def _lane_by_lane_mask(low: CpuFunctionLowering, type: ValueType, mask: SSAValue) -> str:
    """The mask of a gather or scatter: there are instructions for elements of 32 and 64 bits only."""
    return low.get(mask) if type.scalar.bytes >= 4 else for_scalar_use(low, low.get(mask), type.lanes)


@lowers(vector.GatherOp)
def lower_gather(op: vector.GatherOp, low: CpuFunctionLowering) -> None:
    address, (indices, mask, passed) = _first_address(low, op)
    text, type = memory_type(low, op.operands[0].type)[0], low.type_of(op.results[0])

    def gather() -> str:
        memory, other = memory_text(type), to_memory(low, type, low.get(passed))
        pointers = type.of("ptr")
        name = f"llvm.masked.gather.{intrinsic_suffix(type.scalar.memory, type.lanes)}.v{type.lanes}p0"
        arguments = [
            (f"{pointers} align {type.scalar.bytes}", _lane_addresses(low, text, address, indices)),
            (type.of("i1"), _lane_by_lane_mask(low, type, mask)),
            (memory, other),
        ]
        return from_memory(low, type, low.fn.call(memory, name, arguments))

    if may_permute(low.module.facts, indices, type):
        near = _lane_offsets(low, op, indices, mask)
        low.set(op.results[0], gather_or_permute(low.fn, type, (text, address), near, gather))
    else:
        low.set(op.results[0], gather())


def _lane_offsets(low: CpuFunctionLowering, op: Operation, indices: SSAValue, mask: SSAValue) -> LaneOffsets:
    """Return the run-time check of lanes' offsets, emitted once for all gathers of a block at the same offsets."""
    key = (op.parent_block(), indices, low.get(mask))
    if (found := low.lane_offsets.get(key)) is None:
        type = low.type_of(indices)
        found = compare_offsets(low.fn, type.lanes, type.scalar.text, low.get(indices), low.get(mask))
        low.lane_offsets[key] = found
    return found


@lowers(vector.ScatterOp)
def lower_scatter(op: vector.ScatterOp, low: CpuFunctionLowering) -> None:
    """Lanes are stored in order: of lanes with one address the last wins."""
    address, (indices, mask, value) = _first_address(low, op)
    text, type = memory_type(low, op.operands[0].type)[0], low.type_of(value)
    stored = to_memory(low, type, low.get(value))
    pointers = type.of("ptr")
    name = f"llvm.masked.scatter.{intrinsic_suffix(type.scalar.memory, type.lanes)}.v{type.lanes}p0"
    arguments = [
        (memory_text(type), stored),
        (f"{pointers} align {type.scalar.bytes}", _lane_addresses(low, text, address, indices)),
        (type.of("i1"), _lane_by_lane_mask(low, type, mask)),
    ]
    low.fn.call("void", name, arguments)

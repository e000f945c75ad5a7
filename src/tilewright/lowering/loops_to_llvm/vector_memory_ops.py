"""Loads and stores of vectors, gathers and scatters; masked-off lanes touch no memory."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.codegen.lane_builder import intrinsic_suffix
from tilewright.dialects import vector
from tilewright.lowering.loops_to_llvm.addressing import (
    element_address,
    emit_element_load,
    emit_element_store,
    memory_type,
    nontemporal_suffix,
)
from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering
from tilewright.lowering.loops_to_llvm.gather_to_permute import (
    LaneOffsets,
    compare_offsets,
    gather_or_permute,
    may_permute,
)
from tilewright.lowering.loops_to_llvm.mask_bits import for_masked_store, for_scalar_use
from tilewright.lowering.loops_to_llvm.masked_access import emit_masked_load, emit_masked_store, may_become_masked_store
from tilewright.lowering.loops_to_llvm.rules import lowers
from tilewright.lowering.loops_to_llvm.types import ValueType


def _rank(value: SSAValue) -> int:
    return cast("MemRefType[Attribute]", value.type).get_num_dims()


def _alignment(op: Operation) -> int:
    """The promised alignment in bytes, 0 when there is none."""
    attr = op.properties.get("alignment") or op.attributes.get("alignment")
    return attr.value.data if isinstance(attr, IntegerAttr) else 0


@lowers(vector.LoadOp)
def lower_load(op: vector.LoadOp, low: FunctionLowering) -> None:
    base = op.operands[0]
    address = element_address(low, base, low.memref(base), op.operands[1:])
    value = emit_element_load(low, op.results[0].type, address, nontemporal_suffix(low, op), _alignment(op))
    if may_become_masked_store(op):
        value = low.fn.unary("freeze", low.type_of(op.results[0]).text, value)  # LLVM sees no load through it
    low.set(op.results[0], value)


@lowers(vector.StoreOp)
def lower_store(op: vector.StoreOp, low: FunctionLowering) -> None:
    value, base = op.operands[0], op.operands[1]
    address = element_address(low, base, low.memref(base), op.operands[2:])
    emit_element_store(low, value.type, low.get(value), address, nontemporal_suffix(low, op), _alignment(op))


@lowers(vector.MaskedLoadOp)
def lower_masked_load(op: vector.MaskedLoadOp, low: FunctionLowering) -> None:
    base = op.operands[0]
    rank = _rank(base)
    address = element_address(low, base, low.memref(base), op.operands[1 : 1 + rank])
    mask, passed = op.operands[1 + rank], op.operands[2 + rank]
    type = low.type_of(op.results[0])
    align = _alignment(op) or type.scalar.bytes
    memory, other = _to_memory(low, type, low.get(passed))
    loaded = emit_masked_load(low, type, memory, (address, align), low.get(mask), other)
    low.set(op.results[0], _from_memory(low, type, loaded))


@lowers(vector.MaskedStoreOp)
def lower_masked_store(op: vector.MaskedStoreOp, low: FunctionLowering) -> None:
    base = op.operands[0]
    rank = _rank(base)
    address = element_address(low, base, low.memref(base), op.operands[1 : 1 + rank])
    mask, value = op.operands[1 + rank], op.operands[2 + rank]
    type = low.type_of(value)
    align = _alignment(op) or type.scalar.bytes
    memory, stored = _to_memory(low, type, low.get(value))
    lanes = low.get(mask)
    if type.scalar.memory.startswith("i"):
        stored, lanes = for_masked_store(low, stored, lanes, 8 * type.scalar.bytes, type.lanes)
    emit_masked_store(low, type, memory, (address, align), lanes, stored)


def _to_memory(low: FunctionLowering, type: ValueType, value: str) -> tuple[str, str]:
    """The memory type of a vector and the value in it."""
    if type.scalar.text != "i1":
        return type.text, value
    memory = type.of("i8")
    return memory, low.fn.cast("zext", type.text, value, memory)


def _from_memory(low: FunctionLowering, type: ValueType, value: str) -> str:
    if type.scalar.text != "i1":
        return value
    return low.fn.icmp("ne", type.of("i8"), value, "zeroinitializer")


def _base_address(low: FunctionLowering, op: Operation) -> tuple[str, str, SSAValue, SSAValue, SSAValue]:
    """Elements' type and the address that lanes of a gather or scatter count from; indices, mask, last operand."""
    base = op.operands[0]
    rank = _rank(base)
    address = element_address(low, base, low.memref(base), op.operands[1 : 1 + rank])
    text, _ = memory_type(low, base.type)
    indices, mask, last = op.operands[1 + rank : 4 + rank]
    return text, address, indices, mask, last


def _lane_addresses(low: FunctionLowering, text: str, address: str, indices: SSAValue) -> str:
    return low.fn.address(text, address, low.get(indices), index_type=low.type_of(indices).text)


def _lane_by_lane_mask(low: FunctionLowering, type: ValueType, mask: SSAValue) -> str:
    """The mask of a gather or scatter: there are instructions for elements of 32 and 64 bits only."""
    return low.get(mask) if type.scalar.bytes >= 4 else for_scalar_use(low, low.get(mask), type.lanes)


@lowers(vector.GatherOp)
def lower_gather(op: vector.GatherOp, low: FunctionLowering) -> None:
    text, address, indices, mask, passed = _base_address(low, op)
    type = low.type_of(op.results[0])

    def gather() -> str:
        memory, other = _to_memory(low, type, low.get(passed))
        pointers = type.of("ptr")
        name = f"llvm.masked.gather.{intrinsic_suffix(type.scalar.memory, type.lanes)}.v{type.lanes}p0"
        arguments = [
            (f"{pointers} align {type.scalar.bytes}", _lane_addresses(low, text, address, indices)),
            (type.of("i1"), _lane_by_lane_mask(low, type, mask)),
            (memory, other),
        ]
        return _from_memory(low, type, low.fn.call(memory, name, arguments))

    if may_permute(low.module.facts, indices, type):
        near = _lane_offsets(low, op, indices, mask)
        low.set(op.results[0], gather_or_permute(low.fn, type, (text, address), near, gather))
    else:
        low.set(op.results[0], gather())


def _lane_offsets(low: FunctionLowering, op: Operation, indices: SSAValue, mask: SSAValue) -> LaneOffsets:
    """Return the run-time check of lanes' offsets, emitted once for all gathers of a block at the same offsets."""
    key = (op.parent_block(), indices, low.get(mask))
    if (found := low.lane_offsets.get(key)) is None:
        type = low.type_of(indices)
        found = compare_offsets(low.fn, type.lanes, type.scalar.text, low.get(indices), low.get(mask))
        low.lane_offsets[key] = found
    return found


@lowers(vector.ScatterOp)
def lower_scatter(op: vector.ScatterOp, low: FunctionLowering) -> None:
    """Lanes are stored in order: of lanes with one address the last wins."""
    text, address, indices, mask, value = _base_address(low, op)
    type = low.type_of(value)
    memory, stored = _to_memory(low, type, low.get(value))
    pointers = type.of("ptr")
    name = f"llvm.masked.scatter.{intrinsic_suffix(type.scalar.memory, type.lanes)}.v{type.lanes}p0"
    arguments = [
        (memory, stored),
        (f"{pointers} align {type.scalar.bytes}", _lane_addresses(low, text, address, indices)),
        (type.of("i1"), _lane_by_lane_mask(low, type, mask)),
    ]
    low.fn.call("void", name, arguments)

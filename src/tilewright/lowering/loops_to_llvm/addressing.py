"""Addresses of elements, and loads and stores whose memory type differs from the register type (i1 is a byte)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.memref_value import MemrefValue
from tilewright.lowering.loops_to_llvm.types import ValueType


def memory_type(low: CpuFunctionLowering, type: Attribute) -> tuple[str, int]:
    """The LLVM type and byte size of an element of a memref type."""
    scalar = low.scalar_type(cast("MemRefType[Attribute] | UnrankedMemRefType[Attribute]", type).element_type)
    return scalar.memory, scalar.bytes


def element_address(low: CpuFunctionLowering, value: SSAValue, memref: MemrefValue, indices: Sequence[SSAValue]) -> str:
    """The address of memref[indices]."""
    offset = low.math.linear(memref, [low.index(index) for index in indices])
    if offset == 0:
        return memref.base
    text, _ = memory_type(low, value.type)
    return low.fn.address(text, memref.base, offset)


def nontemporal_suffix(low: CpuFunctionLowering, op: Operation) -> str:
    """The metadata of an access that should not stay in the cache."""
    flag = op.properties.get("nontemporal")
    if isinstance(flag, IntegerAttr) and flag.value.data:
        low.module.needs.streams = True
        return f", !nontemporal {low.fn.module.metadata('!{i32 1}')}"
    return ""


def emit_element_load(
    low: CpuFunctionLowering,
    type: Attribute,
    address: str,
    suffix: str = "",
    align: int = 0,
    *,
    is_volatile: bool = False,
) -> str:
    """Load a scalar or vector; `align` in bytes, the element's size unless given."""
    flags = "volatile " if is_volatile else ""
    value = low.module.types.value(type)
    align = align or value.scalar.bytes
    memory = memory_text(value)
    return from_memory(low, value, low.fn.load(memory, address, align=align, flags=flags, suffix=suffix))


def emit_element_store(
    low: CpuFunctionLowering, type: Attribute, operand: str, address: str, suffix: str = "", align: int = 0
) -> None:
    """Store a scalar or vector; `align` in bytes, the element's size unless given."""
    value = low.module.types.value(type)
    align = align or value.scalar.bytes
    low.fn.store(memory_text(value), to_memory(low, value, operand), address, align=align, suffix=suffix)


def memory_text(type: ValueType) -> str:
    """The type that a scalar or vector has in memory."""
    return type.of("i8") if type.scalar.text == "i1" else type.text


def to_memory(low: CpuFunctionLowering, type: ValueType, value: str) -> str:
    """A scalar or vector as it is stored."""
    return low.fn.cast("zext", type.text, value, type.of("i8")) if type.scalar.text == "i1" else value


def from_memory(low: CpuFunctionLowering, type: ValueType, value: str) -> str:
    """Convert a loaded value to a scalar or vector of its own type."""
    if type.scalar.text != "i1":
        return value
    return low.fn.icmp("ne", type.of("i8"), value, "zeroinitializer" if type.lanes else "0")

"""Addresses of elements, and loads and stores whose memory type differs from the register type (i1 is a byte)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering
from tilewright.lowering.loops_to_llvm.memref_value import MemrefValue


def memory_type(low: FunctionLowering, type: Attribute) -> tuple[str, int]:
    """The LLVM type and byte size of an element of a memref type."""
    scalar = low.scalar_type(cast("MemRefType[Attribute] | UnrankedMemRefType[Attribute]", type).element_type)
    return scalar.memory, scalar.bytes


def element_address(low: FunctionLowering, value: SSAValue, memref: MemrefValue, indices: Sequence[SSAValue]) -> str:
    """The address of memref[indices]."""
    offset = low.math.linear(memref, [low.index(index) for index in indices])
    if offset == 0:
        return memref.base
    text, _ = memory_type(low, value.type)
    return low.fn.address(text, memref.base, offset)


def nontemporal_suffix(low: FunctionLowering, op: Operation) -> str:
    """The metadata of an access that should not stay in the cache."""
    flag = op.properties.get("nontemporal")
    if isinstance(flag, IntegerAttr) and flag.value.data:
        low.module.streams = True
        return f", !nontemporal {low.fn.module.metadata('!{i32 1}')}"
    return ""


def emit_element_load(
    low: FunctionLowering, type: Attribute, address: str, suffix: str = "", align: int = 0, *, is_volatile: bool = False
) -> str:
    """Load a scalar or vector; `align` in bytes, the element's size unless given."""
    flags = "volatile " if is_volatile else ""
    value = low.module.types.value(type)
    align = align or value.scalar.bytes
    if value.scalar.text != "i1":
        return low.fn.load(value.text, address, align=align, flags=flags, suffix=suffix)
    memory = value.of("i8")
    loaded = low.fn.load(memory, address, align=align, flags=flags, suffix=suffix)
    return low.fn.icmp("ne", memory, loaded, "zeroinitializer" if value.lanes else "0")


def emit_element_store(
    low: FunctionLowering, type: Attribute, operand: str, address: str, suffix: str = "", align: int = 0
) -> None:
    """Store a scalar or vector; `align` in bytes, the element's size unless given."""
    value = low.module.types.value(type)
    align = align or value.scalar.bytes
    text = value.text
    if value.scalar.text == "i1":
        text = value.of("i8")
        operand = low.fn.cast("zext", value.text, operand, text)
    low.fn.store(text, operand, address, align=align, suffix=suffix)

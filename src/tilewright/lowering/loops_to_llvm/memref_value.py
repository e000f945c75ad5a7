"""A memref while it is being lowered: a base pointer, an offset, sizes and strides; static ones are Python ints.

Offsets and strides count elements. Where a memref has to be passed on (loop-carried, block argument, call), its dynamic
parts travel as separate LLVM values in the order pointer, offset, sizes, strides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr, UnrankedMemRefType
from xdsl.ir import Attribute

from tilewright.codegen.llvm_text import FunctionText
from tilewright.support.records import dataclass

Index: TypeAlias = int | str
"""A known number, or the i64 register that holds it."""


@dataclass(frozen=True)
class MemrefValue:
    """base[offset + sum(index * stride)] with `element` the LLVM memory type of an element."""

    base: str
    offset: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]

    @property
    def rank(self) -> int:
        return len(self.sizes)


class IndexMath:
    """Arithmetic on i64 that is done here where the operands are known, and by LLVM otherwise."""

    def __init__(self, fn: FunctionText) -> None:
        self.fn = fn

    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        if b == 0:
            return a
        return self.fn.binary("add", "i64", a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        if b == 1:
            return a
        return self.fn.binary("mul", "i64", a, b)

    def linear(self, memref: MemrefValue, indices: list[Index] | tuple[Index, ...]) -> Index:
        """The element offset of memref[indices] from its base pointer."""
        total = memref.offset
        for index, stride in zip(indices, memref.strides, strict=True):
            total = self.add(total, self.mul(index, stride))
        return total


def as_index(operand: str) -> Index:
    """An i64 operand as a Python int where it is a literal."""
    return operand if operand[0] == "%" else int(operand)


@dataclass(frozen=True)
class MemrefShape:
    """What a memref type says: static sizes, strides and offset; None where dynamic."""

    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    is_unranked: bool = False


def shape_of(type: Attribute) -> MemrefShape:
    """The static facts of a memref type. Raises ValueError for a layout that is not strided."""
    if isinstance(type, UnrankedMemRefType):
        return MemrefShape((), (), 0, is_unranked=True)
    assert isinstance(type, MemRefType)
    sizes = tuple(None if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())
    layout = type.layout
    if isinstance(layout, NoneAttr):
        return MemrefShape(sizes, _row_major(sizes), 0)
    if isinstance(layout, StridedLayoutAttr):
        strides = tuple(None if isinstance(s, NoneAttr) else s.data for s in layout.strides.data)
        offset = None if isinstance(layout.offset, NoneAttr) else layout.offset.data
        return MemrefShape(sizes, strides, offset)
    if (strides := type.get_strides()) is not None:
        return MemrefShape(sizes, tuple(strides), None)
    raise ValueError(f"the layout of {type} is not strided")


def _row_major(sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    strides: list[int | None] = []
    stride: int | None = 1
    for size in reversed(sizes):
        strides.append(stride)
        stride = None if stride is None or size is None else stride * size
    return tuple(reversed(strides))


def with_static(type: Attribute, value: MemrefValue) -> MemrefValue:
    """The same memref, with what its type knows put in place of registers."""
    shape = shape_of(type)
    if shape.is_unranked:
        return MemrefValue(value.base, 0, (), ())
    return MemrefValue(
        value.base,
        value.offset if shape.offset is None else shape.offset,
        tuple(v if s is None else s for s, v in zip(shape.sizes, value.sizes, strict=True)),
        tuple(v if s is None else s for s, v in zip(shape.strides, value.strides, strict=True)),
    )


def flatten(type: Attribute, value: MemrefValue) -> list[tuple[str, str]]:
    """The (LLVM type, operand) pairs that carry a memref: the pointer and all parts that its type leaves open."""
    shape = shape_of(type)
    parts = [("ptr", value.base)]
    if shape.offset is None:
        parts.append(("i64", str(value.offset)))
    parts.extend(("i64", str(v)) for s, v in zip(shape.sizes, value.sizes, strict=True) if s is None)
    parts.extend(("i64", str(v)) for s, v in zip(shape.strides, value.strides, strict=True) if s is None)
    return parts


def flat_types(type: Attribute) -> list[str]:
    """The LLVM types of what `flatten` gives."""
    shape = shape_of(type)
    dynamic = (shape.offset is None) + sum(s is None for s in shape.sizes) + sum(s is None for s in shape.strides)
    return ["ptr"] + ["i64"] * dynamic


def unflatten(type: Attribute, registers: Iterator[str]) -> MemrefValue:
    """The memref that `flatten` took apart, from registers in the same order."""
    shape = shape_of(type)
    base = next(registers)
    offset = as_index(next(registers)) if shape.offset is None else shape.offset
    sizes = tuple(as_index(next(registers)) if s is None else s for s in shape.sizes)
    strides = tuple(as_index(next(registers)) if s is None else s for s in shape.strides)
    return MemrefValue(base, offset, sizes, strides)

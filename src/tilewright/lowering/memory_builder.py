"""Emitting accesses to memory: pointer arguments as unranked memrefs, strided views of them, single elements, local
buffers.

A pointer becomes memory through a cast that `triton-ptr-to-memref` resolves when it changes the signatures:

```mlir
%m = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to memref<*xf32>
%v = memref.reinterpret_cast %m to offset: [%o], sizes: [4, 8], strides: [%ld, 1]
     : memref<*xf32> to memref<4x8xf32, strided<[?, 1], offset: ?>>
```
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import bufferization, linalg, memref, tt
from tilewright.dialects.tt.types import PointerType
from tilewright.ir.builder import Cursor
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.tensor_builder import (
    TensorBuilder,
    element_of,
    memref_of,
    unranked_memref_of,
)
from tilewright.transforms.linalg.index_proofs import fold_index

DEFAULT_ADDRESS_SPACE = 1


class NotAddressable(Exception):
    """The memory of a pointer cannot be expressed as a memref; the message becomes a remark. Raised before anything is
    emitted."""


def _same_width(source: SSAValue, result: SSAValue) -> bool:
    """Return whether two pointers point to numbers of one width, other than single bits (memory keeps those in
    bytes).
    """
    kinds = [value.type for value in (source, result)]
    widths = {
        kind.pointee_type.bitwidth
        for kind in kinds
        if isinstance(kind, PointerType) and isinstance(kind.pointee_type, FixedBitwidthType)
    }
    pointers = [kind for kind in kinds if isinstance(kind, PointerType)]
    of_memory = len(pointers) == len(kinds) and not any(isinstance(kind.pointee_type, PointerType) for kind in pointers)
    return len(widths) == 1 and of_memory and 1 not in widths


@lru_cache(maxsize=1024)
def strided_memref_of(element: Attribute, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> MemRefType:
    """``memref<4x8xf32, strided<[?, 1], offset: ?>>``; DYNAMIC_INDEX stands for ``?``."""
    layout = StridedLayoutAttr(
        [NoneAttr() if stride == DYNAMIC_INDEX else stride for stride in strides],
        NoneAttr() if offset == DYNAMIC_INDEX else offset,
    )
    return MemRefType(element, shape, layout)


def static_or_dynamic(index: Index) -> int:
    """The entry of a type for an index."""
    return index if isinstance(index, int) else DYNAMIC_INDEX


def check_pointer(pointer: SSAValue) -> Attribute:
    """The element type that a pointer points to, if a memref can have it."""
    kind = pointer.type
    if not isinstance(kind, PointerType):
        raise NotAddressable(f"{kind} is not a pointer")
    if isinstance(kind.pointee_type, PointerType):
        raise NotAddressable("memory that holds pointers has no memref type")
    if kind.address_space.data != DEFAULT_ADDRESS_SPACE:
        raise NotAddressable(f"address space {kind.address_space.data} is not that of kernel arguments")
    return kind.pointee_type


class MemoryBuilder:
    """Emits what reads and writes memory, by way of a builder of scalars and tensors."""

    __slots__ = ("_bases", "ops", "views")

    def __init__(self, entry: Block) -> None:
        self.ops = TensorBuilder(entry)
        self._bases: dict[SSAValue, SSAValue] = {}
        self.views: dict[
            Operation, SSAValue
        ] = {}  # from the op that makes a structured pointer to the view of its tile

    def resolve(self, pointer: SSAValue, *, as_declared: bool = False) -> tuple[SSAValue, Index]:
        """The memory that a scalar pointer is in, and the pointer's element offset there.

        ``tt.addptr`` is taken apart, and a ``tt.bitcast`` between types of one width is seen through: the memory then
        has another element type than the pointer, and what is read or written is cast (`as_type`). With `as_declared`
        it is not: the memory has the pointer's element type (atomics work on memory of their own type only).
        """
        start, offset = self.find_start(pointer, as_declared=as_declared)
        return self.memory(start), offset

    def find_start(self, pointer: SSAValue, *, as_declared: bool = False) -> tuple[SSAValue, Index]:
        """The pointer to the memory of `resolve`, and the offset."""
        check_pointer(pointer)
        offset: Index = 0
        while True:
            owner = pointer.owner
            if isinstance(owner, tt.AddPtrOp):
                offset = self.ops.add(offset, fold_index(self.ops.as_index(owner.offset)))
                pointer = owner.ptr
            elif isinstance(owner, tt.BitcastOp) and not as_declared and _same_width(owner.src, owner.result):
                pointer = owner.src
            else:
                return pointer, offset

    def memory(self, pointer: SSAValue) -> SSAValue:
        """A pointer as ``memref<*xT>``: one cast for each pointer, right after its definition."""
        known = self._bases.get(pointer)
        if known is not None:
            return known
        op = UnrealizedConversionCastOp.create(
            operands=[pointer], result_types=[unranked_memref_of(check_pointer(pointer))]
        )
        owner = pointer.owner
        op.location = owner.location if isinstance(owner, Operation) else self.ops.location
        Cursor.after(owner).insert(op)
        self._bases[pointer] = op.results[0]
        return op.results[0]

    # Views

    def view(self, base: SSAValue, offset: Index, sizes: Sequence[int], strides: Sequence[Index]) -> SSAValue:
        """``memref.reinterpret_cast`` of unranked memory. An offset below zero is passed as a value: the op has no
        other form for it."""
        if isinstance(offset, int) and offset < 0:
            offset = self.ops.index(offset)
        kind = strided_memref_of(
            element_of(base),
            tuple(sizes),
            tuple(map(static_or_dynamic, strides)),
            static_or_dynamic(offset),
        )
        return self.ops.result(memref.ReinterpretCastOp(base, offset, sizes, strides, kind))

    def subview(self, source: SSAValue, offsets: Sequence[Index], sizes: Sequence[Index]) -> SSAValue:
        """``memref.subview`` with unit steps; the source itself where nothing is cut off."""
        kind = cast("MemRefType[Attribute]", source.type)
        shape = kind.get_shape()
        if all(offset == 0 for offset in offsets) and tuple(sizes) == shape:
            return source
        strides, start = _layout_of(kind)
        total = memref.moved_offset(start, strides, list(map(static_or_dynamic, offsets)))
        result = strided_memref_of(kind.element_type, tuple(map(static_or_dynamic, sizes)), tuple(strides), total)
        return self.ops.result(memref.SubviewOp(source, offsets, sizes, [1] * len(shape), result))

    # Single elements

    def element(self, base: SSAValue, index: Index) -> SSAValue:
        """A view of the one element at an index from the base, which may be negative: ``memref<1xf32, strided<[1],
        offset: ?>>``."""
        return self.view(base, index, [1], [1])

    def load_element(self, base: SSAValue, index: Index, *, is_volatile: bool = False) -> SSAValue:
        """``memref.load`` of one element, in the type of the memory."""
        load = self.ops.insert(memref.LoadOp(self.element(base, index), [self.ops.index(0)]))
        if is_volatile:
            load.attributes[memref.VOLATILE] = UnitAttr()
        return load.results[0]

    def store_element(self, value: SSAValue, base: SSAValue, index: Index) -> None:
        """``memref.store`` of one element."""
        value = self.ops.as_type(value, element_of(base))
        self.ops.insert(memref.StoreOp(value, self.element(base, index), [self.ops.index(0)]))

    # Tiles

    def alloc(self, element: Attribute, shape: Sequence[int]) -> SSAValue:
        """``memref.alloc() : memref<4x8xf32>``."""
        return self.ops.result(memref.AllocOp((), (), memref_of(element, *shape)))

    def fill_buffer(self, value: SSAValue, buffer: SSAValue) -> None:
        """``linalg.fill`` of a buffer."""
        self.ops.insert(linalg.FillOp((value,), (buffer,)))

    def copy(self, source: SSAValue, target: SSAValue) -> None:
        """``memref.copy``."""
        self.ops.insert(memref.CopyOp(source, target))

    def contents(self, buffer: SSAValue) -> SSAValue:
        """``bufferization.to_tensor %buffer restrict writable``: the buffer as a tensor that owns it."""
        return self.ops.result(bufferization.ToTensorOp(buffer, restrict=True, writable=True))

    def write(self, value: SSAValue, target: SSAValue) -> None:
        """``bufferization.materialize_in_destination %value in writable %target``."""
        self.ops.insert(bufferization.MaterializeInDestinationOp(value, target, writable=True))


def _layout_of(kind: MemRefType[Attribute]) -> tuple[list[int], int]:
    """Strides and offset of a memref type, DYNAMIC_INDEX where unknown."""
    layout = kind.layout
    if isinstance(layout, StridedLayoutAttr):
        strides = layout.get_strides()
        offset = layout.get_offset()
        return (
            [DYNAMIC_INDEX if stride is None else stride for stride in strides],
            DYNAMIC_INDEX if offset is None else offset,
        )
    shape = kind.get_shape()
    return [prod(shape[dim + 1 :]) for dim in range(len(shape))], 0

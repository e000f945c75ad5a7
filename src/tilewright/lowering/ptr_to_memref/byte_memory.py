"""Memory that is read as several types: rows of bytes, seen at the types of the accesses.

A pointer that is cast to another type, and everything that control flow or calls merge with it, cannot be one
``memref<*xT>``. Such pointers become ``memref<*xi8>``, with a view for each type that they are accessed at:

```mlir
func.func @k(%p: !tt.ptr<f32>) {
  %f = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to memref<*xf32>
  %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  %i = builtin.unrealized_conversion_cast %q : !tt.ptr<i32> to memref<*xi32>
// becomes
func.func @k(%p: memref<*xi8>) {
  %row = memref.reinterpret_cast %p to offset: [0], sizes: [%n], strides: [1] : memref<*xi8> to memref<?xi8>
  %v = memref.view %row[%c0][%n] : memref<?xi8> to memref<?xf32>
  %f = memref.cast %v : memref<?xf32> to memref<*xf32>
  // and the same for %i
```
How long the memory is, is not known: `%n` is `ANY_EXTENT`. The accesses stay inside by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    ModuleOp,
    UnrankedMemRefType,
    UnrealizedConversionCastOp,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.origins import merge_sources, values_in
from tilewright.dialects import arith, func, memref, tt
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import bit_width, element_type, is_unranked_memref
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import find_ops, ops_within
from tilewright.lowering.memory_builder import DEFAULT_ADDRESS_SPACE
from tilewright.lowering.tensor_builder import memref_of, unranked_memref_of

BYTES = unranked_memref_of(i8)

ANY_EXTENT = 1 << 56
"""Stands for the unknown number of elements at a pointer; its bytes can be counted in 64 bits."""

Functions = dict[str, func.FuncOp | tt.FuncOp]


def is_memory(kind: Attribute) -> bool:
    """Return whether a type is a scalar pointer that a memref can stand for."""
    return (
        isinstance(kind, PointerType)
        and kind.address_space.data == DEFAULT_ADDRESS_SPACE
        and _whole_bytes(kind.pointee_type) is not None
    )


def _whole_bytes(element: Attribute) -> int | None:
    try:
        width = bit_width(element)
    except TypeError:
        return None
    return max(8, width) // 8


class _Groups:
    """Sets of pointer values that are the same memory, merged as they are found to be (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}

    def find(self, value: SSAValue) -> SSAValue:
        """The value that stands for a set."""
        root = value
        while (above := self._parent.setdefault(root, root)) is not root:
            root = above
        while (above := self._parent[value]) is not root:
            self._parent[value], value = root, above
        return root

    def join(self, values: Iterable[SSAValue | None]) -> None:
        """Put values into one set; anything that is not memory is in none."""
        listed = [value for value in values if value is not None and is_memory(value.type)]
        for value in listed[1:]:
            self._parent[self.find(value)] = self.find(listed[0])

    def sets(self) -> Iterable[list[SSAValue]]:
        """All sets of two or more values."""
        members: dict[SSAValue, list[SSAValue]] = {}
        for value in self._parent:
            members.setdefault(self.find(value), []).append(value)
        return members.values()


def find_byte_memory(module: ModuleOp) -> set[SSAValue]:
    """The pointer values whose memory is read as more than one type. Memory that is passed to or comes from functions
    without a body is as those declare it, and is not among them."""
    if not any(is_memory(op.result.type) for op in find_ops(module, tt.BitcastOp)):
        return set()
    functions: Functions = {
        op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp | tt.FuncOp) and op.body.blocks
    }
    groups, declared = _Groups(), set[SSAValue]()
    for value in values_in(module):
        if is_memory(value.type):
            groups.join((value, *(merge_sources(value) or ())))
    for op in ops_within(module):
        match op:
            case tt.BitcastOp():
                groups.join((op.src, op.result))
            case tt.AddPtrOp():
                groups.join((op.ptr, op.result))
            case arith.SelectOp():
                groups.join((op.results[0], *op.operands[1:]))
            case func.CallOp() | tt.CallOp():
                callee = functions.get(op.callee.string_value())
                if callee is None:
                    declared.update((*op.operands, *op.results))
                else:
                    _join_call(groups, op, callee)
            case _:
                pass
    found: set[SSAValue] = set()
    for members in groups.sets():
        if len({value.type for value in members}) > 1 and declared.isdisjoint(members):
            found.update(members)
    return found


def _join_call(groups: _Groups, call: Operation, callee: func.FuncOp | tt.FuncOp) -> None:
    for operand, argument in zip(call.operands, callee.body.blocks[0].args, strict=False):
        groups.join((operand, argument))
    for returned in callee.body.walk():
        if isinstance(returned, func.ReturnOp | tt.ReturnOp):
            for operand, result in zip(returned.operands, call.results, strict=False):
                groups.join((operand, result))


def recast_bytes(module: ModuleOp) -> None:
    """A `tt.bitcast` of memory that is bytes by now is a cast of the bytes, no cast of pointers."""
    for op in [op for op in ops_within(module) if isinstance(op, tt.BitcastOp)]:
        source = _bytes_at(op.src, OpBuilder.before(op))
        if source is None or op.parent is None:
            continue
        cast = UnrealizedConversionCastOp.create(operands=[source], result_types=[op.result.type])
        cast.location = op.location
        op.parent.insert_op_before(cast, op)
        op.result.replace_all_uses_with(cast.results[0])
        op.detach()
        op.erase()


def _bytes_at(pointer: SSAValue, b: OpBuilder) -> SSAValue | None:
    """The bytes from a pointer on, which may be at an offset from memory; None where that is not bytes."""
    steps: list[tt.AddPtrOp] = []
    while isinstance(pointer.owner, tt.AddPtrOp):
        steps.append(pointer.owner)
        pointer = pointer.owner.ptr
    source = _bytes_behind(pointer)
    size = _whole_bytes(pointer.type.pointee_type) if isinstance(pointer.type, PointerType) else None
    if source is None or not steps or size is None:
        return source
    width = b.result(arith.constant_index(size))
    extent = b.result(arith.constant_index(ANY_EXTENT))
    shift = b.result(arith.constant_index(0))
    for step in reversed(steps):
        index = b.result(arith.IndexCastOp(step.offset, IndexType()))
        moved = b.result(arith.MuliOp(index, width))
        shift = b.result(arith.AddiOp(shift, moved))
    row = b.result(memref.ReinterpretCastOp(source, 0, (extent,), (1,), memref_of(i8, DYNAMIC_INDEX)))
    rest = b.result(memref.ViewOp(row, shift, (extent,), memref_of(i8, DYNAMIC_INDEX)))
    return b.result(memref.CastOp(rest, BYTES))


def view_bytes(module: ModuleOp) -> None:
    """Memory of some type that is a cast of bytes becomes a view of the bytes, one for each type."""
    views: dict[tuple[SSAValue, Attribute], SSAValue] = {}
    for op in [op for op in ops_within(module) if isinstance(op, UnrealizedConversionCastOp)]:
        kind: Attribute | None = op.results[0].type if len(op.results) == 1 else None
        source = _bytes_behind(op.operands[0]) if len(op.operands) == 1 else None
        if source is None or kind is None or not is_unranked_memref(kind) or kind == BYTES:
            continue
        if bit_width(element_type(kind)) % 8:
            continue
        view = views.get((source, kind))
        if view is None:
            view = views[source, kind] = _view(source, kind)
        op.results[0].replace_all_uses_with(view)


def _bytes_behind(pointer: SSAValue) -> SSAValue | None:
    owner = pointer.owner
    if isinstance(owner, UnrealizedConversionCastOp) and len(owner.operands) == 1 and owner.operands[0].type == BYTES:
        return owner.operands[0]
    return None


def _view(source: SSAValue, kind: UnrankedMemRefType[Attribute]) -> SSAValue:
    """The bytes as elements of a type, right after the memory's definition."""
    insert = OpBuilder.after(source.owner).result
    start, extent = insert(arith.constant_index(0)), insert(arith.constant_index(ANY_EXTENT))
    row = insert(memref.ReinterpretCastOp(source, 0, (extent,), (1,), memref_of(i8, DYNAMIC_INDEX)))
    elements = insert(memref.ViewOp(row, start, (extent,), memref_of(kind.element_type, DYNAMIC_INDEX)))
    return insert(memref.CastOp(elements, kind))

"""Resolves memrefs to views: one flat, unit stride memref per pointer or buffer, everything else is index arithmetic.

%v = memref.reinterpret_cast %arg to offset: [%o], sizes: [4, 8], strides: [%s, 1]
%w = memref.subview %v[2, 0] [2, %n] [1, 1]
  ->  %flat = memref.reinterpret_cast %arg : memref<*xf32> to memref<?xf32>,  offset %o + 2 * %s,  strides [%s, 1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import bufferization, func, linalg_ext, memref
from tilewright.dialects.construction import index_array, segment_sizes
from tilewright.dialects.types import element_type, is_integer, is_memref, is_unranked_memref
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.sources import StridedView, collapse, contiguous_strides, expand, permute
from tilewright.transforms.linalg.effects import root_of_memref
from tilewright.transforms.linalg.structured import shape_or_scalar

UNKNOWN_EXTENT = (1 << 62) - 1
"""Stands for the number of elements from a pointer argument on."""


class Memory:
    """The memrefs of one function as views, and the arena buffers that the lowering adds."""

    def __init__(self, emitter: LoopEmitter, on_buffer: Callable[[Attribute, Sequence[int]], None]):
        self.emitter = emitter
        self._on_buffer = on_buffer
        """Is told the element type and shape of each new tile."""
        self._flat: dict[SSAValue, SSAValue] = {}
        self._views: dict[SSAValue, StridedView] = {}

    def new_buffer(self, element: Attribute, shape: Sequence[int]) -> StridedView:
        """A contiguous tile in the arena."""
        stored = i8 if is_integer(element) and element.width.data == 1 else element
        self._on_buffer(stored, shape)
        return self._in_arena(stored, shape, element)

    def new_tile(self, value: SSAValue, *, by_columns: bool = False) -> StridedView:
        """A buffer for a tensor; `by_columns`: a matrix whose first dimension is contiguous."""
        element, shape = element_type(value.type), shape_or_scalar(value.type)
        if not by_columns:
            return self.new_buffer(element, shape)
        view = permute(self.new_buffer(element, shape[::-1]), (1, 0))
        assert isinstance(view, StridedView)
        return view

    def new_scratch(self, size: int) -> StridedView:
        """So many bytes in the arena for what is no tile, such as panels that are kept for other programs."""
        return self._in_arena(i8, (size,), i8)

    def _in_arena(self, stored: Attribute, shape: Sequence[int], element: Attribute) -> StridedView:
        flat = self.emitter.alloca(stored, max(1, prod(shape)))
        return StridedView(flat, 0, contiguous_strides(shape), tuple(shape), element, flat, owned=True)

    def view(self, value: SSAValue) -> StridedView | None:
        """The view of a memref; None where its address cannot be expressed by what is known of it."""
        if (found := self._views.get(value)) is None:
            found = self._resolve(value)
            if found is not None:
                self._views[value] = found
        return found

    def define(self, value: SSAValue, view: StridedView) -> None:
        """Record the view of a memref that is not a view by its op alone."""
        self._views[value] = view

    def _resolve(self, value: SSAValue) -> StridedView | None:
        op = value.owner
        match op:
            case memref.ReinterpretCastOp():
                return self._reinterpret(op)
            case memref.SubviewOp():
                return self._subview(op)
            case memref.CastOp() if is_unranked_memref(op.source.type):
                flat = self.flat(op.source)
                assert is_memref(op.dest.type)
                shape = shape_or_scalar(op.dest.type)
                if DYNAMIC_INDEX in shape[1:]:
                    return None
                strides = contiguous_strides([1 if size == DYNAMIC_INDEX else size for size in shape])
                return StridedView(flat, 0, strides, shape, element_type(op.dest.type), root_of_memref(value))
            case memref.CastOp():
                source = self.view(op.source)
                assert is_memref(op.dest.type)
                return None if source is None else replace(source, shape=shape_or_scalar(op.dest.type))
            case memref.AllocOp() | memref.AllocaOp():
                return self._allocation(op.memref)
            case memref.CollapseShapeOp() | memref.ExpandShapeOp():
                return self._reshape(op)
            case Block() if op is self.emitter.entry and is_memref(value.type):
                return self._argument(value, value.type)
            case _:
                return None

    def flat(self, pointer: SSAValue) -> SSAValue:
        """`memref.reinterpret_cast %pointer ... : memref<*xT> to memref<?xT>`, right after the pointer's definition.

        How much memory a pointer argument has is not known; its accesses stay inside by themselves.
        """
        if (found := self._flat.get(pointer)) is None:
            assert is_unranked_memref(pointer.type)
            at_entry = pointer.owner is self.emitter.entry
            with self.emitter.at(self.emitter.constants_cursor() if at_entry else Cursor.after(pointer.owner)):
                type_ = MemRefType(element_type(pointer.type), [DYNAMIC_INDEX])
                found = self._flat[pointer] = self.emitter.value(
                    memref.ReinterpretCastOp,
                    (pointer, self.emitter.constant(UNKNOWN_EXTENT, INDEX)),
                    type_,
                    {
                        "static_offsets": index_array((0,)),
                        "static_sizes": index_array((DYNAMIC_INDEX,)),
                        "static_strides": index_array((1,)),
                        "operandSegmentSizes": segment_sizes(1, 0, 1, 0),
                    },
                )
        return found

    def _reinterpret(self, op: memref.ReinterpretCastOp) -> StridedView | None:
        source = op.source
        if is_unranked_memref(source.type):
            flat = self.flat(source)
            element, owned = element_type(source.type), False
        else:
            base = self.view(source)
            if base is None:
                return None
            flat, element, owned = base.flat, base.element, base.owned
        shape = _static_shape(op.result.type)
        return StridedView(
            flat, op.mixed_offsets[0], tuple(op.mixed_strides), shape, element, root_of_memref(source), owned
        )

    def _subview(self, op: memref.SubviewOp) -> StridedView | None:
        base = self.view(op.source)
        if base is None:
            return None
        offset = base.offset
        block = op.parent_block()
        assert block is not None
        with self.emitter.at(Cursor(block, op)):
            strides: list[Index] = []
            for start, step, stride in zip(op.mixed_offsets, op.mixed_strides, base.strides, strict=True):
                offset = self.emitter.add(offset, self.emitter.mul(start, stride))
                strides.append(self.emitter.mul(stride, step))
        return replace(
            base,
            offset=offset,
            strides=tuple(strides[dim] for dim in op.kept_dims),
            shape=_static_shape(op.result.type),
        )

    def _allocation(self, value: SSAValue) -> StridedView | None:
        """A buffer of the input program moves to the arena; its ranked uses keep a ranked view."""
        type_ = value.type
        assert is_memref(type_)
        shape = type_.get_shape()
        if DYNAMIC_INDEX in shape:
            return None
        op = value.owner
        assert isinstance(op, Operation)
        if is_integer(type_.element_type) and type_.element_type.width.data == 1:
            return self.new_buffer(type_.element_type, shape)
        with self.emitter.at(self.emitter.constants_cursor()):
            moved = self.emitter.value(
                memref.AllocaOp,
                (),
                MemRefType(type_.element_type, shape),
                {"alignment": IntegerAttr(64, i64), "operandSegmentSizes": segment_sizes(0, 0)},
            )
            flat = self._flattened(moved, type_)
        value.replace_all_uses_with(moved)
        view = StridedView(flat, 0, contiguous_strides(shape), shape, type_.element_type, moved, owned=True)
        self._views[moved] = view
        return view

    def _argument(self, value: SSAValue, type_: MemRefType[Attribute]) -> StridedView | None:
        """A tile that the caller has in a buffer, contiguous as all buffers are. Its bits would be bytes there."""
        shape, element = type_.get_shape(), type_.element_type
        is_bits = is_integer(element) and element.width.data == 1
        if DYNAMIC_INDEX in shape or is_bits or not isinstance(type_.layout, NoneAttr):
            return None
        with self.emitter.at(self.emitter.constants_cursor()):
            flat = self._flattened(value, type_)
        return StridedView(flat, 0, contiguous_strides(shape), shape, element, value, owned=True)

    def _flattened(self, buffer: SSAValue, type_: MemRefType[Attribute]) -> SSAValue:
        """A contiguous buffer with one dimension."""
        shape = type_.get_shape()
        if len(shape) == 1:
            return buffer
        size = max(1, prod(shape))
        return self.emitter.value(
            memref.ReinterpretCastOp,
            (buffer,),
            MemRefType(type_.element_type, [size]),
            {
                "static_offsets": index_array((0,)),
                "static_sizes": index_array((size,)),
                "static_strides": index_array((1,)),
                "operandSegmentSizes": segment_sizes(1, 0, 0, 0),
            },
        )

    def _reshape(self, op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> StridedView | None:
        base = self.view(op.src)
        shape = _static_shape(op.result.type)
        if base is None or DYNAMIC_INDEX in shape:
            return None
        change = collapse if isinstance(op, memref.CollapseShapeOp) else expand
        changed = change(base, op.groups, shape)
        return changed if isinstance(changed, StridedView) else None


def find_only_written(function: func.FuncOp) -> frozenset[SSAValue]:
    """The pointer arguments of a function whose memory it only writes, as far as their own views go."""
    arguments = [argument for argument in function.body.blocks[0].args if is_unranked_memref(argument.type)]
    return frozenset(argument for argument in arguments if argument.uses and _is_only_written(argument))


def _is_only_written(value: SSAValue) -> bool:
    for use in value.uses:
        match op := use.operation:
            case memref.ReinterpretCastOp() | memref.SubviewOp() | memref.CastOp():
                if use.index > 0 or not _is_only_written(op.results[0]):
                    return False
            case memref.StoreOp() | memref.CopyOp() | bufferization.MaterializeInDestinationOp():
                if use.index != 1:
                    return False
            case linalg_ext.ViewMatmulOp():
                if value is not op.dest:
                    return False
            case _:
                return False
    return True


def _static_shape(type_: Attribute) -> tuple[int, ...]:
    assert is_memref(type_)
    return tuple(type_.get_shape())

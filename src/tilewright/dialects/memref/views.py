"""Other views of the same buffer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    ShapedType,
    StridedLayoutAttr,
    UnrankedMemRefType,
    i8,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    MixedIndex,
    Value,
    init_op,
    static_values,
    value_of,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    Result,
    operand_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.reshapes import CollapseOp, ExpandOp
from tilewright.dialects.shaped import ShapedCastOp
from tilewright.dialects.slices import (
    SlicingOp,
    find_kept_dims,
    slice_operands,
    static_extents,
    verify_in_bounds,
    verify_slice_lists,
)
from tilewright.dialects.types import (
    ANY_MEMREF,
    INDEX,
    as_memref,
    element_type,
    shape_of,
    shapes_agree,
)
from tilewright.ir.wording import BareVerifyException


def strides_and_offset(type_: MemRefType[Attribute]) -> tuple[tuple[int, ...], int]:
    """The strides and the offset of a memref type in elements; ``DYNAMIC_INDEX`` where they are known only at run
    time."""
    layout = type_.layout
    if isinstance(layout, NoneAttr):
        shape = type_.get_shape()
        strides = ShapedType.strides_for_shape(shape) if shape else ()
        return tuple(DYNAMIC_INDEX if stride is None else stride for stride in strides), 0
    if not isinstance(layout, StridedLayoutAttr):
        raise VerifyException(f"{type_} has no strided layout")
    strides = tuple(DYNAMIC_INDEX if stride is None else stride for stride in layout.get_strides())
    offset = layout.get_offset()
    return strides, DYNAMIC_INDEX if offset is None else offset


def memory_space_of(type_: Attribute) -> Attribute:
    """The memory space of a memref type, ranked or not."""
    assert isinstance(type_, (MemRefType, UnrankedMemRefType))
    return type_.memory_space


def moved_offset(offset: int, strides: Sequence[int], steps: Sequence[int]) -> int:
    """Return where a view begins that is so many steps into another: ``offset + sum(steps * strides)``.

    Any of them may be ``DYNAMIC_INDEX``; zero times anything is zero, so that an unknown step of stride 0 is known."""
    for step, stride in zip(steps, strides, strict=True):
        if 0 in (step, stride):
            continue
        if DYNAMIC_INDEX in (offset, step, stride):
            return DYNAMIC_INDEX
        offset += step * stride
    return offset


def strided_layout(strides: Sequence[int], offset: int) -> StridedLayoutAttr:
    """``strided<[4, 1], offset: ?>``."""
    return StridedLayoutAttr(
        [None if stride == DYNAMIC_INDEX else stride for stride in strides], None if offset == DYNAMIC_INDEX else offset
    )


class CastOp(ShapedCastOp):
    """``%r = memref.cast %m : memref<*xf32> to memref<?xf32>``: more or less of the shape and layout known."""

    name = "memref.cast"

    source: Operand = operand_def(ANY_MEMREF)
    dest: Result = result_def(ANY_MEMREF)

    def is_compatible(self, source: Attribute, dest: Attribute) -> bool:
        if isinstance(source, UnrankedMemRefType) or isinstance(dest, UnrankedMemRefType):
            return isinstance(source, MemRefType) or isinstance(dest, MemRefType)
        source, dest = as_memref(source), as_memref(dest)
        if not shapes_agree(source.get_shape(), dest.get_shape()) or source.memory_space != dest.memory_space:
            return False
        (source_strides, source_offset), (dest_strides, dest_offset) = map(strides_and_offset, (source, dest))
        return shapes_agree((*source_strides, source_offset), (*dest_strides, dest_offset))


class ReinterpretCastOp(SlicingOp):
    """A buffer seen with any offset, sizes and strides, counted in elements from its aligned start.

    ``%v = memref.reinterpret_cast %m to offset: [%o], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32,
    strided<[1], offset: ?>>``
    """

    name = "memref.reinterpret_cast"

    source: Operand = operand_def(ANY_MEMREF)
    offsets: Operands = var_operand_def(INDEX)
    sizes: Operands = var_operand_def(INDEX)
    strides: Operands = var_operand_def(INDEX)
    result: Result = result_def(MemRefType)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `` `,` `sizes` `` `:` "
        "custom<DynamicIndexList>($sizes, $static_sizes) `` `,` `strides` `` `:` "
        "custom<DynamicIndexList>($strides, $static_strides) attr-dict `:` type($source) `to` type($result)"
    )

    def __init__(
        self,
        source: Value,
        offset: MixedIndex,
        sizes: Sequence[MixedIndex],
        strides: Sequence[MixedIndex],
        result_type: Attribute | None = None,
    ) -> None:
        source = value_of(source)
        if result_type is None:
            layout = strided_layout(static_extents(strides), static_extents((offset,))[0])
            shape, space = static_extents(sizes), memory_space_of(source.type)
            result_type = MemRefType(element_type(source.type), shape, layout, space)
        operands, properties = slice_operands((source,), (offset,), sizes, strides)
        init_op(self, operands, (result_type,), properties)

    def verify_(self) -> None:
        result = as_memref(self.results[0].type)
        source = self.operands[0].type
        verify_slice_lists(self, result.get_num_dims(), 1)
        both = f"source type '{source}' and result memref type '{result}'"
        if memory_space_of(source) != result.memory_space:
            raise BareVerifyException(f"different memory spaces specified for {both}")
        if element_type(source) != result.element_type:
            raise BareVerifyException(f"different element types specified for {both}")
        strides, offset = strides_and_offset(result)
        for name, found, wanted in (
            ("size", result.get_shape(), static_values(self.static_sizes)),
            ("offset", (offset,), static_values(self.static_offsets)),
            ("stride", strides, static_values(self.static_strides)),
        ):
            for dim, (at, given) in enumerate(zip(found, wanted, strict=True)):
                if not shapes_agree((at,), (given,)):
                    place = "" if name == "offset" else f" in dim = {dim}"
                    reason = f"expected result type with {name} = {_extent(given)} instead of {_extent(at)}{place}"
                    raise BareVerifyException(reason)


def _extent(number: int) -> str:
    return "dynamic" if number == DYNAMIC_INDEX else str(number)


class SubviewOp(SlicingOp, HasFolderInterface):
    """``%s = memref.subview %m[%i, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset:
    ?>>``."""

    name = "memref.subview"

    source: Operand = operand_def(MemRefType)
    offsets: Operands = var_operand_def(INDEX)
    sizes: Operands = var_operand_def(INDEX)
    strides: Operands = var_operand_def(INDEX)
    result: Result[MemRefType[Attribute]] = result_def(MemRefType)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source `` custom<DynamicIndexList>($offsets, $static_offsets) "
        "custom<DynamicIndexList>($sizes, $static_sizes) "
        "custom<DynamicIndexList>($strides, $static_strides) attr-dict `:` type($source) `to` type($result)"
    )

    def __init__(
        self,
        source: Value,
        offsets: Sequence[MixedIndex],
        sizes: Sequence[MixedIndex],
        strides: Sequence[MixedIndex] | None = None,
        result_type: Attribute | None = None,
    ) -> None:
        source = value_of(source)
        strides = strides or [1] * len(offsets)
        if result_type is None:
            result_type = infer_subview_type(as_memref(source.type), offsets, sizes, strides)
        operands, properties = slice_operands((source,), offsets, sizes, strides)
        init_op(self, operands, (result_type,), properties)

    @property
    def kept_dims(self) -> list[int]:
        """The dimensions of the source that the view has; the others have size 1."""
        kept = self._find_kept_dims()
        assert kept is not None, "verified"
        return kept

    def _find_kept_dims(self) -> list[int] | None:
        """Return the dimensions of the source that the result keeps, by strides where several have size 1."""
        source, result = as_memref(self.operands[0].type), as_memref(self.results[0].type)
        kept = _kept_dims(source, result, self.static_sizes, self.static_strides)
        return None if kept is None else list(kept)

    def verify_(self) -> None:
        source, result = as_memref(self.operands[0].type), as_memref(self.results[0].type)
        verify_slice_lists(self, source.get_num_dims())
        if source.memory_space != result.memory_space:
            raise BareVerifyException(
                f"different memory spaces specified for base memref type '{source}' and subview memref type '{result}'"
            )
        expected = infer_subview_type(source, self.mixed_offsets, self.mixed_sizes, self.mixed_strides)
        mismatch = ""
        if result.get_num_dims() > source.get_num_dims():
            mismatch = "result rank to be smaller or equal to the source rank"
        elif find_kept_dims(static_values(self.static_sizes), result.get_shape()) is None:
            mismatch = f"result type to be '{expected}' or a rank-reduced version. (mismatch of result sizes)"
        elif source.element_type != result.element_type:
            mismatch = f"result element type to be '{source.element_type}'"
        elif self._find_kept_dims() is None or strides_and_offset(expected)[1] != strides_and_offset(result)[1]:
            mismatch = f"result type to be '{expected}' or a rank-reduced version. (mismatch of result layout)"
        if mismatch:
            raise BareVerifyException(f"expected {mismatch}, but got '{result}'")
        verify_in_bounds(self, source.get_shape())

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        source = self.operands[0]
        shape = shape_of(source.type) or ()
        whole = (
            source.type == self.results[0].type
            and DYNAMIC_INDEX not in shape
            and static_values(self.static_sizes) == shape
            and all(offset == 0 for offset in static_values(self.static_offsets))
            and all(stride == 1 for stride in static_values(self.static_strides))
        )
        return (source,) if whole else None


@lru_cache(maxsize=4096)
def _kept_dims(
    source: MemRefType[Attribute], result: MemRefType[Attribute], sizes: I64Array, steps: I64Array
) -> tuple[int, ...] | None:
    """Return which dimensions of its source a subview has. Remembered: the reference asks at every execution."""
    strides = _moved_strides(source, static_values(steps))
    kept = find_kept_dims(static_values(sizes), result.get_shape(), strides, strides_and_offset(result)[0])
    return None if kept is None else tuple(kept)


def _moved_strides(source: MemRefType[Attribute], steps: Sequence[int]) -> list[int]:
    """The strides of a view that takes elements at a constant step; unknown if either is."""
    return [
        DYNAMIC_INDEX if DYNAMIC_INDEX in (stride, step) else stride * step
        for stride, step in zip(strides_and_offset(source)[0], steps, strict=True)
    ]


def infer_subview_type(
    source: MemRefType[Attribute],
    offsets: Sequence[MixedIndex],
    sizes: Sequence[MixedIndex],
    strides: Sequence[MixedIndex],
) -> MemRefType[Attribute]:
    """The type of a subview of full rank: strides multiply, offsets add up, anything unknown makes them dynamic."""
    source_strides, source_offset = strides_and_offset(source)
    offset = moved_offset(source_offset, source_strides, static_extents(offsets))
    layout = strided_layout(_moved_strides(source, static_extents(strides)), offset)
    return MemRefType(source.element_type, static_extents(sizes), layout, source.memory_space)


class ViewOp(Op):
    """``%v = memref.view %b[%shift][%n] : memref<?xi8> to memref<?xf32>``: bytes from a place on, as elements of any
    type.

    One size for each dynamic extent of the result, which lies contiguous.
    """

    name = "memref.view"

    source: Operand = operand_def(MemRefType)
    byte_shift: Operand = operand_def(INDEX)
    sizes: Operands = var_operand_def(INDEX)
    result: Result = result_def(MemRefType)

    traits = traits_def(Pure())

    assembly_format = "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)"

    def verify_(self) -> None:
        source, result = as_memref(self.operands[0].type), as_memref(self.results[0].type)
        if source.element_type != i8 or source.get_num_dims() != 1 or strides_and_offset(source) != ((1,), 0):
            raise VerifyException(f"{source} is not a row of bytes")
        if not isinstance(result.layout, NoneAttr) or source.memory_space != result.memory_space:
            raise VerifyException(f"{result} is not contiguous memory where {source} is")
        if result.get_shape().count(DYNAMIC_INDEX) != len(self.sizes):
            raise VerifyException("the number of sizes does not match the number of dynamic extents")


class CollapseShapeOp(CollapseOp):
    """``%r = memref.collapse_shape %m [[0, 1]] : memref<2x4xf32> into memref<8xf32>``."""

    name = "memref.collapse_shape"

    src: Operand = operand_def(MemRefType)
    result: Result = result_def(MemRefType)


class ExpandShapeOp(ExpandOp, init=False):
    """``%r = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>``."""

    name = "memref.expand_shape"

    src: Operand = operand_def(MemRefType)
    result: Result = result_def(MemRefType)

"""Rectangular parts of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint, base, traits_def
from xdsl.traits import Pure

from tilewright.dialects.construction import MixedIndex, Value, init_op, static_values, value_of
from tilewright.dialects.fields import Operand, Operands, Result, operand_def, result_def, var_operand_def
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.slices import (
    SlicingOp,
    find_kept_dims,
    slice_operands,
    static_extents,
    verify_in_bounds,
    verify_slice_lists,
)
from tilewright.dialects.types import (
    INDEX,
    as_tensor,
    element_type,
    shape_of,
)
from tilewright.ir.wording import BareVerifyException


def _is_whole(op: SlicingOp, shape: Sequence[int]) -> bool:
    """Return whether a slice with constant lists covers all of a static shape."""
    return (
        DYNAMIC_INDEX not in shape
        and all(offset == 0 for offset in static_values(op.static_offsets))
        and static_values(op.static_sizes) == tuple(shape)
        and all(stride == 1 for stride in static_values(op.static_strides))
    )


def _kept_dims(op: SlicingOp, sliced: Attribute) -> list[int]:
    kept = find_kept_dims(static_values(op.static_sizes), shape_of(sliced) or ())
    assert kept is not None, "verified"
    return kept


def _verify_slice(op: SlicingOp, sliced: Attribute, whole: TensorType[Attribute]) -> None:
    """Check the lists of a slice of `whole`, and that its type is `sliced`."""
    sizes = static_values(op.static_sizes)
    verify_slice_lists(op, whole.get_num_dims())
    if len(shape_of(sliced) or ()) > len(sizes):
        raise BareVerifyException("expected rank to be smaller or equal to the other rank. ")
    if find_kept_dims(sizes, shape_of(sliced) or ()) is None:
        expected = TensorType(whole.element_type, sizes, whole.encoding)
        raise BareVerifyException(f"expected type to be '{expected}' or a rank-reduced version. (size mismatch) ")
    if element_type(sliced) != whole.element_type:
        raise BareVerifyException(f"expected element type to be '{whole.element_type}'")
    verify_in_bounds(op, whole.get_shape())


class ExtractSliceOp(SlicingOp, HasFolderInterface):
    """``%s = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>``; size-1 dimensions may
    be dropped."""

    name = "tensor.extract_slice"

    source: Operand = operand_def(TensorType)
    offsets: Operands = var_operand_def(INDEX)
    sizes: Operands = var_operand_def(INDEX)
    strides: Operands = var_operand_def(INDEX)
    result: Result = result_def(TensorType)

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
        if result_type is None:
            source_type = as_tensor(source.type)
            result_type = TensorType(source_type.element_type, static_extents(sizes), source_type.encoding)
        operands, properties = slice_operands((source,), offsets, sizes, strides or [1] * len(offsets))
        init_op(self, operands, (result_type,), properties)

    @property
    def kept_dims(self) -> list[int]:
        """The dimensions of the source that the result has; the others have size 1."""
        return _kept_dims(self, self.results[0].type)

    def verify_(self) -> None:
        _verify_slice(self, self.results[0].type, as_tensor(self.operands[0].type))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        source = self.operands[0]
        if source.type == self.results[0].type and _is_whole(self, shape_of(source.type) or ()):
            return (source,)
        return None


class InsertSliceOp(SlicingOp, HasFolderInterface):
    """``%r = tensor.insert_slice %s into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>``."""

    name = "tensor.insert_slice"

    T: ClassVar = VarConstraint("T", base(TensorType))

    source: Operand = operand_def(TensorType)
    dest: Operand = operand_def(T)
    offsets: Operands = var_operand_def(INDEX)
    sizes: Operands = var_operand_def(INDEX)
    strides: Operands = var_operand_def(INDEX)
    result: Result = result_def(T)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets) "
        "custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) attr-dict "
        "`:` type($source) `into` type($dest)"
    )

    def __init__(
        self,
        source: Value,
        dest: Value,
        offsets: Sequence[MixedIndex],
        sizes: Sequence[MixedIndex],
        strides: Sequence[MixedIndex] | None = None,
    ) -> None:
        source, dest = value_of(source), value_of(dest)
        operands, properties = slice_operands((source, dest), offsets, sizes, strides or [1] * len(offsets))
        init_op(self, operands, (dest.type,), properties)

    @property
    def kept_dims(self) -> list[int]:
        """The dimensions of the destination that the source has; the others have size 1."""
        return _kept_dims(self, self.operands[0].type)

    def verify_(self) -> None:
        _verify_slice(self, self.operands[0].type, as_tensor(self.operands[1].type))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        source = self.operands[0]
        if source.type == self.results[0].type and _is_whole(self, shape_of(source.type) or ()):
            return (source,)
        return None

"""Single elements of a tensor, and its extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, TensorType
from xdsl.interfaces import ConditionallySpeculatableInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, VarConstraint, traits_def
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import constant_attr, find_constant_int
from tilewright.dialects.arith.folding import integer_constant
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    InferableResult,
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.numeric import array_of, attr_of
from tilewright.dialects.shaped import ExtentOp
from tilewright.dialects.slices import SlicingOp
from tilewright.dialects.tensor.creation import EmptyOp, FromElementsOp, SplatOp
from tilewright.dialects.types import (
    ANY_TENSOR,
    INDEX,
    element_type,
    shape_of,
)


def _verify_index_count(type_: Attribute, count: int, use: str) -> None:
    assert isinstance(type_, TensorType)
    if type_.get_num_dims() != count:
        raise VerifyException(f"incorrect number of indices{use}")


def _are_inside(indices: Sequence[SSAValue], type_: Attribute) -> bool:
    """Return whether indices are constants inside of a tensor."""
    known = [find_constant_int(index) for index in indices]
    return all(at is not None and 0 <= at < size for at, size in zip(known, shape_of(type_) or (), strict=True))


class ExtractOp(Op, HasFolderInterface, ConditionallySpeculatableInterface):
    """``%x = tensor.extract %t[%i, %j] : tensor<4x8xf32>``; undefined outside the tensor."""

    name = "tensor.extract"

    T: ClassVar = VarConstraint("T", AnyAttr())

    tensor: Operand = operand_def(TensorType.constr(T))
    indices: Operands = var_operand_def(INDEX, default=())
    result: InferableResult = result_def(T, default=None, of="tensor", by=element_type)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)"

    def verify_(self) -> None:
        _verify_index_count(self.operands[0].type, len(self.operands) - 1, " for extract_element")

    def is_speculatable(self) -> bool:
        return _are_inside(self.operands[1:], self.operands[0].type)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        source = self.operands[0].owner
        if isinstance(source, SplatOp):
            return (source.operands[0],)
        indices = [find_constant_int(index) for index in self.operands[1:]]
        shape = shape_of(self.operands[0].type) or ()
        constant = constant_attr(self.operands[0])
        if isinstance(constant, DenseIntOrFPElementsAttr):
            values = array_of(constant)
            if values is not None and values.ndim == 0 and shape:
                return (attr_of(values, self.results[0].type),)
            known = [index for index in indices if index is not None]
            if values is None or len(known) != len(shape):
                return None
            if not all(0 <= index < size for index, size in zip(known, shape, strict=True)):
                return None
            return (attr_of(values[tuple(known)], self.results[0].type),)
        if isinstance(source, FromElementsOp):
            flat = 0
            for index, size in zip(indices, shape, strict=True):
                if index is None or not 0 <= index < size:
                    return None
                flat = flat * size + index
            return (source.operands[flat],)
        return None


class InsertOp(Op, ConditionallySpeculatableInterface):
    """``%r = tensor.insert %x into %t[%i] : tensor<4xf32>``: a copy with one element changed."""

    name = "tensor.insert"

    E: ClassVar = VarConstraint("E", AnyAttr())
    T: ClassVar = VarConstraint("T", TensorType.constr(E))

    scalar: Operand = operand_def(E)
    dest: Operand = operand_def(T)
    indices: Operands = var_operand_def(INDEX, default=())
    result: Result = inferred_result_def(T)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)"

    def verify_(self) -> None:
        _verify_index_count(self.operands[1].type, len(self.operands) - 2, "")

    def is_speculatable(self) -> bool:
        return _are_inside(self.operands[2:], self.operands[1].type)


class DimOp(ExtentOp):
    """``%n = tensor.dim %t, %c0 : tensor<?xf32>``: an extent."""

    name = "tensor.dim"

    source: Operand = operand_def(ANY_TENSOR)

    def find_extent(self, dim: int) -> int | SSAValue | None:
        """Return a size of the empty tensor, or of the slice of full rank, that the tensor is."""
        source = self.operands[0]
        shape = shape_of(source.type) or ()
        match source.owner:
            case EmptyOp() as op:
                return op.operands[shape[:dim].count(DYNAMIC_INDEX)]
            case SlicingOp(name="tensor.extract_slice") as op if len(sizes := op.mixed_sizes) == len(shape):
                return sizes[dim]
            case _:
                return None


class RankOp(Op, HasFolderInterface):
    """``%r = tensor.rank %t : tensor<*xf32>``: the number of dimensions."""

    name = "tensor.rank"

    tensor: Operand = operand_def(ANY_TENSOR)
    result: Result = inferred_result_def(INDEX)

    traits = traits_def(Pure())

    assembly_format = "$tensor attr-dict `:` type($tensor)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = shape_of(self.operands[0].type)
        return None if shape is None else (integer_constant(len(shape), INDEX),)

"""The same elements under another type or shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import constant_attr
from tilewright.dialects.construction import (
    dense_attr,
    int_attr,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    InferableResult,
    Operand,
    Operands,
    Result,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.reshapes import CollapseOp, ExpandOp, collapsed_shape
from tilewright.dialects.shaped import ShapedCastOp
from tilewright.dialects.types import (
    ANY_TENSOR,
    I64_ATTR,
    as_tensor,
    bit_width,
    element_type,
    has_static_shape,
    is_tensor,
    shape_of,
    shapes_agree,
)


class CastOp(ShapedCastOp):
    """``%r = tensor.cast %t : tensor<?xf32> to tensor<4xf32>``: more or less of the shape known."""

    name = "tensor.cast"

    source: Operand = operand_def(ANY_TENSOR)
    dest: Result = result_def(ANY_TENSOR)

    def is_compatible(self, source: Attribute, dest: Attribute) -> bool:
        source_shape, dest_shape = shape_of(source), shape_of(dest)
        return source_shape is None or dest_shape is None or shapes_agree(source_shape, dest_shape)


class BitcastOp(Op):
    """``%r = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>``: the bits of every element read as another type."""

    name = "tensor.bitcast"

    source: Operand = operand_def(ANY_TENSOR)
    dest: Result = result_def(ANY_TENSOR)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"

    def verify_(self) -> None:
        source, dest = self.operands[0].type, self.results[0].type
        if shape_of(source) != shape_of(dest) or bit_width(element_type(source)) != bit_width(element_type(dest)):
            raise VerifyException(f"operand type '{source}' and result type '{dest}' are cast incompatible")


def collapsed_type(source: Attribute, groups: Sequence[Sequence[int]]) -> Attribute:
    """The type of a tensor whose dimensions are joined in groups."""
    type_ = as_tensor(source)
    return TensorType(type_.element_type, collapsed_shape(type_.get_shape(), groups), type_.encoding)


class CollapseShapeOp(CollapseOp, HasFolderInterface):
    """``%r = tensor.collapse_shape %t [[0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>``."""

    name = "tensor.collapse_shape"

    src: Operand = operand_def(TensorType)
    result: InferableResult = result_def(TensorType, default=None, of=("src", "reassociation"), by=collapsed_type)

    def verify_(self) -> None:
        _verify_elements(self.operands[0].type, self.results[0].type)
        super().verify_()

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        inner = self.operands[0].owner
        if isinstance(inner, ExpandShapeOp) and inner.operands[0].type == self.results[0].type:
            return (inner.operands[0],) if inner.groups == self.groups else None
        return _fold_reshape(self.operands[0], self.results[0].type)


class ExpandShapeOp(ExpandOp, HasFolderInterface, init=False):
    """``%r = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 4, 8] : tensor<8x8xf32> into tensor<2x4x8xf32>``."""

    name = "tensor.expand_shape"

    src: Operand = operand_def(TensorType)
    result: Result = result_def(TensorType)

    def verify_(self) -> None:
        _verify_elements(self.operands[0].type, self.results[0].type)
        super().verify_()

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        inner = self.operands[0].owner
        if isinstance(inner, CollapseShapeOp) and inner.operands[0].type == self.results[0].type:
            if has_static_shape(self.results[0].type) and inner.groups == self.groups:
                return (inner.operands[0],)
            return None
        return _fold_reshape(self.operands[0], self.results[0].type)


class ReshapeOp(Op):
    """``%r = tensor.reshape %t(%shape) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<32xf32>``: elements in row-major
    order."""

    name = "tensor.reshape"

    source: Operand = operand_def(ANY_TENSOR)
    shape: Operand = operand_def(TensorType)
    result: Result = result_def(ANY_TENSOR)

    traits = traits_def(Pure())

    assembly_format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        _verify_elements(source, result)
        source_shape, result_shape = shape_of(source), shape_of(result)
        static = has_static_shape(source) and has_static_shape(result)
        if (
            static
            and source_shape is not None
            and result_shape is not None
            and prod(source_shape) != prod(result_shape)
        ):
            raise VerifyException("source and destination tensor should have the same number of elements")
        extents = shape_of(self.operands[1].type) or ()
        if len(extents) != 1 or (result_shape is not None and extents[0] not in (len(result_shape), DYNAMIC_INDEX)):
            raise VerifyException("length of shape operand differs from the result's tensor rank")


def _concatenated_type(values: Sequence[SSAValue], dim: int) -> Attribute:
    first = as_tensor(values[0].type)
    if not 0 <= dim < first.get_num_dims():
        raise VerifyException("concatenation dim must be less than the tensor rank")
    shapes = [shape_of(value.type) or () for value in values]
    shape = list(first.get_shape())
    for other in shapes[1:]:
        if len(other) != len(shape):
            raise VerifyException("rank of concatenated inputs must match")
        for at, (extent, wanted) in enumerate(zip(other, shape, strict=True)):
            if at != dim and not shapes_agree((extent,), (wanted,)):
                reason = f"static concatenation size mismatch along non-concatenated dimension {at}"
                raise VerifyException(reason)
    lengths = [other[dim] for other in shapes]
    shape[dim] = DYNAMIC_INDEX if DYNAMIC_INDEX in lengths else sum(lengths)
    return TensorType(first.element_type, shape)


class ConcatOp(Op):
    """``%r = tensor.concat dim(1) %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>``."""

    name = "tensor.concat"

    inputs: Operands = var_operand_def(TensorType)
    dim: IntegerAttr = prop_def(I64_ATTR, converter=int_attr)
    result: InferableResult = result_def(TensorType, default=None, of=("inputs", "dim"), by=_concatenated_type)

    traits = traits_def(Pure())

    assembly_format = "`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        if not self.operands:
            raise VerifyException("requires at least one input")
        expected, found = _concatenated_type(self.operands, self.dim.value.data), self.results[0].type
        agree = shapes_agree(shape_of(expected) or (), shape_of(found) or ())
        if element_type(expected) != element_type(found) or not agree:
            raise VerifyException(f"result type '{found}'does not match inferred shape '{expected}' static sizes")


def _verify_elements(source: Attribute, result: Attribute) -> None:
    if element_type(source) != element_type(result):
        raise VerifyException(f"{source} and {result} differ in element type")


def _fold_reshape(source: SSAValue, result_type: Attribute) -> Sequence[SSAValue | Attribute] | None:
    """A reshape to the same type, or of a constant (row-major order does not change)."""
    if source.type == result_type and has_static_shape(result_type):
        return (source,)
    constant = constant_attr(source)
    if isinstance(constant, DenseIntOrFPElementsAttr) and is_tensor(result_type):
        return (dense_attr(result_type, constant.data),)
    return None

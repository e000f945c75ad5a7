"""Tiles in vector registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    Operands,
    Result,
    Results,
    operand_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.types import ANY_TENSOR, ANY_VECTOR, bit_width, element_type, shape_of


class ToVectorsOp(Op):
    """``%a, %b = linalg_ext.to_vectors %t : tensor<32xf32> -> vector<16xf32>, vector<16xf32>``.

    The elements of a tensor with one dimension in vectors of equal length, in order.
    """

    name = "linalg_ext.to_vectors"

    source: Operand = operand_def(ANY_TENSOR)
    vectors: Results = var_result_def(ANY_VECTOR)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($vectors)"

    def verify_(self) -> None:
        _verify_parts(self.source.type, self.vectors)


class FromVectorsOp(Op):
    """``%t = linalg_ext.from_vectors %a, %b : vector<16xf32>, vector<16xf32> -> tensor<32xf32>``.

    The tensor with one dimension whose elements are those of some vectors of equal length, in order.
    """

    name = "linalg_ext.from_vectors"

    vectors: Operands = var_operand_def(ANY_VECTOR)
    result: Result = result_def(ANY_TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$vectors attr-dict `:` type($vectors) `->` type($result)"

    def verify_(self) -> None:
        _verify_parts(self.result.type, self.vectors)


def _verify_parts(tile: Attribute, vectors: Sequence[SSAValue]) -> None:
    types = {vector.type for vector in vectors}
    if len(types) != 1:
        raise VerifyException("the vectors must be of one type, and one at least")
    (type_,) = types
    shape, element = shape_of(type_) or (), element_type(type_)
    if len(shape) != 1 or tile != TensorType(element, [len(vectors) * shape[0]]):
        raise VerifyException(f"{len(vectors)} times {type_} are not {tile}")
    if bit_width(element) < 8:
        raise VerifyException("elements must be bytes at least")

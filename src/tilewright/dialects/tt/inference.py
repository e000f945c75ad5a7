"""Result types of the shape-changing ops, encodings included.

A tensor's encoding (its layout on a GPU) decides the encoding of a result; an encoding that can do so implements
`LayoutInference`. Tensors without encoding give results without one. Each function raises VerifyException where the
source type does not fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tt.types import NO_ENCODING, is_tensor, tensor_type


class LayoutInference(ABC):
    """What an encoding attribute answers about the results of shape-changing ops."""

    @abstractmethod
    def infer_reduce(self, axis: int) -> Attribute:
        """The encoding of a tensor reduced along `axis`."""

    @abstractmethod
    def infer_expand_dims(self, axis: int, shape: tuple[int, ...]) -> Attribute:
        """The encoding after a dimension of extent 1 is put in at `axis` of `shape`."""

    @abstractmethod
    def infer_trans(self, shape: tuple[int, ...], order: tuple[int, ...]) -> Attribute:
        """The encoding of the permuted tensor."""

    @abstractmethod
    def infer_reshape(self, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Attribute:
        """The encoding of the same elements, in row-major order, in another shape."""

    @abstractmethod
    def infer_join(self, shape: tuple[int, ...]) -> Attribute:
        """The encoding of two tensors of `shape` joined in a new minor dimension."""

    @abstractmethod
    def infer_split(self, shape: tuple[int, ...]) -> Attribute:
        """The encoding of either half of a tensor of `shape` whose last extent is 2."""

    @abstractmethod
    def is_equivalent(self, other: Attribute, shape: tuple[int, ...]) -> bool:
        """Return whether another encoding puts every element of a tensor of `shape` in the same place."""

    @abstractmethod
    def check_dot(self, operands: Sequence[Attribute]) -> None:
        """Raises VerifyException unless A and B have encodings that give a matmul with this encoding."""


def _tensor(type: Attribute) -> TensorType[Attribute]:
    if not is_tensor(type):
        raise VerifyException(f"expected a ranked tensor, got {type}")
    return type


def _layout(type: TensorType) -> LayoutInference | None:
    if type.encoding == NO_ENCODING:
        return None
    if not isinstance(type.encoding, LayoutInference):
        raise VerifyException(f"encoding {type.encoding} cannot infer the encoding of a result")
    return type.encoding


def expand_dims(source: Attribute, axis: int) -> Attribute:
    """`tensor<16xi32>` with axis 1 gives `tensor<16x1xi32>`."""
    type = _tensor(source)
    shape = type.get_shape()
    if not 0 <= axis <= len(shape):
        raise VerifyException(f"axis must be between 0 and {len(shape)}, got {axis}")
    layout = _layout(type)
    encoding = layout.infer_expand_dims(axis, shape) if layout else NO_ENCODING
    return tensor_type(type.element_type, (*shape[:axis], 1, *shape[axis:]), encoding)


def reduce(source: Attribute, axis: int) -> Attribute:
    """`tensor<8x16xf32>` with axis 1 gives `tensor<8xf32>`; a tensor of rank 1 gives its element type."""
    type = _tensor(source)
    shape = type.get_shape()
    if not 0 <= axis < len(shape):
        raise VerifyException(f"axis must be between 0 and {len(shape) - 1}, got {axis}")
    if len(shape) == 1:
        return type.element_type
    layout = _layout(type)
    encoding = layout.infer_reduce(axis) if layout else NO_ENCODING
    return tensor_type(type.element_type, shape[:axis] + shape[axis + 1 :], encoding)


def trans(source: Attribute, order: Sequence[int]) -> Attribute:
    """`tensor<8x4xf32>` with order 1, 0 gives `tensor<4x8xf32>`."""
    type = _tensor(source)
    shape, order = type.get_shape(), tuple(order)
    if sorted(order) != list(range(len(shape))):
        raise VerifyException("order must be a permutation of [0, ..., rank - 1]")
    layout = _layout(type)
    encoding = layout.infer_trans(shape, order) if layout else NO_ENCODING
    return tensor_type(type.element_type, tuple(shape[dim] for dim in order), encoding)


def join(source: Attribute) -> Attribute:
    """Two of `tensor<8xf32>` give `tensor<8x2xf32>`."""
    type = _tensor(source)
    layout = _layout(type)
    encoding = layout.infer_join(type.get_shape()) if layout else NO_ENCODING
    return tensor_type(type.element_type, (*type.get_shape(), 2), encoding)


def split(source: Attribute) -> Attribute:
    """`tensor<8x2xf32>` gives halves of `tensor<8xf32>`."""
    type = _tensor(source)
    shape = type.get_shape()
    if not shape or shape[-1] != 2:
        raise VerifyException("last dimension of input tensor must be 2")
    layout = _layout(type)
    encoding = layout.infer_split(shape) if layout else NO_ENCODING
    return tensor_type(type.element_type, shape[:-1], encoding)


def cat(lhs: Attribute, rhs: Attribute) -> Attribute:
    """`tensor<8xf32>` and `tensor<8xf32>` give `tensor<16xf32>`; higher ranks grow in their first dimension."""
    left, right = _tensor(lhs), _tensor(rhs)
    rest = left.get_shape()[1:]
    if rest != right.get_shape()[1:]:
        raise VerifyException(f"cannot concatenate {lhs} and {rhs}")
    extent = (prod(left.get_shape()) + prod(right.get_shape())) // prod(rest)
    return tensor_type(left.element_type, (extent, *rest), left.encoding)


def gather(source: Attribute, indices: Attribute) -> Attribute:
    """The shape and encoding of the indices with the elements of the source."""
    index_type = _tensor(indices)
    return tensor_type(_tensor(source).element_type, index_type.get_shape(), index_type.encoding)


def reshape(source: Attribute, shape: Sequence[int]) -> Attribute:
    """`tensor<8x4xf32>` in shape 32 gives `tensor<32xf32>`."""
    type, new_shape = _tensor(source), tuple(shape)
    layout = _layout(type)
    encoding = layout.infer_reshape(type.get_shape(), new_shape) if layout else NO_ENCODING
    return tensor_type(type.element_type, new_shape, encoding)


def check_inferred(op_name: str, expected: Attribute, actual: Attribute) -> None:
    """Raises VerifyException when a result type is not the inferred one, nor one that puts all elements in the same
    place.
    """
    if expected != actual and not _equivalent(expected, actual):
        raise VerifyException(
            f"'{op_name}' op inferred type(s) '{expected}' are incompatible with return type(s) of operation '{actual}'"
        )


def _equivalent(expected: Attribute, actual: Attribute) -> bool:
    if not (is_tensor(expected) and is_tensor(actual)):
        return False
    if expected.element_type != actual.element_type or expected.get_shape() != actual.get_shape():
        return False
    encoding = expected.encoding
    return isinstance(encoding, LayoutInference) and encoding.is_equivalent(actual.encoding, actual.get_shape())


def check_dot(result: Attribute, operands: Sequence[Attribute]) -> None:
    """Raises VerifyException when encoded operands do not fit the encoding of the product."""
    if isinstance(result, LayoutInference) and NO_ENCODING not in operands:
        result.check_dot(operands)

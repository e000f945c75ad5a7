"""Constants as the folds of `tt` ops see them."""

from __future__ import annotations

from math import copysign, prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.arith.constant import constant_attr, is_dense, is_splat, splat_attr
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.types import element_type, is_float

AnyDense = DenseIntOrFPElementsAttr[Any]

SIGNED_ZERO_TYPES = (Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E5M2Type, Float8E4M3FNType)
"""Float formats that have a negative zero."""


def splat_of(value: SSAValue) -> int | float | None:
    """The number that a scalar constant, or every element of a constant tensor, equals; None if it is none."""
    attribute = constant_attr(value)
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return attribute.value.data
    return first_element(attribute) if is_dense(attribute) and is_splat(attribute) else None


def first_element(dense: AnyDense) -> int | float:
    """The first element, without unpacking the others."""
    element = dense.type.element_type
    return element.unpack(dense.data.data[: element.compile_time_size], 1)[0]


def resplat(dense: AnyDense, type: TensorType[Attribute]) -> AnyDense:
    """The splat `dense` at another shape, bit for bit."""
    size = dense.type.element_type.compile_time_size
    return dense_attr(type, dense.data.data[:size] * prod(type.get_shape()))


def scalar_of_splat(dense: AnyDense) -> Attribute:
    """The scalar attribute that every element of a splat equals, bit for bit."""
    value = first_element(dense)
    match cast(Attribute, dense.type.element_type):
        case IntegerType() | IndexType() as element:
            return IntegerAttr(int(value), element)
        case element:
            assert is_float(element), f"no scalar constants of {element}"
            return FloatAttr(float(value), element)


def splat_constant(source: SSAValue, type: Attribute) -> tuple[Attribute] | None:
    """The fold of a splat of a scalar constant `source` to the tensor type `type`."""
    constant = constant_attr(source)
    if not isinstance(constant, IntegerAttr | FloatAttr):
        return None
    return (splat_attr(constant.value.data, type),)


def constant_with_shape(source: SSAValue, type: Attribute, *, splat_only: bool = False) -> tuple[Attribute] | None:
    """The fold of an op that gives the elements of a constant `source`, in order, the tensor type `type`.

    With `splat_only` the op changes the number or the order of elements, so that only splats fold."""
    constant = constant_attr(source)
    if not is_dense(constant) or not is_tensor(type):
        return None
    if is_splat(constant):
        return (resplat(constant, type),)
    return None if splat_only else (dense_attr(type, constant.data),)


def convert_zero(source: SSAValue, type: Attribute) -> tuple[Attribute] | None:
    """The fold of a float conversion of a constant zero to `type`; the sign stays where the format has one."""
    zero = splat_of(source)
    target = element_type(type)
    if zero != 0 or not is_float(target):
        return None
    if copysign(1.0, zero) < 0 and not isinstance(target, SIGNED_ZERO_TYPES):
        return None
    return (splat_attr(zero, type) if is_tensor(type) else FloatAttr(zero, target),)

"""Constants as the folds of `tt` ops see them."""

from __future__ import annotations

from math import copysign, prod

from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
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
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.traits import ConstantLike

from tilewright.dialects.types import FLOAT_CLASSES, element_type

SIGNED_ZERO_TYPES = (Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E5M2Type, Float8E4M3FNType)
"""Float formats that have a negative zero."""


def constant_of(value: SSAValue) -> Attribute | None:
    """The attribute of the constant that defines `value`, or None."""
    if not isinstance(value, OpResult):
        return None
    owner = value.op
    if not owner.has_trait(ConstantLike):
        return None
    return owner.properties.get("value")


def splat_of(value: SSAValue) -> int | float | None:
    """The number that a scalar constant, or every element of a constant tensor, equals; None if it is none."""
    match constant_of(value):
        case IntegerAttr() | FloatAttr() as scalar:
            return scalar.value.data
        case DenseIntOrFPElementsAttr() as dense if is_splat(dense):
            return first_element(dense)
        case _:
            return None


def is_splat(dense: DenseIntOrFPElementsAttr) -> bool:
    """Whether all elements are equal, bit for bit."""
    data = dense.data.data
    size = dense.type.element_type.compile_time_size
    return len(data) == size or data[size:] == data[:-size]


def first_element(dense: DenseIntOrFPElementsAttr) -> int | float:
    """The first element, without unpacking the others."""
    element_type = dense.type.element_type
    return element_type.unpack(dense.data.data[: element_type.compile_time_size], 1)[0]  # pyright: ignore


def dense_splat(type: Attribute, value: int | float) -> DenseIntOrFPElementsAttr:
    """`dense<value>` of the tensor type `type`."""
    assert isinstance(type, TensorType)
    return DenseIntOrFPElementsAttr.from_list(type, [value])


def retyped(dense: DenseIntOrFPElementsAttr, type: Attribute) -> DenseIntOrFPElementsAttr:
    """The elements of `dense`, in order, as a constant of tensor type `type`."""
    assert isinstance(type, TensorType)
    return DenseIntOrFPElementsAttr(type, dense.data)


def splat_constant(constant: Attribute, type: Attribute) -> tuple[Attribute] | None:
    """The fold of a splat of a scalar `constant` to the tensor type `type`."""
    if not isinstance(constant, IntegerAttr | FloatAttr):
        return None
    return (dense_splat(type, constant.value.data),)


def constant_with_shape(source: SSAValue, type: Attribute, *, splat_only: bool = False) -> tuple[Attribute] | None:
    """The fold of an op that gives the elements of a constant `source`, in order, the tensor type `type`.

    With `splat_only` the op changes the number or the order of elements, so that only splats fold."""
    constant = constant_of(source)
    if not isinstance(constant, DenseIntOrFPElementsAttr) or not isinstance(type, TensorType):
        return None
    if is_splat(constant):
        return (resplat(constant, type),)
    return None if splat_only else (retyped(constant, type),)


def resplat(dense: DenseIntOrFPElementsAttr, type: TensorType) -> DenseIntOrFPElementsAttr:
    """The splat `dense` at another shape, bit for bit."""
    size = dense.type.element_type.compile_time_size
    return DenseIntOrFPElementsAttr(type, BytesAttr(dense.data.data[:size] * prod(type.get_shape())))


def convert_zero(source: SSAValue, type: Attribute) -> tuple[Attribute] | None:
    """The fold of a float conversion of a constant zero to `type`; the sign stays where the format has one."""
    zero = splat_of(source)
    if zero != 0:
        return None
    target = element_type(type)
    if copysign(1.0, zero) < 0 and not isinstance(target, SIGNED_ZERO_TYPES):
        return None
    if isinstance(type, TensorType):
        return (dense_splat(type, zero),)
    return (FloatAttr(zero, type),) if isinstance(target, FLOAT_CLASSES) else None


def scalar_of_splat(dense: DenseIntOrFPElementsAttr) -> Attribute:
    """The scalar attribute that every element of a splat equals, bit for bit."""
    element, value = dense.type.element_type, first_element(dense)
    if isinstance(element, IntegerType | IndexType):
        return IntegerAttr(int(value), element)
    return FloatAttr(float(value), element)

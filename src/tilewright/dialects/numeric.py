"""From number types to NumPy: the storage type of each element type, and dense attributes as arrays and back.

Integers live in the next larger signed NumPy integer, kept sign-extended; ``i1`` is ``bool``; ``index`` is ``int64``;
bf16 and the 8-bit floats are
``ml_dtypes`` scalars (imported on first use).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute

from tilewright.dialects.construction import dense_attr
from tilewright.dialects.types import element_type, is_float

Array = npt.NDArray[Any]

_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8E5M2": "float8_e5m2",
    "f8E4M3": "float8_e4m3",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E3M4": "float8_e3m4",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f4E2M1FN": "float4_e2m1fn",
}


@cache
def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """The NumPy type that holds elements of a scalar type; TypeError when there is none (i128, f80, f128)."""
    match type_:
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType():
            width = type_.bitwidth
            if width == 1:
                return np.dtype(np.bool_)
            for storage in (8, 16, 32, 64):
                if width <= storage:
                    return np.dtype(f"int{storage}")
        case Float16Type():
            return np.dtype(np.float16)
        case Float32Type():
            return np.dtype(np.float32)
        case Float64Type():
            return np.dtype(np.float64)
        case _ if str(type_) in _ML_DTYPES:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, _ML_DTYPES[str(type_)]))
        case _:
            pass
    raise TypeError(f"no NumPy type holds elements of type {type_}")


def wrap_to_width(values: Array, type_: Attribute) -> Array:
    """Cut integers to the width of their type and sign-extend; other types are returned as they are.

    >>> wrap_to_width(np.int8(9), IntegerType(4))  # i4: 9 is -7
    """
    if not isinstance(type_, IntegerType):
        return values
    width = type_.bitwidth
    unused = dtype_of(cast(Attribute, type_)).itemsize * 8 - width
    if width == 1 or unused == 0:
        return values
    return (values << unused) >> unused


def round_to_type(value: float, type_: Attribute) -> float:
    """A Python float rounded to nearest even in a float type (infinite where too large), as a Python float."""
    with np.errstate(over="ignore"):
        match type_:
            case Float64Type():
                return float(value)
            case Float32Type():
                return float(np.float32(value))
            case Float16Type():
                return float(np.float16(value))
            case BFloat16Type():
                return _round_to_bf16(float(value))
            case _:
                return float(value)


def _round_to_bf16(value: float) -> float:
    """Round a double to bfloat16 once: through float32 by rounding to odd, so that two roundings make none wrong."""
    if math.isnan(value) or math.isinf(value) or value == 0.0:
        return value
    single = np.float32(value)
    bits = int(single.view(np.uint32))
    if not np.isinf(single) and float(single) != value:
        # Round to odd: truncate towards zero, then set the last bit because something was cut off.
        if abs(float(single)) > abs(value):
            bits -= 1
        bits |= 1
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(np.uint32(rounded).view(np.float32))


def array_of(attr: Attribute) -> Array | None:
    """A constant attribute as an array (0-d for scalars and for splats); None for a list too long to be worth
    folding."""
    match attr:
        case IntegerAttr():
            return np.asarray(attr.value.data).astype(dtype_of(attr.type)) if _fits(attr.type) else None
        case FloatAttr():
            return np.asarray(attr.value.data).astype(dtype_of(attr.type)) if _fits(attr.type) else None
        case DenseIntOrFPElementsAttr():
            return _dense_array(attr)
        case _:
            return None


def _fits(type_: Attribute) -> bool:
    try:
        dtype_of(type_)
    except TypeError:
        return False
    return True


def _dense_array(attr: DenseIntOrFPElementsAttr) -> Array | None:
    """Splats as 0-d arrays, others in full shape."""
    element = attr.type.element_type
    if not _fits(element):
        return None
    data, size = attr.data.data, element.compile_time_size
    if data and data == data[:size] * (len(data) // size):
        return _decode(data[:size], element).reshape(())
    return _decode(data, element).reshape(attr.get_shape())


def dense_values(attr: DenseIntOrFPElementsAttr) -> Array:
    """All elements of a dense attribute, in full shape."""
    return _decode(attr.data.data, attr.type.element_type).reshape(attr.get_shape())


def _decode(data: bytes, element: Attribute) -> Array:
    dtype = dtype_of(element)
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8) != 0
    return np.frombuffer(data, dtype)


def attr_of(values: Array, type_: Attribute) -> Attribute:
    """An array as the constant attribute of a type: 0-d becomes a scalar, or a splat when the type is shaped."""
    match type_:
        case TensorType() | VectorType():
            data = _encode(np.asarray(values), type_.element_type)
            count = math.prod(type_.get_shape())
            return dense_attr(type_, data * count if np.ndim(values) == 0 else data)
        case IntegerType() | IndexType():
            return IntegerAttr(int(values), type_, truncate_bits=True)
        case _:
            assert is_float(type_), f"no constants of {type_}"
            return FloatAttr(float(values), type_)


def _encode(values: Array, element: Attribute) -> bytes:
    dtype = dtype_of(element)
    if dtype == np.bool_:
        return np.where(values, np.uint8(0xFF), np.uint8(0)).tobytes()
    return values.astype(dtype).tobytes()


def scalar_dtype(type_: Attribute) -> np.dtype[Any]:
    """The NumPy type of the elements of any type."""
    return dtype_of(element_type(type_))

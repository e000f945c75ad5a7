"""Types of kernel arguments from their text: `*fp32`, `i32`, `u1`, `tensordesc<fp16[32, 64]>`, tuples of these."""

from __future__ import annotations

import re
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.descriptors import tensor_descriptor_type
from tilewright.language.values import constexpr, constexpr_type, tuple_type
from tilewright.support.errors import ArgumentError

_SCALARS: dict[str, dt.dtype] = {
    "i1": dt.int1,
    "u1": dt.int1,
    **{f"i{bits}": dt.get_int_dtype(bits, signed=True) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": dt.get_int_dtype(bits, signed=False) for bits in (8, 16, 32, 64)},
    **{name: dt.dtype(name) for name in dt.dtype.FP_TYPES},
    **{name: dt.dtype(name) for name in (*dt.dtype.SINT_TYPES, *dt.dtype.UINT_TYPES)},
    "B": dt.int1,
    "f16": dt.float16,
    "f32": dt.float32,
    "f64": dt.float64,
    "float16": dt.float16,
    "bfloat16": dt.bfloat16,
    "float32": dt.float32,
    "float64": dt.float64,
}
_DESCRIPTOR = re.compile(r"tensordesc<\s*(\w+)\s*\[([\d,\s]*)\].*>$")


def scalar_type(text: str) -> dt.dtype:
    """Element type of a name such as `i32`, `fp32`, `bf16`, `fp8e4nv`."""
    found = _SCALARS.get(text)
    if found is None:
        raise ValueError(f"unknown type {text!r}; expected one of {', '.join(_SCALARS)}")
    return found


def parse_type(text: Any, constants: dict[tuple[int, ...], Any], path: tuple[int, ...]) -> Any:
    """Type of one argument; a part that is a constant has the type of that constant."""
    if path in constants:
        return constexpr_type(constexpr(constants[path]).value)
    if isinstance(text, tuple | list):
        parts = [parse_type(part, constants, (*path, position)) for position, part in enumerate(text)]
        return tuple_type(parts, getattr(text, "_fields", None))
    if isinstance(text, dt.dtype):
        return text
    if text == "constexpr" or text is None:
        return constexpr_type(None)
    if text.startswith("*"):
        const = text.startswith("*k")
        return dt.pointer_type(scalar_type(text[2:] if const else text[1:]), const=const)
    match = _DESCRIPTOR.match(text)
    if match:
        shape = [int(extent) for extent in match[2].split(",") if extent.strip()]
        return tensor_descriptor_type.of_block(dt.block_of(scalar_type(match[1]), tuple(shape)))
    return scalar_type(text)


def parse_argument(name: str, text: Any, constants: dict[tuple[int, ...], Any], path: tuple[int, ...]) -> Any:
    """`parse_type` with the argument's name in the error."""
    try:
        return parse_type(text, constants, path)
    except (ValueError, TypeError) as error:
        raise ArgumentError(name, str(error)) from None


def str_to_ty(name: str, c: Any = None) -> dt.dtype:
    """The type that a signature text stands for, as `tl.str_to_ty` gives it."""
    return parse_type(name, {}, ())

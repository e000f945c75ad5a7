"""Conversions between element types."""

from __future__ import annotations

from typing import Any

from tilewright.language import dtypes
from tilewright.language import dtypes as dt
from tilewright.language.context import current, emit
from tilewright.language.creation import as_tensor, constant
from tilewright.language.dtypes import dtype, pointer_type
from tilewright.language.ir_modules import arith, tt
from tilewright.language.registry import builtin, member, with_hint
from tilewright.language.values import describe, tensor, unwrap

_ROUNDINGS = {"rtne": "rtne", "rtz": "rtz"}


def element_type(ty: Any, what: str = "dtype") -> dtype:
    """Unwrap a dtype argument; anything else is a TypeError."""
    ty = unwrap(ty)
    if not isinstance(ty, dtype):
        error = TypeError(f"`{what}` must be a dtype such as tl.float32, got {describe(ty)}")
        name = getattr(ty, "__name__", str(ty).rpartition(".")[2])
        raise with_hint(error, f"use tl.{name}") if isinstance(getattr(dtypes, name, None), dtype) else error
    return ty


@member
@builtin
def cast(input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> tensor:
    """Convert each element of `input` to `dtype`.

    Floating to a narrower floating type rounds to nearest even, or towards zero with `fp_downcast_rounding="rtz"`; the
    option is an error for other conversions, and without effect where the dtype is that of `input`. Floating to integer
    truncates; to int1 is `!= 0`. Signed integers are sign extended, unsigned and int1 zero extended. float16 to and
    from bfloat16 rounds to nearest even. Integers reach a float8 type only through a wider float. What is too large for
    a float8 type, infinities too, becomes its largest finite value, and NaN stays NaN (float8e4b15 has none, and goes
    through float16 to at most 1.75). Arithmetic of float8 types is rounded once in the same way, but infinities of its
    operands stay. With `bitcast=True` the bits are kept; the widths must agree.
    """
    value = as_tensor(input, "input")
    target = element_type(dtype)
    if unwrap(bitcast):
        return bitcast_to(value, target)
    return cast_to(value, target, unwrap(fp_downcast_rounding))


@member
@builtin
def to(input: tensor, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> tensor:
    """Alias of `cast` as a method: `x.to(tl.float16)`."""
    return cast(input, dtype, fp_downcast_rounding, bitcast)


def cast_to(value: tensor, target: dtype, rounding: str | None = None) -> tensor:
    """`cast` for a tensor and a plain dtype; returns `value` itself where nothing changes."""
    source, target = value.type.scalar, target.scalar
    if source == target:
        return value
    narrowing = source.is_floating() and target.is_floating() and target.primitive_bitwidth < source.primitive_bitwidth
    if rounding is not None:
        if rounding not in _ROUNDINGS:
            raise ValueError(f"unknown rounding mode {rounding!r}; expected 'rtne' or 'rtz'")
        if not narrowing:
            raise ValueError(
                "fp_downcast_rounding should be set only for truncating fp conversions. "
                f"Source scalar type is {source} and destination type is {target}"
            )
    if source.is_floating() and target.is_floating():
        return _float_to_float(value, target, rounding or "rtne", narrowing)
    if source.is_fp16() or source.is_bf16():
        return cast_to(cast_to(value, dt.float32), target)
    if source.is_ptr() or target.is_ptr():
        return _cast_pointer(value, source, target)
    if target.is_bool():
        return not_equal_zero(value)
    return _cast_number(value, source, target)


def _convert(value: tensor, op_class: Any, target: dtype) -> tensor:
    ty = value.type.with_element_ty(target)
    return tensor(emit(op_class(value.handle, ty.to_ir())), ty)


def _float_to_float(value: tensor, target: dtype, rounding: str, narrowing: bool) -> tensor:
    source = value.dtype
    if source.is_fp8e4b15() or target.is_fp8e4b15():
        return _cast_fp8e4b15(value, target)
    if source.is_fp8() or target.is_fp8() or rounding != "rtne":
        ty = value.type.with_element_ty(target)
        return tensor(emit(tt.FpToFpOp(value.handle, ty.to_ir(), rounding=rounding if narrowing else None)), ty)
    if {source.name, target.name} == {"fp16", "bf16"}:
        ty = value.type.with_element_ty(target)
        return tensor(emit(tt.FpToFpOp(value.handle, ty.to_ir(), rounding="rtne")), ty)
    if (source.is_fp16() or source.is_bf16()) and not target.is_fp32():
        return cast_to(cast_to(value, dt.float32), target)
    return _convert(value, arith.TruncFOp if narrowing else arith.ExtFOp, target)


def _cast_fp8e4b15(value: tensor, target: dtype) -> tensor:
    """fp8e4b15 (bias 15, no infinity or NaN) has no op of its own: its bits are made from and to those of float16.

    A float16 with exponent at most 15 differs from it only by where the fields lie: s eeeee mmmmmmmmmm against s eeee
    mmm.
    """
    from tilewright.language.float8 import decode_fp8e4b15, encode_fp8e4b15

    if value.dtype.is_fp8e4b15():
        return cast_to(decode_fp8e4b15(value), target)
    return encode_fp8e4b15(cast_to(value, dt.float16))


def _cast_number(value: tensor, source: dtype, target: dtype) -> tensor:
    """Conversions with an integer on one side at least; neither is a pointer, and the target is not int1."""
    if source.is_int() and target.is_int():
        if source.int_bitwidth == target.int_bitwidth:
            return _convert(value, arith.BitcastOp, target)
        if source.int_bitwidth > target.int_bitwidth:
            return _convert(value, arith.TruncIOp, target)
        signed = source.is_int_signed()
        return _convert(value, arith.ExtSIOp if signed else arith.ExtUIOp, target)
    if source.is_standard_floating() and target.is_int():
        return _convert(value, arith.FPToSIOp if target.is_int_signed() else arith.FPToUIOp, target)
    if source.is_int() and target.is_standard_floating():
        return _convert(value, arith.SIToFPOp if source.is_int_signed() else arith.UIToFPOp, target)
    raise TypeError(f"cannot cast {value} to {target}; convert through a wider floating type first")


def _cast_pointer(value: tensor, source: dtype, target: dtype) -> tensor:
    if source.is_ptr() and target.is_ptr():
        return _convert(value, tt.BitcastOp, target)
    if source.is_ptr():
        if target.is_int() and target.int_bitwidth == 64:
            return _convert(value, tt.PtrToIntOp, target)
        if target.is_bool():
            return not_equal_zero(cast_to(value, dt.int64))
    elif source.is_int():
        return _convert(cast_to(value, dt.int64), tt.IntToPtrOp, target)
    raise TypeError(f"cannot cast {value} to {target}: a pointer converts to and from 64-bit integers only")


def bitcast_to(value: tensor, target: dtype) -> tensor:
    """Reinterpret the bits; between a pointer and an integer this is the ordinary conversion."""
    source, target = value.type.scalar, target.scalar
    if source == target:
        return value
    if source.is_ptr() or target.is_ptr():
        return cast_to(value, target)
    if source.primitive_bitwidth != target.primitive_bitwidth:
        raise ValueError(
            f"Cannot bitcast data-type of size {source.primitive_bitwidth} to data-type of size "
            f"{target.primitive_bitwidth}"
        )
    ty = value.type.with_element_ty(target)
    if source.to_ir() == target.to_ir():
        return tensor(value.handle, ty)
    return tensor(emit(tt.BitcastOp(value.handle, ty.to_ir())), ty)


def require_arithmetic(value: tensor) -> None:
    """Raise TypeError for a number of a type that is only converted: fp8e4b15, which is bytes in IR."""
    if value.dtype.is_fp8e4b15():
        raise with_hint(TypeError("fp8e4b15 has no arithmetic"), "convert both sides first: `.to(tl.float16)`")


def not_equal_zero(value: tensor) -> tensor:
    """`value != 0` as int1, for a number of any type."""
    require_arithmetic(value)
    zero = constant(0, value.type)
    ty = value.type.with_element_ty(dt.int1)
    if value.dtype.is_floating():
        return tensor(emit(arith.CmpfOp(value.handle, zero.handle, "une")), ty)
    return tensor(emit(arith.CmpiOp(value.handle, zero.handle, "ne")), ty)


def pointer_to(element: dtype, like: dtype) -> pointer_type:
    """A pointer to `element` in the address space of the pointer type `like`."""
    assert isinstance(like, pointer_type)
    return pointer_type(element, like.address_space, like.const)


def check_fp8_supported(ty: dtype) -> None:
    """Raise ValueError where the target has no such float8 type."""
    options = current().options
    if ty.is_fp8() and ty.name not in options.supported_fp8_dtypes:
        raise ValueError(
            f"type {ty.name} not supported in this architecture. "
            f"The supported fp8 dtypes are {options.supported_fp8_dtypes}"
        )

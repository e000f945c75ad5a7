"""Making values: constants, ranges, program ids."""

from __future__ import annotations

import builtins
import math as pymath
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilewright.language import dtypes as dt
from tilewright.language.context import current, emit
from tilewright.language.dtypes import block_of, block_type, dtype
from tilewright.language.ir_modules import arith, tt
from tilewright.language.ir_modules import builtin as builtin_dialect
from tilewright.language.registry import builtin, unwrap_shape, with_hint
from tilewright.language.values import constexpr, describe, tensor, tuple, unwrap

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

LARGEST_FP8E4B15 = 0x3F00
"""1.75 as float16: what is larger becomes it."""

_LARGEST_F32 = (2 - 2**-23) * 2**127
_SMALLEST_NORMAL_F32 = 2.0**-126


def constant_handle(value: Any, ty: dtype) -> SSAValue:
    """`arith.constant` of a scalar or, for a block type, of a block filled with the value."""
    scalar = ty.scalar
    if scalar.is_fp8e4b15():
        return constant_handle(encode_fp8e4b15(float(value)), ty.with_element_ty(dt.uint8))
    if isinstance(ty, dt.block_type):
        return emit(arith.constant_splat(int(value) if scalar.is_int() else float(value), ty.to_ir()))
    if scalar.is_int():
        return emit(arith.constant_int(int(value), ty.int_bitwidth))
    return emit(arith.constant_float(float(value), ty.to_ir()))


def encode_fp8e4b15(number: float) -> int:
    """The byte of a number in fp8e4b15, as `float8.encode_fp8e4b15` computes it from the float16 next to the number."""
    (single,) = struct.unpack("<f", struct.pack("<f", max(-2.0, min(2.0, number))))
    (bits,) = struct.unpack("<H", struct.pack("<e", single))
    return (bits & 0x8000) >> 8 | (min(bits & 0x7FFF, LARGEST_FP8E4B15) + 0x40) >> 7


def made(handle: SSAValue, element_ty: dtype) -> tensor:
    """Return what an op made: a block whose shape, and layout if there is one, are those of the op's result."""
    ir: Any = handle.type
    if not isinstance(ir, builtin_dialect.TensorType):
        return tensor(handle, element_ty)
    shape = ir.get_shape()
    if isinstance(ir.encoding, builtin_dialect.NoneAttr):
        return tensor(handle, block_of(element_ty, shape))
    from tilewright.language.gluon.types import distributed_of_encoding

    return tensor(handle, distributed_of_encoding(element_ty, shape, ir.encoding))


def constant(value: Any, ty: dtype) -> tensor:
    """A tensor (scalar or block, as `ty` says) whose elements all equal a Python number."""
    return tensor(constant_handle(value, ty), ty)


def literal_dtype(value: bool | int | float) -> dtype:
    """Type of a Python number that stands alone.

    bool: int1. int: the first of int32, uint32, int64, uint64 that holds it. float: float32 where it is zero, infinite,
    NaN or in the normal range of float32, else float64.
    """
    if isinstance(value, bool):
        return dt.int1
    if isinstance(value, int):
        for candidate in (dt.int32, dt.uint32, dt.int64, dt.uint64):
            if candidate.get_int_min_value() <= value <= candidate.get_int_max_value():
                return candidate
        raise ValueError(f"Nonrepresentable integer {value}.")
    magnitude = abs(value)
    in_f32 = magnitude == 0.0 or not pymath.isfinite(value) or _SMALLEST_NORMAL_F32 <= magnitude <= _LARGEST_F32
    return dt.float32 if in_f32 else dt.float64


@builtin
def to_tensor(x: Any) -> tensor:
    """A Python number or constant as a run-time scalar; a tensor unchanged."""
    if isinstance(x, tensor):
        return x
    value = unwrap(x)
    if isinstance(value, bool | int | float):
        return constant(value, literal_dtype(value))
    raise TypeError(f"cannot convert {describe(x)} to tensor")


def as_tensor(x: Any, what: str) -> tensor:
    """`to_tensor` with the argument's name in the error."""
    if isinstance(x, tensor):
        return x
    value = unwrap(x)
    if isinstance(value, bool | int | float):
        return constant(value, literal_dtype(value))
    raise TypeError(f"`{what}` must be a tensor or a number, got {describe(x)}")


def splat(value: tensor, extents: list[int]) -> tensor:
    """A block with every element equal to a scalar; of a constant this is a constant again."""
    if value.extents:
        raise ValueError("Cannot splat a block tensor")
    return splat_as(value, current().new_block(value.type, builtins.tuple(extents))) if extents else value


def splat_as(value: tensor, block: dtype) -> tensor:
    """A scalar as a block of the shape, and layout, of another."""
    ty = block.with_element_ty(value.type)
    source = value.handle.owner
    if isinstance(source, arith.ConstantOp):
        number: Any = source.value
        return tensor(emit(arith.constant_splat(number.value.data, ty.to_ir())), ty)
    return tensor(emit(tt.SplatOp(value.handle, ty.to_ir())), ty)


@builtin
def program_id(axis: Any) -> tensor:
    """The id of this program along `axis` (0, 1 or 2) of the launch grid, as an int32 scalar."""
    return tensor(emit(tt.GetProgramIdOp(_grid_axis(axis, "program_id"))), dt.int32)


@builtin
def num_programs(axis: Any) -> tensor:
    """The number of programs along `axis` (0, 1 or 2) of the launch grid, as an int32 scalar."""
    return tensor(emit(tt.GetNumProgramsOp(_grid_axis(axis, "num_programs"))), dt.int32)


def _grid_axis(axis: Any, function: str) -> int:
    axis = unwrap(axis)
    if axis not in (0, 1, 2):
        raise ValueError(f"{function} axis must be 0, 1, or 2 but got {axis}")
    return axis


@builtin
def arange(start: Any, end: Any) -> tensor:
    """The int32 block `start, start + 1, ..., end - 1`.

    Both bounds are compile-time integers in the range of int32; `end - start` is a power of two, at most 1048576.

    Raises ValueError for run-time bounds, for `end <= start`, and for a length that is not a power of two.
    """
    start, end = range_bounds(start, end)
    ty = current().new_block(dt.int32, (end - start,))
    return range_of(start, ty)


def range_of(start: int, ty: block_type) -> tensor:
    """The numbers from `start` on, as many as a block type of rank 1 says."""
    (length,) = ty.shape
    result: Any = ty.to_ir()
    return tensor(emit(tt.MakeRangeOp(start, start + length, result.encoding)), ty)


def range_bounds(start: Any, end: Any) -> builtins.tuple[int, int]:
    """The bounds of `arange` as Python integers, checked."""
    start, end = unwrap(start), unwrap(end)
    for bound in (start, end):
        if isinstance(bound, tensor):
            raise with_hint(
                ValueError("arange's arguments must be of type tl.constexpr"),
                "annotate the kernel parameter or variable that holds the size: `BLOCK: tl.constexpr`",
            )
        if not isinstance(bound, int):
            raise ValueError(f"arange's arguments must be integers, got {describe(bound)}")
    if not (-(2**31) <= start < 2**31 and -(2**31) <= end < 2**31):
        raise ValueError("arange must fit in int32")
    if end <= start:
        raise ValueError("arange's end argument must be greater than the start argument")
    length = end - start
    if length & (length - 1):
        raise with_hint(
            ValueError("arange's range must be a power of 2"),
            f"the length is {length}; use a larger block with a mask, e.g. triton.next_power_of_2({length})",
        )
    return start, end


@builtin
def full(shape: Any, value: Any, dtype: Any) -> tensor:
    """A block of `shape` and `dtype` with every element equal to `value` (a number or a scalar tensor).

    `shape` is a list of compile-time powers of two. Raises TypeError if `dtype` is None, ValueError for a block value.
    """
    return filled(unwrap_shape(shape), value, dtype, current().new_block)


def filled(extents: list[int], value: Any, dtype: Any, new_block: Callable[..., block_type]) -> tensor:
    """`full`, of a block of the type that `new_block(element_ty, shape)` says."""
    ty: Any = unwrap(dtype)
    if ty is None:
        raise ValueError("dtype must be specified when value is not a tensor")
    if not isinstance(ty, dt.dtype):
        near = str(getattr(ty, "__name__", ty)).rpartition(".")[2]
        error = TypeError(f"`dtype` must be a type of the language, got {describe(ty)}")
        raise with_hint(error, f"write tl.{near}") if isinstance(getattr(dt, near, None), dt.dtype) else error
    if isinstance(value, tensor):
        from tilewright.language.casts import cast_to

        if value.numel.value != 1:
            raise ValueError("only accepts size-1 tensor")
        scalar = cast_to(_as_scalar(value), ty)
        return splat_as(scalar, new_block(ty, builtins.tuple(extents))) if extents else scalar
    number = unwrap(value)
    if not isinstance(number, bool | int | float):
        raise TypeError(f"`value` must be a number or a scalar tensor, got {describe(value)}")
    dt.validate_block_shape(extents)
    return constant(number, new_block(ty, builtins.tuple(extents)) if extents else ty)


def _as_scalar(value: tensor) -> tensor:
    if not value.extents:
        return value
    return tensor(emit(tt.UnsplatOp(value.handle)), value.dtype)


@builtin
def unsplat(x: tensor) -> tensor:
    """The element of a block that has exactly one."""
    if x.numel.value != 1:
        raise ValueError(f"only a block of one element can become a scalar, this one has shape {x.shape}")
    return _as_scalar(x)


__all__ = ["arange", "constant", "constexpr", "full", "num_programs", "program_id", "splat", "to_tensor", "tuple"]

"""The rules by which the operands of a binary operator come to one type and one shape."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.casts import cast_to
from tilewright.language.creation import constant, literal_dtype, to_tensor
from tilewright.language.dtypes import dtype
from tilewright.language.registry import with_hint
from tilewright.language.shape import broadcast_pair
from tilewright.language.values import describe, tensor, unwrap


class IncompatibleTypeError(TypeError):
    """Two operand types that no rule brings together."""

    def __init__(self, lhs: dtype, rhs: dtype) -> None:
        super().__init__(f"invalid operands of type {lhs} and {rhs}")
        if advice := _advice_on_types(lhs, rhs):
            with_hint(self, advice)


def _advice_on_types(lhs: dtype, rhs: dtype) -> str:
    """Return what to write where an operator does not take its operands."""
    if lhs.is_ptr() or rhs.is_ptr():
        if lhs.is_floating() or rhs.is_floating():
            return "offsets of pointers are integers: convert them with `.to(tl.int32)`"
        return "a pointer takes integer offsets; to compute with what it points at, load it: `tl.load(pointer)`"
    if lhs.is_floating() or rhs.is_floating():
        return "bitwise operators take integers; the bits of a float are `x.to(tl.int32, bitcast=True)`"
    return ""


def operand(value: Any) -> tensor | bool | int | float:
    """An operand of a binary operator: a tensor, or a Python number that is to adopt the other operand's type."""
    if isinstance(value, tensor):
        return value
    number = unwrap(value)
    if isinstance(number, bool | int | float):
        return number
    error = TypeError(f"an operand must be a tensor or a number, got {describe(value)}")
    if number is None:
        raise with_hint(error, "where an argument may be None, guard its use: `if x is not None:`")
    if isinstance(number, str):
        raise with_hint(error, "texts are for names and options of tl's functions; a kernel computes with numbers")
    if isinstance(number, tuple):
        raise with_hint(error, "take an element of the tuple, or make a tile of its numbers with tl.join or tl.cat")
    raise error


def promote_integers(a: dtype, b: dtype) -> dtype:
    """C's rule: with equal signedness the wider type; otherwise the unsigned one if it is at least as wide."""
    if a.int_signedness == b.int_signedness:
        return a if a.int_bitwidth > b.int_bitwidth else b
    unsigned, signed = (a, b) if a.is_int_unsigned() else (b, a)
    return unsigned if unsigned.int_bitwidth >= signed.int_bitwidth else signed


def computation_dtype(a: dtype, a_is_number: bool, b: dtype, b_is_number: bool, *, is_division: bool) -> dtype:
    """Element type in which a binary arithmetic operation on types `a` and `b` is computed.

    A Python number adopts the other operand's type unless its own kind is higher. Then fp64 wins over fp32 over fp16;
    bf16 stays only with bf16; two different float8 types meet in fp16; integers follow C. Divisions and remainders of
    floats below 32 bits are computed in fp32. Raises TypeError for a float8 with an integer, and for a division of
    integers of different signedness.
    """
    if a_is_number != b_is_number:
        number, other = (a, b) if a_is_number else (b, a)
        if number.kind() <= other.kind():
            a = b = other
    if dt.float64 in (a, b):
        return dt.float64
    if dt.float32 in (a, b) or (is_division and (a.is_floating() or b.is_floating())):
        return dt.float32
    if a.is_fp16() or b.is_fp16():
        return dt.float16
    if a.is_bf16() or b.is_bf16():
        return dt.bfloat16 if a == b else dt.float32
    if a.is_fp8() and b.is_fp8():
        return a if a == b else dt.float16
    if not (a.is_int() and b.is_int()):
        raise TypeError(f"unexpected type {a} and {b}")
    if is_division and a.int_signedness != b.int_signedness:
        raise with_hint(
            TypeError(
                f"Cannot use /, //, or % with {a} and {b} because they have different signedness; "
                "this is unlikely to result in a useful answer."
            ),
            "cast one operand so that both are signed or both are unsigned",
        )
    return promote_integers(a, b)


def promote_operands(
    lhs: Any,
    rhs: Any,
    *,
    allow_lhs_ptr: bool = False,
    allow_rhs_ptr: bool = False,
    arithmetic: bool = True,
    is_division: bool = False,
) -> tuple[tensor, tensor]:
    """Both operands as tensors of one shape and, if `arithmetic` and neither is a pointer, of one element type."""
    a, b = operand(lhs), operand(rhs)
    a_type = a.type.scalar if isinstance(a, tensor) else literal_dtype(a)
    b_type = b.type.scalar if isinstance(b, tensor) else literal_dtype(b)
    _check_pointer(a_type, b_type, allow_lhs_ptr)
    _check_pointer(b_type, a_type, allow_rhs_ptr)
    if arithmetic and not a_type.is_ptr() and not b_type.is_ptr():
        a_is_number, b_is_number = not isinstance(a, tensor), not isinstance(b, tensor)
        common = computation_dtype(a_type, a_is_number, b_type, b_is_number, is_division=is_division)
        if isinstance(a, tensor):
            a = cast_to(a, common)
            b = cast_to(b, common) if isinstance(b, tensor) else number_as(b, a.type.with_element_ty(common))
        else:
            shape = b.type if isinstance(b, tensor) else common
            b = cast_to(b, common) if isinstance(b, tensor) else number_as(b, common)
            a = number_as(a, shape.with_element_ty(common))
    return broadcast_pair(to_tensor(a), to_tensor(b))


def promote_all(*values: Any) -> list[tensor]:
    """Three or more operands as tensors of one shape and one element type.

    Tensors come to their common type first, and so do Python numbers; then the two follow `computation_dtype`. No
    number is rounded to a type in between.
    """
    operands = [operand(value) for value in values]
    tensors = [value.dtype for value in operands if isinstance(value, tensor)]
    numbers = [literal_dtype(value) for value in operands if not isinstance(value, tensor)]
    kinds = [
        reduce(partial(_common_dtype, are_numbers), types)
        for types, are_numbers in ((tensors, False), (numbers, True))
        if types
    ]
    common = kinds[0]
    if len(kinds) == 2:
        common = computation_dtype(kinds[0], False, kinds[1], True, is_division=False)
    cast = [cast_to(v, common) if isinstance(v, tensor) else number_as(v, common) for v in operands]
    for first in range(len(cast)):
        for second in range(first + 1, len(cast)):
            cast[first], cast[second] = broadcast_pair(cast[first], cast[second])
    return cast


def _common_dtype(are_numbers: bool, a: dtype, b: dtype) -> dtype:
    return computation_dtype(a, are_numbers, b, are_numbers, is_division=False)


def number_as(number: bool | int | float, ty: dtype) -> tensor:
    """A Python number as a constant of type `ty`, a scalar or a block; refuses what the element type cannot hold."""
    whole, ty = ty, ty.scalar
    if ty.is_int_unsigned() and number < 0:
        raise with_hint(
            ValueError("Cannot perform a binary operation between an unsigned tensor and a negative scalar."),
            f"cast the tensor to a signed type first: .to(tl.int{max(ty.int_bitwidth, 8)})",
        )
    if ty.is_int() and not ty.get_int_min_value() <= number <= ty.get_int_max_value():
        raise ValueError(f"Scalar {number} is out of range for type {ty}")
    return constant(number, whole)


def _check_pointer(operand: dtype, other: dtype, allowed: bool) -> None:
    """A pointer goes with integers and with pointers of its own type, where the operation takes pointers at all."""
    fits = allowed and not other.is_floating() and (not other.is_ptr() or other == operand)
    if operand.is_ptr() and not fits:
        raise IncompatibleTypeError(operand, other)


def is_number(value: Any) -> bool:
    """Is `value` a Python number or a constant that holds one?"""
    return isinstance(unwrap(value), bool | int | float) if not isinstance(value, tensor) else False

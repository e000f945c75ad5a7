"""Operators on numbers and pointers: + - * / // %, bits, shifts, comparisons, logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.casts import cast_to, require_arithmetic
from tilewright.language.context import current, emit
from tilewright.language.creation import as_tensor, constant
from tilewright.language.ir_modules import arith, tt
from tilewright.language.promotion import IncompatibleTypeError, promote_operands
from tilewright.language.registry import builtin, with_hint
from tilewright.language.shape import broadcast_pair
from tilewright.language.values import tensor, unwrap


def _same(op_class: Any, lhs: tensor, rhs: tensor) -> tensor:
    """A binary op whose result has the type of its operands."""
    require_arithmetic(lhs)
    return tensor(emit(op_class(lhs.handle, rhs.handle)), lhs.type)


@builtin
def add(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """`x + y`. One side may be a pointer: the offset counts elements and is sign extended (zero extended if unsigned).

    Integers wrap around. With `debug` and `sanitize_overflow` on, an overflow of integers below 64 bits stops the
    program.
    """
    lhs, rhs = promote_operands(x, y, allow_lhs_ptr=True, allow_rhs_ptr=True)
    if lhs.dtype.is_ptr() and rhs.dtype.is_ptr():
        raise with_hint(TypeError("cannot add pointers together"), "load the values first: `tl.load(pointer)`")
    if rhs.dtype.is_ptr():
        lhs, rhs = rhs, lhs
    if lhs.dtype.is_ptr():
        return offset_pointer(lhs, rhs)
    if lhs.dtype.is_floating():
        return _same(arith.AddfOp, lhs, rhs)
    if unwrap(sanitize_overflow):
        _check_overflow(lhs, rhs, arith.AddiOp, "add")
    return _same(arith.AddiOp, lhs, rhs)


def offset_pointer(pointer: tensor, offset: tensor) -> tensor:
    """`tt.addptr`: a pointer moved by a number of elements, both of one shape."""
    if offset.dtype.is_int_unsigned() and offset.dtype.int_bitwidth < 64:
        offset = cast_to(offset, dt.int64)
    return tensor(emit(tt.AddPtrOp(pointer.handle, offset.handle)), pointer.type)


@builtin
def sub(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """`x - y`; `x` may be a pointer and `y` an integer offset in elements."""
    lhs, rhs = promote_operands(x, y, allow_lhs_ptr=True)
    if lhs.dtype.is_ptr():
        return offset_pointer(lhs, negate(rhs))
    if lhs.dtype.is_floating():
        return _same(arith.SubfOp, lhs, rhs)
    if unwrap(sanitize_overflow):
        _check_overflow(lhs, rhs, arith.SubiOp, "sub")
    return _same(arith.SubiOp, lhs, rhs)


@builtin
def mul(x: Any, y: Any, sanitize_overflow: Any = True) -> tensor:
    """`x * y`; integers wrap around, with the same check for overflow as `add`."""
    lhs, rhs = promote_operands(x, y)
    if lhs.dtype.is_floating():
        return _same(arith.MulfOp, lhs, rhs)
    if unwrap(sanitize_overflow):
        _check_overflow(lhs, rhs, arith.MuliOp, "mul")
    return _same(arith.MuliOp, lhs, rhs)


def _check_overflow(lhs: tensor, rhs: tensor, op_class: Any, name: str) -> None:
    """In debug builds: assert that the operation, done in 64 bits, stays within the operands' type."""
    options = current().options
    ty = lhs.dtype
    if not (options.debug and options.sanitize_overflow) or ty.int_bitwidth >= 64:
        return
    from tilewright.language.debugging import device_assert

    wide = _same(op_class, cast_to(lhs, dt.int64), cast_to(rhs, dt.int64))
    low, high = constant(ty.get_int_min_value(), wide.type), constant(ty.get_int_max_value(), wide.type)
    within = and_(compare("le", wide, high), compare("ge", wide, low))
    device_assert(within, f"{ty} overflow detected for operation {name}")


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`: a floating point quotient; integers are converted to float32 first. 16-bit floats give float32."""
    lhs, rhs = promote_operands(x, y, is_division=True)
    if lhs.dtype.is_int():
        lhs, rhs = cast_to(lhs, dt.float32), cast_to(rhs, dt.float32)
    return _same(arith.DivfOp, lhs, rhs)


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` for integers. Unlike Python's, the quotient of signed integers is truncated towards zero."""
    lhs, rhs = promote_operands(x, y, is_division=True)
    if not lhs.dtype.is_int():
        raise with_hint(
            TypeError(f"unexpected type {lhs.dtype}: `//` is defined for integers only"),
            "use tl.floor(x / y) for floats",
        )
    return _same(arith.DivSIOp if lhs.dtype.is_int_signed() else arith.DivUIOp, lhs, rhs)


def mod(x: Any, y: Any) -> tensor:
    """`x % y`. Unlike Python's, the remainder has the sign of the dividend."""
    lhs, rhs = promote_operands(x, y, is_division=True)
    if lhs.dtype.is_floating():
        return _same(arith.RemFOp, lhs, rhs)
    return _same(arith.RemSIOp if lhs.dtype.is_int_signed() else arith.RemUIOp, lhs, rhs)


def negate(x: Any) -> tensor:
    """`-x`: of a float the sign is flipped, of an integer `0 - x` computed."""
    value = as_tensor(x, "x")
    if value.dtype.is_ptr():
        raise ValueError(f"wrong type argument to unary minus ({value.dtype})")
    require_arithmetic(value)
    if value.dtype.is_floating():
        return tensor(emit(arith.NegfOp(value.handle)), value.type)
    return sub(constant(0, value.type), value)


def invert(x: Any) -> tensor:
    """`~x` for integers: every bit flipped."""
    value = as_tensor(x, "x")
    if value.dtype.is_ptr() or value.dtype.is_floating():
        raise ValueError(f"wrong type argument to unary invert ({value.dtype})")
    ones = 1 if value.dtype.is_bool() else (-1 if value.dtype.is_int_signed() else value.dtype.get_int_max_value())
    return xor_(value, constant(ones, value.type))


# -- bits -------------------------------------------------------------------------------------------------------------
def _integer_operands(x: Any, y: Any) -> tuple[tensor, tensor]:
    for value, other in ((x, y), (y, x)):
        number = unwrap(value)
        if (isinstance(value, tensor) and not value.dtype.is_int()) or isinstance(number, float):
            raise IncompatibleTypeError(as_tensor(value, "x").dtype, as_tensor(other, "y").dtype)
    return promote_operands(x, y)


def and_(x: Any, y: Any) -> tensor:
    """`x & y` for integers."""
    return _same(arith.AndIOp, *_integer_operands(x, y))


def or_(x: Any, y: Any) -> tensor:
    """`x | y` for integers."""
    return _same(arith.OrIOp, *_integer_operands(x, y))


def xor_(x: Any, y: Any) -> tensor:
    """`x ^ y` for integers."""
    return _same(arith.XOrIOp, *_integer_operands(x, y))


def shl(x: Any, y: Any) -> tensor:
    """`x << y` for integers."""
    _check_shift(x, y)
    return _same(arith.ShLIOp, *_integer_operands(x, y))


def shr(x: Any, y: Any) -> tensor:
    """`x >> y` for integers: arithmetic if `x` is signed, logical if it is unsigned; as `y` says of a Python number."""
    _check_shift(x, y)
    signed = as_tensor(x if isinstance(x, tensor) else y, "x").dtype.is_int_signed()
    return _same(arith.ShRSIOp if signed else arith.ShRUIOp, *_integer_operands(x, y))


def _check_shift(x: Any, y: Any) -> None:
    amount = unwrap(y)
    if isinstance(x, tensor) and isinstance(amount, int) and not isinstance(y, tensor):
        width = x.dtype.primitive_bitwidth
        if amount >= width:
            current().warn(
                f"Value {amount} exceeds the maximum bitwidth ({width}) for type '{x.dtype}'. This may result in "
                f"undefined behavior."
            )


# -- comparisons and logic --------------------------------------------------------------------------------------------
def compare(predicate: str, x: Any, y: Any) -> tensor:
    """One of lt, le, gt, ge, eq, ne, element by element; int1. NaN compares unequal to everything.

    A Python number adopts the other side's type, as in arithmetic; one that the type cannot hold is a ValueError.
    """
    lhs, rhs = promote_operands(x, y)
    require_arithmetic(lhs)
    ty = lhs.type.with_element_ty(dt.int1)
    if lhs.dtype.is_floating():
        name = "une" if predicate == "ne" else "o" + predicate
        return tensor(emit(arith.CmpfOp(lhs.handle, rhs.handle, name)), ty)
    if predicate not in ("eq", "ne"):
        predicate = ("s" if lhs.dtype.is_int_signed() else "u") + predicate
    return tensor(emit(arith.CmpiOp(lhs.handle, rhs.handle, predicate)), ty)


def comparison(predicate: str) -> Callable[[Any, Any], tensor]:
    """The function of two operands that applies one comparison."""

    def apply(x: Any, y: Any) -> tensor:
        return compare(predicate, x, y)

    return apply


def truth(x: Any) -> tensor:
    """`x != 0` as int1; an int1 value itself. Of a pointer: whether it is not null."""
    return cast_to(as_tensor(x, "x"), dt.int1)


@builtin
def logical_and(x: Any, y: Any) -> tensor:
    """`x and y` element by element on truth values; both sides are always computed. int1."""
    return and_(truth(x), truth(y))


@builtin
def logical_or(x: Any, y: Any) -> tensor:
    """`x or y` element by element on truth values; both sides are always computed. int1."""
    return or_(truth(x), truth(y))


@builtin
def logical_not(x: Any) -> tensor:
    """`not x` element by element. int1."""
    return invert(truth(x))


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """`x` where `condition` holds, `y` elsewhere, element by element. Both are computed always.

    `x` and `y` follow the promotion of binary operators; the condition, if not int1, is compared with zero. All three
    are broadcast to one shape.
    """
    if isinstance(condition, tensor) and condition.dtype != dt.int1:
        current().warn(
            f"tl.where with a non-boolean condition is deprecated and will error out in a future triton release. "
            f"Got {condition.dtype}"
        )
    chosen = truth(condition)
    lhs, rhs = promote_operands(x, y, allow_lhs_ptr=True, allow_rhs_ptr=True)
    chosen, lhs = broadcast_pair(chosen, lhs)
    lhs, rhs = broadcast_pair(lhs, rhs)
    chosen, lhs = broadcast_pair(chosen, lhs)
    return tensor(emit(arith.SelectOp(chosen.handle, lhs.handle, rhs.handle)), lhs.type)


__all__ = ["add", "logical_and", "logical_not", "logical_or", "mul", "sub", "where"]

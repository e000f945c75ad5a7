"""Element-wise mathematics: `tl.exp`, `tl.maximum`, `tl.fma`, ... Also exported as `tl.math`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import IntEnum
from math import copysign, isnan
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.casts import require_arithmetic
from tilewright.language.context import emit
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import dtype
from tilewright.language.ir_modules import arith, math, tt
from tilewright.language.promotion import promote_all, promote_operands
from tilewright.language.registry import builtin, member, with_hint
from tilewright.language.values import constexpr, tensor, unwrap
from tilewright.language.versions import since
from tilewright.support.triton_version import is_before


class PropagateNan(IntEnum):
    """What minimum and maximum do with a NaN: NONE returns the other operand, ALL returns the NaN."""

    NONE = 0
    ALL = 0xFFFF


def _require(value: tensor, allowed: Sequence[str], function: str) -> None:
    if value.dtype.name not in allowed:
        raise with_hint(
            ValueError(f"Expected dtype {list(allowed)} but got {value.dtype} in `tl.{function}`"),
            f"cast the argument: `.to(tl.{dtype(allowed[0]).codegen_name()})`",
        )


def _unary_math(x: Any, op_class: Any, function: str, allowed: Sequence[str] = ("fp32", "fp64")) -> tensor:
    value = as_tensor(x, "x")
    _require(value, allowed, function)
    return tensor(emit(op_class(value.handle)), value.type)


@member
@builtin
def exp(x: Any) -> tensor:
    """e to the power of `x`. float32 and float64; ValueError for other dtypes."""
    return _unary_math(x, math.ExpOp, "exp")


@member
@builtin
def exp2(x: Any) -> tensor:
    """2 to the power of `x`. float32 and float64."""
    return _unary_math(x, math.Exp2Op, "exp2")


@member
@builtin
def log(x: Any) -> tensor:
    """Natural logarithm. float32 and float64."""
    return _unary_math(x, math.LogOp, "log")


@member
@builtin
def log2(x: Any) -> tensor:
    """Logarithm to base 2. float32 and float64."""
    return _unary_math(x, math.Log2Op, "log2")


@member
@builtin
def cos(x: Any) -> tensor:
    """Cosine of `x` in radians. float32 and float64."""
    return _unary_math(x, math.CosOp, "cos")


@member
@builtin
def sin(x: Any) -> tensor:
    """Sine of `x` in radians. float32 and float64."""
    return _unary_math(x, math.SinOp, "sin")


@member
@builtin
def sqrt(x: Any) -> tensor:
    """Square root, in the target's fast form. float32 and float64."""
    return _unary_math(x, math.SqrtOp, "sqrt")


@member
@builtin
def sqrt_rn(x: Any) -> tensor:
    """Square root rounded to nearest as IEEE 754 says. float32 only."""
    return _unary_math(x, tt.PreciseSqrtOp, "sqrt_rn", ("fp32",))


@member
@builtin
def rsqrt(x: Any) -> tensor:
    """Reciprocal square root. float32 and float64."""
    return _unary_math(x, math.RsqrtOp, "rsqrt")


@member
@builtin
def erf(x: Any) -> tensor:
    """Error function. float32 and float64."""
    return _unary_math(x, math.ErfOp, "erf")


@member
@builtin
def floor(x: Any) -> tensor:
    """Largest integer not above `x`, as a float. float32 and float64."""
    return _unary_math(x, math.FloorOp, "floor")


@member
@builtin
def ceil(x: Any) -> tensor:
    """Smallest integer not below `x`, as a float. float32 and float64."""
    return _unary_math(x, math.CeilOp, "ceil")


@member
@builtin
def abs(x: Any) -> tensor:
    """Absolute value, of integers and floats; of an unsigned integer the value itself."""
    value = as_tensor(x, "x")
    ty = value.dtype
    if ty.is_fp8e4b15():
        from tilewright.language.arithmetic import and_
        from tilewright.language.casts import bitcast_to

        return bitcast_to(and_(bitcast_to(value, dt.int8), 0x7F), ty)
    if ty.is_floating():
        return tensor(emit(math.AbsFOp(value.handle)), value.type)
    if ty.is_int_signed():
        return tensor(emit(math.AbsIOp(value.handle)), value.type)
    if ty.is_int_unsigned():
        return value
    raise TypeError(f"Unexpected dtype {ty} in `tl.abs`")


@builtin
def fma(x: Any, y: Any, z: Any) -> tensor:
    """`x * y + z` with a single rounding. Floating types."""
    a, b, c = promote_all(x, y, z)
    require_arithmetic(a)
    return tensor(emit(math.FmaOp(a.handle, b.handle, c.handle)), a.type)


@since("3.6", approx="3.9")
@builtin
def fdiv(x: Any, y: Any, ieee_rounding: Any = False, approx: Any = False) -> tensor:
    """`x / y` for floating operands, in float32 at least.

    With `ieee_rounding` rounded to nearest as IEEE 754 says; with `approx`, of float32 only, within 2 ULP where the
    magnitude of `y` lies in [2**-126, 2**126]. Raises ValueError for both at once.
    """
    is_precise, is_approximate = bool(unwrap(ieee_rounding)), bool(unwrap(approx))
    if is_precise and is_approximate:
        raise ValueError("approx and ieee_rounding cannot both be True")
    lhs, rhs = promote_operands(x, y, is_division=True)
    if not lhs.dtype.is_floating():
        raise TypeError("fdiv requires floating-point operands after type promotion")
    if is_approximate and not lhs.dtype.is_fp32():
        raise ValueError(f"approx division requires float32 operands, got {lhs.dtype}")
    op_class = tt.ApproxDivFOp if is_approximate else tt.PreciseDivFOp if is_precise else arith.DivfOp
    return tensor(emit(op_class(lhs.handle, rhs.handle)), lhs.type)


@builtin
def div_rn(x: Any, y: Any) -> tensor:
    """`x / y` rounded to nearest as IEEE 754 says. float32 only."""
    return _pair_math(x, y, tt.PreciseDivFOp, "div_rn", ("fp32",))


@builtin
def umulhi(x: Any, y: Any) -> tensor:
    """The high half of the double-width product of two unsigned integers; int32, uint32, int64, uint64."""
    return _pair_math(x, y, tt.MulhiUIOp, "umulhi", ("int32", "int64", "uint32", "uint64"))


def _pair_math(x: Any, y: Any, op_class: Any, function: str, allowed: Sequence[str]) -> tensor:
    for value in (x, y):
        if isinstance(value, tensor):
            _require(value, allowed, function)
    lhs, rhs = promote_operands(x, y)
    return tensor(emit(op_class(lhs.handle, rhs.handle)), lhs.type)


def _nan_rule(propagate_nan: Any) -> PropagateNan:
    rule = unwrap(propagate_nan)
    value = getattr(rule, "value", rule)
    if value not in (PropagateNan.NONE, PropagateNan.ALL):
        raise ValueError(f"propagate_nan must be tl.PropagateNan.NONE or tl.PropagateNan.ALL, got {rule!r}")
    return PropagateNan(value)


def extremum(x: Any, y: Any, propagate_nan: Any, *, largest: bool) -> tensor:
    """Minimum or maximum of two values, in their common type."""
    rule = _nan_rule(propagate_nan)
    lhs, rhs = promote_operands(x, y)
    require_arithmetic(lhs)
    ty = lhs.dtype
    if ty.is_floating():
        if rule is PropagateNan.ALL:
            op_class = arith.MaximumfOp if largest else arith.MinimumfOp
        else:
            op_class = arith.MaxnumfOp if largest else arith.MinnumfOp
    elif ty.is_int_signed():
        op_class = arith.MaxSIOp if largest else arith.MinSIOp
    else:
        op_class = arith.MaxUIOp if largest else arith.MinUIOp
    return tensor(emit(op_class(lhs.handle, rhs.handle)), lhs.type)


@builtin
def maximum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The larger of `x` and `y` element by element. `propagate_nan` says what a NaN does."""
    return extremum(x, y, propagate_nan, largest=True)


@builtin
def minimum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The smaller of `x` and `y` element by element. `propagate_nan` says what a NaN does."""
    return extremum(x, y, propagate_nan, largest=False)


@builtin
def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """`x` limited to [min, max], of integers and floats; undefined where `min > max`."""
    rule = _nan_rule(propagate_nan)
    value, low, high = promote_all(x, min, max)
    if value.dtype.is_int():
        return minimum(maximum(value, low, rule), high, rule)
    if not value.dtype.is_floating():
        raise TypeError(f"Unexpected dtype {value.dtype} in `tl.clamp`")
    require_arithmetic(value)
    op = tt.ClampFOp(value.handle, low.handle, high.handle, propagate_nan=int(rule))
    return tensor(emit(op), value.type)


def fold_extremum(args: Sequence[Any], propagate_nan: Any, *, largest: bool) -> Any:
    """Python's `min(...)` and `max(...)` in a kernel: constants stay constants, run-time scalars use the ops above."""
    if len(args) == 1 and isinstance(unwrap(args[0]), builtins.list | builtins.tuple):
        args = builtins.list(args[0])
    if not args:
        raise TypeError(f"{'max' if largest else 'min'} expected at least 1 argument, got 0")
    result = args[0]
    for arg in args[1:]:
        if isinstance(result, tensor) or isinstance(arg, tensor):
            result = extremum(result, arg, propagate_nan, largest=largest)
        else:
            pick = builtins.max if largest else builtins.min
            _check_order(unwrap(result), unwrap(arg), pick.__name__)
            result = constexpr(pick(unwrap(result), unwrap(arg)))
    return result


def _check_order(first: Any, second: Any, name: str) -> None:
    """Reject constants of which Python's minimum depends on their order, NaN and -0.0, as Triton 3.9 does. Raises
    ValueError."""
    if is_before("3.9"):
        return
    for value in (first, second):
        if isinstance(value, float) and (isnan(value) or (not value and copysign(1, value) < 0)):
            raise with_hint(
                ValueError(f"{name} of constants does not support {value}"),
                f"for run-time values there are tl.{name}imum and its propagate_nan",
            )

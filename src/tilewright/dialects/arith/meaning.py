"""What the arith ops compute, as functions on NumPy arrays. Constant folding and the reference both use them.

Integer arguments are signed arrays (``bool`` for i1) kept sign-extended to the width of their type; ``width`` is
passed where the
result depends on it, and callers wrap results with :func:`~tilewright.dialects.numeric.wrap_to_width`. Where LLVM
leaves a lane undefined
(division by zero, shifts past the width) the functions return 0; :func:`tilewright.dialects.arith.folding` refuses to
fold such lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate, RoundingMode
from tilewright.dialects.float8 import in_float8
from tilewright.dialects.numeric import Array, dtype_of, wrap_to_width
from tilewright.dialects.types import bit_width

IntegerMeaning = Callable[[Array, Array, int], Array]
FloatMeaning = Callable[[Array, Array], Array]


_UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def as_unsigned(values: Array, width: int) -> Array:
    """The unsigned reading of sign-extended integers."""
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    dtype = _UNSIGNED[values.dtype]
    unsigned = values.view(dtype) if values.flags.c_contiguous else values.astype(dtype)
    return unsigned if width == dtype.itemsize * 8 else unsigned & dtype.type((1 << width) - 1)


def as_signed(values: Array, width: int) -> Array:
    """The signed reading of integers: i1 true is -1."""
    return -values.astype(np.int8) if values.dtype.kind == "b" else values


def _from_unsigned(values: Array, like: Array) -> Array:
    return (values & 1).astype(np.bool_) if like.dtype.kind == "b" else values.astype(like.dtype)


def _from_signed(values: Array, like: Array) -> Array:
    return (values & 1).astype(np.bool_) if like.dtype.kind == "b" else values.astype(like.dtype)


def _on_unsigned(compute: Callable[[Array, Array], Array]) -> IntegerMeaning:
    def meaning(lhs: Array, rhs: Array, width: int) -> Array:
        return _from_unsigned(compute(as_unsigned(lhs, width), as_unsigned(rhs, width)), lhs)

    return meaning


def _on_signed(compute: Callable[[Array, Array], Array]) -> IntegerMeaning:
    def meaning(lhs: Array, rhs: Array, width: int) -> Array:
        return _from_signed(compute(as_signed(lhs, width), as_signed(rhs, width)), lhs)

    return meaning


def _safe_divisor(rhs: Array) -> Array:
    return np.where(rhs == 0, rhs.dtype.type(1), rhs)


def _divide_floor(lhs: Array, rhs: Array) -> Array:
    return np.where(rhs == 0, lhs.dtype.type(0), lhs // _safe_divisor(rhs))


def _divide_truncating(lhs: Array, rhs: Array) -> Array:
    quotient = _divide_floor(lhs, rhs)
    inexact = (quotient * rhs != lhs) & (rhs != 0)
    return quotient + (inexact & ((lhs < 0) != (rhs < 0)))


def _divide_ceiling(lhs: Array, rhs: Array) -> Array:
    quotient = _divide_floor(lhs, rhs)
    return quotient + ((quotient * rhs != lhs) & (rhs != 0))


def _remainder(lhs: Array, rhs: Array) -> Array:
    return np.where(rhs == 0, lhs.dtype.type(0), lhs - _divide_truncating(lhs, rhs) * rhs)


def _shift(compute: Callable[[Array, Array], Array], *, signed: bool) -> IntegerMeaning:
    def meaning(lhs: Array, rhs: Array, width: int) -> Array:
        amount = as_unsigned(rhs, width)
        in_range = amount < width
        value = as_signed(lhs, width) if signed else as_unsigned(lhs, width)
        shifted = compute(value, np.where(in_range, amount, 0).astype(value.dtype))
        return _from_unsigned(np.where(in_range, shifted, value.dtype.type(0)), lhs)

    return meaning


INTEGER_BINARY: dict[str, IntegerMeaning] = {
    "arith.addi": _on_unsigned(np.add),
    "arith.subi": _on_unsigned(np.subtract),
    "arith.muli": _on_unsigned(np.multiply),
    "arith.divui": _on_unsigned(_divide_floor),
    "arith.divsi": _on_signed(_divide_truncating),
    "arith.ceildivui": _on_unsigned(_divide_ceiling),
    "arith.ceildivsi": _on_signed(_divide_ceiling),
    "arith.floordivsi": _on_signed(_divide_floor),
    "arith.remui": _on_unsigned(_remainder),
    "arith.remsi": _on_signed(_remainder),
    "arith.andi": _on_unsigned(np.bitwise_and),
    "arith.ori": _on_unsigned(np.bitwise_or),
    "arith.xori": _on_unsigned(np.bitwise_xor),
    "arith.shli": _shift(np.left_shift, signed=False),
    "arith.shrui": _shift(np.right_shift, signed=False),
    "arith.shrsi": _shift(np.right_shift, signed=True),
    "arith.maxsi": _on_signed(np.maximum),
    "arith.minsi": _on_signed(np.minimum),
    "arith.maxui": _on_unsigned(np.maximum),
    "arith.minui": _on_unsigned(np.minimum),
}

CMPI: dict[CmpIPredicate, tuple[Callable[[Array, Array], Array], bool]] = {
    CmpIPredicate.EQ: (np.equal, True),
    CmpIPredicate.NE: (np.not_equal, True),
    CmpIPredicate.SLT: (np.less, True),
    CmpIPredicate.SLE: (np.less_equal, True),
    CmpIPredicate.SGT: (np.greater, True),
    CmpIPredicate.SGE: (np.greater_equal, True),
    CmpIPredicate.ULT: (np.less, False),
    CmpIPredicate.ULE: (np.less_equal, False),
    CmpIPredicate.UGT: (np.greater, False),
    CmpIPredicate.UGE: (np.greater_equal, False),
}
"""Per predicate the comparison and whether it reads its operands as signed."""


def compare_integers(predicate: CmpIPredicate, lhs: Array, rhs: Array, width: int) -> Array:
    """``arith.cmpi``."""
    compare, signed = CMPI[predicate]
    read = as_signed if signed else as_unsigned
    return compare(read(lhs, width), read(rhs, width))


def compare_floats(predicate: CmpFPredicate, lhs: Array, rhs: Array) -> Array:
    """``arith.cmpf``: the low three bits choose among =, >, <, the fourth what unordered operands give."""
    unordered = np.isnan(lhs) | np.isnan(rhs)
    code = int(predicate)
    if predicate == CmpFPredicate.FALSE:
        return np.zeros_like(unordered)
    if predicate == CmpFPredicate.TRUE:
        return np.ones_like(unordered)
    if predicate == CmpFPredicate.ORD:
        return ~unordered
    if predicate == CmpFPredicate.UNO:
        return unordered
    ordered = {0: np.equal, 1: np.greater, 2: np.greater_equal, 3: np.less, 4: np.less_equal, 5: np.not_equal}
    return ordered[code - 1](lhs, rhs) & ~unordered if code < 8 else ordered[code - 8](lhs, rhs) | unordered


def _maximum(lhs: Array, rhs: Array) -> Array:
    """NaN wins; +0 is above -0."""
    larger = np.where((lhs > rhs) | ((lhs == rhs) & ~np.signbit(lhs)), lhs, rhs)
    return np.where(np.isnan(lhs), lhs, np.where(np.isnan(rhs), rhs, larger))


def _minimum(lhs: Array, rhs: Array) -> Array:
    smaller = np.where((lhs < rhs) | ((lhs == rhs) & np.signbit(lhs)), lhs, rhs)
    return np.where(np.isnan(lhs), lhs, np.where(np.isnan(rhs), rhs, smaller))


def _maximum_number(lhs: Array, rhs: Array) -> Array:
    """The other operand wins over NaN."""
    return np.where(np.isnan(lhs), rhs, np.where(np.isnan(rhs), lhs, _maximum(lhs, rhs)))


def _minimum_number(lhs: Array, rhs: Array) -> Array:
    return np.where(np.isnan(lhs), rhs, np.where(np.isnan(rhs), lhs, _minimum(lhs, rhs)))


FLOAT_BINARY: dict[str, FloatMeaning] = {
    "arith.addf": in_float8(np.add),
    "arith.subf": in_float8(np.subtract),
    "arith.mulf": in_float8(np.multiply),
    "arith.divf": in_float8(np.divide),
    "arith.remf": in_float8(np.fmod),
    "arith.maximumf": _maximum,
    "arith.minimumf": _minimum,
    "arith.maxnumf": _maximum_number,
    "arith.minnumf": _minimum_number,
}


def add_with_carry(lhs: Array, rhs: Array, width: int) -> tuple[Array, Array]:
    """``arith.addui_extended``: the sum and whether it wrapped."""
    left, right = as_unsigned(lhs, width), as_unsigned(rhs, width)
    total = left + right
    if width < total.dtype.itemsize * 8:
        carry = (total >> width) != 0
        total = total & total.dtype.type((1 << width) - 1)
    else:
        carry = total < left
    return _from_unsigned(total, lhs), carry


def multiply_extended(lhs: Array, rhs: Array, width: int, *, signed: bool) -> tuple[Array, Array]:
    """``arith.mul{u,s}i_extended``: the low and the high half, exactly, through Python integers where 64 bits do not
    hold the product."""
    read = as_signed if signed else as_unsigned
    wide: Any = object if width > 32 else np.int64
    product = np.asarray(read(lhs, width).astype(wide) * read(rhs, width).astype(wide), wide)
    mask = (1 << width) - 1
    low, high = product & mask, (product >> width) & mask
    return _narrow_halves(low, lhs, width), _narrow_halves(high, lhs, width)


def _narrow_halves(values: Array, like: Array, width: int) -> Array:
    if like.dtype == np.bool_:
        return np.asarray(values).astype(np.bool_)
    sign = 1 << (width - 1)
    return np.asarray((values ^ sign) - sign).astype(like.dtype)


def cast(name: str, values: Array, source: Attribute, target: Attribute) -> Array:
    """Return what the cast op of that name does to elements of type `source`. Floats that do not fit an integer
    saturate (NaN gives 0).
    """
    dtype = dtype_of(target)
    match name:
        case "arith.extui" | "arith.index_castui":
            wide = as_unsigned(values, bit_width(source)).astype(np.uint64).astype(np.int64)
            return _to_integer(wide, target)
        case "arith.extsi" | "arith.trunci" | "arith.index_cast":
            return _to_integer(as_signed(values, bit_width(source)).astype(np.int64), target)
        case "arith.extf" | "arith.truncf":
            return round_floats(values, dtype)
        case "arith.sitofp":
            return round_integers(as_signed(values, bit_width(source)), dtype)
        case "arith.uitofp":
            return round_integers(as_unsigned(values, bit_width(source)), dtype)
        case "arith.fptosi" | "arith.fptoui":
            return _float_to_integer(values, target, signed=name == "arith.fptosi")
        case "arith.bitcast":
            return _bitcast(values, target)
        case _:
            raise KeyError(name)


def _to_integer(wide: Array, target: Attribute) -> Array:
    dtype = dtype_of(target)
    if dtype == np.bool_:
        return (wide & 1).astype(np.bool_)
    return np.asarray(wrap_to_width(np.asarray(wide.astype(dtype)), target))


def round_floats(values: Array, dtype: np.dtype[Any]) -> Array:
    """Convert floats to another float type with a single rounding to nearest even.

    Types of ml_dtypes are reached from double through float32, which would round twice, so the float32 is first
    rounded to odd.
    """
    if values.dtype == np.float64 and dtype.itemsize <= 2 and dtype != np.float16:
        return _round_to_odd(values).astype(dtype)
    return values.astype(dtype)


def _round_to_odd(values: Array) -> Array:
    """Doubles as float32, truncated and with the last bit set where anything was cut off."""
    single = np.asarray(values.astype(np.float32))
    inexact = np.isfinite(single) & (single.astype(np.float64) != values)
    too_large = inexact & (np.abs(single.astype(np.float64)) > np.abs(values))
    bits = single.view(np.uint32) - too_large.astype(np.uint32)
    odd = np.bitwise_or(bits, inexact.astype(np.uint32), dtype=np.uint32)
    return odd.view(np.float32)


def truncate_float(values: Array, dtype: np.dtype[Any], mode: RoundingMode) -> Array:
    """Convert to a narrower float by a rounding mode other than nearest even: choose between the two neighbours."""
    exact = values.astype(np.float64)
    nearest = round_floats(values, dtype)
    infinity = np.full_like(nearest, np.inf)
    below = np.where(nearest.astype(np.float64) > exact, np.nextafter(nearest, -infinity), nearest)
    above = np.where(nearest.astype(np.float64) < exact, np.nextafter(nearest, infinity), nearest)
    match mode:
        case RoundingMode.DOWNWARD:
            chosen = below
        case RoundingMode.UPWARD:
            chosen = above
        case RoundingMode.TOWARD_ZERO:
            chosen = np.where(exact > 0, below, above)
        case RoundingMode.TO_NEAREST_AWAY:
            middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
            chosen = np.where(exact == middle, np.where(exact > 0, above, below), nearest)
        case RoundingMode.TO_NEAREST_EVEN:
            chosen = nearest
    return np.where(np.isnan(exact) | np.isinf(exact), nearest, chosen).astype(dtype)


def round_integers(values: Array, dtype: np.dtype[Any]) -> Array:
    """Convert integers to a float type with a single rounding: NumPy rounds integers directly to its own types,
    others go through double."""
    if dtype.kind == "f" and dtype != np.float16:
        return values.astype(dtype)
    exact_in_double = values.dtype.itemsize <= 4
    if not exact_in_double:
        values = _sticky_double_source(values)
    return round_floats(np.asarray(values.astype(np.float64)), dtype)


def _sticky_double_source(values: Array) -> Array:
    """64-bit integers cut to 53 significant bits, with a sticky last bit, so that a later rounding to a narrower
    float is right."""
    low_bits = values & values.dtype.type(0xFFF)
    cut = values - low_bits
    sticky = np.not_equal(low_bits, 0).astype(values.dtype) << 12
    return np.where(np.abs(values.astype(np.float64)) < 2.0**52, values, cut | sticky)


def _float_to_integer(values: Array, target: Attribute, *, signed: bool) -> Array:
    """The nearest limit beyond the range, of 32 bits at least: narrower types get the low bits of an int32, as LLVM
    legalises them."""
    signed, width = signed or bit_width(target) < 32, max(bit_width(target), 32)
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    exact = np.trunc(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=2.0**80, neginf=-(2.0**80)))
    inside = (exact >= float(low)) & (exact < float(high + 1))
    storage = np.int64 if signed else np.uint64
    converted = np.where(inside, exact, 0.0).astype(storage)
    saturated = np.where(exact < 0, storage(low), storage(high))
    return _to_integer(np.where(inside, converted, saturated).astype(np.int64), target)


def _bitcast(values: Array, target: Attribute) -> Array:
    dtype = dtype_of(target)
    if values.dtype == dtype:
        return values
    if np.bool_ in (values.dtype, dtype):
        return values.astype(dtype)
    return np.ascontiguousarray(values).view(dtype).reshape(values.shape)

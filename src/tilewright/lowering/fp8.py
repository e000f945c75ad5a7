"""Conversions of the four 8-bit float types as integer arithmetic on scalars, for machines that have none.

Both directions go through f32. Every value of every 8-bit type is exact in f32, so widening is exact; narrowing rounds
once, from the f32 bits (f16 and bf16 widen exactly first, f64 is rounded to odd first so that the second rounding is
the only one that shows).

Values beyond the largest finite one become the largest finite one with the same sign, as NVIDIA's ``cvt.rn.satfinite``
does; NaN stays NaN.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    IntegerType,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass

Rounding = str
"""``"rtne"`` (to nearest, ties to even) or ``"rtz"`` (towards zero)."""

F32_MAGNITUDE = 0x7FFF_FFFF
F32_INFINITY = 0x7F80_0000
F32_MANTISSA = 23
F32_BIAS = 127


@dataclass(frozen=True)
class Float8Format:
    """What tells the 8-bit float types apart: field widths, bias, and which codes are not finite."""

    mantissa: int
    bias: int
    largest: int  # the code of the largest finite value
    nan: int  # the code that a NaN becomes
    unsigned_zero: bool = False  # "UZ": 0x80 is NaN, there is no negative zero

    @property
    def has_infinity(self) -> bool:
        """Return whether a code stands for infinity: the one after the largest finite value's."""
        return self.largest + 1 < self.nan and not self.unsigned_zero

    @property
    def shift(self) -> int:
        """The distance in bits of the mantissa from the place of f32's."""
        return F32_MANTISSA - self.mantissa

    @property
    def rebias(self) -> int:
        """f32's bias less this one's."""
        return F32_BIAS - self.bias


FORMATS: dict[type[Attribute], Float8Format] = {
    Float8E4M3FNType: Float8Format(mantissa=3, bias=7, largest=0x7E, nan=0x7F),
    Float8E5M2Type: Float8Format(mantissa=2, bias=15, largest=0x7B, nan=0x7F),
    Float8E4M3FNUZType: Float8Format(mantissa=3, bias=8, largest=0x7F, nan=0x80, unsigned_zero=True),
    Float8E5M2FNUZType: Float8Format(mantissa=2, bias=16, largest=0x7F, nan=0x80, unsigned_zero=True),
}


def is_float8(type_: Attribute) -> bool:
    """Return whether a type is one of the 8-bit floats that Triton has."""
    return type(type_) in FORMATS


def emit_widen_float8(b: ScalarBuilder, value: SSAValue) -> SSAValue:
    """An 8-bit float as f32, exactly.

    A normal number's f32 bits are its own, shifted and rebiased; a subnormal is its code times the smallest subnormal.
    """
    fmt = FORMATS[type(value.type)]
    code = b.cast(arith.ExtUIOp, b.cast(arith.BitcastOp, value, i8), i32)
    magnitude = b.emit(arith.AndIOp, code, b.int(0x7F, i32))
    shifted = b.emit(arith.ShLIOp, magnitude, b.int(fmt.shift, i32))
    normal = b.emit(arith.AddiOp, shifted, b.int(fmt.rebias << F32_MANTISSA, i32))
    tiny = b.emit(
        arith.MulfOp,
        b.cast(arith.UIToFPOp, magnitude, f32),
        b.float(2.0 ** (1 - fmt.bias - fmt.mantissa), f32),
    )
    is_tiny = b.cmpi("ult", magnitude, b.int(1 << fmt.mantissa, i32))
    bits = b.select(is_tiny, b.cast(arith.BitcastOp, tiny, i32), normal)
    sign = b.emit(arith.ShLIOp, b.emit(arith.AndIOp, code, b.int(0x80, i32)), b.int(24, i32))
    bits = b.emit(arith.OrIOp, bits, sign)
    bits = _restore_non_finite(b, fmt, code, magnitude, sign, bits)
    return b.cast(arith.BitcastOp, bits, f32)


def _restore_non_finite(
    b: ScalarBuilder, fmt: Float8Format, code: SSAValue, magnitude: SSAValue, sign: SSAValue, bits: SSAValue
) -> SSAValue:
    """Put NaN (and e5m2's infinities) where the code says so."""
    nan = b.int(0x7FC0_0000, i32)
    if fmt.unsigned_zero:
        return b.select(b.cmpi("eq", code, b.int(0x80, i32)), nan, bits)
    if not fmt.has_infinity:
        return b.select(b.cmpi("eq", magnitude, b.int(0x7F, i32)), nan, bits)
    infinity_code = b.int(fmt.largest + 1, i32)
    infinity = b.emit(arith.OrIOp, sign, b.int(F32_INFINITY, i32))
    bits = b.select(b.cmpi("eq", magnitude, infinity_code), infinity, bits)
    return b.select(b.cmpi("ugt", magnitude, infinity_code), nan, bits)


def emit_arithmetic_result(b: ScalarBuilder, value: SSAValue, result_type: Attribute) -> SSAValue:
    """Narrow a result in f32 to an 8-bit float: as `emit_narrow_float8`, but infinities stay if there are any."""
    fmt = FORMATS[type(result_type)]
    code = emit_narrow_float8(b, value, result_type, "rtne")
    if not fmt.has_infinity:
        return code
    bits = b.cast(arith.BitcastOp, value, i32)
    magnitude = b.emit(arith.AndIOp, bits, b.int(F32_MAGNITUDE, i32))
    sign = b.emit(arith.AndIOp, b.emit(arith.ShRUIOp, bits, b.int(24, i32)), b.int(0x80, i32))
    infinity = b.cast(arith.TruncIOp, b.emit(arith.OrIOp, sign, b.int(fmt.largest + 1, i32)), i8)
    is_infinite = b.cmpi("eq", magnitude, b.int(F32_INFINITY, i32))
    return b.select(is_infinite, b.cast(arith.BitcastOp, infinity, result_type), code)


def emit_narrow_float8(b: ScalarBuilder, value: SSAValue, result_type: Attribute, rounding: Rounding) -> SSAValue:
    """An f32 (or f64, rounded to odd first) as an 8-bit float, rounded once, saturating."""
    fmt = FORMATS[type(result_type)]
    if value.type == f64:
        value = emit_round_to_odd(b, value)
    bits = b.cast(arith.BitcastOp, value, i32)
    magnitude = b.emit(arith.AndIOp, bits, b.int(F32_MAGNITUDE, i32))
    if rounding == "rtz":
        normal, tiny = magnitude, _truncate_subnormal(b, fmt, magnitude)
    else:
        normal, tiny = _round_mantissa(b, fmt, magnitude), _round_subnormal(b, fmt, magnitude)
    normal = b.emit(arith.ShRUIOp, normal, b.int(fmt.shift, i32))
    normal = b.emit(arith.SubiOp, normal, b.int(fmt.rebias << fmt.mantissa, i32))
    normal = b.emit(arith.MinUIOp, normal, b.int(fmt.largest, i32))
    is_tiny = b.cmpi("ult", magnitude, b.int((fmt.rebias + 1) << F32_MANTISSA, i32))
    code = b.select(is_tiny, tiny, normal)
    sign = b.emit(arith.AndIOp, b.emit(arith.ShRUIOp, bits, b.int(24, i32)), b.int(0x80, i32))
    signed = b.emit(arith.OrIOp, code, sign)
    if fmt.unsigned_zero:
        signed = b.select(b.cmpi("eq", code, b.int(0, i32)), code, signed)
    is_nan = b.cmpi("ugt", magnitude, b.int(F32_INFINITY, i32))
    code = b.select(is_nan, b.int(fmt.nan, i32), signed)
    return b.cast(arith.BitcastOp, b.cast(arith.TruncIOp, code, i8), result_type)


def _round_mantissa(b: ScalarBuilder, fmt: Float8Format, magnitude: SSAValue) -> SSAValue:
    """Add half a unit in the last kept place, less one where that place is even: ties go to even after the shift."""
    kept = b.emit(arith.ShRUIOp, magnitude, b.int(fmt.shift, i32))
    odd = b.emit(arith.AndIOp, kept, b.int(1, i32))
    half = b.emit(arith.AddiOp, odd, b.int((1 << (fmt.shift - 1)) - 1, i32))
    return b.emit(arith.AddiOp, magnitude, half)


def _round_subnormal(b: ScalarBuilder, fmt: Float8Format, magnitude: SSAValue) -> SSAValue:
    """Add the power of two whose last place is the smallest subnormal: the adder rounds, the low bits are the code."""
    power = F32_MANTISSA + 1 - fmt.bias - fmt.mantissa
    base = b.float(2.0**power, f32)
    total = b.emit(arith.AddfOp, b.cast(arith.BitcastOp, magnitude, f32), base)
    return b.emit(arith.SubiOp, b.cast(arith.BitcastOp, total, i32), b.int((power + F32_BIAS) << F32_MANTISSA, i32))


def _truncate_subnormal(b: ScalarBuilder, fmt: Float8Format, magnitude: SSAValue) -> SSAValue:
    """The magnitude in units of the smallest subnormal, cut to an integer (clamped first: the cast needs it in
    range)."""
    scaled = b.emit(
        arith.MulfOp, b.cast(arith.BitcastOp, magnitude, f32), b.float(2.0 ** (fmt.bias + fmt.mantissa - 1), f32)
    )
    return b.cast(arith.FPToUIOp, b.emit(arith.MinnumfOp, scaled, b.float(1024.0, f32)), i32)


def emit_round_to_odd(b: ScalarBuilder, value: SSAValue) -> SSAValue:
    """f64 to f32, inexact results with the last bit set: rounding once more to fewer bits then rounds right."""
    truncated = emit_truncate_towards_zero(b, value, f32)
    inexact = b.cmpf("one", b.cast(arith.ExtFOp, truncated, f64), value)
    bits = b.cast(arith.BitcastOp, truncated, i32)
    odd = b.emit(arith.OrIOp, bits, b.cast(arith.ExtUIOp, inexact, i32))
    return b.cast(arith.BitcastOp, odd, f32)


def emit_truncate_towards_zero(b: ScalarBuilder, value: SSAValue, result_type: Attribute) -> SSAValue:
    """A float in a narrower IEEE-like type, rounded towards zero: one step back where rounding to nearest went
    outwards.

    The bit patterns of one sign are ordered as the magnitudes are, so "one step towards zero" is minus one on the
    bits; past the largest finite value rounding to nearest gives infinity, and one step back is the largest finite
    value, which is what is wanted.
    """
    assert isinstance(result_type, FixedBitwidthType)
    bits_type = IntegerType(result_type.bitwidth)
    nearest = b.cast(arith.TruncFOp, value, result_type)
    widened = b.cast(arith.ExtFOp, nearest, value.type)
    grew_up = b.emit(arith.AndIOp, b.cmpf("ogt", widened, value), b.cmpf("ogt", value, b.zero(value.type)))
    grew_down = b.emit(arith.AndIOp, b.cmpf("olt", widened, value), b.cmpf("olt", value, b.zero(value.type)))
    outwards = b.emit(arith.OrIOp, grew_up, grew_down)
    bits = b.cast(arith.BitcastOp, nearest, bits_type)
    stepped = b.emit(arith.SubiOp, bits, b.cast(arith.ExtUIOp, outwards, bits_type))
    return b.cast(arith.BitcastOp, stepped, result_type)

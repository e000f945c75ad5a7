"""The integer and conversion functions of libdevice: the second half of the table in `extern_symbols`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, f16, f32, f64, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, math
from tilewright.dialects.types import bit_width
from tilewright.lowering.arith_to_linalg.extern_symbols import Emit, ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import ScalarBuilder

INTEGER_SYMBOLS: SymbolTable = {}


def _add(name: str, operands: Sequence[Attribute], result: Attribute, emit: Emit) -> None:
    INTEGER_SYMBOLS[f"__nv_{name}"] = ExternSymbol(tuple(operands), result, emit)


def _widened(extend: type, shift: int, narrow: IntegerType, wide: IntegerType) -> Emit:
    """(x * y) >> shift, computed in a type that holds the product."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        product = b.emit(arith.MuliOp, b.cast(extend, x[0], wide), b.cast(extend, x[1], wide))
        if shift:
            product = b.emit(arith.ShRUIOp, product, b.int(shift, wide))
        return b.cast(arith.TruncIOp, product, narrow)

    return emit


def _low_24(signed: bool) -> Emit:
    """Product of the low 24 bits of each, low 32 bits."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        down = arith.ShRSIOp if signed else arith.ShRUIOp
        eight = b.int(8, i32)
        parts = [b.emit(down, b.emit(arith.ShLIOp, v, eight), eight) for v in x]
        return b.emit(arith.MuliOp, *parts)

    return emit


def _average(signed: bool, up: bool) -> Emit:
    """(x + y + up) >> 1 without overflow."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        extend, shift = (arith.ExtSIOp, arith.ShRSIOp) if signed else (arith.ExtUIOp, arith.ShRUIOp)
        total = b.emit(arith.AddiOp, b.cast(extend, x[0], i64), b.cast(extend, x[1], i64))
        if up:
            total = b.emit(arith.AddiOp, total, b.int(1, i64))
        return b.cast(arith.TruncIOp, b.emit(shift, total, b.int(1, i64)), result)

    return emit


def _difference(signed: bool) -> Emit:
    """|x - y| + z, wrapping."""

    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        larger, smaller = (arith.MaxSIOp, arith.MinSIOp) if signed else (arith.MaxUIOp, arith.MinUIOp)
        gap = b.emit(arith.SubiOp, b.emit(larger, x[0], x[1]), b.emit(smaller, x[0], x[1]))
        return b.emit(arith.AddiOp, gap, x[2])

    return emit


def _emit_population(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    count = b.emit(math.CtPopOp, x[0])
    return count if x[0].type == result else b.cast(arith.TruncIOp, count, result)


def _emit_leading_zeros(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    count = b.emit(math.CountLeadingZerosOp, x[0])
    return count if x[0].type == result else b.cast(arith.TruncIOp, count, result)


def _emit_find_first_set(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """1 + index of the lowest one bit, 0 where there is none."""
    kind = x[0].type
    position = b.emit(arith.AddiOp, b.emit(math.CountTrailingZerosOp, x[0]), b.int(1, kind))
    position = b.select(b.cmpi("eq", x[0], b.int(0, kind)), b.int(0, kind), position)
    return position if kind == result else b.cast(arith.TruncIOp, position, result)


def _emit_bit_reverse(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """Swap neighbouring bits, pairs, nibbles, bytes, ...: log2(width) steps."""
    kind = x[0].type
    width, value, step = bit_width(kind), x[0], 1
    while step < width:
        mask = sum(((1 << step) - 1) << position for position in range(0, width, 2 * step))
        low = b.emit(arith.ShLIOp, b.emit(arith.AndIOp, value, b.int(mask, kind)), b.int(step, kind))
        high = b.emit(arith.AndIOp, b.emit(arith.ShRUIOp, value, b.int(step, kind)), b.int(mask, kind))
        value, step = b.emit(arith.OrIOp, low, high), 2 * step
    return value


def _emit_byte_permute(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """Byte i of the result is byte (selector >> 4i) & 7 of the eight bytes y:x."""
    low, high = b.cast(arith.ExtUIOp, x[0], i64), b.cast(arith.ExtUIOp, x[1], i64)
    pool = b.emit(arith.OrIOp, low, b.emit(arith.ShLIOp, high, b.int(32, i64)))
    total = b.int(0, i32)
    for byte in range(4):
        chosen = b.emit(arith.AndIOp, b.emit(arith.ShRUIOp, x[2], b.int(4 * byte, i32)), b.int(7, i32))
        shift = b.cast(arith.ExtUIOp, b.emit(arith.ShLIOp, chosen, b.int(3, i32)), i64)
        moved = b.cast(arith.TruncIOp, b.emit(arith.ShRUIOp, pool, shift), i32)
        kept = b.emit(arith.AndIOp, moved, b.int(255, i32))
        total = b.emit(arith.OrIOp, total, b.emit(arith.ShLIOp, kept, b.int(8 * byte, i32)))
    return total


def _simple(cls: type) -> Emit:
    return lambda b, x, result: b.emit(cls, *x)


for _prefix, _type in (("", i32), ("ll", i64)):
    _add(f"{_prefix}abs", [_type], _type, _simple(math.AbsIOp))
    _add(f"{_prefix}max", [_type] * 2, _type, _simple(arith.MaxSIOp))
    _add(f"{_prefix}min", [_type] * 2, _type, _simple(arith.MinSIOp))
    _add(f"u{_prefix}max", [_type] * 2, _type, _simple(arith.MaxUIOp))
    _add(f"u{_prefix}min", [_type] * 2, _type, _simple(arith.MinUIOp))
for _suffix, _type in (("", i32), ("ll", i64)):
    _add(f"popc{_suffix}", [_type], i32, _emit_population)
    _add(f"clz{_suffix}", [_type], i32, _emit_leading_zeros)
    _add(f"ffs{_suffix}", [_type], i32, _emit_find_first_set)
    _add(f"brev{_suffix}", [_type], _type, _emit_bit_reverse)
for _sign, _extend, _average_signed in (("", arith.ExtSIOp, True), ("u", arith.ExtUIOp, False)):
    _add(f"{_sign}mulhi", [i32] * 2, i32, _widened(_extend, 32, i32, i64))
    _add(f"{_sign}mul24", [i32] * 2, i32, _low_24(_average_signed))
    _add(f"{_sign}hadd", [i32] * 2, i32, _average(_average_signed, up=False))
    _add(f"{_sign}rhadd", [i32] * 2, i32, _average(_average_signed, up=True))
    _add(f"{_sign}sad", [i32] * 3, i32, _difference(_average_signed))
_add("urhadd", [i32] * 2, i32, _average(False, up=True))
_add("mul64hi", [i64] * 2, i64, lambda b, x, result: b.insert(arith.MulSIExtendedOp(x[0], x[1])).results[1])
_add("umul64hi", [i64] * 2, i64, lambda b, x, result: b.insert(arith.MulUIExtendedOp(x[0], x[1])).results[1])
_add("byte_perm", [i32] * 3, i32, _emit_byte_permute)


# Conversions. Float to integer saturates on NVIDIA hardware and gives 0 for NaN; so here.

_ROUNDINGS = {"rn": math.RoundEvenOp, "rz": None, "rd": math.FloorOp, "ru": math.CeilOp}
_INTEGERS = {"int": (i32, True), "uint": (i32, False), "ll": (i64, True), "ull": (i64, False)}


def _to_integer(rounding: type | None, signed: bool) -> Emit:
    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        value = x[0] if rounding is None else b.emit(rounding, x[0])
        width = bit_width(result)
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        kind = value.type
        over = b.cmpf("oge", value, b.float(float(high + 1), kind))
        under = b.cmpf("ole", value, b.float(float(low), kind))
        unusable = b.emit(arith.OrIOp, b.emit(arith.OrIOp, over, under), b.cmpf("uno", value, value))
        safe = b.select(unusable, b.float(0.0, kind), value)
        converted = b.cast(arith.FPToSIOp if signed else arith.FPToUIOp, safe, result)
        converted = b.select(over, b.int(high, result), converted)
        return b.select(under, b.int(low, result), converted)

    return emit


def _from_integer(signed: bool) -> Emit:
    return lambda b, x, result: b.cast(arith.SIToFPOp if signed else arith.UIToFPOp, x[0], result)


for _name, (_int_type, _signed) in _INTEGERS.items():
    for _mode, _rounding in _ROUNDINGS.items():
        _add(f"float2{_name}_{_mode}", [f32], _int_type, _to_integer(_rounding, _signed))
        _add(f"double2{_name}_{_mode}", [f64], _int_type, _to_integer(_rounding, _signed))
    _add(f"{_name}2float_rn", [_int_type], f32, _from_integer(_signed))
    _add(f"{_name}2double_rn", [_int_type], f64, _from_integer(_signed))
for _name, _type in (("", f64), ("f", f32)):
    _add(f"llrint{_name}", [_type], i64, _to_integer(math.RoundEvenOp, True))
    _add(f"llround{_name}", [_type], i64, _to_integer(math.RoundOp, True))
for _name in ("int", "uint"):
    _add(f"{_name}2double_rn", [i32], f64, _from_integer(_name == "int"))
    _add(f"{_name}_as_float", [i32], f32, lambda b, x, result: b.cast(arith.BitcastOp, x[0], result))
    _add(f"float_as_{_name}", [f32], i32, lambda b, x, result: b.cast(arith.BitcastOp, x[0], result))
_add("longlong_as_double", [i64], f64, lambda b, x, result: b.cast(arith.BitcastOp, x[0], result))
_add("double_as_longlong", [f64], i64, lambda b, x, result: b.cast(arith.BitcastOp, x[0], result))
_add("double2float_rn", [f64], f32, lambda b, x, result: b.cast(arith.TruncFOp, x[0], result))
_add(
    "float2half_rn", [f32], i16, lambda b, x, result: b.cast(arith.BitcastOp, b.cast(arith.TruncFOp, x[0], f16), result)
)
_add("half2float", [i16], f32, lambda b, x, result: b.cast(arith.ExtFOp, b.cast(arith.BitcastOp, x[0], f16), result))


def _emit_high_word(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    bits = b.cast(arith.BitcastOp, x[0], i64)
    return b.cast(arith.TruncIOp, b.emit(arith.ShRUIOp, bits, b.int(32, i64)), result)


def _emit_words_to_double(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    high = b.emit(arith.ShLIOp, b.cast(arith.ExtUIOp, x[0], i64), b.int(32, i64))
    bits = b.emit(arith.OrIOp, high, b.cast(arith.ExtUIOp, x[1], i64))
    return b.cast(arith.BitcastOp, bits, result)


_add("double2hiint", [f64], i32, _emit_high_word)
_add(
    "double2loint", [f64], i32, lambda b, x, result: b.cast(arith.TruncIOp, b.cast(arith.BitcastOp, x[0], i64), result)
)
_add("hiloint2double", [i32, i32], f64, _emit_words_to_double)

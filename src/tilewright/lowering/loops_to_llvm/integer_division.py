"""Integer division and remainder that never trap, and that use vector hardware where there is some.

Lanes that a mask will throw away may hold a zero divisor, so a zero divisor must not stop the program. CPUs have no
vector integer division; up to 32 bits the quotient of two f64 (f32 up to 16 bits) truncates to the right integer,
because their error is smaller than the distance of any inexact quotient from the next integer.
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import LaneBuilder


def emit_division(b: LaneBuilder, kind: str, x: str, y: str, bits: int) -> str:
    """One of divsi, divui, remsi, remui, ceildivsi, ceildivui, floordivsi; unspecified where y is 0."""
    type = f"i{bits}"
    signed = kind.endswith("si")
    base = kind[:-2]
    if base in ("div", "rem"):
        return _divide(b, x, y, bits, signed=signed, remainder=base == "rem")
    quotient = _divide(b, x, y, bits, signed=signed, remainder=False)
    rest = b.sub(x, b.mul(quotient, y, type), type)
    has_rest = b.icmp("ne", rest, b.int(0, type), type)
    if base == "ceildiv" and not signed:
        return b.add(quotient, b.cast("zext", has_rest, "i1", type), type)
    negative = b.icmp("slt", b.xor(rest, y, type), b.int(0, type), type)
    if base == "floordiv":
        adjust = b.and_(has_rest, negative, "i1")
        return b.sub(quotient, b.cast("zext", adjust, "i1", type), type)
    adjust = b.and_(has_rest, b.not_(negative), "i1")
    return b.add(quotient, b.cast("zext", adjust, "i1", type), type)


def _divide(b: LaneBuilder, x: str, y: str, bits: int, *, signed: bool, remainder: bool) -> str:
    type = f"i{bits}"
    opcode = ("s" if signed else "u") + ("rem" if remainder else "div")
    if y[0] != "%" and _is_safe_divisor(y):
        return b.binary(opcode, x, y, type)
    if b.lanes and bits <= 32:
        quotient = _divide_as_floats(b, x, y, bits, signed=signed)
        return b.sub(x, b.mul(quotient, y, type), type) if remainder else quotient
    return _divide_guarded(b, opcode, x, y, type)


def _is_safe_divisor(literal: str) -> bool:
    """A literal (or splat) divisor other than 0 and -1."""
    number = literal.removeprefix("splat (").rstrip(")").split()[-1]
    return number.lstrip("-").isdigit() and int(number) not in (0, -1)


def _divide_as_floats(b: LaneBuilder, x: str, y: str, bits: int, *, signed: bool) -> str:
    type = f"i{bits}"
    to_float = "sitofp" if signed else "uitofp"
    through, wide = ("float", "i32") if bits <= 16 else ("double", "i64")
    quotient = b.fdiv(b.cast(to_float, x, type, through), b.cast(to_float, y, type, through), through)
    # A zero divisor gives an infinity or NaN: bound it, so that the conversion is defined.
    limit = b.float(2.0 ** min(bits, 32), through)
    bounded = b.intrinsic("minnum", through, quotient, limit)
    bounded = b.intrinsic("maxnum", through, bounded, b.fneg(limit, through))
    return b.cast("trunc", b.cast("fptosi", bounded, through, wide), wide, type)


def _divide_guarded(b: LaneBuilder, opcode: str, x: str, y: str, type: str) -> str:
    """Replace divisors that trap: 0 by 1, and -1 (signed) by 1 with the quotient negated."""
    one, zero = b.int(1, type), b.int(0, type)
    safe = b.select(b.icmp("eq", y, zero, type), one, y, type)
    if opcode[0] == "u":
        return b.binary(opcode, x, safe, type)
    is_minus_one = b.icmp("eq", safe, b.int(-1, type), type)
    safe = b.select(is_minus_one, one, safe, type)
    result = b.binary(opcode, x, safe, type)
    return b.select(is_minus_one, b.sub(zero, x, type) if opcode == "sdiv" else zero, result, type)

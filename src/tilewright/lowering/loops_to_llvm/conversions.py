"""Between float types in registers: widening to what the CPU computes in, narrowing with one rounding, literals."""

from __future__ import annotations

from tilewright.codegen.float_formats import (
    F16,
    encode,
    f64_to_f32_round_to_odd,
    narrow_from_f32,
    widen_to_f32,
)
from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import f32_constant, float_constant, half_constant
from tilewright.lowering.loops_to_llvm.types import F32, F64, ScalarType

NATIVE_HALF = {"avx512fp16", "fullfp16"}
"""Features of processors with arithmetic of float16."""


def widen(b: LaneBuilder, value: str, scalar: ScalarType) -> str:
    """A soft float as f32; any other float as it is."""
    return value if scalar.format is None else widen_to_f32(b, value, scalar.format)


def to_compute(b: LaneBuilder, value: str, scalar: ScalarType) -> str:
    """An operand in the type that arithmetic is done in."""
    return widen(b, value, scalar)


def from_compute(b: LaneBuilder, value: str, scalar: ScalarType) -> str:
    """A result of arithmetic back in its own type, rounded to nearest even."""
    return value if scalar.format is None else narrow_from_f32(b, value, scalar.format)


def narrow(b: LaneBuilder, value: str, source: ScalarType, target: ScalarType, *, towards_zero: bool = False) -> str:
    """A float rounded once to a narrower type (soft or native)."""
    value, source = widen(b, value, source), (F32 if source.is_soft_float else source)
    if source.text == target.text:
        return value
    if target.format is None and not towards_zero and (source.text, target.text) != ("double", "half"):
        return b.cast("fptrunc", value, source.text, target.text)
    if source.text == "double":
        if target.text == "float":
            return _f64_to_f32_towards_zero(b, value)
        value = f64_to_f32_round_to_odd(b, value)
    elif source.text == "half":
        value = b.cast("fpext", value, "half", "float")
    if target.format is not None:
        return narrow_from_f32(b, value, target.format, towards_zero=towards_zero)
    if towards_zero:
        return b.bits(narrow_from_f32(b, value, F16, towards_zero=True), "i16", "half")
    return b.cast("fptrunc", value, "float", "half")


def fuse(b: LaneBuilder, x: str, y: str, z: str, scalar: ScalarType, features: frozenset[str]) -> str:
    """x * y + z of a type that arithmetic is done in, rounded once.

    Where no instruction has float16, LLVM computes in f64 and calls `__truncdfhf2` of libgcc for each lane, which not
    every process has: here the narrowing is done in registers.
    """
    if scalar.text != "half" or not features.isdisjoint(NATIVE_HALF):
        return b.fma(x, y, z, scalar.text)
    x, y, z = (b.cast("fpext", value, "half", "double") for value in (x, y, z))
    return narrow(b, b.fma(x, y, z, "double"), F64, scalar)


def _f64_to_f32_towards_zero(b: LaneBuilder, value: str) -> str:
    rounded = b.cast("fptrunc", value, "double", "float")
    back = b.cast("fpext", rounded, "float", "double")
    is_larger = b.fcmp("ogt", b.fabs(back, "double"), b.fabs(value, "double"), "double")
    return b.bits(b.sub(b.bits(rounded), b.cast("zext", is_larger, "i1", "i32")), "i32", "float")


def saturating_lanes(b: LaneBuilder, value: str, float_text: str, opcode: str, integer: str) -> str:
    """fptosi or fptoui of lanes as `llvm.fpto*i.sat` defines it: the nearest limit beyond the range, 0 for NaN.

    LLVM takes that intrinsic apart lane by lane on x86. The conversion itself is only given what it can represent:

        safe = |v| < 2^31 ? v : -2^31;  r = fptosi safe;  r = v >= 2^31 ? 2^31 - 1 : r;  r = isnan(v) ? 0 : r
    """
    if float_text == "half":
        value, float_text = b.cast("fpext", value, "half", "float"), "float"
    bits, is_signed = int(integer[1:]), opcode == "fptosi"
    end = b.float(2.0 ** (bits - is_signed), float_text)
    is_above = b.fcmp("oge", value, end, float_text)
    if is_signed:
        is_inside, outside = b.fcmp("olt", b.fabs(value, float_text), end, float_text), -(2.0 ** (bits - 1))
    else:
        above_least = b.fcmp("ogt", value, b.float(-1.0, float_text), float_text)
        is_inside, outside = b.and_(above_least, b.fcmp("olt", value, end, float_text), "i1"), 0.0
    safe = b.select(is_inside, value, b.float(outside, float_text), float_text)
    result = b.select(
        is_above, b.int((1 << (bits - is_signed)) - 1, integer), b.cast(opcode, safe, float_text, integer), integer
    )
    if is_signed:
        result = b.select(b.fcmp("uno", value, value, float_text), b.int(0, integer), result, integer)
    return result


def float_literal(value: float, scalar: ScalarType) -> str:
    """The literal of a float constant in its register type."""
    if scalar.format is not None:
        return str(encode(value, scalar.format))
    match scalar.text:
        case "float":
            return f32_constant(value)
        case "double":
            return float_constant(value)
        case _:
            return half_constant(encode(value, F16))

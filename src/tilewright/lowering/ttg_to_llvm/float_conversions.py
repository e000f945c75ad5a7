"""Between float types in registers: widening, narrowing with one rounding, the 8-bit floats.

The hardware converts f16 and bf16 by itself, and from 8.9 on pairs of 8-bit floats: `cvt.rn.satfinite.e4m3x2.f32`.
Other machines and formats take integer arithmetic on the bits (`codegen.float_formats`). Narrowing to 8 bits saturates
at the largest finite value, and a NaN becomes the NaN without a sign, as the hardware does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tilewright.codegen.float_formats import (
    F8E4M3FN,
    F8E5M2,
    FloatFormat,
    f64_to_f32_round_to_odd,
    narrow_from_f32,
    widen_to_f32,
)
from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.packing import build_vector, vector_elements
from tilewright.lowering.ttg_to_llvm.types import BF16, F16, F32, F64, ElementType

HARDWARE_FLOAT8: dict[FloatFormat, str] = {F8E4M3FN: "e4m3x2", F8E5M2: "e5m2x2"}
"""8-bit formats that `cvt` knows from compute capability 8.9 on."""


def compute_type(element: ElementType) -> ElementType:
    """The type that arithmetic on `element` is done in: f32 for 8-bit floats."""
    return F32 if element.format is not None else element


def to_compute(fn: GpuFunctionLowering, value: str, element: ElementType) -> str:
    """An operand in the type that arithmetic is done in."""
    return value if element.format is None else convert(fn, [value], element, F32)[0]


def from_compute(fn: GpuFunctionLowering, value: str, element: ElementType) -> str:
    """A result of arithmetic in its own type. Infinities stay, unlike in conversions, where the type has them."""
    if element.format is None:
        return value
    [code] = convert(fn, [value], F32, element)
    if element.format is not F8E5M2:
        return code
    b = LaneBuilder(fn.text, 0)
    for bound, infinity in ((inf, 0x7C), (-inf, 0xFC)):
        code = b.select(b.fcmp("oeq", value, b.float(bound)), str(infinity), code, "i8")
    return code


def to_f32(fn: GpuFunctionLowering, value: str, element: ElementType) -> str:
    """Any float of at most 32 bits as an f32 (exact)."""
    return convert(fn, [value], element, F32)[0]


def convert(
    fn: GpuFunctionLowering, values: Sequence[str], source: ElementType, target: ElementType, *, to_zero: bool = False
) -> list[str]:
    """Floats in another float type, rounded once (to nearest even, or towards zero); 8-bit targets saturate.

    Pairs of neighbours go through one instruction where there is one, so `values` should be all there are.
    """
    if source.text == target.text and source.format == target.format:
        return list(values)
    if source.format is not None:
        return _from_float8(fn, values, source, target, to_zero=to_zero)
    if target.format is not None:
        return _to_float8(fn, values, source, target, to_zero=to_zero)
    if source == F32 and target.bits == F16.bits and not to_zero:
        return _narrow_pairs(fn, values, target)
    return [_between_native(fn, value, source, target, to_zero=to_zero) for value in values]


def _narrow_pairs(fn: GpuFunctionLowering, values: Sequence[str], target: ElementType) -> list[str]:
    """f32 to f16 or bf16, two neighbours at a time (`cvt.rn.f16x2.f32`); the word that both make is remembered."""
    text, results = fn.text, list[str]()
    for index in range(0, len(values) - 1, 2):
        pair = build_vector(text, F32.text, values[index : index + 2])
        narrow = text.cast("fptrunc", "<2 x float>", pair, f"<2 x {target.text}>")
        halves = vector_elements(text, target.text, narrow, 2)
        fn.packed[tuple(halves)] = text.cast("bitcast", f"<2 x {target.text}>", narrow, "i32")
        results += halves
    if len(values) % 2:
        results.append(text.cast("fptrunc", "float", values[-1], target.text))
    return results


def _between_native(
    fn: GpuFunctionLowering, value: str, source: ElementType, target: ElementType, *, to_zero: bool
) -> str:
    if target.bits > source.bits:
        return fn.text.cast("fpext", source.text, value, target.text)
    if target.bits == source.bits:  # f16 and bf16
        return _between_native(fn, to_f32(fn, value, source), F32, target, to_zero=to_zero)
    if not to_zero:
        return fn.text.cast("fptrunc", source.text, value, target.text)
    if source == F64:
        # Towards zero twice is towards zero.
        value = fn.text.call("float", "llvm.nvvm.d2f.rz", [("double", value)])
    if target == F32:
        return value
    suffix = {F16.text: "f16", BF16.text: "bf16"}[target.text]
    [bits] = inline_asm(fn.text, f"cvt.rz.{suffix}.f32 $0, $1;", "=h,f", ["i16"], [("float", value)], has_effect=False)
    return fn.text.cast("bitcast", "i16", bits, target.text)


# ---------------------------------------------------------------------------------------------------- 8-bit floats


def _has_hardware(fn: GpuFunctionLowering, format: FloatFormat) -> bool:
    return fn.facts.capability >= 89 and format in HARDWARE_FLOAT8


def _from_float8(
    fn: GpuFunctionLowering, values: Sequence[str], source: ElementType, target: ElementType, *, to_zero: bool
) -> list[str]:
    assert source.format is not None
    if source.format is F8E5M2:
        halves, through = [_e5m2_to_half(fn, value) for value in values], F16
    elif _has_hardware(fn, source.format):
        halves, through = _pairs_to_halves(fn, values, HARDWARE_FLOAT8[source.format]), F16
    else:
        builder = LaneBuilder(fn.text, 0)
        halves, through = [widen_to_f32(builder, value, source.format) for value in values], F32
    return convert(fn, halves, through, target, to_zero=to_zero)


def _e5m2_to_half(fn: GpuFunctionLowering, value: str) -> str:
    """The bits of an e5m2 are the upper byte of a half."""
    wide = fn.text.cast("zext", "i8", value, "i16")
    shifted = fn.text.binary("shl", "i16", wide, 8)
    return fn.text.cast("bitcast", "i16", shifted, "half")


def _pairs_to_halves(fn: GpuFunctionLowering, values: Sequence[str], kind: str) -> list[str]:
    halves: list[str] = []
    for start in range(0, len(values), 2):
        pair = values[start : start + 2]
        low = fn.text.insert_element("<2 x i8>", "zeroinitializer", "i8", pair[0], 0)
        both = fn.text.insert_element("<2 x i8>", low, "i8", pair[1], 1) if len(pair) == 2 else low
        bits = fn.text.cast("bitcast", "<2 x i8>", both, "i16")
        asm = f"cvt.rn.f16x2.{kind} $0, $1;"
        [word] = inline_asm(fn.text, asm, "=r,h", ["i32"], [("i16", bits)], has_effect=False)
        vector = fn.text.cast("bitcast", "i32", word, "<2 x half>")
        halves += [fn.text.extract_element("<2 x half>", vector, index) for index in range(len(pair))]
    return halves


def _to_float8(
    fn: GpuFunctionLowering, values: Sequence[str], source: ElementType, target: ElementType, *, to_zero: bool
) -> list[str]:
    assert target.format is not None
    builder = LaneBuilder(fn.text, 0)
    if source == F64:
        floats = [f64_to_f32_round_to_odd(builder, value) for value in values]
    else:
        floats = convert(fn, values, source, F32)
    if _has_hardware(fn, target.format) and not to_zero:
        return _pairs_to_float8(fn, floats, HARDWARE_FLOAT8[target.format])
    return [_narrow_saturating(builder, value, target.format, to_zero=to_zero) for value in floats]


def _pairs_to_float8(fn: GpuFunctionLowering, floats: Sequence[str], kind: str) -> list[str]:
    results: list[str] = []
    for start in range(0, len(floats), 2):
        pair = floats[start : start + 2]
        high = pair[1] if len(pair) == 2 else pair[0]
        asm = f"cvt.rn.satfinite.{kind}.f32 $0, $1, $2;"
        operands = [("float", high), ("float", pair[0])]
        [word] = inline_asm(fn.text, asm, "=h,f,f", ["i16"], operands, has_effect=False)
        vector = fn.text.cast("bitcast", "i16", word, "<2 x i8>")
        results += [fn.text.extract_element("<2 x i8>", vector, index) for index in range(len(pair))]
    return results


def _narrow_saturating(b: LaneBuilder, value: str, format: FloatFormat, *, to_zero: bool) -> str:
    """The nearest code, magnitudes beyond the largest finite value being that value."""
    largest = decode_magnitude(format.overflow_code - 1, format)
    bounded = b.intrinsic("minnum", "float", value, b.float(largest))
    bounded = b.intrinsic("maxnum", "float", bounded, b.float(-largest))
    code = narrow_from_f32(b, bounded, format, towards_zero=to_zero)
    nan = (1 << (format.bits - 1)) if format.unsigned_zero else (1 << (format.bits - 1)) - 1
    is_nan = b.fcmp("uno", value, value)
    return b.select(is_nan, str(nan), code, format.storage)


def decode_magnitude(code: int, format: FloatFormat) -> float:
    """The value of a finite magnitude code."""
    exponent, mantissa = code >> format.mantissa_bits, code & ((1 << format.mantissa_bits) - 1)
    if exponent == 0:
        return mantissa * 2.0 ** (1 - format.bias - format.mantissa_bits)
    return (1 + mantissa / (1 << format.mantissa_bits)) * 2.0 ** (exponent - format.bias)

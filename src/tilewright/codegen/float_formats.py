"""Floating-point types that the CPU cannot compute with: bfloat16, 8-bit floats, and float16 where it lacks F16C.

They live in registers and memory as integers of their width. Arithmetic on them goes through f32: widening is exact,
narrowing rounds once, to nearest even or towards zero. Infinities, NaNs, subnormals and signed zeros come out as
the format defines them; a format without infinities turns overflow into NaN (as `arith.truncf` does upstream).

Narrowing from f64 first rounds to odd in f32, so that the second rounding is the only one that shows.

AVX-512 BF16 rounds f32 to bfloat16 by an instruction that flushes subnormals; lanes that hold one are mended after it:

    %r = vcvtneps2bf16 %x;  if any(subnormal(%x)) { %r = select(subnormal(%x), integer rounding of %x, %r) }
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import vector_constant
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

F32_MANTISSA = 23
F32_BIAS = 127


def has_native_half(facts: TargetFacts) -> bool:
    """Return whether the CPU converts float16 by itself (all AArch64 do; x86 with F16C does)."""
    return not facts.triple.startswith("x86_64") or facts.has("f16c")


@dataclass(frozen=True)
class FloatFormat:
    """A binary float format: one sign bit, then exponent, then mantissa."""

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    has_infinity: bool = True
    unsigned_zero: bool = False
    """The code of minus zero is the only NaN ("FNUZ"), and there are no infinities."""
    instruction_lanes: frozenset[int] = frozenset()
    """Lengths of vectors of f32 that the CPU rounds to it by `vcvtneps2bf16`."""

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def storage(self) -> str:
        """The LLVM integer type that holds it."""
        return f"i{self.bits}"

    @property
    def nan_code(self) -> int:
        """The magnitude (or, for FNUZ, the whole code) that a NaN becomes."""
        if self.unsigned_zero:
            return 1 << (self.bits - 1)
        top = ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        return top | (1 << (self.mantissa_bits - 1)) if self.has_infinity else (1 << (self.bits - 1)) - 1

    @property
    def overflow_code(self) -> int:
        """The smallest magnitude that is not finite: infinity, NaN, or one past the largest code."""
        if self.has_infinity:
            return ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        return (1 << (self.bits - 1)) if self.unsigned_zero else (1 << (self.bits - 1)) - 1


BF16 = FloatFormat("bf16", 8, 7, 127)
F16 = FloatFormat("f16", 5, 10, 15)
F8E4M3FN = FloatFormat("f8E4M3FN", 4, 3, 7, has_infinity=False)
F8E5M2 = FloatFormat("f8E5M2", 5, 2, 15)
F8E4M3FNUZ = FloatFormat("f8E4M3FNUZ", 4, 3, 8, has_infinity=False, unsigned_zero=True)
F8E5M2FNUZ = FloatFormat("f8E5M2FNUZ", 5, 2, 16, has_infinity=False, unsigned_zero=True)
F8E4M3B11FNUZ = FloatFormat("f8E4M3B11FNUZ", 4, 3, 11, has_infinity=False, unsigned_zero=True)
F8E4M3 = FloatFormat("f8E4M3", 4, 3, 7)

FORMATS = {f.name: f for f in (BF16, F16, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B11FNUZ, F8E4M3)}


def on_cpu(format: FloatFormat, facts: TargetFacts) -> FloatFormat:
    """The format with what a certain CPU can do about it."""
    if format is not BF16 or not (facts.has("avx512bf16") and facts.has("avx512dq")):
        return format
    return replace(format, instruction_lanes=frozenset((8, 16, 32) if facts.has("avx512vl") else (16, 32)))


def encode(value: float, format: FloatFormat) -> int:
    """The code of `value` in a format, rounded to nearest even, as `narrow_from_f32` computes it."""
    negative = math.copysign(1.0, value) < 0
    sign = 1 << (format.bits - 1) if negative else 0
    if math.isnan(value):
        return format.nan_code if format.unsigned_zero else format.nan_code | sign
    magnitude = abs(value)
    limit = format.overflow_code
    if math.isinf(magnitude):
        code = limit
    else:
        exponent = max(math.frexp(magnitude)[1] - 1, 1 - format.bias) if magnitude else 1 - format.bias
        mantissa = round(math.ldexp(magnitude, format.mantissa_bits - exponent))
        code = mantissa + ((exponent + format.bias - 1) << format.mantissa_bits)
    if code >= limit:
        return format.nan_code if format.unsigned_zero else limit | sign
    return 0 if format.unsigned_zero and code == 0 else code | sign


def widen_to_f32(b: LaneBuilder, value: str, source: FloatFormat) -> str:
    """The f32 equal to a narrow float (exact)."""
    if source.name == BF16.name:
        return b.bits(b.shl(b.cast("zext", value, "i16", "i32"), 16), "i32", "float")
    code = b.cast("zext", value, source.storage, "i32")
    sign_bit = 1 << (source.bits - 1)
    magnitude = b.and_(code, b.int(sign_bit - 1))
    sign = b.shl(b.and_(code, b.int(sign_bit)), 32 - source.bits)
    shifted = b.shl(magnitude, F32_MANTISSA - source.mantissa_bits)
    # Read as an f32 the shifted code is the value times 2^(bias - 127), subnormals included.
    scaled = b.fmul(b.bits(shifted, "i32", "float"), b.float(2.0 ** (F32_BIAS - source.bias)))
    plain = b.bits(scaled)
    if source.unsigned_zero:
        is_nan = b.icmp("eq", code, b.int(source.nan_code))
        plain = b.select(is_nan, b.int(0x7FC00000), plain, "i32")
    elif source.has_infinity:
        is_special = b.icmp("uge", magnitude, b.int(source.overflow_code))
        plain = b.select(is_special, b.or_(shifted, b.int(0x7F800000)), plain, "i32")
    else:
        is_nan = b.icmp("eq", magnitude, b.int(source.nan_code))
        plain = b.select(is_nan, b.int(0x7FC00000), plain, "i32")
    return b.bits(b.or_(plain, sign), "i32", "float")


def narrow_from_f32(b: LaneBuilder, value: str, target: FloatFormat, *, towards_zero: bool = False) -> str:
    """The narrow float nearest to an f32 (ties to even), or the next one towards zero."""
    if target.name == BF16.name:
        if has_bf16_instruction(b, target) and not towards_zero:
            return _narrow_by_instruction(b, value)
        return _narrow_to_bf16(b, value, towards_zero=towards_zero)
    bits = b.bits(value)
    magnitude = b.and_(bits, b.int(0x7FFFFFFF))
    drop = F32_MANTISSA - target.mantissa_bits
    rebias = F32_BIAS - target.bias
    normal = b.sub(_round_off(b, magnitude, drop, towards_zero=towards_zero), b.int(rebias << target.mantissa_bits))
    # Subnormal results: adding 2^(drop + smallest exponent) lines the mantissa up with the last bit.
    smallest_exponent = 1 - target.bias
    small_float = b.bits(magnitude, "i32", "float")
    aligner = 2.0 ** (smallest_exponent + drop)
    if towards_zero:
        scale = b.fmul(small_float, b.float(2.0 ** (target.mantissa_bits - smallest_exponent)))
        bounded = b.intrinsic("minnum", "float", scale, b.float(float(1 << target.mantissa_bits)))
        subnormal = b.cast("fptosi", bounded, "float", "i32")
    else:
        aligned = b.bits(b.fadd(small_float, b.float(aligner)))
        subnormal = b.sub(aligned, b.int(_f32_bits(aligner)))
    is_small = b.icmp("ult", magnitude, b.int((rebias + 1) << F32_MANTISSA))
    code = b.select(is_small, subnormal, normal, "i32")
    code = _saturate_code(b, code, magnitude, target, towards_zero=towards_zero)
    return b.cast("trunc", _with_sign(b, code, bits, magnitude, target), "i32", target.storage)


def _round_off(b: LaneBuilder, magnitude: str, drop: int, *, towards_zero: bool) -> str:
    """magnitude / 2^drop, rounded to nearest even or down."""
    if towards_zero:
        return b.lshr(magnitude, drop)
    odd = b.and_(b.lshr(magnitude, drop), b.int(1))
    return b.lshr(b.add(b.add(magnitude, b.int((1 << (drop - 1)) - 1)), odd), drop)


def _saturate_code(b: LaneBuilder, code: str, magnitude: str, target: FloatFormat, *, towards_zero: bool) -> str:
    """Codes at or past the first non-finite one become it; towards zero, finite values stop at the largest code."""
    limit = target.overflow_code
    is_beyond = b.icmp("sge", code, b.int(limit))
    if towards_zero:
        is_finite = b.icmp("ult", magnitude, b.int(0x7F800000))
        ceiling = b.select(is_finite, b.int(limit - 1), b.int(limit), "i32")
        return b.select(is_beyond, ceiling, code, "i32")
    return b.select(is_beyond, b.int(limit), code, "i32")


def _with_sign(b: LaneBuilder, code: str, bits: str, magnitude: str, target: FloatFormat) -> str:
    """Put NaN and the sign into a magnitude code."""
    sign_bit = 1 << (target.bits - 1)
    sign = b.and_(b.lshr(bits, 32 - target.bits), b.int(sign_bit))
    is_nan = b.icmp("ugt", magnitude, b.int(0x7F800000))
    if target.unsigned_zero:
        is_nan = b.fn.binary("or", b.type("i1"), is_nan, b.icmp("uge", code, b.int(target.overflow_code)))
        is_zero = b.icmp("eq", code, b.int(0))
        signed = b.select(is_zero, code, b.or_(code, sign), "i32")
        return b.select(is_nan, b.int(target.nan_code), signed, "i32")
    code = b.select(is_nan, b.int(target.nan_code), code, "i32")
    return b.or_(code, sign)


def _narrow_to_bf16(b: LaneBuilder, value: str, *, towards_zero: bool) -> str:
    bits = b.bits(value)
    is_nan = b.fcmp("uno", value, value)
    quiet = b.or_(bits, b.int(0x00400000))
    if not towards_zero:
        odd = b.and_(b.lshr(bits, 16), b.int(1))
        bits = b.add(b.add(bits, b.int(0x7FFF)), odd)
    return b.cast("trunc", b.lshr(b.select(is_nan, quiet, bits, "i32"), 16), "i32", "i16")


def has_bf16_instruction(b: LaneBuilder, target: FloatFormat | None) -> bool:
    """Return whether the machine has an instruction that narrows so many f32 to bfloat16."""
    return target is not None and target.name == BF16.name and b.lanes in target.instruction_lanes


def narrow_to_bf16_flushing(b: LaneBuilder, value: str) -> str:
    """The bfloat16 nearest to an f32, where there is an instruction for it; 0 for a subnormal number."""
    if b.lanes == 32:
        # Two registers take one instruction, of four micro-operations; one alone takes three.
        low, high = _halves(b, value)
        operands, name = [("<16 x float>", high), ("<16 x float>", low)], "cvtne2ps2bf16.512"
    else:
        operands, name = [(b.type("float"), value)], f"cvtneps2bf16.{32 * b.lanes}"
    return b.bits(b.fn.call(b.type("bfloat"), f"llvm.x86.avx512bf16.{name}", operands), "bfloat", "i16")


def _halves(b: LaneBuilder, value: str) -> tuple[str, str]:
    """The lower and the upper half of a vector of floats."""
    half = b.lanes // 2
    masks = (vector_constant("i32", map(str, range(first, first + half))) for first in (0, half))
    low, high = (b.fn.shuffle(b.type("float"), value, "poison", f"<{half} x i32> {mask}") for mask in masks)
    return low, high


def _narrow_by_instruction(b: LaneBuilder, value: str) -> str:
    """A call of a function that is inlined: the branch in it would cut the caller's block in two."""
    name, type = f"tw_narrow_bf16_v{b.lanes}", b.type("float")
    b.fn.module.define_once(name, lambda: _narrowing_function(b.fn.module, name, b.lanes))
    return b.fn.value(f"call {b.type('i16')} @{name}({type} {value})")


def _narrowing_function(module: ModuleText, name: str, lanes: int) -> str:
    f32, i16 = f"<{lanes} x float>", f"<{lanes} x i16>"
    fn = FunctionText(module, name, i16, [Parameter(f32, "%x")], linkage="internal", attributes="alwaysinline")
    b = LaneBuilder(fn, lanes)
    quick = narrow_to_bf16_flushing(b, "%x")
    is_subnormal = _find_subnormals(b, "%x")
    some = fn.icmp("ne", f"i{lanes}", fn.cast("bitcast", f"<{lanes} x i1>", is_subnormal, f"i{lanes}"), 0)
    mend, done, before = fn.new_label("mend"), fn.new_label("done"), fn.label
    rarely = module.metadata('!{!"branch_weights", i32 1, i32 1000}')
    fn.branch_if(some, mend, done, metadata=f"!prof {rarely}")
    fn.start(mend)
    mended = b.select(is_subnormal, _narrow_to_bf16(b, "%x", towards_zero=False), quick, "i16")
    fn.branch(done)
    fn.start(done)
    result = fn.phi(i16)
    result.add(quick, before)
    result.add(mended, mend)
    fn.ret(i16, result.name)
    return fn.text()


def _find_subnormals(b: LaneBuilder, value: str) -> str:
    """The lanes with subnormal f32."""
    if b.lanes == 32:
        half = LaneBuilder(b.fn, 16)
        low, high = (_find_subnormals(half, part) for part in _halves(b, value))
        order = ", ".join(f"i32 {lane}" for lane in range(b.lanes))
        return b.fn.shuffle(half.type("i1"), low, high, f"<32 x i32> <{order}>")
    classify = f"llvm.x86.avx512.fpclass.ps.{32 * b.lanes}"
    b.fn.declare(f"declare {b.type('i1')} @{classify}({b.type('float')}, i32 immarg)")
    return b.fn.call(b.type("i1"), classify, [(b.type("float"), value), ("i32", "32")])


def f64_to_f32_round_to_odd(b: LaneBuilder, value: str) -> str:
    """An f32 from which any narrower format can be rounded as if from the f64 itself.

    The f32 is the f64 truncated towards zero, with the last bit set when that lost anything.
    """
    rounded = b.cast("fptrunc", value, "double", "float")
    back = b.cast("fpext", rounded, "float", "double")
    is_inexact = b.fcmp("one", back, value, "double")
    is_larger = b.fcmp("ogt", b.fabs(back, "double"), b.fabs(value, "double"), "double")
    bits = b.bits(rounded)
    towards_zero = b.sub(bits, b.cast("zext", is_larger, "i1", "i32"))
    return b.bits(b.or_(towards_zero, b.cast("zext", is_inexact, "i1", "i32")), "i32", "float")


def _f32_bits(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]

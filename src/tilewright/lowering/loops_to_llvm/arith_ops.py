"""arith to LLVM.

Choices where MLIR and LLVM leave room:

- floats are exact except that a multiplication and an addition may be contracted; `maximumf`/`minimumf` keep NaN,
  `maxnumf`/`minnumf` drop it; the sign of a zero maximum is not specified;
- float to integer saturates (at 32 bits for narrower results, which then wrap) and gives 0 for NaN, as GPUs do;
- integer division by zero does not trap: x / 0 and x % 0 are unspecified values; the least integer / -1 wraps;
- floats that the CPU has no arithmetic for are widened to f32 and rounded after each op.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.float_formats import has_bf16_instruction, narrow_from_f32, narrow_to_bf16_flushing
from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.literals import vector_constant
from tilewright.dialects import arith
from tilewright.dialects.attributes import COMPUTES_ALL_LANES, FLUSHES_SUBNORMALS
from tilewright.lowering.llvm_instructions import INTEGER_BINARY, INTEGER_MINMAX
from tilewright.lowering.loops_to_llvm.conversions import (
    float_literal,
    from_compute,
    narrow,
    saturating_lanes,
    to_compute,
    widen,
)
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.integer_division import emit_division
from tilewright.lowering.loops_to_llvm.math_calls import emit_math
from tilewright.lowering.loops_to_llvm.never_signalling import emit_range, has_range
from tilewright.lowering.loops_to_llvm.types import F32, F64, ScalarType, ValueType
from tilewright.lowering.loops_to_llvm.uniform_division import emit_uniform_division

_SHIFTS = ("shl", "ashr", "lshr")
_FLOAT_BINARY: dict[type[Operation], str] = {
    arith.AddfOp: "fadd contract",
    arith.SubfOp: "fsub contract",
    arith.MulfOp: "fmul contract",
    arith.DivfOp: "fdiv",
    arith.RemFOp: "frem",
}
FLOAT_MINMAX: dict[str, str] = {
    "maximumf": "maximum",
    "minimumf": "minimum",
    "maxnumf": "maxnum",
    "minnumf": "minnum",
}
_FLOAT_MINMAX_OPS: dict[type[Operation], str] = {
    arith.MaximumfOp: "maximumf",
    arith.MinimumfOp: "minimumf",
    arith.MaxnumfOp: "maxnumf",
    arith.MinnumfOp: "minnumf",
}
_DIVISIONS: dict[type[Operation], str] = {
    arith.DivSIOp: "divsi",
    arith.DivUIOp: "divui",
    arith.RemSIOp: "remsi",
    arith.RemUIOp: "remui",
    arith.CeilDivSIOp: "ceildivsi",
    arith.CeilDivUIOp: "ceildivui",
    arith.FloorDivSIOp: "floordivsi",
}

_TO_NEAREST_EVEN, _TOWARD_ZERO = 0, 3


# -------------------------------------------------------------------------------------------------------- constants


@lowers(arith.ConstantOp)
def lower_constant(op: arith.ConstantOp, low: CpuFunctionLowering) -> None:
    """A op needs no instruction: its uses spell it."""
    type = low.type_of(op.result)
    low.set(op.result, _attribute_text(op.value, type))


def _attribute_text(attr: object, type: ValueType) -> str:
    match attr:
        case IntegerAttr():
            return str(attr.value.data)
        case FloatAttr():
            return float_literal(attr.value.data, type.scalar)
        case DenseIntOrFPElementsAttr():
            values = [attr.get_values()[0]] * type.lanes if attr.is_splat() else list(attr.get_values())
            literals = [constant_text(value, type.scalar) for value in values]
            if len(set(literals)) == 1:
                return f"splat ({type.scalar.text} {literals[0]})"
            return vector_constant(type.scalar.text, literals)
        case _:
            raise TypeError(f"constant of {attr}")


def constant_text(value: object, scalar: ScalarType) -> str:
    """The literal of one element of a dense attribute."""
    return float_literal(float(cast(float, value)), scalar) if scalar.is_float else str(int(cast(int, value)))


# ------------------------------------------------------------------------------------------------------ arithmetic


@lowers(*INTEGER_BINARY)
def lower_integer_binary(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    a, b = low.get(op.operands[0]), low.get(op.operands[1])
    opcode = INTEGER_BINARY[type_of_op(op)]
    if a[0] != "%" and b[0] != "%" and not type.lanes and opcode in ("add", "mul", "sub"):
        low.set(op.results[0], _fold(opcode, int(a), int(b), type.scalar.bits))
        return
    result = low.fn.binary(opcode, type.text, a, b)
    if opcode in _SHIFTS and not _is_in_range(b, type.scalar.bits):
        result = _defined_shift(low, op, result, b)
    low.set(op.results[0], result)


def _is_in_range(amount: str, bits: int) -> bool:
    """Return whether a shift amount is a literal (or splat) below the width."""
    number = amount.removeprefix("splat (").rstrip(")").split()[-1]
    return number.isdigit() and int(number) < bits


def _defined_shift(low: CpuFunctionLowering, op: Operation, shifted: str, amount: str) -> str:
    """Shifting by the width or more gives 0 on every CPU; LLVM leaves it open, and processors differ."""
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    scalar = type.scalar.text
    return b.select(b.icmp("ult", amount, b.int(type.scalar.bits, scalar), scalar), shifted, b.int(0, scalar), scalar)


def type_of_op(op: Operation) -> type[Operation]:
    """The class of an op, as the tables key it."""
    return type(op)


def _fold(opcode: str, a: int, b: int, bits: int) -> str:
    value = {"add": a + b, "sub": a - b, "mul": a * b}[opcode] & ((1 << bits) - 1)
    return str(value - (1 << bits) if value >> (bits - 1) and bits > 1 else value)


@lowers(*INTEGER_MINMAX)
def lower_integer_minmax(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    name = INTEGER_MINMAX[type_of_op(op)]
    low.set(op.results[0], b.intrinsic(name, type.scalar.text, low.get(op.operands[0]), low.get(op.operands[1])))


@lowers(*_DIVISIONS)
def lower_division(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    kind = _DIVISIONS[type_of_op(op)]
    a, b = low.get(op.operands[0]), low.get(op.operands[1])
    low.set(op.results[0], emit_division(low.lanes(type), kind, a, b, type.scalar.bits))


@lowers(*_FLOAT_BINARY)
def lower_float_binary(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    opcode = _FLOAT_BINARY[type_of_op(op)]
    if not low.module.known.fuses:
        opcode = opcode.removesuffix(" contract")
    b = low.lanes(type)
    if opcode == "fdiv" and (divisor := low.divisors.get(op.operands[1])) is not None:
        x, s = (low.get(operand) for operand in op.operands)
        low.set(op.results[0], emit_uniform_division(b, x, s, divisor, type.scalar.text))
        return
    x, y = (to_compute(b, low.get(operand), type.scalar) for operand in op.operands)
    compute = F32 if type.scalar.is_soft_float else type.scalar
    result = _remainder(low, b, x, y, compute) if opcode == "frem" else b.binary(opcode, x, y, compute.text)
    low.set(op.results[0], from_compute(b, result, type.scalar))


def _remainder(low: CpuFunctionLowering, b: LaneBuilder, x: str, y: str, scalar: ScalarType) -> str:
    return emit_math(low, b, "fmod", (x, y), scalar)


@lowers(*_FLOAT_MINMAX_OPS)
def lower_float_minmax(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    x, y = (to_compute(b, low.get(operand), type.scalar) for operand in op.operands)
    kind, scalar = _FLOAT_MINMAX_OPS[type_of_op(op)], compute_scalar(type.scalar)
    first_is_number, second_is_number = (low.nan_free.holds(operand) for operand in op.operands)
    drops_nan = kind.endswith("numf")
    if (second_is_number and drops_nan) or (first_is_number and second_is_number):
        result = _select_larger(b, kind, x, y, scalar)
    elif first_is_number and drops_nan:
        result = _select_larger(b, kind, y, x, scalar)
    elif has_range(low.module.facts, kind, scalar, b.lanes) and all(map(low.quiet.holds, op.operands)):
        result = emit_range(b, kind, x, y, scalar)
    else:
        result = emit_float_minmax(b, kind, x, y, scalar)
    low.set(op.results[0], from_compute(b, result, type.scalar))


def _select_larger(b: LaneBuilder, kind: str, x: str, y: str, scalar: ScalarType) -> str:
    """The maximum or minimum of x and a y that is never NaN: x if it is beyond y, else y."""
    beyond = b.fcmp("ogt" if kind.startswith("max") else "olt", x, y, scalar.text)
    return b.select(beyond, x, y, scalar.text)


def compute_scalar(scalar: ScalarType) -> ScalarType:
    """The type that arithmetic on `scalar` is done in."""
    return F32 if scalar.is_soft_float else scalar


def emit_float_minmax(b: LaneBuilder, kind: str, x: str, y: str, scalar: ScalarType) -> str:
    """One of maximumf, minimumf, maxnumf, minnumf on the compute type."""
    return b.intrinsic(FLOAT_MINMAX[kind], scalar.text, x, y, flags="nsz ")


@lowers(arith.NegfOp)
def lower_negf(op: arith.NegfOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    value = low.get(op.operands[0])
    if (format := type.scalar.format) is None:
        low.set(op.results[0], b.fneg(value, type.scalar.text))
    elif format.unsigned_zero:
        low.set(op.results[0], narrow_from_f32(b, b.fneg(widen(b, value, type.scalar)), format))
    else:
        low.set(op.results[0], b.xor(value, b.int(1 << (format.bits - 1), format.storage), format.storage))


# ------------------------------------------------------------------------------------------ comparison, selection


@lowers(arith.CmpiOp)
def lower_cmpi(op: arith.CmpiOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.lhs)
    predicate = arith.CMPI_KEYWORDS[op.predicate.value.data]
    low.set(op.result, low.fn.icmp(predicate, type.text, low.get(op.lhs), low.get(op.rhs)))


@lowers(arith.CmpfOp)
def lower_cmpf(op: arith.CmpfOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.lhs)
    b = low.lanes(type)
    x, y = (to_compute(b, low.get(v), type.scalar) for v in (op.lhs, op.rhs))
    predicate = arith.CMPF_KEYWORDS[op.predicate.value.data]
    low.set(op.result, b.fcmp(predicate, x, y, compute_scalar(type.scalar).text))


@lowers(arith.SelectOp)
def lower_select(op: arith.SelectOp, low: CpuFunctionLowering) -> None:
    condition, yes, no = op.operands
    mask, mask_type = low.get(condition), low.type_of(condition).text
    registers: list[str] = []
    for (type, a), (_, b) in zip(low.flat(yes), low.flat(no), strict=True):
        if COMPUTES_ALL_LANES in op.attributes:
            a = _fenced(low, yes, a)
        registers.append(low.fn.select(mask, type, a, b, condition_type=mask_type))
    low.bind_flat(op.results, iter(registers))


def _fenced(low: CpuFunctionLowering, value: SSAValue, register: str) -> str:
    """The same floats, of which LLVM takes all lanes to be used."""
    type = low.type_of(value)
    if not type.lanes or type.scalar.text not in ("float", "double"):
        return register
    name = f"llvm.arithmetic.fence.{intrinsic_suffix(type.scalar.text, type.lanes)}"
    return low.fn.call(type.text, name, [(type.text, register)])


# ----------------------------------------------------------------------------------------------------------- casts


@lowers(arith.BitcastOp)
def lower_bitcast(op: arith.BitcastOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    value = low.get(op.operands[0])
    if source.text == target.text:
        low.set(op.results[0], value)
    else:
        low.set(op.results[0], low.fn.cast("bitcast", source.text, value, target.text))


@lowers(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp, arith.IndexCastUIOp)
def lower_integer_cast(op: Operation, low: CpuFunctionLowering) -> None:
    """extsi, extui, trunci, index_cast, index_castui: by the two widths."""
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    value = low.get(op.operands[0])
    unsigned = isinstance(op, arith.ExtUIOp | arith.IndexCastUIOp)
    if source.scalar.bits == target.scalar.bits:
        low.set(op.results[0], value)
        return
    if value[0] != "%" and not target.lanes and not unsigned and target.scalar.bits >= source.scalar.bits > 1:
        low.set(op.results[0], value)
        return
    grows = target.scalar.bits > source.scalar.bits
    opcode = ("zext" if unsigned else "sext") if grows else "trunc"
    low.set(op.results[0], low.fn.cast(opcode, source.text, value, target.text))


@lowers(arith.ExtFOp)
def lower_extf(op: arith.ExtFOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    b = low.lanes(source)
    value = widen(b, low.get(op.operands[0]), source.scalar)
    wide = F32 if source.scalar.is_soft_float else source.scalar
    low.set(op.results[0], _to_float(b, value, wide, target.scalar))


@lowers(arith.TruncFOp)
def lower_truncf(op: arith.TruncFOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    mode = op.roundingmode
    rounding = _TO_NEAREST_EVEN if mode is None else mode.value.data
    if rounding not in (_TO_NEAREST_EVEN, _TOWARD_ZERO):
        low.fail(op, "rounds in a way that the CPU back end does not have (to_nearest_even and toward_zero it has)")
    b = low.lanes(source)
    value = low.get(op.operands[0])
    if FLUSHES_SUBNORMALS in op.attributes and source.scalar == F32 and has_bf16_instruction(b, target.scalar.format):
        low.set(op.results[0], narrow_to_bf16_flushing(b, value))
        return
    towards_zero = rounding == _TOWARD_ZERO
    low.set(op.results[0], narrow(b, value, source.scalar, target.scalar, towards_zero=towards_zero))


def _to_float(b: LaneBuilder, value: str, source: ScalarType, target: ScalarType) -> str:
    """A hardware float converted to a wider float, or to any narrower one."""
    if target.bits > source.bits:
        return b.cast("fpext", value, source.text, target.text)
    return value if source.text == target.text else narrow(b, value, source, target)


@lowers(arith.SIToFPOp, arith.UIToFPOp)
def lower_int_to_float(op: Operation, low: CpuFunctionLowering) -> None:
    """sitofp, uitofp. Narrow targets go through f64 rounded to odd, so that only one rounding shows."""
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    b = low.lanes(source)
    opcode = "uitofp" if isinstance(op, arith.UIToFPOp) else "sitofp"
    value = low.get(op.operands[0])
    direct = target.scalar if target.scalar in (F32, F64) else (F32 if source.scalar.bits <= 24 else F64)
    wide = b.cast(opcode, value, source.scalar.text, direct.text)
    low.set(op.results[0], wide if direct == target.scalar else narrow(b, wide, direct, target.scalar))


@lowers(arith.FPToSIOp, arith.FPToUIOp)
def lower_float_to_int(op: Operation, low: CpuFunctionLowering) -> None:
    """fptosi, fptoui: towards zero, saturating."""
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    b = low.lanes(source)
    value = widen(b, low.get(op.operands[0]), source.scalar)
    float_text = compute_scalar(source.scalar).text
    bits = target.scalar.bits
    signed = isinstance(op, arith.FPToSIOp)
    through = target.scalar.text if bits >= 32 else "i32"
    name = "fptosi" if signed or bits < 32 else "fptoui"
    if b.lanes > 1 and low.module.facts.triple.startswith("x86_64"):
        wide = saturating_lanes(b, value, float_text, name, through)
    else:
        suffix = f"{intrinsic_suffix(through, b.lanes)}.{intrinsic_suffix(float_text, b.lanes)}"
        wide = low.fn.call(b.type(through), f"llvm.{name}.sat.{suffix}", [(b.type(float_text), value)])
    low.set(op.results[0], wide if bits >= 32 else b.cast("trunc", wide, through, target.scalar.text))


# -------------------------------------------------------------------------------------------------------- extended


@lowers(arith.AddUIExtendedOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp)
def lower_extended(op: Operation, low: CpuFunctionLowering) -> None:
    """addui_extended, mulsi_extended, mului_extended: two results each."""
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    x, y = low.get(op.operands[0]), low.get(op.operands[1])
    text, bits = type.scalar.text, type.scalar.bits
    if isinstance(op, arith.AddUIExtendedOp):
        total = b.add(x, y, text)
        low.set(op.results[0], total)
        low.set(op.results[1], b.icmp("ult", total, x, text))
        return
    extend = "sext" if isinstance(op, arith.MulSIExtendedOp) else "zext"
    wide = f"i{2 * bits}"
    product = b.mul(b.cast(extend, x, text, wide), b.cast(extend, y, text, wide), wide)
    low.set(op.results[0], b.cast("trunc", product, wide, text))
    low.set(op.results[1], b.cast("trunc", b.lshr(product, bits, wide), wide, text))

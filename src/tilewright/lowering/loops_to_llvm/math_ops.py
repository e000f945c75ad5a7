"""math to LLVM: what hardware does in one instruction as intrinsics, the rest through `codegen.math_library`.

float16, bfloat16 and 8-bit floats are computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation

from tilewright.dialects import math, vector
from tilewright.lowering.loops_to_llvm.conversions import from_compute, fuse, widen
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.math_calls import emit_math
from tilewright.lowering.loops_to_llvm.types import F32

_INTRINSICS: dict[str, str] = {
    "math.absf": "fabs",
    "math.ceil": "ceil",
    "math.floor": "floor",
    "math.trunc": "trunc",
    "math.round": "round",
    "math.roundeven": "roundeven",
    "math.sqrt": "sqrt",
    "math.copysign": "copysign",
}
_LIBRARY: dict[str, str] = {
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.expm1": "expm1",
    "math.log": "log",
    "math.log2": "log2",
    "math.log10": "log10",
    "math.log1p": "log1p",
    "math.sin": "sin",
    "math.cos": "cos",
    "math.tan": "tan",
    "math.asin": "asin",
    "math.acos": "acos",
    "math.atan": "atan",
    "math.atan2": "atan2",
    "math.sinh": "sinh",
    "math.cosh": "cosh",
    "math.tanh": "tanh",
    "math.asinh": "asinh",
    "math.acosh": "acosh",
    "math.atanh": "atanh",
    "math.erf": "erf",
    "math.erfc": "erfc",
    "math.cbrt": "cbrt",
    "math.rsqrt": "rsqrt",
    "math.powf": "pow",
}
_INTEGER_UNARY: dict[str, tuple[str, str]] = {
    "math.ctlz": ("ctlz", "i1 false"),
    "math.cttz": ("cttz", "i1 false"),
    "math.ctpop": ("ctpop", ""),
    "math.absi": ("abs", "i1 false"),
}
_CLASS_TESTS: dict[str, int] = {"math.isnan": 0x3, "math.isinf": 0x204, "math.isfinite": 0x1F8, "math.isnormal": 0x108}
"""LLVM's class bits for `llvm.is.fpclass`."""


def _named(names: Collection[str]) -> list[type[Operation]]:
    """The ops of these names."""
    return [op for op in math.OPERATIONS if op.name in names]


@lowers(*_named(_INTRINSICS))
def lower_intrinsic(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    operands = [widen(b, low.get(operand), type.scalar) for operand in op.operands]
    result = b.intrinsic(_INTRINSICS[op.name], scalar.text, *operands)
    low.set(op.results[0], from_compute(b, result, type.scalar))


@lowers(math.FmaOp, vector.FMAOp)
def lower_fma(op: Operation, low: CpuFunctionLowering) -> None:
    """math.fma and vector.fma."""
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    x, y, z = (widen(b, low.get(operand), type.scalar) for operand in op.operands)
    low.set(op.results[0], from_compute(b, fuse(b, x, y, z, scalar, low.module.facts.features), type.scalar))


@lowers(*_named(_LIBRARY))
def lower_library(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    operands = [low.get(operand) for operand in op.operands]
    low.set(op.results[0], emit_math(low, low.lanes(type), _LIBRARY[op.name], operands, type.scalar))


@lowers(*_named(_INTEGER_UNARY))
def lower_integer_unary(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    name, flag = _INTEGER_UNARY[op.name]
    suffix = f"v{b.lanes}{type.scalar.text}" if b.lanes else type.scalar.text
    arguments = [(type.text, low.get(op.operands[0]))]
    if flag:
        arguments.append(("i1", flag.split()[1]))
    low.set(op.results[0], low.fn.call(type.text, f"llvm.{name}.{suffix}", arguments))


@lowers(*_named(_CLASS_TESTS))
def lower_class_test(op: Operation, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.operands[0])
    b = low.lanes(type)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    value = widen(b, low.get(op.operands[0]), type.scalar)
    suffix = {"float": "f32", "double": "f64", "half": "f16"}[scalar.text]
    name = f"llvm.is.fpclass.{f'v{b.lanes}' if b.lanes else ''}{suffix}"
    arguments = [(b.type(scalar.text), value), ("i32", str(_CLASS_TESTS[op.name]))]
    low.set(op.results[0], low.fn.call(b.type("i1"), name, arguments))


@lowers(math.FPowIOp)
def lower_fpowi(op: math.FPowIOp, low: CpuFunctionLowering) -> None:
    """x to an integer power: as powf, whose f64 core is exact enough for every integer."""
    type, exponent = low.type_of(op.results[0]), low.type_of(op.operands[1])
    b = low.lanes(type)
    base = widen(b, low.get(op.operands[0]), type.scalar)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    power = b.cast("sitofp", low.get(op.operands[1]), exponent.scalar.text, scalar.text)
    result = emit_math(low, b, "pow", (base, power), scalar)
    low.set(op.results[0], from_compute(b, result, type.scalar))


@lowers(math.ClampFOp)
def lower_clampf(op: math.ClampFOp, low: CpuFunctionLowering) -> None:
    """min(max(x, low), high); NaN stays NaN."""
    type = low.type_of(op.results[0])
    b = low.lanes(type)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    value, least, most = (widen(b, low.get(operand), type.scalar) for operand in op.operands)
    value = b.intrinsic("maximum", scalar.text, value, least, flags="nsz ")
    value = b.intrinsic("minimum", scalar.text, value, most, flags="nsz ")
    low.set(op.results[0], from_compute(b, value, type.scalar))

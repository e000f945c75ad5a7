"""math, and functions of libraries: what hardware does in one instruction as such, the rest through `library`.

The fast instructions are the ones that Triton uses: `exp` is `ex2.approx` of x log2 e, `exp2`, `sqrt` and `rsqrt` are
approximate with subnormals flushed to zero (`tt.precise_sqrt` is exact).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xdsl.ir import Operation

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import f32_constant
from tilewright.codegen.nvptx.libdevice import FILE_NAME as LIBDEVICE_FILE
from tilewright.codegen.nvptx.libdevice import PREFIX as LIBDEVICE_PREFIX
from tilewright.codegen.nvptx.libdevice import find_libdevice
from tilewright.dialects import math, tt
from tilewright.dialects.types import element_type
from tilewright.lowering.ttg_to_llvm.float_conversions import convert
from tilewright.lowering.ttg_to_llvm.float_ops import intrinsic
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.library import call_function, call_libdevice, call_library, call_own_form
from tilewright.lowering.ttg_to_llvm.types import F32, F64, ElementType, element_of

LOG2_E = 1.4426950408889634

_INTRINSICS: dict[type[Operation], str] = {
    math.AbsFOp: "fabs",
    math.CeilOp: "ceil",
    math.FloorOp: "floor",
    math.TruncOp: "trunc",
    math.RoundEvenOp: "roundeven",
    math.CopySignOp: "copysign",
    math.FmaOp: "fma",
}
_LIBRARY: dict[type[Operation], str] = {
    math.AcosOp: "acos",
    math.AcoshOp: "acosh",
    math.AsinOp: "asin",
    math.AsinhOp: "asinh",
    math.AtanOp: "atan",
    math.AtanhOp: "atanh",
    math.Atan2Op: "atan2",
    math.CbrtOp: "cbrt",
    math.CosOp: "cos",
    math.CoshOp: "cosh",
    math.ErfOp: "erf",
    math.ErfcOp: "erfc",
    math.ExpM1Op: "expm1",
    math.LogOp: "log",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.Log2Op: "log2",
    math.RoundOp: "round",
    math.SinOp: "sin",
    math.SinhOp: "sinh",
    math.TanOp: "tan",
    math.TanhOp: "tanh",
    math.ExpOp: "exp",
    math.Exp2Op: "exp2",
    math.SqrtOp: "sqrt",
    math.RsqrtOp: "rsqrt",
    math.PowFOp: "pow",
}
"""The functions of libdevice; a few ops have a faster form, too."""
_CLASS_TESTS: dict[type[Operation], int] = {
    math.IsNaNOp: 0x3,
    math.IsInfOp: 0x204,
    math.IsFiniteOp: 0x1F8,
    math.IsNormalOp: 0x108,
}
"""LLVM's class bits for `llvm.is.fpclass`."""


@lowers(*_INTRINSICS)
def lower_intrinsic(op: Operation, fn: GpuFunctionLowering) -> None:
    element, name = fn.element(op.results[0]), _INTRINSICS[type(op)]

    def call(*operands: str) -> str:
        return intrinsic(fn, name, element, *operands)

    fn.elementwise(op, call)


def _exp(fn: GpuFunctionLowering, x: str) -> str:
    scaled = fn.text.binary("fmul", "float", x, f32_constant(LOG2_E))
    return fn.text.call("float", "llvm.nvvm.ex2.approx.f", [("float", scaled)])


def _approximate(name: str) -> Callable[[GpuFunctionLowering, str], str]:
    return lambda fn, x: fn.text.call("float", f"llvm.nvvm.{name}.approx.ftz.f", [("float", x)])


_FAST: dict[type[Operation], Callable[[GpuFunctionLowering, str], str]] = {
    math.ExpOp: _exp,
    math.Exp2Op: _approximate("ex2"),
    math.SqrtOp: _approximate("sqrt"),
    math.RsqrtOp: _approximate("rsqrt"),
}
"""f32 functions that one instruction (or two) approximates."""


@lowers(*_LIBRARY)
def lower_library(op: Operation, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    fast = _FAST.get(type(op))
    if fast is not None and element != F64:
        fn.elementwise(op, lambda x: convert(fn, [fast(fn, convert(fn, [x], element, F32)[0])], F32, element)[0])
    elif isinstance(op, math.SqrtOp):
        fn.elementwise(op, lambda x: intrinsic(fn, "sqrt", element, x))
    else:

        def call(*operands: str) -> str:
            return call_library(fn, op, _LIBRARY[type(op)], element, operands)

        fn.elementwise(op, call)


@lowers(*_CLASS_TESTS)
def lower_class_test(op: Operation, fn: GpuFunctionLowering) -> None:
    element, bits = fn.element(op.operands[0]), _CLASS_TESTS[type(op)]
    wide = F64 if element == F64 else F32
    suffix = "f64" if wide == F64 else "f32"

    def test(x: str) -> str:
        value = convert(fn, [x], element, wide)[0]
        return fn.text.call("i1", f"llvm.is.fpclass.{suffix}", [(wide.text, value), ("i32", str(bits))])

    fn.elementwise(op, test)


@lowers(math.SincosOp)
def lower_sincos(op: math.SincosOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    columns = [fn.registers(op.operands[0])]
    for result, name in zip(op.results, ("sin", "cos"), strict=True):
        fn.set_like(result, fn.each(columns, lambda x, name=name: call_library(fn, op, name, element, (x,))))


@lowers(math.FPowIOp)
def lower_fpowi(op: math.FPowIOp, fn: GpuFunctionLowering) -> None:
    """x to an integer power, as a float power, which is exact enough for every integer."""
    element, exponent = fn.element(op.operands[0]), fn.element(op.operands[1])
    wide = F64 if element == F64 else F32

    def power(x: str, n: str) -> str:
        base = convert(fn, [x], element, wide)[0]
        whole = fn.text.cast("sitofp", exponent.text, n, wide.text)
        return convert(fn, [call_library(fn, op, "pow", wide, (base, whole))], wide, element)[0]

    fn.elementwise(op, power)


@lowers(math.IPowIOp)
def lower_ipowi(op: math.IPowIOp, fn: GpuFunctionLowering) -> None:
    """x to an integer power by squaring; a negative exponent gives 1/x rounded towards zero."""
    type_text = fn.element(op.results[0]).text
    bits = int(type_text[1:])

    def power(x: str, n: str) -> str:
        b = LaneBuilder(fn.text, 0)
        result, square = "1", x
        for bit in range(bits):
            is_set = b.icmp("ne", b.and_(n, str(1 << bit) if bit < bits - 1 else "0", type_text), "0", type_text)
            result = b.select(is_set, b.mul(result, square, type_text), result, type_text)
            square = b.mul(square, square, type_text)
        is_one = b.icmp("eq", x, "1", type_text)
        is_minus_one = b.icmp("eq", x, "-1", type_text)
        odd = b.icmp("ne", b.and_(n, "1", type_text), "0", type_text)
        sign = b.select(odd, "-1", "1", type_text)
        inverse = b.select(is_one, "1", b.select(is_minus_one, sign, "0", type_text), type_text)
        return b.select(b.icmp("slt", n, "0", type_text), inverse, result, type_text)

    fn.elementwise(op, power)


# ------------------------------------------------------------------------------------------------ library functions


@lowers(tt.ExternElementwiseOp)
def lower_extern(op: tt.ExternElementwiseOp, fn: GpuFunctionLowering) -> None:
    """`__nv_tanhf` and its like: a function of libdevice, or of the bitcode that `libpath` or the option `extern_libs`
    names."""
    symbol, path = op.symbol.data, op.libpath.data
    result = element_of(element_type(op.result.type))
    types = [fn.element(operand).text for operand in op.srcs]
    is_given = not symbol.startswith(LIBDEVICE_PREFIX)
    if path and Path(path).name != LIBDEVICE_FILE:
        is_given = True
        fn.module.needs.bitcode_paths.setdefault(path)

    def call(*operands: str) -> str:
        arguments = list(zip(types, operands, strict=True))
        if is_given:
            return call_function(fn, symbol, result.text, arguments)
        if find_libdevice() is None:
            return _without_libdevice(op, fn, symbol, result, operands)
        return call_libdevice(fn, symbol, result.text, arguments)

    fn.elementwise(op, call)


def _without_libdevice(
    op: Operation, fn: GpuFunctionLowering, symbol: str, element: ElementType, operands: tuple[str, ...]
) -> str:
    name = symbol.removeprefix("__nv_")
    if element == F32 and name.endswith("f"):
        name = name.removesuffix("f")
    exact = {"fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven", "fma": "fma"}
    if name in exact:
        return intrinsic(fn, exact[name], element, *operands)
    if name == "sqrt":
        return intrinsic(fn, "sqrt", element, *operands)
    return call_own_form(fn, op, name, symbol, element, operands)

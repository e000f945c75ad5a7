"""Math functions that are more than an instruction: NVIDIA's libdevice where it is installed, else forms of our own.

`call_library(fn, op, "log", element, (x,))` calls `__nv_logf` or `__nv_log`; narrow floats are computed in f32. Without
libdevice, f32 functions that `codegen.math_library` has a form for become that form; others are an error that says what
to install.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tilewright.codegen.math_library import VECTOR_FORMS, MathLibrary
from tilewright.codegen.nvptx.libdevice import LibdeviceNotFoundError, find_libdevice
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.float_conversions import convert
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.types import F32, F64, ElementType


def call_library(
    fn: GpuFunctionLowering, op: Operation, name: str, element: ElementType, operands: Sequence[str]
) -> str:
    """A function by libm's name, on operands and result of one float type."""
    wide = F64 if element == F64 else F32
    values = convert(fn, operands, element, wide)
    symbol = f"__nv_{name}{'f' if wide == F32 else ''}"
    if find_libdevice() is not None:
        result = call_libdevice(fn, symbol, wide.text, [(wide.text, value) for value in values])
    else:
        result = call_own_form(fn, op, name, symbol, wide, values)
    return convert(fn, [result], wide, element)[0]


def call_libdevice(fn: GpuFunctionLowering, symbol: str, result: str, arguments: Sequence[tuple[str, str]]) -> str:
    """Call a function of libdevice, to be linked in."""
    fn.module.needs.uses_libdevice = True
    return call_function(fn, symbol, result, arguments)


def call_function(fn: GpuFunctionLowering, symbol: str, result: str, arguments: Sequence[tuple[str, str]]) -> str:
    """Call a function of some bitcode that is linked in."""
    fn.declare(symbol, result, [type for type, _ in arguments])
    return fn.text.value(f"call {result} @{symbol}({', '.join(f'{type} {value}' for type, value in arguments)})")


def call_own_form(
    fn: GpuFunctionLowering, op: Operation, name: str, symbol: str, wide: ElementType, values: Sequence[str]
) -> str:
    """The form that `codegen.math_library` has; PassError where it has none."""
    if wide == F32 and name == "fmod":
        return fn.text.binary("frem", "float", values[0], values[1])
    if wide != F32 or name not in VECTOR_FORMS:
        raise op_error(op, str(LibdeviceNotFoundError(symbol)), pass_name=PASS_NAME)
    return MathLibrary(fn.module.text, fn.facts).call(fn.text, name, wide.text, 0, values)

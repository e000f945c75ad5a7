"""Vector math as LLVM IR text: at most 2 ulp (1 for exp and exp2 of f32), special values as libm gives them.

`MathLibrary.call` is the door: functions that have a vector form become calls of a small always-inlined function,
defined in the module on first use; everything else calls libm once per lane. float16 and bfloat16 are computed in f32
by the caller. LLVM's own `llvm.exp.v16f32` must never be used: it turns into sixteen libm calls.

A vector form is a function ``emit(b: LaneBuilder, x: str, ...) -> str`` in one of the files of this folder, registered
in `VECTOR_FORMS`, `DOUBLE_FORMS` or for both; `number.py` lets it be written as a formula. README.md says how exact
each is, and where its numbers come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.arcsine import emit_acos, emit_asin
from tilewright.codegen.math_library.arctangent import emit_atan, emit_atan2
from tilewright.codegen.math_library.error_function import emit_erf, emit_erfc
from tilewright.codegen.math_library.exponential import emit_exp, emit_exp2, emit_expm1
from tilewright.codegen.math_library.hyperbolic import (
    emit_acosh,
    emit_asinh,
    emit_atanh,
    emit_cosh,
    emit_sinh,
    emit_tanh,
)
from tilewright.codegen.math_library.logarithm import emit_log, emit_log1p, emit_log2, emit_log10
from tilewright.codegen.math_library.power import emit_pow
from tilewright.codegen.math_library.remainder import emit_fmod
from tilewright.codegen.math_library.roots import emit_cbrt, emit_rsqrt
from tilewright.codegen.math_library.tangent import emit_tan
from tilewright.codegen.math_library.trigonometric import emit_cos, emit_sin
from tilewright.support.facts import TargetFacts

VectorForm = Callable[..., str]

_FORMS_OF_BOTH: dict[str, VectorForm] = {
    "acos": emit_acos,
    "acosh": emit_acosh,
    "asin": emit_asin,
    "asinh": emit_asinh,
    "atan2": emit_atan2,
    "atanh": emit_atanh,
    "cbrt": emit_cbrt,
    "cosh": emit_cosh,
    "erf": emit_erf,
    "erfc": emit_erfc,
    "expm1": emit_expm1,
    "fmod": emit_fmod,
    "log1p": emit_log1p,
    "pow": emit_pow,
    "rsqrt": emit_rsqrt,
    "sinh": emit_sinh,
    "tan": emit_tan,
}
VECTOR_FORMS: dict[str, VectorForm] = _FORMS_OF_BOTH | {
    "exp": emit_exp,
    "exp2": emit_exp2,
    "log": emit_log,
    "log2": emit_log2,
    "log10": emit_log10,
    "sin": emit_sin,
    "cos": emit_cos,
    "tanh": emit_tanh,
    "atan": emit_atan,
}
"""f32 functions that are written for vectors, by libm's name of the f64 function."""
DOUBLE_FORMS: dict[str, VectorForm] = _FORMS_OF_BOTH | {
    "exp": double.emit_exp,
    "exp2": double.emit_exp2,
    "log": double.emit_log,
    "log2": double.emit_log2,
    "log10": double.emit_log10,
    "sin": double.emit_sin,
    "cos": double.emit_cos,
    "tanh": double.emit_tanh,
    "atan": double.emit_atan,
}
"""f64 functions that are written for vectors."""
FORMS = {"float": VECTOR_FORMS, "double": DOUBLE_FORMS}

LIBM_FUNCTIONS = frozenset(["exp10", "hypot", "tgamma", "lgamma", "nextafter", "remainder", "fdim", "logb"])
"""What libm is asked for, one lane at a time, under these names (with an f appended for f32)."""


class MathLibrary:
    """The math functions that one module uses."""

    def __init__(self, module: ModuleText, facts: TargetFacts) -> None:
        self.module = module
        self.facts = facts

    def call(self, fn: FunctionText, name: str, scalar: str, lanes: int, operands: Sequence[str]) -> str:
        """name(operands) on `lanes` lanes (0: a scalar) of ``float`` or ``double``; KeyError for an unknown name."""
        if name in FORMS[scalar]:
            return self._call_vector_form(fn, name, scalar, lanes, operands)
        if name not in LIBM_FUNCTIONS:
            raise KeyError(name)
        return call_libm(fn, name, scalar, lanes, operands)

    def _call_vector_form(self, fn: FunctionText, name: str, scalar: str, lanes: int, operands: Sequence[str]) -> str:
        suffix = {"float": "f32", "double": "f64"}[scalar]
        function = f"tw_{name}_{f'v{lanes}' if lanes else ''}{suffix}"
        self.module.define_once(function, lambda: self._define(function, name, scalar, lanes, len(operands)))
        type = f"<{lanes} x {scalar}>" if lanes else scalar
        arguments = ", ".join(f"{type} {operand}" for operand in operands)
        return fn.value(f"call {type} @{function}({arguments})")

    def _define(self, function: str, name: str, scalar: str, lanes: int, arity: int) -> str:
        type = f"<{lanes} x {scalar}>" if lanes else scalar
        parameters = [Parameter(type, f"%x{i}") for i in range(arity)]
        body = FunctionText(self.module, function, type, parameters, linkage="internal", attributes="alwaysinline")
        operands = [parameter.name for parameter in parameters]
        result = FORMS[scalar][name](FormBuilder(body, lanes, scalar, self.facts), *operands)
        body.ret(type, result)
        return body.text()


class FormBuilder(LaneBuilder):
    """A lane builder that also knows the element type and the machine."""

    __slots__ = ("facts", "scalar")

    def __init__(self, fn: FunctionText, lanes: int, scalar: str, facts: TargetFacts) -> None:
        super().__init__(fn, lanes)
        self.scalar = scalar
        self.facts = facts


def call_libm(fn: FunctionText, name: str, scalar: str, lanes: int, operands: Sequence[str]) -> str:
    """Call libm's function on each lane."""
    function = name + ("f" if scalar == "float" else "")
    if not lanes:
        return fn.call(scalar, function, [(scalar, operand) for operand in operands])
    vector = f"<{lanes} x {scalar}>"
    result = "poison"
    for lane in range(lanes):
        arguments = [(scalar, fn.extract_element(vector, operand, lane)) for operand in operands]
        value = fn.call(scalar, function, arguments)
        result = fn.insert_element(vector, result, scalar, value, lane)
    return result

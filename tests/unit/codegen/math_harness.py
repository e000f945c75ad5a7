"""Running one math function over arrays, and counting units in the last place."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np

from suite.arrays import Array
from tilewright.codegen.llvm_backend import LoadedObject, ObjectLoader, compile_text
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.math_library import MathLibrary
from tilewright.targets.cpu.facts import CpuFacts

LOADER = ObjectLoader()
ODD_FUNCTIONS = ["sin", "tan", "sinh", "asinh", "asin", "atanh", "tanh", "erf", "atan", "expm1", "log1p", "cbrt"]
"""f(-0) = -0."""


class CompiledMath:
    """A function ``void f(ptr x, ptr y, ptr out, i64 n)`` that applies a math function to n elements."""

    def __init__(self, name: str, arity: int, lanes: int, facts: CpuFacts, scalar: str = "float") -> None:
        self.arity, self.lanes = arity, lanes
        self.dtype = {"float": np.float32, "double": np.float64}[scalar]
        module = ModuleText(triple=facts.triple)
        fn = FunctionText(
            module,
            "apply",
            "void",
            [Parameter(t, n) for t, n in zip(("ptr",) * 3, ("%x", "%y", "%out"), strict=True)]
            + [Parameter("i64", "%n")],
        )
        type = f"<{lanes} x {scalar}>" if lanes else scalar
        loop, done = fn.new_label("loop"), fn.new_label("done")
        fn.branch(loop)
        fn.start(loop)
        i = fn.phi("i64")
        i.add("0", "entry")
        operands: list[str] = []
        for source in ("%x", "%y")[:arity]:
            address = fn.value(f"getelementptr {scalar}, ptr {source}, i64 {i.name}")
            operands.append(fn.value(f"load {type}, ptr {address}, align 4"))
        result = MathLibrary(module, facts).call(fn, name, scalar, lanes, operands)
        address = fn.value(f"getelementptr {scalar}, ptr %out, i64 {i.name}")
        fn.emit(f"store {type} {result}, ptr {address}, align 4")
        following = fn.value(f"add i64 {i.name}, {max(lanes, 1)}")
        i.add(following, fn.label)
        fn.branch_if(fn.value(f"icmp ult i64 {following}, %n"), loop, done)
        fn.start(done)
        fn.terminate("ret void")
        module.add_function(fn)
        self.library: LoadedObject = LOADER.load(compile_text(str(module), facts, verify=True), ("apply",))
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self.function = signature(self.library.address("apply"))

    def __call__(self, *arguments: Array) -> Array:
        size = arguments[0].size
        padded = -(-size // max(self.lanes, 1)) * max(self.lanes, 1)
        inputs = [np.concatenate([a, np.ones(padded - size, self.dtype)]) for a in arguments]
        out = np.empty(padded, self.dtype)
        pointers = [a.ctypes.data for a in inputs]
        self.function(pointers[0], pointers[-1], out.ctypes.data, padded)
        return out[:size]


@lru_cache(maxsize=128)
def compiled_math(name: str, arity: int, lanes: int, facts: CpuFacts, scalar: str = "float") -> CompiledMath:
    return CompiledMath(name, arity, lanes, facts, scalar)


def ulp_error(result: Array, exact: Array) -> float:
    """The largest distance of f32 results from f64 references in units of the reference's last place.

    Infinities and NaNs must agree exactly; where the exact value overflows f32, infinity is right.
    """
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
    assert np.array_equal(np.isnan(result), np.isnan(rounded)), "NaN in different places"
    special = ~np.isfinite(rounded) | ~np.isfinite(result)
    wrong = special & ~np.isnan(rounded) & (result != rounded)
    # A result may round to infinity (or not) only when the exact value is within an ulp of the limit.
    near_limit = np.abs(exact) > 3.4028233e38
    assert not np.any(wrong & ~near_limit), "infinite where the exact value is not, or the other way round"
    usable = ~special
    spacing = np.spacing(np.maximum(np.abs(rounded[usable]), np.float32(1.1754944e-38))).astype(np.float64)
    errors = np.abs(result[usable].astype(np.float64) - exact[usable]) / spacing
    return float(errors.max(initial=0.0))

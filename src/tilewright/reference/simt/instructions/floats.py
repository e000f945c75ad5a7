"""Floating-point arithmetic and special functions.

The approximate functions of the hardware are computed exactly and rounded: results differ from a GPU's in the last
bits, within what PTX promises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tilewright.dialects.arith.meaning import round_floats
from tilewright.reference.simt.packed import by_lanes
from tilewright.reference.simt.program import Decoder, Step, decodes, unknown
from tilewright.reference.simt.rounding import MODES, flush, fused
from tilewright.reference.simt.types import Values, as_dtype, choose, storage_of
from tilewright.reference.tt.libdevice_rounding import ROUNDED_FUNCTIONS
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type

Function = Callable[..., Values]

DIRECTED = {"rz": "rz", "rm": "rd", "rp": "ru"}
"""Rounding modes, and how libdevice spells them."""


def elementwise(instruction: Instruction, decoder: Decoder, type_: Type) -> Step:
    """The float forms of add, sub, mul, div, min, max, abs and neg."""
    modifiers, name = instruction.modifiers, instruction.name
    if name == "abs":
        return finished(instruction, decoder, type_, _of_bits(lambda bits, sign: bits & ~sign), keeps_nan=True)
    if name == "neg":
        return finished(instruction, decoder, type_, _of_bits(lambda bits, sign: bits ^ sign), keeps_nan=True)
    if name in ("min", "max"):
        function = _extremum(name, modifiers)
    else:
        function = _arithmetic(instruction, type_.dtype, mode_of(modifiers))
    return finished(instruction, decoder, type_, function)


def mode_of(modifiers: tuple[str, ...]) -> str:
    """The rounding mode among modifiers; to nearest where there is none."""
    return next((part for part in modifiers if part in MODES), "rn")


def finished(
    instruction: Instruction, decoder: Decoder, type_: Type, function: Function, *, keeps_nan: bool = False
) -> Step:
    """A function of floats with what modifiers add: `.ftz`, `.sat`, `.relu`, packed operands."""
    modifiers = instruction.modifiers
    if type_.bits < 64 and not keeps_nan:
        function = _with_one_nan(function, type_.dtype)
    if "ftz" in modifiers and type_.kind == "f" and type_.bits < 64:
        function = _flushing(function, type_.dtype)
    if "sat" in modifiers:
        function = _clamped(function)
    if "relu" in modifiers:
        function = _rectified(function)
    if type_.lanes > 1:
        function = by_lanes(function, type_.dtype, storage_of(type_.total_bits))
    target = decoder.target(instruction.operands[0], type_, instruction)
    sources = decoder.sources(instruction.operands[1:], type_, instruction)
    dtype = storage_of(type_.total_bits) if type_.lanes > 1 else type_.dtype
    return lambda machine: target(machine, as_dtype(function(*[source(machine) for source in sources]), dtype))


def _with_one_nan(function: Function, dtype: np.dtype[Any]) -> Function:
    """NaN is 0x7fffffff (0x7fff) whatever the operands: a + b and b + a, of threads that reduce one row in different
    orders, are the same bits. Only f64 hands the bits of a NaN on."""
    bits = np.dtype(f"u{dtype.itemsize}")
    nan = np.array(np.iinfo(bits).max >> 1, bits).view(dtype)

    def run(*values: Values) -> Values:
        result = as_dtype(function(*values), dtype)
        is_nan = np.isnan(result)
        return choose(is_nan, nan, result) if is_nan.any() else result

    return run


def _flushing(function: Function, dtype: np.dtype[Any]) -> Function:
    return lambda *values: flush(np.asarray(function(*map(flush, values)), dtype))


def _clamped(function: Function) -> Function:
    def run(*values: Values) -> Values:
        result = function(*values)
        return choose(result > 0, np.minimum(result, 1), 0).astype(result.dtype)

    return run


def _rectified(function: Function) -> Function:
    def run(*values: Values) -> Values:
        result = function(*values)
        return choose(result <= 0, result.dtype.type(0), result).astype(result.dtype)

    return run


def _of_bits(change: Callable[[Values, Any], Values]) -> Function:
    def run(values: Values) -> Values:
        unsigned = np.dtype(f"u{values.dtype.itemsize}")
        sign = unsigned.type(1 << (8 * values.dtype.itemsize - 1))
        return np.asarray(change(np.ascontiguousarray(values).view(unsigned).reshape(values.shape), sign)).view(
            values.dtype
        )

    return run


def _arithmetic(instruction: Instruction, dtype: np.dtype[Any], mode: str) -> Function:
    """add, sub, mul and div, correctly rounded."""
    nearest: dict[str, Function] = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
    }
    return nearest[instruction.name] if mode == "rn" else _in_mode(instruction, dtype, mode)


def _in_mode(instruction: Instruction, dtype: np.dtype[Any], mode: str) -> Function:
    """A directed rounding, by exact arithmetic."""
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise unknown(instruction)
    name = instruction.name
    if name == "fma" or name == "mad":
        symbol = "fmaf" if dtype == np.float32 else "fma"
    else:
        symbol = f"{'f' if dtype == np.float32 else 'd'}{name}"
    compute = ROUNDED_FUNCTIONS[f"{symbol}_{DIRECTED[mode]}"]
    return lambda *values: compute(*np.broadcast_arrays(*values))


def _extremum(name: str, modifiers: tuple[str, ...]) -> Function:
    """The number where one operand is NaN, NaN with `.NaN`; -0 is less than 0. `.xorsign.abs`: of magnitudes, with
    the product's sign."""
    extreme = np.fmin if name == "min" else np.fmax
    propagates, crossed = "NaN" in modifiers, "xorsign" in modifiers

    def of_two(a: Values, b: Values) -> Values:
        sign = np.signbit(a) != np.signbit(b)
        if crossed:
            a, b = np.abs(a), np.abs(b)
        result = extreme(a, b)
        zeros = (a == 0) & (b == 0)
        both = np.signbit(a) | np.signbit(b) if name == "min" else np.signbit(a) & np.signbit(b)
        zero = choose(both, -0.0, 0.0).astype(result.dtype)
        result = choose(zeros, zero, result)
        if crossed:
            result = choose(sign, -np.abs(result), np.abs(result))
        if propagates:
            result = choose(np.isnan(a) | np.isnan(b), np.array(np.nan).astype(result.dtype), result)
        return result.astype(zero.dtype)

    return lambda *values: reduce(of_two, values)


@decodes("fma")
def fma(instruction: Instruction, decoder: Decoder) -> Step:
    """`fma.rn.f32 d, a, b, c;`: ``a * b + c`` rounded once."""
    type_, mode = decoder.type_of(instruction), mode_of(instruction.modifiers)

    def run(a: Values, b: Values, c: Values) -> Values:
        return fused(a, b, c, type_.dtype)

    if mode != "rn":
        return finished(instruction, decoder, type_, _in_mode(instruction, type_.dtype, mode))
    return finished(instruction, decoder, type_, run)


def _reciprocal_root(x: Values) -> Values:
    return 1 / np.sqrt(x)


SPECIAL: dict[str, Function] = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rsqrt": _reciprocal_root,
}


@decodes("ex2", "lg2", "sin", "cos", "tanh", "rsqrt")
def special_function(instruction: Instruction, decoder: Decoder) -> Step:
    """`ex2.approx.ftz.f32 d, a;` and its like, computed in f64."""
    type_, function = decoder.type_of(instruction), SPECIAL[instruction.name]

    def run(x: Values) -> Values:
        return round_floats(np.asarray(function(x.astype(np.float64))), type_.dtype)

    return finished(instruction, decoder, type_, run)


@decodes("rcp", "sqrt")
def root_or_reciprocal(instruction: Instruction, decoder: Decoder) -> Step:
    """`rcp.rn.f32 d, a;`, `sqrt.approx.f32`; of f64 approximations, only the upper half of the register is given."""
    type_, mode, name = decoder.type_of(instruction), mode_of(instruction.modifiers), instruction.name
    upper_only = type_.dtype == np.float64 and "approx" in instruction.modifiers

    def run(x: Values) -> Values:
        one = x.dtype.type(1)
        if mode == "rn" or "approx" in instruction.modifiers:
            result = one / x if name == "rcp" else np.sqrt(x)
            return _upper_half(result) if upper_only else result
        return _in_mode(instruction, type_.dtype, mode)(x)

    return finished(instruction, decoder, type_, run)


def _upper_half(values: Values) -> Values:
    return (np.asarray(values).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


@decodes("copysign")
def copysign(instruction: Instruction, decoder: Decoder) -> Step:
    """`copysign.f32 d, a, b;`: the magnitude of b with the sign of a."""

    def run(sign: Values, magnitude: Values) -> Values:
        return np.copysign(magnitude, sign)

    return finished(instruction, decoder, decoder.type_of(instruction), run)

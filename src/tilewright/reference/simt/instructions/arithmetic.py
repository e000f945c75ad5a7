"""Integer arithmetic, and the choice between it and floating-point arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.reference.simt.instructions import floats
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.packed import by_lanes
from tilewright.reference.simt.program import Decoder, Step, decodes
from tilewright.reference.simt.types import Values, choose, storage_of
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type, parse_type

Function = Callable[..., Values]
B32 = parse_type("b32")


def _truncated_quotient(a: Values, b: Values) -> Values:
    """Towards zero; all ones where the divisor is 0, as the hardware has it."""
    zero = b == 0
    divisor = choose(zero, b.dtype.type(1), b)
    if a.dtype.kind == "u":
        return choose(zero, ~a.dtype.type(0), a // divisor)
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    magnitude = np.abs(a).view(unsigned) // np.abs(divisor).view(unsigned)
    signed = np.asarray(magnitude).view(a.dtype)
    return choose(zero, a.dtype.type(-1), choose((a < 0) != (b < 0), -signed, signed)).astype(a.dtype)


def _remainder(a: Values, b: Values) -> Values:
    return choose(b == 0, a, a - _truncated_quotient(a, b) * b).astype(a.dtype)


def _negated(a: Values) -> Values:
    return (~a) + a.dtype.type(1)


INTEGER: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "div": _truncated_quotient,
    "rem": _remainder,
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.abs,
    "neg": _negated,
}
CARRYING = ("add.cc", "addc", "sub.cc", "subc", "mad.lo.cc", "mad.hi.cc", "madc")


@decodes("add", "sub", "div", "rem", "min", "max", "abs", "neg")
def elementwise(instruction: Instruction, decoder: Decoder) -> Step:
    """`add.s32 d, a, b;` wraps around; with `.sat` it stays within the type."""
    type_ = decoder.type_of(instruction)
    if type_.is_float:
        return floats.elementwise(instruction, decoder, type_)
    function = INTEGER[instruction.name]
    if "sat" in instruction.modifiers:
        function = partial(_saturated, function)
    if "relu" in instruction.modifiers:
        function = partial(_rectified, function)
    if type_.lanes > 1:
        function = by_lanes(function, type_.dtype, storage_of(type_.total_bits))
    return mapped(instruction, decoder, type_, function)


def mapped(instruction: Instruction, decoder: Decoder, type_: Type, function: Function) -> Step:
    """A function of all operands after the first, which takes the result."""
    target = decoder.target(instruction.operands[0], type_, instruction)
    sources = decoder.sources(instruction.operands[1:], type_, instruction)
    if len(sources) == 2:
        first, second = sources
        return lambda machine: target(machine, function(first(machine), second(machine)))
    return lambda machine: target(machine, function(*[source(machine) for source in sources]))


def _rectified(function: Function, a: Values, b: Values) -> Values:
    return np.maximum(function(a, b), a.dtype.type(0))


def _saturated(function: Function, a: Values, b: Values) -> Values:
    limits = np.iinfo(a.dtype)
    exact = function(a.astype(np.int64), b.astype(np.int64))
    return np.clip(exact, limits.min, limits.max).astype(a.dtype)


def high_half(a: Values, b: Values) -> Values:
    """The upper half of the product."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        wide = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
        return (a.astype(wide) * b.astype(wide) >> wide.type(bits)).astype(a.dtype)
    if a.dtype.kind == "u":
        return _high_unsigned(a, b)
    high = _high_unsigned(a.view(np.uint64), b.view(np.uint64)).view(np.int64)
    return high - choose(a < 0, b, 0) - choose(b < 0, a, 0)


def _high_unsigned(a: Values, b: Values) -> Values:
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half)


def _wide_product(dtype: np.dtype[Any], a: Values, b: Values) -> Values:
    return a.astype(dtype) * b.astype(dtype)


def _distance(a: Values, b: Values, c: Values) -> Values:
    return np.maximum(a, b) - np.minimum(a, b) + c


def product(instruction: Instruction, type_: Type) -> tuple[Function, Type]:
    """The function of `mul.lo`, `.hi` and `.wide`, and the type of what it gives."""
    if "hi" in instruction.modifiers:
        return high_half, type_
    if "wide" in instruction.modifiers:
        wide = parse_type(f"{type_.kind}{2 * type_.bits}")
        assert wide is not None
        return partial(_wide_product, wide.dtype), wide
    return np.multiply, type_


@decodes("mul")
def multiply(instruction: Instruction, decoder: Decoder) -> Step:
    """`mul.lo.s32`, `mul.hi.u64`, `mul.wide.s32`, and floats."""
    type_ = decoder.type_of(instruction)
    if type_.is_float:
        return floats.elementwise(instruction, decoder, type_)
    function, wide = product(instruction, type_)
    target = decoder.target(instruction.operands[0], wide, instruction)
    first, second = decoder.sources(instruction.operands[1:], type_, instruction)
    return lambda machine: target(machine, function(first(machine), second(machine)))


@decodes("mad")
def multiply_add(instruction: Instruction, decoder: Decoder) -> Step:
    """`mad.lo.s32 d, a, b, c;` as `mul`, and c is added."""
    type_ = decoder.type_of(instruction)
    if type_.is_float:
        return floats.fma(instruction, decoder)
    function, wide = product(instruction, type_)
    target = decoder.target(instruction.operands[0], wide, instruction)
    first, second = decoder.sources(instruction.operands[1:3], type_, instruction)
    third = decoder.source(instruction.operands[3], wide, instruction)
    add = partial(_saturated, np.add) if "sat" in instruction.modifiers else np.add
    return lambda machine: target(machine, add(function(first(machine), second(machine)), third(machine)))


@decodes("mul24", "mad24")
def multiply_24_bits(instruction: Instruction, decoder: Decoder) -> Step:
    """Products of the low 24 bits: the low 32 of the 48 bits, or with `.hi` the upper."""
    type_ = decoder.type_of(instruction)
    wide = np.dtype(f"{type_.dtype.kind}8")
    is_high = "hi" in instruction.modifiers
    add = partial(_saturated, np.add) if "sat" in instruction.modifiers else np.add

    def function(a: Values, b: Values, c: Values | None = None) -> Values:
        eight = type_.dtype.type(8)
        full = (a << eight >> eight).astype(wide) * (b << eight >> eight).astype(wide)
        result = (full >> wide.type(16) if is_high else full).astype(type_.dtype)
        return result if c is None else add(result, c)

    return mapped(instruction, decoder, type_, function)


@decodes(*CARRYING)
def with_carry(instruction: Instruction, decoder: Decoder) -> Step:
    """`add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi` and so on: sums over several registers."""
    type_, name = decoder.type_of(instruction), instruction.name
    unsigned = parse_type(f"u{type_.bits}")
    assert unsigned is not None
    target = decoder.target(instruction.operands[0], unsigned, instruction)
    sources = decoder.sources(instruction.operands[1:], unsigned, instruction)
    multiplies = name.startswith("mad")
    if multiplies:
        sources = decoder.sources(instruction.operands[1:], type_, instruction)
    function = product(instruction, type_)[0] if multiplies else None
    takes, gives, carry = name in ("addc", "subc", "madc"), "cc" in instruction.modifiers, decoder.carry
    subtracts = name.startswith("sub")

    def run(machine: Machine) -> None:
        values = [source(machine) for source in sources]
        if function is not None:
            values = [function(values[0], values[1]).view(unsigned.dtype), values[2].view(unsigned.dtype)]
        a, b = values
        extra = machine.get(carry).astype(unsigned.dtype) if takes else unsigned.dtype.type(0)
        if subtracts:
            result = a - b - extra
            out = (a < b) | ((a == b) & (extra != 0))
        else:
            result = a + b + extra
            out = (result < a) | ((result == a) & ((b != 0) | (extra != 0)) & (b + extra == 0) & (extra != 0))
        target(machine, result)
        if gives:
            machine.put(carry, out.astype(np.uint32))

    return run


@decodes("sad")
def absolute_difference(instruction: Instruction, decoder: Decoder) -> Step:
    """`sad.u32 d, a, b, c;` is ``|a - b| + c``."""
    type_ = decoder.type_of(instruction)
    return mapped(instruction, decoder, type_, _distance)


@decodes("dp4a", "dp2a")
def dot_of_bytes(instruction: Instruction, decoder: Decoder) -> Step:
    """`dp4a.s32.u32 d, a, b, c;`: four products of bytes and a sum; `dp2a.lo`: two, of halves and bytes."""
    first, second = (type_ for part in instruction.modifiers if (type_ := parse_type(part)) is not None)
    assert B32 is not None
    target = decoder.target(instruction.operands[0], B32, instruction)
    sources = decoder.sources(instruction.operands[1:], B32, instruction)
    kinds = [np.dtype(f"{type_.dtype.kind}1") for type_ in (first, second)]
    pairs = instruction.name == "dp2a"
    high = "hi" in instruction.modifiers

    def run(machine: Machine) -> None:
        a, b, c = (machine.spread(source(machine)) for source in sources)
        left = np.ascontiguousarray(a).view(np.dtype(f"{kinds[0].kind}2") if pairs else kinds[0])
        right = np.ascontiguousarray(b).view(kinds[1]).reshape(-1, 4)
        right = right[:, 2:] if pairs and high else right[:, :2] if pairs else right
        products = left.reshape(right.shape).astype(np.int64) * right.astype(np.int64)
        target(machine, (products.sum(1) + c.astype(np.int64)).astype(np.uint32))

    return run

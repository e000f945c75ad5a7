"""Logic, shifts, bit fields, and bytes moved within registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.reference.simt.instructions.arithmetic import mapped
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.program import Decoder, Step, decodes, unknown
from tilewright.reference.simt.types import Values, choose
from tilewright.support.ptx.syntax import Immediate, Instruction, Pair
from tilewright.support.ptx.types import Type, parse_type


def _is_zero(a: Values) -> Values:
    return (a == 0).astype(a.dtype)


LOGIC: dict[str, Callable[..., Values]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "cnot": _is_zero,
}


def _type(name: str) -> Type:
    found = parse_type(name)
    assert found is not None
    return found


B16, B32, B64, PREDICATE = _type("b16"), _type("b32"), _type("b64"), _type("pred")


@decodes("and", "or", "xor", "not", "cnot")
def logic(instruction: Instruction, decoder: Decoder) -> Step:
    """`and.b32`, and the same of predicates."""
    return mapped(instruction, decoder, decoder.type_of(instruction), LOGIC[instruction.name])


@decodes("shl", "shr")
def shift(instruction: Instruction, decoder: Decoder) -> Step:
    """By 32 bits or more: everything is shifted out, or becomes the sign."""
    type_, left = decoder.type_of(instruction), instruction.name == "shl"
    target = decoder.target(instruction.operands[0], type_, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    amount = decoder.source(instruction.operands[2], B32, instruction)
    most = type_.dtype.type(type_.bits - 1)

    def run(machine: Machine) -> None:
        values, by = source(machine), amount(machine)
        inside = by < np.uint32(type_.bits)
        by = np.minimum(by, np.uint32(type_.bits - 1)).astype(type_.dtype)
        if left:
            target(machine, choose(inside, values << by, type_.dtype.type(0)))
        elif type_.is_signed:
            target(machine, values >> choose(inside, by, most))
        else:
            target(machine, choose(inside, values >> by, type_.dtype.type(0)))

    return run


@decodes("shf")
def funnel_shift(instruction: Instruction, decoder: Decoder) -> Step:
    """`shf.l.wrap.b32 d, lo, hi, n;`: the upper (`.l`) or lower half of the 64 bits hi:lo, shifted."""
    left, wraps = "l" in instruction.modifiers, "wrap" in instruction.modifiers

    def run(low: Values, high: Values, by: Values) -> Values:
        amount = (by & np.uint32(31) if wraps else np.minimum(by, np.uint32(32))).astype(np.uint64)
        both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
        if not left:
            return (both >> amount).astype(np.uint32)
        over = choose(amount == 32, both << np.uint64(32), both << amount)
        return (over >> np.uint64(32)).astype(np.uint32)

    return mapped(instruction, decoder, B32, run)


@decodes("lop3")
def logic_of_three(instruction: Instruction, decoder: Decoder) -> Step:
    """`lop3.b32 d, a, b, c, table;`: the table's bit abc."""
    table = instruction.operands[-1]
    if not isinstance(table, Immediate) or isinstance(instruction.operands[0], Pair):
        raise unknown(instruction)
    target = decoder.target(instruction.operands[0], B32, instruction)
    sources = decoder.sources(instruction.operands[1:4], B32, instruction)

    def run(machine: Machine) -> None:
        a, b, c = (source(machine) for source in sources)
        result: Any = np.uint32(0)
        for index in range(8):
            if table.value >> index & 1:
                terms = [value if index >> bit & 1 else ~value for value, bit in ((a, 2), (b, 1), (c, 0))]
                result = result | (terms[0] & terms[1] & terms[2])
        target(machine, result)

    return run


@decodes("bfe")
def extract_field(instruction: Instruction, decoder: Decoder) -> Step:
    """`bfe.s32 d, a, start, length;`: bits beyond the register are its sign."""
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], type_, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    fields = decoder.sources(instruction.operands[2:], B32, instruction)
    wide = np.int64 if type_.is_signed else np.uint64

    def run(machine: Machine) -> None:
        values = source(machine)
        start, length = ((field(machine) & np.uint32(0xFF)).astype(np.int64) for field in fields)
        length = np.minimum(length, 64)
        if type_.bits == 64 and not type_.is_signed:
            moved = choose(start < 64, values >> np.minimum(start, 63).astype(np.uint64), np.uint64(0))
            mask = choose(length >= 64, ~np.uint64(0), (np.uint64(1) << (length % 64).astype(np.uint64)) - np.uint64(1))
            target(machine, moved & mask)
            return
        moved = values.astype(wide).astype(np.int64) >> np.minimum(start, 63)
        if type_.is_signed:
            length = np.minimum(length, np.maximum(type_.bits - start, 1)) * (length > 0)
            up = choose(length > 0, 64 - length, 63)
            result = choose(length > 0, moved << up >> up, 0)
        else:
            result = choose(length >= 64, moved, moved & ((np.int64(1) << np.minimum(length, 63)) - 1))
        target(machine, result.astype(type_.dtype))

    return run


@decodes("bfi")
def insert_field(instruction: Instruction, decoder: Decoder) -> Step:
    """`bfi.b32 d, a, b, start, length;`: b with the low bits of a in a field."""
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], type_, instruction)
    values = decoder.sources(instruction.operands[1:3], type_, instruction)
    fields = decoder.sources(instruction.operands[3:], B32, instruction)
    dtype = type_.dtype

    def run(machine: Machine) -> None:
        a, b = (value(machine) for value in values)
        start, length = ((field(machine) & np.uint32(0xFF)).astype(np.int64) for field in fields)
        whole = length >= type_.bits
        ones = (dtype.type(1) << np.minimum(length, type_.bits - 1).astype(dtype)) - dtype.type(1)
        ones = choose(whole, ~dtype.type(0), ones)
        by = np.minimum(start, type_.bits - 1).astype(dtype)
        mask = choose(start >= type_.bits, dtype.type(0), ones << by)
        target(machine, (b & ~mask) | ((a << by) & mask))

    return run


@decodes("popc")
def count_ones(instruction: Instruction, decoder: Decoder) -> Step:
    return _count(instruction, decoder, np.bitwise_count)


@decodes("clz")
def count_leading_zeros(instruction: Instruction, decoder: Decoder) -> Step:
    bits = decoder.type_of(instruction).bits
    return _count(instruction, decoder, lambda values: choose(values == 0, bits, bits - 1 - highest_bit(values)))


def highest_bit(values: Values) -> Values:
    """The number of the highest set bit; -1 where there is none."""
    found = np.full(np.shape(values), -1, np.int64)
    rest = np.asarray(values).astype(np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        above = rest >> np.uint64(step) != 0
        found = choose(above, found + step, found)
        rest = choose(above, rest >> np.uint64(step), rest)
    return choose(rest != 0, found + 1, found)


def _count(instruction: Instruction, decoder: Decoder, function: Callable[[Values], Values]) -> Step:
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], B32, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    return lambda machine: target(machine, np.asarray(function(source(machine))).astype(np.uint32))


@decodes("bfind")
def find_highest_bit(instruction: Instruction, decoder: Decoder) -> Step:
    """`bfind.s32 d, a;`: of negative numbers the highest zero; `.shiftamt` counts from the top."""
    type_, shifts = decoder.type_of(instruction), "shiftamt" in instruction.modifiers

    def run(values: Values) -> Values:
        unsigned = np.dtype(f"u{type_.bits // 8}")
        found = highest_bit(choose(values < 0, ~values, values).astype(unsigned))
        return choose((found >= 0) & shifts, type_.bits - 1 - found, found)

    return _count(instruction, decoder, run)


@decodes("brev")
def reverse_bits(instruction: Instruction, decoder: Decoder) -> Step:
    type_ = decoder.type_of(instruction)

    def run(values: Values) -> Values:
        result = np.zeros_like(values)
        for bit in range(type_.bits):
            one = values >> type_.dtype.type(bit) & type_.dtype.type(1)
            result = result | one << type_.dtype.type(type_.bits - 1 - bit)
        return result

    return mapped(instruction, decoder, type_, run)


@decodes("fns")
def find_counted_bit(instruction: Instruction, decoder: Decoder) -> Step:
    """`fns.b32 d, a, base, offset;`: where the offset-th one is, counted upwards from a bit, or downwards if negative;
    of 0 that bit itself. All ones if none."""

    def run(mask: Values, base: Values, offset: Values) -> Values:
        offset = offset.view(np.int32).astype(np.int64)
        step, left = choose(offset < 0, -1, 1), np.maximum(np.abs(offset), 1)
        position, found = base.astype(np.int64), np.int64(-1)
        for _ in range(32):
            is_bit = (base < 32) & (position >= 0) & (position < 32)
            ones = choose(is_bit, mask >> np.clip(position, 0, 31).astype(np.uint32) & np.uint32(1), 0)
            left = left - ones
            found = choose((ones != 0) & (left == 0), position, found)
            # Of an offset of 0, only the first bit counts.
            position = choose(offset == 0, 32, position + step)
        return np.asarray(found).astype(np.uint32)

    return mapped(instruction, decoder, B32, run)


@decodes("bmsk")
def make_mask(instruction: Instruction, decoder: Decoder) -> Step:
    """`bmsk.clamp.b32 d, start, length;`; with `.wrap` both count modulo 32."""
    wraps = "wrap" in instruction.modifiers

    def run(start: Values, length: Values) -> Values:
        if wraps:
            start, length = start & np.uint32(31), length & np.uint32(31)
        wide = np.minimum(length, np.uint32(32)).astype(np.uint64)
        ones = (np.uint64(1) << wide) - np.uint64(1)
        return (ones << np.minimum(start, np.uint32(32)).astype(np.uint64)).astype(np.uint32)

    return mapped(instruction, decoder, B32, run)


@decodes("szext")
def extend_from(instruction: Instruction, decoder: Decoder) -> Step:
    """`szext.clamp.s32 d, a, n;`: the low n bits, extended by their sign or zeros; with `.wrap` n counts modulo 32."""
    type_, wraps = decoder.type_of(instruction), "wrap" in instruction.modifiers
    target = decoder.target(instruction.operands[0], type_, instruction)
    value = decoder.source(instruction.operands[1], type_, instruction)
    count = decoder.source(instruction.operands[2], B32, instruction)

    def run(machine: Machine) -> None:
        bits = count(machine) & np.uint32(31) if wraps else np.minimum(count(machine), np.uint32(32))
        unused = (np.uint32(32) - bits).astype(np.int64)
        wide = value(machine).astype(np.int64) << (unused + 32)
        shifted = wide >> (unused + 32) if type_.is_signed else (wide.view(np.uint64) >> (unused + 32).view(np.uint64))
        target(machine, choose(bits == 0, 0, shifted).astype(type_.dtype))

    return run


@decodes("prmt")
def permute_bytes(instruction: Instruction, decoder: Decoder) -> Step:
    """`prmt.b32 d, a, b, selector;`: each nibble names one of eight bytes, its top bit asks for the byte's sign."""
    mode = next((part for part in instruction.modifiers if part in MODES), None)
    target = decoder.target(instruction.operands[0], B32, instruction)
    sources = decoder.sources(instruction.operands[1:], B32, instruction)

    def run(machine: Machine) -> None:
        a, b, selector = (source(machine) for source in sources)
        both = b.astype(np.uint64) << np.uint64(32) | a.astype(np.uint64)
        result: Any = np.uint32(0)
        for position in range(4):
            nibble = _nibble(selector, position, mode)
            byte = (both >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8))).astype(np.uint32)
            byte = byte & np.uint32(0xFF)
            sign = (byte >> np.uint32(7)) * np.uint32(0xFF)
            result = result | choose(nibble & np.uint32(8), sign, byte) << np.uint32(8 * position)
        target(machine, np.asarray(result))

    return run


MODES: dict[str, Callable[[Any, int], Any]] = {
    "f4e": lambda s, p: s + p,
    "b4e": lambda s, p: (s - p) % 8,
    "rc8": lambda s, p: s,
    "ecl": lambda s, p: np.maximum(s, p),
    "ecr": lambda s, p: np.minimum(s, p),
    "rc16": lambda s, p: (s & 1) * 2 + p % 2,
}
"""Modes of `prmt`: the byte that a selector and a position name."""


def _nibble(selector: Values, position: int, mode: str | None) -> Values:
    if mode is None:
        return selector >> np.uint32(4 * position) & np.uint32(15)
    chosen = (selector & np.uint32(3)).astype(np.int64)
    return np.asarray(MODES[mode](chosen, position)).astype(np.uint32)

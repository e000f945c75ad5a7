"""`cvt`: between integers and floats of all widths, packed pairs among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.arith.meaning import round_floats
from tilewright.dialects.float8 import narrow_to_float8
from tilewright.reference.simt.instructions.narrow_formats import (
    convert_by_random_bits,
    make_finite,
    narrow_to_exponent,
    rectified,
    widen_exponent,
)
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.packed import joined, lanes, spread_all
from tilewright.reference.simt.program import Decoder, Step, decodes, unknown
from tilewright.reference.simt.rounding import MODES, directed, directed_double, flush, narrow, two_sum
from tilewright.reference.simt.types import Values, as_dtype, choose, storage_of
from tilewright.reference.tt.dot import round_to_tf32, round_to_tf32_away
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type, parse_type, types_in

Convert = Callable[[Values], Values]
TO_INTEGER: dict[str, Callable[[Values], Values]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


@decodes("cvt")
def convert(instruction: Instruction, decoder: Decoder) -> Step:
    """`cvt.rn.f16.f32 d, a;`, `cvt.rn.bf16x2.f32 d, high, low;`, `cvt.rn.f16x2.e4m3x2 d, a;`"""
    into, out_of = types_in(instruction.modifiers)[-2:]
    if "e2m1" in (into.kind, out_of.kind):
        return _convert_four_bits(instruction, decoder, into, out_of)
    if "rs" in instruction.modifiers:
        return convert_by_random_bits(instruction, decoder, into, out_of)
    if into.lanes == 2:
        return _convert_pair(instruction, decoder, into, out_of)
    target = decoder.target(instruction.operands[0], into, instruction)
    source = decoder.source(instruction.operands[1], out_of, instruction)
    function = conversion(instruction, into, out_of)
    return lambda machine: target(machine, as_dtype(function(source(machine)), into.dtype))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
"""The numbers of the codes without a sign."""


def _convert_four_bits(instruction: Instruction, decoder: Decoder, into: Type, out_of: Type) -> Step:
    """Two numbers of four bits in a register of eight."""
    bytes_, rectifies = parse_type("b8"), "relu" in instruction.modifiers
    assert bytes_ is not None
    if into.kind == "e2m1":
        target = decoder.target(instruction.operands[0], bytes_, instruction)
        high, low = decoder.sources(instruction.operands[1:3], out_of, instruction)

        def narrow_both(machine: Machine) -> None:
            codes = [_code_of_four_bits(source(machine), rectifies=rectifies) for source in (low, high)]
            target(machine, (codes[0] | codes[1] << np.uint8(4)).astype(np.uint8))

        return narrow_both
    wide = decoder.target(instruction.operands[0], into, instruction)
    source = decoder.source(instruction.operands[1], bytes_, instruction)

    def widen_both(machine: Machine) -> None:
        codes = np.atleast_1d(source(machine)).astype(np.uint8)
        both = np.stack([codes & np.uint8(15), codes >> np.uint8(4)], 1)
        numbers = np.where(both & 8, -E2M1[both & 7], E2M1[both & 7]).astype(into.dtype)
        numbers = rectified(numbers) if rectifies else numbers
        wide(machine, joined(numbers, storage_of(into.total_bits)))

    return widen_both


def _code_of_four_bits(values: Values, *, rectifies: bool) -> Values:
    """To the nearest, ties to even codes; beyond 6, and NaN: 6."""
    values = rectified(values) if rectifies else values
    size = np.minimum(np.where(np.isnan(values), 6, np.abs(values.astype(np.float64))), 6)
    below = np.searchsorted(E2M1, size, side="right") - 1
    above = np.minimum(below + 1, 7)
    middle = (E2M1[below] + E2M1[above]) / 2
    code = np.where((size > middle) | ((size == middle) & (below % 2 == 1)), above, below)
    return (code | np.where(np.signbit(values) & ~np.isnan(values), 8, 0)).astype(np.uint8)


def _convert_pair(instruction: Instruction, decoder: Decoder, into: Type, out_of: Type) -> Step:
    """Two numbers, the upper one first, or a register of two."""
    function = conversion(instruction, into, out_of)
    storage = storage_of(into.total_bits)
    bits = parse_type(f"b{into.total_bits}")
    assert bits is not None
    target = decoder.target(instruction.operands[0], bits, instruction)
    if out_of.lanes == 2:
        packed = decoder.source(instruction.operands[1], out_of, instruction)

        def run(machine: Machine) -> None:
            values = packed(machine)
            rows = as_dtype(function(lanes(values, out_of.dtype)), into.dtype)
            target(machine, joined(rows, storage, scalar=values.ndim == 0))

        return run
    high, low = decoder.sources(instruction.operands[1:3], out_of, instruction)

    def run_two(machine: Machine) -> None:
        values = spread_all([low(machine), high(machine)])
        rows = np.stack([np.atleast_1d(as_dtype(function(value), into.dtype)) for value in values], axis=1)
        target(machine, joined(rows, storage, scalar=values[0].ndim == 0))

    return run_two


def conversion(instruction: Instruction, into: Type, out_of: Type) -> Convert:
    """The function from values of one type to values of another."""
    modifiers = instruction.modifiers
    if into.kind == "ue8m0":
        return narrow_to_exponent(instruction)
    if out_of.kind == "ue8m0":
        return widen_exponent
    if into.kind == "tf":
        rounded = round_to_tf32 if "rn" in modifiers else round_to_tf32_away
        return (lambda values: rectified(rounded(values))) if "relu" in modifiers else rounded
    if not into.is_float:
        return _to_integer(modifiers, into, out_of) if out_of.is_float else _between_integers(modifiers, into)
    if not out_of.is_float:
        return _from_integer(modifiers, into)
    return _between_floats(instruction, into, out_of)


def _between_integers(modifiers: tuple[str, ...], into: Type) -> Convert:
    if "sat" not in modifiers:
        return lambda values: values.astype(into.dtype)
    limits = np.iinfo(into.dtype)

    def saturate(values: Values) -> Values:
        if values.dtype.kind == "u":
            return np.minimum(values, np.uint64(limits.max)).astype(into.dtype)
        low, high = max(limits.min, -(1 << 63)), min(limits.max, (1 << 63) - 1)
        return np.clip(values.astype(np.int64), low, high).astype(into.dtype)

    return saturate


def _to_integer(modifiers: tuple[str, ...], into: Type, out_of: Type) -> Convert:
    """Beyond the type: its largest or smallest number; NaN: 0."""
    rounding = next((TO_INTEGER[part] for part in modifiers if part in TO_INTEGER), np.trunc)
    limits = np.iinfo(into.dtype)
    flushes = "ftz" in modifiers and out_of.dtype == np.float32

    def run(values: Values) -> Values:
        values = flush(values) if flushes else values
        whole = rounding(np.asarray(values).astype(np.float64))
        inside = (whole >= float(limits.min)) & (whole < float(limits.max) + (1 if limits.max < 1 << 50 else 0))
        safe = choose(inside, whole, 0.0)
        result = safe.astype(into.dtype) if into.dtype.kind == "i" else safe.astype(np.uint64).astype(into.dtype)
        result = choose(whole > float(limits.max) - (1 if limits.max < 1 << 50 else 0), limits.max, result)
        result = choose(whole >= float(limits.max), into.dtype.type(limits.max), result)
        result = choose(whole < float(limits.min), into.dtype.type(limits.min), result)
        return choose(np.isnan(whole), into.dtype.type(0), result).astype(into.dtype)

    return run


def _from_integer(modifiers: tuple[str, ...], into: Type) -> Convert:
    mode = next((part for part in modifiers if part in MODES), "rn")

    def run(values: Values) -> Values:
        if values.dtype.itemsize < 8:
            wide, error = values.astype(np.float64), 0.0
        else:
            half = values.dtype.type(32)
            high, low = values >> half << half, values & values.dtype.type(0xFFFFFFFF)
            wide, error = two_sum(high.astype(np.float64), low.astype(np.float64))
        if into.dtype == np.float64:
            return values.astype(np.float64) if mode == "rn" else directed_double(wide, error, mode)
        return narrow(wide, error, into.dtype, mode)

    return run


def _between_floats(instruction: Instruction, into: Type, out_of: Type) -> Convert:
    modifiers = instruction.modifiers
    steps: list[Convert] = []
    if "ftz" in modifiers and out_of.dtype == np.float32:
        steps.append(flush)
    whole = next((TO_INTEGER[part] for part in modifiers if part in TO_INTEGER), None)
    if whole is not None:
        steps.append(whole)
    mode = next((part for part in modifiers if part in MODES), "rn")
    if into.bits == 8:
        if mode not in ("rn", "rz"):
            raise unknown(instruction)
        steps.append(lambda values: narrow_to_float8(np.asarray(values), into.dtype, towards_zero=mode == "rz"))
    elif (into.bits >= out_of.bits and into.kind == out_of.kind) or out_of.bits == 8 or into.bits == 64:
        steps.append(
            lambda values: (
                values.astype(np.float32).astype(into.dtype) if out_of.bits == 8 else values.astype(into.dtype)
            )
        )
    elif mode == "rn":
        steps.append(lambda values: round_floats(np.asarray(values).astype(np.float64), into.dtype))
    else:
        steps.append(lambda values: directed(values, into.dtype, mode))
    if "satfinite" in modifiers and into.bits > 8:
        steps.append(lambda values: make_finite(values, into))
    if "relu" in modifiers:
        steps.append(rectified)
    if "sat" in modifiers:
        steps.append(lambda values: choose(values > 0, np.minimum(values, 1), 0).astype(values.dtype))
    if "ftz" in modifiers and into.dtype == np.float32:
        steps.append(flush)

    def run(values: Values) -> Values:
        for step in steps:
            values = step(values)
        return values

    return run

"""`cvt` by random bits, and to and from `ue8m0`, which is an exponent alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.packed import joined, spread_all
from tilewright.reference.simt.program import Decoder, Step, unknown
from tilewright.reference.simt.types import Values, choose, storage_of
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type, parse_type

RANDOM_BITS = {"f": (13, 10, -14), "bf": (16, 7, -126)}
"""By kind: the random bits of an element, the bits of its mantissa, its least exponent."""


def narrow_to_exponent(instruction: Instruction) -> Callable[[Values], Values]:
    """The power of two of the size of a number, below (`rz`) or above (`rp`); 255 is NaN, and there is no zero."""
    goes_up, saturates = "rp" in instruction.modifiers, "satfinite" in instruction.modifiers
    if not goes_up and "rz" not in instruction.modifiers:
        raise unknown(instruction)

    def run(values: Values) -> Values:
        size = np.abs(np.asarray(values).astype(np.float64))
        mantissa, exponent = np.frexp(np.where(np.isfinite(size), size, 1.0))  # size = mantissa * 2^exponent
        code = exponent - 1 + (goes_up & (mantissa > 0.5)) + 127
        code = np.where(size < 2.0**-126, np.where(goes_up & (size > 2.0**-127), 1, 0), np.minimum(code, 255))
        code = np.where(np.isfinite(size), code, 255)
        return np.where(saturates & ~np.isnan(size), np.minimum(code, 254), code).astype(np.uint8)

    return run


def widen_exponent(values: Values) -> Values:
    """Codes as numbers."""
    codes = np.asarray(values).astype(np.int64)
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127))


def convert_by_random_bits(instruction: Instruction, decoder: Decoder, into: Type, out_of: Type) -> Step:
    """`cvt.rs.f16x2.f32 d, high, low, random;`: random bits, added to what is cut off, decide."""
    bits, word = parse_type(f"b{into.total_bits}"), parse_type("b32")
    if into.kind not in RANDOM_BITS or into.lanes != 2 or out_of.bits != 32 or bits is None or word is None:
        raise unknown(instruction)
    target = decoder.target(instruction.operands[0], bits, instruction)
    high, low = decoder.sources(instruction.operands[1:3], out_of, instruction)
    random = decoder.source(instruction.operands[3], word, instruction)

    def run(machine: Machine) -> None:
        values = spread_all([low(machine), high(machine), random(machine)])
        columns: list[Array] = []
        for start, value in zip((0, 16), values[:2], strict=True):
            chosen = np.asarray(values[2]).astype(np.uint32) >> np.uint32(start)
            found = _rounded(np.atleast_1d(value), np.atleast_1d(chosen), into)
            found = make_finite(found, into) if "satfinite" in instruction.modifiers else found
            columns.append(np.asarray(rectified(found) if "relu" in instruction.modifiers else found))
        rows = np.stack(columns, axis=1)
        target(machine, joined(rows, storage_of(into.total_bits), scalar=values[0].ndim == 0))

    return run


def _rounded(values: Array, random: Array, into: Type) -> Array:
    """Numbers as whole steps of the type, rounded down after a random part of a step was added."""
    count, mantissa, least = RANDOM_BITS[into.kind]
    size = np.abs(values.astype(np.float64))
    is_finite = np.isfinite(size)
    exponent = np.maximum(np.frexp(np.where(is_finite, size, 1.0))[1] - 1, least) - mantissa
    part = (random & np.uint32((1 << count) - 1)).astype(np.float64) / (1 << count)
    steps = np.floor(np.floor(np.ldexp(np.where(is_finite, size, 0.0), count - exponent)) / (1 << count) + part)
    found = np.where(is_finite, np.ldexp(steps, exponent), size)
    with np.errstate(over="ignore"):
        return np.copysign(found, values).astype(np.float32).astype(into.dtype)


def make_finite(values: Array, into: Type) -> Values:
    import ml_dtypes

    most = float(ml_dtypes.finfo(into.dtype).max)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return choose(np.isinf(values), np.copysign(most, values).astype(into.dtype), values)


def rectified(values: Values) -> Values:
    """Negative numbers as 0."""
    return choose(values.astype(np.float32) <= 0, values.dtype.type(0), values).astype(values.dtype)

"""Powers of two: exact products with them, also into the subnormal numbers and up to infinity.

With AVX-512 that is one instruction, ``vscalefps`` or ``vscalefpd``; elsewhere two factors are made from the exponent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tilewright.codegen.math_library.number import Condition, Number

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

ROUNDING = 1.5 * 2.0**52
"""Added to an f64 below 2^51, it leaves the nearest integer in the lowest bits of the sum."""
_WIDEST = {"float": 16, "double": 8}
_SUFFIX = {"float": "ps", "double": "pd"}


def has_scalef(b: FormBuilder, scalar: str = "float") -> bool:
    """Return whether one instruction scales a vector, or each of the vectors that it consists of."""
    widest = _WIDEST[scalar]
    if not b.facts.has("avx512f") or b.lanes < widest // 2:
        return False
    return b.facts.has("avx512vl") if b.lanes == widest // 2 else b.lanes in (widest, 2 * widest, 4 * widest)


def scale(value: Number, n: Number, lives: Condition | None = None) -> Number:
    """value * 2^n for whole n, |n| at most 2000 (250 for f32), in the lanes that live (None: all), 0 in the others.

    A product that underflows costs x86 an assist of 150 cycles: where the result is 0 for sure, `lives` should say so.
    NaN stays NaN, as value or as n.
    """
    b, scalar = value.b, value.scalar
    if has_scalef(b, scalar):
        operands = [(value.name, scalar), (n.name, scalar), *([] if lives is None else [(lives.name, "i1")])]
        name = in_pieces(b, operands, scalar, lambda v, lanes: call_masked(b, "scalef", v[:2], v[2:], scalar, lanes))
        return Number(b, name, scalar)
    exponent = exponent_bits(n)
    bits = "i32" if scalar == "float" else "i64"
    half = b.ashr(exponent, 1, bits)
    for part in (half, b.sub(exponent, half, bits)):
        value = value * power_of_two(b, part, scalar)
    return value if lives is None else lives.pick(value, 0.0)


def power_of_two(b: FormBuilder, exponent: str, scalar: str) -> Number:
    """2^exponent for an integer of the float's width, where that is a normal number."""
    bits, bias, digits = ("i32", 127, 23) if scalar == "float" else ("i64", 1023, 52)
    biased = b.shl(b.add(exponent, b.int(bias, bits), bits), digits, bits)
    return Number(b, b.bits(biased, bits, scalar), scalar)


def exponent_bits(n: Number) -> str:
    """A whole number as an integer of the float's width; any integer for NaN."""
    b = n.b
    if n.scalar == "float":
        return b.fn.value(f"freeze {b.type('i32')} {b.cast('fptosi', n.name, 'float', 'i32')}")
    return b.sub(b.bits((n + ROUNDING).name, "double", "i64"), b.int(0x4338000000000000, "i64"), "i64")


def in_pieces(
    b: FormBuilder, operands: Sequence[tuple[str, str]], scalar: str, once: Callable[[Sequence[str], int], str]
) -> str:
    """Floats that an instruction for at most 512 bits makes of vectors of any length."""
    widest = _WIDEST[scalar]
    if b.lanes <= widest:
        return once([value for value, _ in operands], b.lanes)
    pieces: list[str] = []
    for start in range(0, b.lanes, widest):
        mask = ", ".join(f"i32 {start + lane}" for lane in range(widest))
        parts = [b.fn.shuffle(b.type(kind), v, "poison", f"<{widest} x i32> <{mask}>") for v, kind in operands]
        pieces.append(once(parts, widest))
    lanes = widest
    while len(pieces) > 1:
        mask, half = ", ".join(f"i32 {lane}" for lane in range(2 * lanes)), f"<{lanes} x {scalar}>"
        pieces = [
            b.fn.shuffle(half, low, high, f"<{2 * lanes} x i32> <{mask}>")
            for low, high in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        lanes *= 2
    return pieces[0]


def call_masked(
    b: FormBuilder, name: str, operands: Sequence[str], lives: Sequence[str], scalar: str, lanes: int, *immediates: int
) -> str:
    """An AVX-512 instruction on one vector that gives 0 in lanes that do not live (no condition: all do)."""
    vector, mask = f"<{lanes} x {scalar}>", f"i{max(lanes, 8)}"
    arguments = [(vector, operand) for operand in operands] + [("i32", str(value)) for value in immediates]
    arguments += [(vector, "zeroinitializer"), (mask, _mask_bits(b, lives[0], lanes) if lives else "-1")]
    if lanes == _WIDEST[scalar]:
        arguments.append(("i32", "4"))  # the current rounding mode
    bits = lanes * (32 if scalar == "float" else 64)
    return b.fn.call(vector, f"llvm.x86.avx512.mask.{name}.{_SUFFIX[scalar]}.{bits}", arguments)


def _mask_bits(b: FormBuilder, lives: str, lanes: int) -> str:
    bits = b.fn.cast("bitcast", f"<{lanes} x i1>", lives, f"i{lanes}")
    return bits if lanes >= 8 else b.fn.cast("zext", f"i{lanes}", bits, "i8")

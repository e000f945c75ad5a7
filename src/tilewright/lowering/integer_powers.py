"""Integers to integer powers, by products on scalars."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith
from tilewright.dialects.types import bit_width
from tilewright.lowering.scalar_builder import ScalarBuilder


def emit_integer_power(b: ScalarBuilder, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """x^n modulo 2^width by squaring, a bit of n after the other; for negative n, 1/x rounded towards zero.

    The top bit of n is its sign, and is not multiplied by.
    """
    kind = base.type
    one, zero = b.int(1, kind), b.int(0, kind)
    result, square = one, base
    for bit in range(bit_width(kind) - 1):
        is_set = b.cmpi("ne", b.emit(arith.AndIOp, exponent, b.int(1 << bit, kind)), zero)
        result = b.select(is_set, b.emit(arith.MuliOp, result, square), result)
        square = b.emit(arith.MuliOp, square, square)
    return b.select(b.cmpi("slt", exponent, zero), _inverse_power(b, base, exponent, kind), result)


def _inverse_power(b: ScalarBuilder, base: SSAValue, exponent: SSAValue, kind: Attribute) -> SSAValue:
    """x^n for a negative n: 1 and -1 stay what they are, or change sign; all others become 0."""
    one, minus_one, zero = b.int(1, kind), b.int(-1, kind), b.int(0, kind)
    is_odd = b.cmpi("ne", b.emit(arith.AndIOp, exponent, one), zero)
    of_minus_one = b.select(is_odd, minus_one, one)
    rest = b.select(b.cmpi("eq", base, minus_one), of_minus_one, zero)
    return b.select(b.cmpi("eq", base, one), one, rest)

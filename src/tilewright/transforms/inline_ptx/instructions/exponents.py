"""Conversions to and from `ue8m0`, the scales of microscaled formats: eight bits of exponent, no sign, no mantissa.

Code c is 2^(c - 127), and 255 is NaN. There is no zero.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.dialects import arith
from tilewright.support.ptx.types import Type
from tilewright.transforms.inline_ptx.forms import Form
from tilewright.transforms.inline_ptx.terms import Term

INFINITY = 0x7F800000
SMALLEST = 0x00400000
"""The bits of 2^-127, code 0, in f32."""


def narrow_to_exponent(form: Form) -> Callable[[Term], Term]:
    """`cvt.rp.satfinite.ue8m0x2.f32`: the power of two of the size of a number, below it (`rz`) or above (`rp`)."""
    terms = form.terms
    mode, saturates = form.take("rz", "rp"), form.takes("satfinite")
    if not mode:
        form.fail("rounds in a way that ue8m0 does not have")

    def run(a: Term) -> Term:
        bits = terms.bits(terms.float_cast(a, "f32"))
        size = terms.zero_extended(terms.field(bits, 0, 31), 32)
        code = terms.field(size, 23, 8)
        if mode == "rp":
            between = terms.compare("ne", terms.field(size, 0, 23), terms.constant(0, 23))
            above = terms.compare("ugt", size, terms.constant(SMALLEST, 32))
            is_finite = terms.compare("ult", size, terms.constant(INFINITY, 32))
            goes_up = terms.logic(arith.AndIOp, terms.logic(arith.AndIOp, between, above), is_finite)
            code = terms.add(code, terms.zero_extended(goes_up, 8))
        if not saturates:
            return code
        is_number = terms.compare("ule", size, terms.constant(INFINITY, 32))
        largest = terms.apply(arith.MinUIOp, code.type, code, terms.constant(254, 8))
        return terms.select(is_number, largest, code)

    return run


def widen_exponent(form: Form, into: Type) -> Callable[[Term], Term]:
    """`cvt.rn.bf16x2.ue8m0x2`: exact."""
    terms = form.terms
    form.take("rn")
    if into.kind != "bf":
        form.fail("widens to another type than bf16")

    def run(a: Term) -> Term:
        power = terms.word([terms.constant(0, 7), a, terms.constant(0, 1)])
        power = terms.select(terms.compare("eq", a, terms.constant(0, 8)), terms.constant(SMALLEST >> 16, 16), power)
        is_nan = terms.compare("eq", a, terms.constant(255, 8))
        return terms.bitcast(terms.select(is_nan, terms.constant(0x7FFF, 16), power), "bf16")

    return run

"""Conversions that round by random bits: `cvt.rs.f16x2.f32 d, high, low, random;`

As many random bits as the mantissa loses (13 for f16, 16 for bf16) are added to the bits that are cut off; the carry
rounds the number away from zero. `low` takes them from bit 0 of `random` on, `high` from bit 16 on. Results that are
subnormal lose more bits, of which the random ones are the uppermost.
"""

from __future__ import annotations

from tilewright.dialects import arith
from tilewright.support.ptx.types import Type
from tilewright.transforms.inline_ptx.forms import Form, Result, element_name
from tilewright.transforms.inline_ptx.terms import Term

LOST = {"f16": 13, "bf16": 16}
"""By type: how many bits of the mantissa of f32 it does not have."""
INFINITY = 0x7F800000
SMALLEST_NORMAL_HALF = 0x38800000
"""The bits of 2^-14 in f32."""


def convert_by_random_bits(form: Form, into: Type, out_of: Type) -> Result:
    """Two f32 as a register of two f16 or bf16."""
    element = element_name(into)
    if into.lanes != 2 or element not in LOST or element_name(out_of) != "f32":
        form.fail("takes random bits from places that are not known")
    form.check_operands(4)
    rectifies, is_finite = form.takes("relu"), form.takes("satfinite")
    terms, random = form.terms, form.word(form.operand(3), 32)
    lanes: list[Term] = []
    for start, a in zip((0, 16), form.sources(1, 2, out_of)[::-1], strict=True):
        found = _rounded(form, a, terms.field(random, start, LOST[element]), element)
        found = terms.rectified(found) if rectifies else found
        lanes.append(terms.bits(terms.finite(found) if is_finite else found))
    return terms.word(lanes)


def _rounded(form: Form, a: Term, random: Term, element: str) -> Term:
    """Infinities and NaN stay."""
    terms, bits = form.terms, form.terms.bits(a)
    size = terms.zero_extended(terms.field(bits, 0, 31), 32)
    random = terms.zero_extended(random, 32)
    lost = LOST[element]
    kept = terms.word([terms.constant(0, lost), terms.field(terms.add(size, random), lost, 32 - lost)])
    found = terms.bits(terms.float_cast(terms.bitcast(kept, "f32"), element))
    if element == "f16":
        # In steps of 2^-24, the random bits as their fraction: |a| * 2^24 * 2^13 is exact, and below 2^23.
        whole = terms.bitcast(size, "f32")
        fraction = terms.apply(arith.FPToUIOp, "i32", terms.rounded_product(whole, terms.float(2.0**37, "f32")))
        small = terms.field(terms.add(fraction, random), lost, 16)
        is_small = terms.compare("ult", size, terms.constant(SMALLEST_NORMAL_HALF, 32))
        found = terms.select(is_small, small, found)
    signed = terms.word([terms.field(found, 0, 15), terms.field(bits, 31, 1)])
    is_special = terms.compare("uge", size, terms.constant(INFINITY, 32))
    return terms.select(is_special, terms.float_cast(a, element), terms.bitcast(signed, element))

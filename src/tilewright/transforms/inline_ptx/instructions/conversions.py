"""`cvt`: between integers and floats of all widths, packed pairs among them."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.dialects import arith, math
from tilewright.support.ptx.syntax import Register
from tilewright.support.ptx.types import Type
from tilewright.transforms.inline_ptx.forms import Form, Result, element_name, means
from tilewright.transforms.inline_ptx.instructions.exponents import narrow_to_exponent, widen_exponent
from tilewright.transforms.inline_ptx.instructions.integers import B32, named_type
from tilewright.transforms.inline_ptx.instructions.random_rounding import convert_by_random_bits
from tilewright.transforms.inline_ptx.numbers import DIRECTED
from tilewright.transforms.inline_ptx.terms import Term, bits_of

TO_INTEGER = {"rni": math.RoundEvenOp, "rzi": math.TruncOp, "rmi": math.FloorOp, "rpi": math.CeilOp}
Convert = Callable[[Term], Term]


@means("cvt")
def convert(form: Form) -> Result:
    """`cvt.rn.f16.f32 d, a;`, `cvt.rn.bf16x2.f32 d, high, low;`, `cvt.rn.f16x2.e4m3x2 d, a;`"""
    if form.takes("pack"):
        return _pack_integers(form)
    into, out_of = form.types(2)
    if form.takes("rs"):
        return convert_by_random_bits(form, into, out_of)
    terms = form.terms
    function = conversion(form, into, out_of)
    if into.lanes == 1:
        form.check_operands(2)
        return _as_register(form, terms.bits(function(form.source(1, out_of))), into)
    form.check_operands(3 if out_of.lanes == 1 else 2)
    lanes = form.sources(1, 2, out_of)[::-1] if out_of.lanes == 1 else form.lanes(1, out_of)
    return terms.word([terms.bits(function(lane)) for lane in lanes])


def _as_register(form: Form, value: Term, into: Type) -> Term:
    """A result in a wider register has its sign there."""
    target = form.operand(0)
    if into.is_signed and isinstance(target, Register) and target.bits > into.bits:
        return form.terms.sign_extended(value, target.bits)
    return value


def conversion(form: Form, into: Type, out_of: Type) -> Convert:
    """The function from elements of one type to elements of another."""
    if into.kind == "tf":
        return _to_tf32(form)
    if into.kind == "e2m1":
        return _to_four_bits(form)
    if out_of.kind == "e2m1":
        return _from_four_bits(form, into)
    if into.kind == "ue8m0":
        return narrow_to_exponent(form)
    if out_of.kind == "ue8m0":
        return widen_exponent(form, into)
    if into.is_float:
        return _between_floats(form, into, out_of) if out_of.is_float else _from_integer(form, into, out_of)
    return _to_integer(form, into, out_of) if out_of.is_float else _between_integers(form, into, out_of)


def _to_tf32(form: Form) -> Convert:
    """f32 with 10 bits of mantissa: to nearest even (`rn`), or halves away from zero (`rna`). Infinities and NaN
    stay."""
    terms = form.terms
    mode = form.take("rna", "rn")
    if not mode:
        form.fail("rounds in a way that is not known")
    if form.takes("satfinite"):
        form.fail("saturates, which tf32 does not do here")
    rectifies = form.takes("relu")

    def run(a: Term) -> Term:
        bits = terms.bits(a)
        half = terms.constant(1 << 12, 32)
        if mode == "rn":
            last = terms.zero_extended(terms.field(bits, 13, 1), 32)
            half = terms.add(terms.constant((1 << 12) - 1, 32), last)
        rounded = terms.logic(arith.AndIOp, terms.add(bits, half), terms.constant(-1 << 13, 32))
        is_finite = terms.compare("olt", terms.magnitude(a), terms.float(float("inf"), "f32"))
        found = terms.select(is_finite, terms.bitcast(rounded, "f32"), a)
        return terms.rectified(found) if rectifies else found

    return run


THRESHOLDS = (("ugt", 0.25), ("uge", 0.75), ("ugt", 1.25), ("uge", 1.75), ("ugt", 2.5), ("uge", 3.5), ("ugt", 5.0))
"""Between the numbers 0, 0.5, 1, 1.5, 2, 3, 4 and 6: in the middle the even code is chosen. NaN is beyond all."""


def _to_four_bits(form: Form) -> Convert:
    """To e2m1, to nearest even; what is too large, and NaN, is 6."""
    terms = form.terms
    if not (form.takes("rn") and form.takes("satfinite")):
        form.fail("does not saturate")
    rectifies = form.takes("relu")

    def run(a: Term) -> Term:
        a = terms.float_cast(terms.rectified(a) if rectifies else a, "f32")
        size, code = terms.magnitude(a), terms.constant(0, 8)
        for predicate, least in THRESHOLDS:
            beyond = terms.compare(predicate, size, terms.float(least, "f32"))
            code = terms.add(code, terms.zero_extended(beyond, 8))
        is_number = terms.zero_extended(terms.compare("ord", a, a), 8)
        asked = terms.shifted_left(is_number, terms.constant(7, 32))
        sign = terms.logic(arith.AndIOp, terms.field(terms.bits(a), 24, 8), asked)
        return terms.word([terms.field(code, 0, 3), terms.field(sign, 7, 1)])

    return run


def _from_four_bits(form: Form, into: Type) -> Convert:
    """The bits of e2m1 are those of an f16 that is 2^14 times too small."""
    terms = form.terms
    form.take("rn")
    rectifies = form.takes("relu")
    if into.kind != "f":
        form.fail("widens to another type than f16")

    def run(a: Term) -> Term:
        parts = [terms.constant(0, 9), terms.field(a, 0, 3), terms.constant(0, 3), terms.field(a, 3, 1)]
        small = terms.bitcast(terms.word(parts), "f16")
        found = terms.apply(arith.MulfOp, "f16", small, terms.float(2.0**14, "f16"))
        return terms.rectified(found) if rectifies else found

    return run


def _limits(into: Type) -> tuple[int, int]:
    if into.is_signed:
        return -(1 << (into.bits - 1)), (1 << (into.bits - 1)) - 1
    return 0, (1 << into.bits) - 1


def _between_integers(form: Form, into: Type, out_of: Type) -> Convert:
    terms = form.terms
    if not form.takes("sat"):
        return lambda a: terms.extended(a, into.bits, signed=out_of.is_signed)
    return lambda a: saturated_integer(form, a, into, signed=out_of.is_signed)


def saturated_integer(form: Form, a: Term, into: Type, *, signed: bool) -> Term:
    """An integer in another width; what does not fit becomes the nearest that does."""
    terms = form.terms
    low, high = _limits(into)
    width = max(bits_of(a.type), into.bits)
    a = terms.extended(a, width, signed=signed)
    if signed:
        if low > -(1 << (width - 1)):
            a = terms.apply(arith.MaxSIOp, a.type, a, terms.constant(low, width))
        if high < (1 << (width - 1)) - 1:
            a = terms.apply(arith.MinSIOp, a.type, a, terms.constant(high, width))
    elif high < (1 << width) - 1:
        a = terms.apply(arith.MinUIOp, a.type, a, terms.constant(high, width))
    return terms.field(a, 0, into.bits)


def _to_integer(form: Form, into: Type, out_of: Type) -> Convert:
    """Beyond the type: its largest or smallest number; NaN: 0."""
    terms = form.terms
    mode = form.take(*TO_INTEGER)
    flushes = form.takes("ftz") and element_name(out_of) == "f32"
    form.takes("sat")
    low, high = _limits(into)
    op = arith.FPToSIOp if into.is_signed else arith.FPToUIOp
    width = max(into.bits, 32)

    def run(a: Term) -> Term:
        a = terms.flushed(a) if flushes else a
        a = a if bits_of(a.type) >= 32 else terms.float_cast(a, "f32")
        if mode in TO_INTEGER and mode != "rzi":
            a = terms.apply(TO_INTEGER[mode], a.type, a)
        found = terms.apply(op, f"i{width}", a)  # which saturates, and has 0 for NaN
        if into.bits == width:
            return found
        if into.is_signed:
            return terms.field(terms.clamped(found, low, high), 0, into.bits)
        most = terms.constant(high, width)
        return terms.field(terms.apply(arith.MinUIOp, found.type, found, most), 0, into.bits)

    return run


def _from_integer(form: Form, into: Type, out_of: Type) -> Convert:
    terms = form.terms
    element = element_name(into)
    mode = form.take("rn", *DIRECTED) or "rn"
    saturates = form.takes("sat")
    signed = out_of.is_signed
    if mode in DIRECTED and into.bits == 16 and mode != "rz":
        form.fail(f"rounds in a way that {element} does not have")
    # Two roundings towards zero are one; f64 has enough bits that small integers need none.
    through = "f64" if mode in DIRECTED and into.bits == 16 else element
    symbol = _integer_symbol(out_of, through, mode) if mode in DIRECTED else ""

    def run(a: Term) -> Term:
        if symbol:
            width = 64 if "ll" in symbol else 32
            found = terms.library(symbol, through, terms.extended(a, width, signed=signed))
        else:
            found = terms.apply(arith.SIToFPOp if signed else arith.UIToFPOp, through, a)
        found = terms.float_cast(found, element, mode)
        return terms.saturated(found) if saturates else found

    return run


def _integer_symbol(out_of: Type, target: str, mode: str) -> str:
    """`uint2float_rz`; of small integers every conversion is exact, so nothing."""
    if out_of.bits <= (16 if target == "f32" else 32):
        return ""
    source = ("" if out_of.is_signed else "u") + ("ll" if out_of.bits == 64 else "int")
    return f"{source}2{'float' if target == 'f32' else 'double'}_{DIRECTED[mode]}"


def _between_floats(form: Form, into: Type, out_of: Type) -> Convert:
    terms = form.terms
    source, target = element_name(out_of), element_name(into)
    flushes = form.takes("ftz")
    whole, mode = form.take(*TO_INTEGER), form.take("rn", *DIRECTED) or "rn"
    is_finite, rectifies, saturates = form.takes("satfinite"), form.takes("relu"), form.takes("sat")
    narrow = _narrowing(form, source, target, mode)

    def run(a: Term) -> Term:
        if flushes and source == "f32":
            a = terms.flushed(a)
        if whole:
            a = terms.apply(TO_INTEGER[whole], a.type, a)
        a = terms.rectified(a) if rectifies and bits_of(target) == 8 else a
        a = narrow(a)
        a = terms.rectified(a) if rectifies and bits_of(target) > 8 else a
        if is_finite and bits_of(target) > 8:
            a = terms.finite(a)
        if saturates:
            a = terms.saturated(a)
        return terms.flushed(a) if flushes and target == "f32" else a

    return run


def _narrowing(form: Form, source: str, target: str, mode: str) -> Convert:
    terms = form.terms
    if mode not in DIRECTED or bits_of(target) > bits_of(source):
        return lambda a: terms.float_cast(a, target)
    if (source, target) == ("f64", "f32"):
        return lambda a: terms.library(f"double2float_{DIRECTED[mode]}", target, a)
    if mode == "rz" and bits_of(source) >= 16 and bits_of(target) == 16:
        return lambda a: terms.float_cast(terms.float_cast(a, "f32") if bits_of(source) == 16 else a, target, mode)
    return form.fail(f"rounds from {source} to {target} in a way that is not known")


def _pack_integers(form: Form) -> Result:
    """`cvt.pack.sat.s8.s32.b32 d, a, b, c;`: a and b, saturated, as the low bits of d (b the lowest), and c above."""
    form.takes("sat")
    kinds = [part for part in form.parts if part != "b32"]
    into, out_of = (named_type(part) for part in kinds[:2])
    form.parts = [part for part in form.parts if part not in (*kinds[:2], "b32")]
    terms = form.terms
    form.check_operands(3 if into.bits == 16 else 4)
    high, low = (saturated_integer(form, a, into, signed=out_of.is_signed) for a in form.sources(1, 2, out_of))
    rest = [form.source(3, B32)] if len(form.operands) == 4 else []
    return terms.field(terms.word([low, high, *rest]), 0, 32)

"""Integer arithmetic, and the choice between it and floating-point arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation

from tilewright.dialects import arith, math
from tilewright.support.ptx.types import Type, parse_type
from tilewright.transforms.inline_ptx.forms import Form, Result, means
from tilewright.transforms.inline_ptx.instructions import floats
from tilewright.transforms.inline_ptx.numbers import Numbers
from tilewright.transforms.inline_ptx.terms import Constant, Term, Word, bits_of


def named_type(name: str) -> Type:
    """A type that exists."""
    found = parse_type(name)
    assert found is not None
    return found


B32 = named_type("b32")


@means("add", "sub", "addc", "subc")
def add_or_subtract(form: Form) -> Result:
    """`add.s32`, `add.sat.s32`, `add.u16x2`, `add.cc.u32`, and floats."""
    form.check_operands(3)
    type_ = form.type()
    if type_.is_float:
        return floats.arithmetic(form, type_)
    gives, takes = form.takes("cc"), form.name.endswith("c")
    if gives or takes:
        a, b = form.sources(1, 2, type_)
        return with_carry(form, a, b, subtracts=form.name.startswith("sub"), takes=takes, gives=gives)
    saturates = form.takes("sat")

    def compute(a: Term, b: Term) -> Term:
        return _sum(form.terms, a, b, subtracts=form.name == "sub", saturates=saturates)

    return form.by_lane(type_, 2, compute)


def _sum(terms: Numbers, a: Term, b: Term, *, subtracts: bool, saturates: bool) -> Term:
    op = arith.SubiOp if subtracts else arith.AddiOp
    if not saturates:
        return terms.subtract(a, b) if subtracts else terms.add(a, b)
    width = bits_of(a.type)
    wide = f"i{2 * width}"
    total = terms.apply(op, wide, terms.sign_extended(a, 2 * width), terms.sign_extended(b, 2 * width))
    return terms.field(terms.clamped(total, -(1 << (width - 1)), (1 << (width - 1)) - 1), 0, width)


def with_carry(form: Form, a: Term, b: Term, *, subtracts: bool, takes: bool, gives: bool) -> Term:
    """A sum or difference with the condition code: what is carried, or borrowed."""
    terms, registers = form.terms, form.registers
    width = bits_of(a.type)
    carry = registers.carry if takes else None
    if takes and carry is None:
        form.fail("reads a condition code that nothing has set")
    result = terms.apply(arith.SubiOp if subtracts else arith.AddiOp, a.type, a, b)
    out = terms.compare("ult", a, b) if subtracts else terms.compare("ult", result, a)
    if carry is not None:
        extra = terms.zero_extended(carry, width)
        first, result = result, terms.apply(arith.SubiOp if subtracts else arith.AddiOp, a.type, result, extra)
        wraps = terms.compare("ult", first, extra) if subtracts else terms.compare("ult", result, extra)
        out = terms.logic(arith.OrIOp, out, wraps)
    if gives:
        registers.carry = out
    return result


@means("mul", "mad", "madc")
def multiply(form: Form) -> Result:
    """`mul.lo.s32`, `mul.hi.u32`, `mul.wide.s16`, `mad.lo.s32`, `mad.hi.sat.s32`, `mad.lo.cc.u32`, and floats."""
    type_ = form.type()
    if type_.is_float:
        return floats.arithmetic(form, type_) if form.name == "mul" else floats.fused(form, type_)
    form.check_operands(3 if form.name == "mul" else 4)
    half = form.take("lo", "hi", "wide")
    if not half or type_.kind not in ("s", "u") or type_.lanes > 1:
        form.fail("has no '.lo', '.hi' or '.wide'")
    a, b = form.sources(1, 2, type_)
    product = _product(form.terms, a, b, half, signed=type_.is_signed)
    if form.name == "mul":
        return product
    addend = form.source(3, named_type(f"{type_.kind}{bits_of(product.type)}"))
    gives, takes = form.takes("cc"), form.name == "madc"
    if gives or takes:
        return with_carry(form, product, addend, subtracts=False, takes=takes, gives=gives)
    return _sum(form.terms, product, addend, subtracts=False, saturates=form.takes("sat"))


def _product(terms: Numbers, a: Term, b: Term, half: str, *, signed: bool) -> Term:
    width = bits_of(a.type)
    if half == "lo":
        word, factor = (b, a) if isinstance(a, Constant) else (a, b)
        if isinstance(word, Word) and isinstance(factor, Constant) and factor.value.bit_count() == 1:
            return terms.shifted_left(word, terms.constant(factor.value.bit_length() - 1, 32))
        return terms.multiply(a, b)
    if half == "wide" or width < 64:
        wide = terms.multiply(terms.extended(a, 2 * width, signed=signed), terms.extended(b, 2 * width, signed=signed))
        return wide if half == "wide" else terms.field(wide, width, width)
    op = arith.MulSIExtendedOp if signed else arith.MulUIExtendedOp
    return terms.apply(op, a.type, a, b)


@means("mul24", "mad24")
def multiply_24_bits(form: Form) -> Result:
    """Products of the low 24 bits: the low 32 of the 48 bits, or with `.hi` the upper."""
    form.check_operands(3 if form.name == "mul24" else 4)
    type_ = form.type()
    terms = form.terms
    if type_.bits != 32 or type_.lanes > 1:
        form.fail("is on 32 bits")
    low = [
        terms.extended(_of_24_bits(terms, source, signed=type_.is_signed), 64, signed=type_.is_signed)
        for source in form.sources(1, 2, type_)
    ]
    start = 16 if form.take("lo", "hi") == "hi" else 0
    result = terms.field(terms.multiply(*low), start, 32)
    if form.name == "mul24":
        return result
    return _sum(terms, result, form.source(3, type_), subtracts=False, saturates=form.takes("sat"))


def _of_24_bits(terms: Numbers, a: Term, *, signed: bool) -> Term:
    eight = terms.constant(8, 32)
    return terms.shifted_right(terms.shifted_left(a, eight), eight, signed=signed)


@means("div", "rem")
def divide(form: Form) -> Result:
    """Towards zero. By 0: a quotient of ones and the dividend as the remainder, as on the hardware."""
    form.check_operands(3)
    type_ = form.type()
    terms = form.terms
    if type_.is_float:
        return floats.arithmetic(form, type_) if form.name == "div" else form.fail("is on integers")
    if type_.kind not in ("s", "u") or type_.lanes > 1:
        form.fail("is on single integers")
    a, b = form.sources(1, 2, type_)
    signed = type_.is_signed
    if form.name == "div":
        op, of_zero = (arith.DivSIOp if signed else arith.DivUIOp), terms.like(-1, a)
    else:
        op, of_zero = (arith.RemSIOp if signed else arith.RemUIOp), a
    by_zero = terms.compare("eq", b, terms.like(0, b))
    one = terms.like(1, b)
    if not signed:
        return terms.select(by_zero, of_zero, terms.apply(op, a.type, a, terms.select(by_zero, one, b)))
    # The least integer has no quotient by -1 in arith: negation wraps, as the hardware has it.
    by_minus_one = terms.compare("eq", b, terms.like(-1, b))
    special = terms.logic(arith.OrIOp, by_zero, by_minus_one)
    safe = terms.apply(op, a.type, a, terms.select(special, one, b))
    zero = terms.like(0, a)
    negated = terms.subtract(zero, a) if form.name == "div" else zero
    return terms.select(by_zero, of_zero, terms.select(by_minus_one, negated, safe))


@means("min", "max")
def extremum(form: Form) -> Result:
    """`min.s32`, `max.relu.s32`, `min.u16x2`, and floats."""
    type_ = form.type()
    if type_.is_float:
        return floats.extremum(form, type_)
    form.check_operands(3)
    ops: dict[tuple[str, bool], Callable[..., Operation]] = {
        ("min", True): arith.MinSIOp,
        ("max", True): arith.MaxSIOp,
        ("min", False): arith.MinUIOp,
        ("max", False): arith.MaxUIOp,
    }
    op, rectifies = ops[form.name, type_.is_signed], form.takes("relu")

    def compute(a: Term, b: Term) -> Term:
        found = form.terms.apply(op, a.type, a, b)
        return form.terms.apply(arith.MaxSIOp, a.type, found, form.terms.like(0, a)) if rectifies else found

    return form.by_lane(type_, 2, compute)


@means("abs", "neg")
def change_sign(form: Form) -> Result:
    """The least integer stays as it is."""
    form.check_operands(2)
    type_ = form.type()
    if type_.is_float:
        return floats.change_sign(form, type_)

    def compute(a: Term) -> Term:
        if form.name == "neg":
            return form.terms.subtract(form.terms.like(0, a), a)
        return form.terms.apply(math.AbsIOp, a.type, a)

    return form.by_lane(type_, 1, compute)


@means("sad")
def absolute_difference(form: Form) -> Result:
    """`sad.u32 d, a, b, c;` is ``|a - b| + c``."""
    form.check_operands(4)
    type_ = form.type()
    a, b, c = form.sources(1, 3, type_)
    terms = form.terms
    below = terms.compare("slt" if type_.is_signed else "ult", a, b)
    return terms.add(terms.select(below, terms.subtract(b, a), terms.subtract(a, b)), c)


@means("dp4a", "dp2a")
def dot_of_bytes(form: Form) -> Result:
    """`dp4a.s32.u32 d, a, b, c;`: four products of bytes and a sum; `dp2a.lo`: two, of halves and bytes."""
    form.check_operands(4)
    of_a, of_b = form.types(2)
    terms = form.terms
    a, b, total = form.sources(1, 3, B32)
    if form.name == "dp4a":
        left, right = _parts(terms, a, 8), _parts(terms, b, 8)
    else:
        start = 2 if form.take("lo", "hi") == "hi" else 0
        left, right = _parts(terms, a, 16), _parts(terms, b, 8)[start : start + 2]
    for x, y in zip(left, right, strict=True):
        product = terms.multiply(
            terms.extended(x, 32, signed=of_a.is_signed), terms.extended(y, 32, signed=of_b.is_signed)
        )
        total = terms.add(total, product)
    return total


def _parts(terms: Numbers, word: Term, width: int) -> Sequence[Term]:
    return [terms.field(word, low, width) for low in range(0, bits_of(word.type), width)]

"""Floating-point arithmetic and special functions.

Approximations of the hardware are computed as well as the target computes them, which is within what PTX promises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation

from tilewright.dialects import arith, math
from tilewright.support.ptx.types import Type
from tilewright.support.records import dataclass
from tilewright.transforms.inline_ptx.forms import Form, Result, element_name, means
from tilewright.transforms.inline_ptx.numbers import DIRECTED, SMALLEST_NORMAL, Numbers
from tilewright.transforms.inline_ptx.terms import Term

Compute = Callable[..., Term]
PLAIN: dict[str, Callable[..., Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
}


def finished(form: Form, type_: Type, count: int, compute: Compute) -> Term:
    """A function of `count` floats with what the opcode adds: `.ftz`, `.sat`, `.relu`, packed operands."""
    terms = form.terms
    flushes = form.takes("ftz") and element_name(type_) in SMALLEST_NORMAL
    saturates, rectifies = form.takes("sat"), form.takes("relu")

    def run(*lanes: Term) -> Term:
        found = compute(*map(terms.flushed, lanes) if flushes else lanes)
        found = terms.flushed(found) if flushes else found
        found = terms.saturated(found) if saturates else found
        return terms.rectified(found) if rectifies else found

    return form.by_lane(type_, count, run)


def take_mode(form: Form) -> str:
    """The rounding mode; nothing where the opcode has none."""
    return form.take("rn", *DIRECTED)


def in_mode(form: Form, type_: Type, name: str, mode: str) -> Compute:
    """A function of libdevice that rounds in a directed mode: `fadd_rz`, `fma_ru`."""
    element = element_name(type_)
    if element not in ("f32", "f64"):
        form.fail(f"rounds in a way that {element} does not have")
    symbol = f"{name}_{DIRECTED[mode]}"
    return lambda *operands: form.terms.library(symbol, element, *operands)


def library_name(name: str, type_: Type) -> str:
    """`fadd`, `dadd`, but `fmaf` and `fma`."""
    if name == "fma":
        return "fmaf" if type_.bits == 32 else "fma"
    return f"{'f' if type_.bits == 32 else 'd'}{name}"


def arithmetic(form: Form, type_: Type) -> Result:
    """add, sub, mul and div. What has a rounding mode is never fused with its neighbours; what has none may be."""
    form.check_operands(3)
    name, terms = form.name, form.terms
    mode = take_mode(form)
    if name == "div":
        form.take("approx", "full")
    if mode in DIRECTED:
        return finished(form, type_, 2, in_mode(form, type_, library_name(name, type_), mode))
    strict: dict[str, Compute] = {
        "add": terms.rounded_sum,
        "sub": terms.difference,
        "mul": terms.rounded_product,
    }
    if mode == "rn" and name in strict:
        return finished(form, type_, 2, strict[name])

    def plain(a: Term, b: Term) -> Term:
        return terms.apply(PLAIN[name], a.type, a, b)

    return finished(form, type_, 2, plain)


@means("fma")
def fma(form: Form) -> Result:
    """`fma.rn.f32 d, a, b, c;`"""
    return fused(form, form.type())


def fused(form: Form, type_: Type) -> Result:
    """``a * b + c`` rounded once. `mad` of floats is the same."""
    form.check_operands(4)
    mode = take_mode(form)
    if mode in DIRECTED:
        return finished(form, type_, 3, in_mode(form, type_, library_name("fma", type_), mode))
    return finished(form, type_, 3, form.terms.fused)


def extremum(form: Form, type_: Type) -> Result:
    """The number where one operand is NaN, NaN with `.NaN`; -0 is less than 0. `.xorsign.abs`: of magnitudes, with
    the product's sign."""
    form.check_operands(3, 4)
    terms = form.terms
    keeps_nan, crossed = form.takes("NaN"), form.takes("xorsign")
    if crossed and not form.takes("abs"):
        form.fail("has '.xorsign' without '.abs'")

    def compute(*operands: Term) -> Term:
        found = operands[0]
        for other in operands[1:]:
            if crossed:
                sign = terms.logic(arith.XOrIOp, terms.bits(found), terms.bits(other))
                size = terms.extremum(form.name, terms.magnitude(found), terms.magnitude(other), keeps_nan=keeps_nan)
                found = terms.apply(math.CopySignOp, size.type, size, terms.bitcast(sign, size.type))
            else:
                found = terms.extremum(form.name, found, other, keeps_nan=keeps_nan)
        return found

    return finished(form, type_, len(form.operands) - 1, compute)


def change_sign(form: Form, type_: Type) -> Result:
    """`abs.ftz.f32`, `neg.f16x2`."""
    terms, op = form.terms, math.AbsFOp if form.name == "abs" else arith.NegfOp

    def compute(a: Term) -> Term:
        if type_.bits > 16:
            return terms.apply(op, a.type, a)
        # Targets may compute on halves in f32, where NaN loses its bits.
        bits, sign = terms.bits(a), terms.constant(0x8000, 16)
        if form.name == "neg":
            return terms.bitcast(terms.logic(arith.XOrIOp, bits, sign), a.type)
        return terms.bitcast(terms.logic(arith.AndIOp, bits, terms.inverted(sign)), a.type)

    return finished(form, type_, 1, compute)


@dataclass(frozen=True)
class Special:
    """A function, and where `.ftz` changes something: for subnormal operands, for subnormal results."""

    op: Callable[..., Operation]
    flushes_operand: bool = True
    flushes_result: bool = False


SPECIAL = {
    "ex2": Special(math.Exp2Op, flushes_operand=False, flushes_result=True),
    "lg2": Special(math.Log2Op),
    "sin": Special(math.SinOp),
    "cos": Special(math.CosOp, flushes_operand=False),
    "tanh": Special(math.TanhOp),
    "rsqrt": Special(math.RsqrtOp),
}


@means(*SPECIAL)
def special_function(form: Form) -> Result:
    """`ex2.approx.ftz.f32 d, a;` and its like."""
    form.check_operands(2)
    type_ = form.type()
    if not type_.is_float or (type_.bits == 64 and form.name != "rsqrt"):
        form.fail("is on floats of at most 32 bits")
    form.take("approx")
    flushes, what = form.takes("ftz"), SPECIAL[form.name]
    terms = form.terms

    def compute(a: Term) -> Term:
        a = terms.flushed(a) if flushes and what.flushes_operand else a
        found = terms.apply(what.op, a.type, a)
        return terms.flushed(found) if flushes and what.flushes_result else found

    return form.by_lane(type_, 1, compute)


@means("rcp", "sqrt")
def root_or_reciprocal(form: Form) -> Result:
    """`rcp.rn.f32 d, a;`, `sqrt.approx.f32`; of f64 approximations, only the upper half of the register is given."""
    form.check_operands(2)
    type_ = form.type()
    terms, name = form.terms, form.name
    mode, is_approximate = take_mode(form), form.takes("approx")
    if mode in DIRECTED:
        return finished(form, type_, 1, in_mode(form, type_, library_name(name, type_), mode))

    def compute(a: Term) -> Term:
        if name == "sqrt":
            return terms.apply(math.SqrtOp, a.type, a)
        return terms.apply(arith.DivfOp, a.type, terms.float(1.0, a.type), a)

    if type_.bits != 64 or not is_approximate:
        return finished(form, type_, 1, compute)
    form.takes("ftz")
    return _upper_half(terms, compute(form.source(1, type_)))


def _upper_half(terms: Numbers, a: Term) -> Term:
    return terms.word([terms.constant(0, 32), terms.field(terms.bits(a), 32, 32)])


@means("copysign")
def copysign(form: Form) -> Result:
    """`copysign.f32 d, a, b;`: the magnitude of b with the sign of a."""
    form.check_operands(3)
    sign, size = form.sources(1, 2, form.type())
    return form.terms.bits(form.terms.apply(math.CopySignOp, size.type, size, sign))


def tests_of(terms: Numbers, a: Term) -> dict[str, Callable[[], Term]]:
    """The properties that `testp` asks for."""
    infinity, zero = terms.float(float("inf"), a.type), terms.float(0.0, a.type)
    smallest, size = terms.float(SMALLEST_NORMAL[a.type], a.type), terms.magnitude(a)

    def between(low: Term, high: Term, predicate: str) -> Term:
        return terms.logic(arith.AndIOp, terms.compare(predicate, size, low), terms.compare("olt", size, high))

    return {
        "finite": lambda: terms.compare("olt", size, infinity),
        "infinite": lambda: terms.compare("oeq", size, infinity),
        "number": lambda: terms.compare("ord", a, a),
        "notanumber": lambda: terms.compare("uno", a, a),
        "normal": lambda: between(smallest, infinity, "oge"),
        "subnormal": lambda: between(zero, smallest, "ogt"),
    }


@means("testp")
def test_property(form: Form) -> Result:
    """`testp.infinite.f32 p, a;`"""
    form.check_operands(2)
    type_ = form.type()
    tests = tests_of(form.terms, form.source(1, type_))
    what = form.take(*tests)
    return tests[what]() if what else form.fail("has no property that is known")


def flush_if_asked(form: Form, operands: Sequence[Term]) -> Sequence[Term]:
    """Operands of a comparison under `.ftz`."""
    if not form.takes("ftz") or operands[0].type not in SMALLEST_NORMAL:
        return operands
    return [form.terms.flushed(operand) for operand in operands]

"""Moves, choices, comparisons, and instructions that mean nothing where lanes are all there is."""

from __future__ import annotations

from tilewright.support.ptx.syntax import Pair, Vector
from tilewright.support.ptx.types import Type
from tilewright.transforms.inline_ptx.forms import Form, Result, element_name, means
from tilewright.transforms.inline_ptx.instructions.bits import LOGIC
from tilewright.transforms.inline_ptx.instructions.floats import flush_if_asked
from tilewright.transforms.inline_ptx.numbers import SMALLEST_NORMAL, float_bits
from tilewright.transforms.inline_ptx.terms import Term


@means("mov")
def move(form: Form) -> Result:
    """`mov.b32 d, a;`, and `mov.b64 {lo, hi}, a;` and `mov.b64 d, {lo, hi};`, which split and join registers."""
    form.check_operands(2)
    type_ = form.type()
    into, out_of = form.operands
    value = form.word(out_of, type_.total_bits)
    if not isinstance(into, Vector):
        return value
    width = type_.total_bits // len(into.items)
    return [form.terms.field(value, position * width, width) for position in range(len(into.items))]


@means("selp")
def select(form: Form) -> Result:
    """`selp.b32 d, a, b, p;`: a where p."""
    form.check_operands(4)
    width = form.type().total_bits
    yes, no = (form.word(form.operand(position), width) for position in (1, 2))
    return form.terms.select(form.predicate(3), yes, no)


@means("slct")
def select_by_sign(form: Form) -> Result:
    """`slct.s32.f32 d, a, b, c;`: a where c is not negative."""
    form.check_operands(4)
    type_, of_choice = form.types(2)
    terms = form.terms
    yes, no = (form.word(form.operand(position), type_.total_bits) for position in (1, 2))
    (choice,) = flush_if_asked(form, [form.source(3, of_choice)])
    if of_choice.is_float:
        return terms.select(terms.compare("oge", choice, terms.float(0.0, choice.type)), yes, no)
    return terms.select(terms.compare("sge", choice, terms.like(0, choice)), yes, no)


ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
FLOATS = {
    **{name: "one" if name == "ne" else f"o{name}" for name in ORDERED},
    **{f"{name}u": f"u{name}" for name in ORDERED},
    "num": "ord",
    "nan": "uno",
}
UNSIGNED = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}


def _comparison(form: Form, type_: Type) -> list[Term]:
    """The comparison that the opcode names, of each element of the second operand with that of the third."""
    predicate = _predicate(form, type_)
    flushes = form.takes("ftz") and element_name(type_) in SMALLEST_NORMAL
    pairs = zip(form.lanes(1, type_), form.lanes(2, type_), strict=True)
    terms = form.terms
    return [terms.compare(predicate, *(map(terms.flushed, pair) if flushes else pair)) for pair in pairs]


def _predicate(form: Form, type_: Type) -> str:
    """The comparison that the opcode names, as arith spells it."""
    if type_.is_float:
        name = form.take(*FLOATS)
        predicate = FLOATS.get(name, "")
    else:
        name = form.take(*ORDERED, *UNSIGNED)
        sign = "" if name in ("eq", "ne") else "s" if type_.is_signed else "u"
        predicate = UNSIGNED.get(name, f"{sign}{name}" if name else "")
    if not predicate:
        form.fail("has no comparison that is known")
    return predicate


@means("setp")
def compare(form: Form) -> Result:
    """`setp.lt.s32 p|q, a, b;`, and `setp.lt.and.s32 p, a, b, c;`, where q is the opposite of p's comparison; of two
    elements, `setp.lt.f16x2 p|q, a, b;`, that of the upper ones."""
    type_ = form.type()
    found = _comparison(form, type_)
    combine = form.take(*LOGIC)
    form.check_operands(4 if combine else 3)
    terms = form.terms
    if type_.lanes == 1 and isinstance(form.operands[0], Pair):
        found.append(terms.inverted(found[0]))
    if combine:
        other = form.predicate(3)
        found = [terms.logic(LOGIC[combine], each, other) for each in found]
    return found if len(found) > 1 else found[0]


@means("set")
def compare_to_number(form: Form) -> Result:
    """`set.lt.u32.f32 d, a, b;`: all ones, or 1.0, where it holds."""
    into, type_ = form.types(2)
    terms = form.terms
    if into.lanes > 1 or type_.lanes > 1:
        form.fail("compares several elements")
    [holds] = _comparison(form, type_)
    combine = form.take(*LOGIC)
    form.check_operands(4 if combine else 3)
    if combine:
        holds = terms.logic(LOGIC[combine], holds, form.predicate(3))
    element = f"{into.kind}{into.bits}" if into.kind == "f" else "bf16"
    yes = float_bits(1.0, element) if into.is_float else -1
    return terms.select(holds, terms.constant(yes, into.bits), terms.constant(0, into.bits))

"""Logic, shifts, bit fields, and bytes moved within registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from tilewright.dialects import arith, math
from tilewright.support.records import dataclass
from tilewright.transforms.inline_ptx.forms import Form, Result, means
from tilewright.transforms.inline_ptx.instructions.integers import B32
from tilewright.transforms.inline_ptx.numbers import Numbers
from tilewright.transforms.inline_ptx.terms import Constant, Term, bits_of

LOGIC = {"and": arith.AndIOp, "or": arith.OrIOp, "xor": arith.XOrIOp}


@means("and", "or", "xor", "not", "cnot")
def logic(form: Form) -> Result:
    """`and.b32`, and the same of predicates."""
    unary = form.name in ("not", "cnot")
    form.check_operands(2 if unary else 3)
    type_ = form.type()
    terms = form.terms
    width = type_.total_bits
    a = form.word(form.operand(1), width)
    if form.name == "not":
        return terms.inverted(a)
    if form.name == "cnot":
        return terms.zero_extended(terms.compare("eq", a, terms.like(0, a)), width)
    return terms.logic(LOGIC[form.name], a, form.word(form.operand(2), width))


@means("shl", "shr")
def shift(form: Form) -> Result:
    """By the width or more: everything is shifted out, or becomes the sign."""
    form.check_operands(3)
    type_ = form.type()
    value, amount = form.source(1, type_), form.source(2, B32)
    if form.name == "shl":
        return form.terms.shifted_left(value, amount)
    return form.terms.shifted_right(value, amount, signed=type_.is_signed)


@means("shf")
def funnel_shift(form: Form) -> Result:
    """`shf.l.wrap.b32 d, lo, hi, n;`: the upper (`.l`) or lower half of the 64 bits hi:lo, shifted."""
    form.check_operands(4)
    form.type()
    terms = form.terms
    low, high, amount = form.sources(1, 3, B32)
    left, wraps = form.take("l", "r") == "l", form.take("wrap", "clamp") == "wrap"
    if wraps:
        amount = terms.logic(arith.AndIOp, amount, terms.constant(31, 32))
    elif isinstance(amount, Constant):
        amount = terms.constant(min(amount.value, 32), 32)
    else:
        amount = terms.apply(arith.MinUIOp, "i32", amount, terms.constant(32, 32))
    both = terms.word([low, high])
    if left:
        return terms.field(terms.shifted_left(both, amount), 32, 32)
    return terms.field(terms.shifted_right(both, amount), 0, 32)


@dataclass(frozen=True)
class Gate:
    """A function of three bits: `0`, `1`, a bit (`a`, `b`, `c`), or `not`, `and`, `or` or `xor` of others."""

    name: str
    inputs: tuple[Gate, ...] = ()

    @property
    def cost(self) -> int:
        """The number of ops that it takes."""
        return bool(self.inputs) + sum(gate.cost for gate in self.inputs)


TABLES = {"a": 0xF0, "b": 0xCC, "c": 0xAA}
"""The tables of the three bits themselves: what each is in bit abc."""


@cache
def plan_logic(table: int, names: str = "abc") -> Gate:
    """The cheapest gate with a table, among those that ask one bit after the other."""
    if table in (0, 0xFF):
        return Gate(str(table & 1))
    return min((_split_by(table, name, names.replace(name, "")) for name in names), key=lambda gate: gate.cost)


def _split_by(table: int, name: str, rest: str) -> Gate:
    """A function by what it is where a bit is 0, and where it is 1."""
    mask, step = TABLES[name], {"a": 4, "b": 2, "c": 1}[name]
    if_0, if_1 = table & ~mask & 0xFF, table & mask
    if_0, if_1 = if_0 | if_0 << step, if_1 | if_1 >> step
    bit, low, high = Gate(name), plan_logic(if_0, rest), plan_logic(if_1, rest)
    inverted = Gate("not", (bit,))
    if if_0 == if_1:
        return low
    match if_0, if_1:
        case 0, 0xFF:
            return bit
        case 0xFF, 0:
            return inverted
        case 0, _:
            return Gate("and", (bit, high))
        case _, 0xFF:
            return Gate("or", (bit, low))
        case _, 0:
            return Gate("and", (inverted, low))
        case 0xFF, _:
            return Gate("or", (inverted, high))
        case _ if if_0 ^ if_1 == 0xFF:
            return Gate("xor", (bit, low))
        case _:
            return Gate("xor", (low, Gate("and", (bit, plan_logic(if_0 ^ if_1, rest)))))


@means("lop3")
def logic_of_three(form: Form) -> Result:
    """`lop3.b32 d, a, b, c, table;`: the table's bit abc."""
    form.check_operands(5)
    form.type()
    sources = dict(zip("abc", form.sources(1, 3, B32), strict=True))
    return _by_gates(form.terms, plan_logic(form.constant(4) & 0xFF), sources)


def _by_gates(terms: Numbers, gate: Gate, sources: Mapping[str, Term]) -> Term:
    if gate.name in ("0", "1"):
        return terms.constant(-int(gate.name), 32)
    if not gate.inputs:
        return sources[gate.name]
    inputs = [_by_gates(terms, each, sources) for each in gate.inputs]
    return terms.inverted(inputs[0]) if gate.name == "not" else terms.logic(LOGIC[gate.name], *inputs)


@means("bfe")
def extract_field(form: Form) -> Result:
    """`bfe.s32 d, a, start, length;`: bits beyond the register are its sign."""
    form.check_operands(4)
    type_ = form.type()
    terms, width, signed = form.terms, type_.bits, type_.is_signed
    value = form.source(1, type_)
    start, length = (_low_byte(terms, form.source(position, B32)) for position in (2, 3))
    if isinstance(start, Constant) and isinstance(length, Constant):
        return _known_field(terms, value, start.value, length.value, signed=signed)
    size = terms.zero_extended(length, width)
    moved = terms.shifted_right(value, start, signed=signed)
    most = terms.constant(width, width)
    unused = terms.subtract(most, terms.apply(arith.MinUIOp, f"i{width}", size, most))
    unused = terms.field(unused, 0, 32)
    # Of a length of 0, everything is unused: the shift to the left gives 0, whatever comes then.
    return terms.shifted_right(terms.shifted_left(moved, unused), unused, signed=signed)


def _low_byte(terms: Numbers, term: Term) -> Term:
    return terms.zero_extended(terms.field(term, 0, 8), 32)


def _known_field(terms: Numbers, value: Term, start: int, length: int, *, signed: bool) -> Term:
    width = bits_of(value.type)
    if length == 0:
        return terms.constant(0, width)
    if not signed:
        end = min(start + length, width)
        return (
            terms.zero_extended(terms.field(value, start, end - start), width)
            if start < width
            else terms.constant(0, width)
        )
    start = min(start, width - 1)
    unused = terms.constant(width - min(length, width - start), 32)
    moved = terms.shifted_left(value, terms.constant(width - min(start + length, width), 32))
    return terms.shifted_right(moved, unused, signed=True)


@means("bfi")
def insert_field(form: Form) -> Result:
    """`bfi.b32 d, a, b, start, length;`: b with the low bits of a in a field."""
    form.check_operands(5)
    type_ = form.type()
    terms, width = form.terms, type_.bits
    a, b = form.sources(1, 2, type_)
    start, length = (_low_byte(terms, form.source(position, B32)) for position in (3, 4))
    if isinstance(start, Constant) and isinstance(length, Constant):
        low, high = min(start.value, width), min(start.value + length.value, width)
        pieces = [(b, 0, low), (a, 0, high - low), (b, high, width - high)]
        parts = [terms.field(source, first, size) for source, first, size in pieces if size]
        return terms.word(parts)
    ones = terms.inverted(terms.shifted_left(terms.constant(-1, width), length))
    mask = terms.shifted_left(ones, start)
    kept = terms.logic(arith.AndIOp, b, terms.inverted(mask))
    return terms.logic(arith.OrIOp, kept, terms.logic(arith.AndIOp, terms.shifted_left(a, start), mask))


@means("bmsk")
def make_mask(form: Form) -> Result:
    """`bmsk.clamp.b32 d, start, length;`; with `.wrap` both count modulo 32."""
    form.check_operands(3)
    form.type()
    terms = form.terms
    start, length = form.sources(1, 2, B32)
    if form.take("clamp", "wrap") == "wrap":
        start, length = (terms.logic(arith.AndIOp, term, terms.constant(31, 32)) for term in (start, length))
    ones = terms.inverted(terms.shifted_left(terms.constant(-1, 32), length))
    return terms.shifted_left(ones, start)


@means("szext")
def extend_from(form: Form) -> Result:
    """`szext.clamp.s32 d, a, n;`: the low n bits, extended by their sign or zeros; with `.wrap` n counts modulo 32."""
    form.check_operands(3)
    type_ = form.type()
    terms = form.terms
    value, length = form.sources(1, 2, B32)
    if form.take("clamp", "wrap") == "wrap":
        length = terms.logic(arith.AndIOp, length, terms.constant(31, 32))
    bound = terms.constant(32, 32)
    unused = terms.subtract(bound, terms.apply(arith.MinUIOp, "i32", length, bound))
    return terms.shifted_right(terms.shifted_left(value, unused), unused, signed=type_.is_signed)


@means("popc", "clz")
def count_bits(form: Form) -> Result:
    """The ones, or the zeros above the highest one, as 32 bits."""
    form.check_operands(2)
    a = form.source(1, form.type())
    op = math.CtPopOp if form.name == "popc" else math.CountLeadingZerosOp
    return form.terms.zero_extended(form.terms.apply(op, a.type, a), 32)


@means("bfind")
def find_highest_bit(form: Form) -> Result:
    """`bfind.s32 d, a;`: of negative numbers the highest zero; `.shiftamt` counts from the top. All ones if none."""
    form.check_operands(2)
    type_, from_top = form.type(), form.takes("shiftamt")
    terms = form.terms
    a = form.source(1, type_)
    if type_.is_signed:
        sign = terms.shifted_right(a, terms.constant(type_.bits - 1, 32), signed=True)
        a = terms.logic(arith.XOrIOp, a, sign)
    zeros = terms.zero_extended(terms.apply(math.CountLeadingZerosOp, a.type, a), 32)
    place = terms.subtract(terms.constant(type_.bits - 1, 32), zeros)
    if not from_top:
        return place
    return terms.select(terms.compare("eq", a, terms.like(0, a)), terms.constant(-1, 32), zeros)


@means("brev")
def reverse_bits(form: Form) -> Result:
    """The lowest bit becomes the highest."""
    form.check_operands(2)
    type_ = form.type()
    a = form.source(1, type_)
    return form.terms.library("brev" if type_.bits == 32 else "brevll", a.type, a)


@means("fns")
def find_counted_bit(form: Form) -> Result:
    """`fns.b32 d, a, base, offset;`: where the offset-th one is, counted upwards from a bit, or downwards if negative;
    of 0 that bit itself. All ones if none.

    Upwards from 0 by halves: what the low half of the bits left has fewer ones than are still to come, is passed.
    """
    form.check_operands(4)
    form.type()
    terms = form.terms
    mask, base, offset = form.sources(1, 3, B32)
    zero, first = terms.constant(0, 32), terms.shifted_left(terms.constant(1, 32), base)
    downwards, is_here = terms.compare("slt", offset, zero), terms.compare("eq", offset, zero)
    mask, first = (terms.select(downwards, terms.library("brev", "i32", term), term) for term in (mask, first))
    mask = terms.logic(arith.AndIOp, mask, terms.select(is_here, first, terms.subtract(zero, first)))
    passing = terms.select(downwards, terms.inverted(offset), terms.subtract(offset, terms.constant(1, 32)))
    passing, place = terms.select(is_here, zero, passing), zero
    for size in (16, 8, 4, 2, 1):
        low = terms.logic(arith.AndIOp, terms.shifted_right(mask, place), terms.constant((1 << size) - 1, 32))
        ones = terms.apply(math.CtPopOp, "i32", low)
        passes = terms.compare("uge", passing, ones)
        passing = terms.subtract(passing, terms.select(passes, ones, zero))
        place = terms.add(place, terms.select(passes, terms.constant(size, 32), zero))
    bit = terms.logic(arith.AndIOp, terms.shifted_right(mask, place), terms.constant(1, 32))
    is_found = terms.compare("ult", passing, bit)
    place = terms.select(downwards, terms.subtract(terms.constant(31, 32), place), place)
    return terms.select(is_found, place, terms.constant(-1, 32))


MODES: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda selector, place: selector + place,
    "b4e": lambda selector, place: (selector - place) % 8,
    "rc8": lambda selector, place: selector,
    "ecl": max,
    "ecr": min,
    "rc16": lambda selector, place: (selector & 1) * 2 + place % 2,
}
"""Modes of `prmt`: the byte that a selector and a place name."""


@means("prmt")
def permute_bytes(form: Form) -> Result:
    """`prmt.b32 d, a, b, selector;`: each nibble names one of eight bytes, its top bit asks for the byte's sign."""
    form.check_operands(4)
    form.type()
    terms = form.terms
    a, b, selector = form.sources(1, 3, B32)
    mode = form.take(*MODES)
    both = terms.word([a, b])
    if isinstance(selector, Constant):
        return terms.word([_known_byte(terms, both, _nibble(selector.value, place, mode)) for place in range(4)])
    if mode:
        form.fail("has a mode, but a selector that is not known")
    found = [_chosen_byte(terms, both, terms.field(selector, 4 * place, 4)) for place in range(4)]
    return terms.word(found)


def _nibble(selector: int, place: int, mode: str) -> int:
    return MODES[mode](selector & 3, place) if mode else selector >> 4 * place & 15


def _known_byte(terms: Numbers, both: Term, nibble: int) -> Term:
    byte = terms.field(both, 8 * (nibble & 7), 8)
    return terms.shifted_right(byte, terms.constant(7, 32), signed=True) if nibble & 8 else byte


def _chosen_byte(terms: Numbers, both: Term, nibble: Term) -> Term:
    """The byte of 64 bits that three bits name, or what the fourth asks for: its sign eight times."""
    place = terms.word([terms.constant(0, 3), terms.field(nibble, 0, 3), terms.constant(0, 58)])
    byte = terms.field(terms.apply(arith.ShRUIOp, "i64", both, place), 0, 8)
    sign = terms.shifted_right(byte, terms.constant(7, 32), signed=True)
    asks = terms.compare("ne", terms.zero_extended(terms.field(nibble, 3, 1), 8), terms.constant(0, 8))
    return terms.select(asks, sign, byte)

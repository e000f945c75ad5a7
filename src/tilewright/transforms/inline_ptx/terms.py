"""Values of inline PTX as terms: what a register holds, as a function of the elements that the assembly is given.

```
shl.b32 t, a, 4;             word[0 : i4, field(a, 0, 28)]
and.b32 t, t, 0xf0;          word[0 : i4, field(a, 0, 4), 0 : i24]
or.b32  t, t, 0x6400;        word[0 : i4, field(a, 0, 4), 0x64 : i24]
```

Registers hold bits, and programs take them apart and put them together again. So integers are kept as words: fields of
other terms and constants, the lowest bits first. What two halves of a register have to do with each other is gone then:
each is a function of its own elements.

Equal terms are one object. A term is made after those that it depends on, so `serial` sorts them for emission.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

from xdsl.ir import Operation

from tilewright.dialects import arith, tt
from tilewright.support.records import dataclass

FLOAT_BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
STANDARD_WIDTHS = (8, 16, 32, 64)
MOST_PARTS = 8
"""Masks with more runs of ones than this stay masks."""


def bits_of(type_: str) -> int:
    """The width of a type: `i12`, `f32`, `bf16`."""
    return FLOAT_BITS.get(type_) or int(type_[1:])


@dataclass(frozen=True, eq=False, slots=True)
class Input:
    """An element of an operand: that of one of the elements that an instance of the assembly works on."""

    serial: int
    type: str
    operand: int
    column: int


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """An integer, without sign."""

    serial: int
    type: str
    value: int


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """Some bits of an integer, from bit `low` on."""

    serial: int
    type: str
    source: Term
    low: int


@dataclass(frozen=True, eq=False, slots=True)
class Word:
    """An integer made of others, the lowest bits first."""

    serial: int
    type: str
    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Apply:
    """An op; `detail` are further arguments of its constructor."""

    serial: int
    type: str
    op: Callable[..., Operation]
    operands: tuple[Term, ...]
    detail: tuple[Any, ...]


Term = Input | Constant | Field | Word | Apply

LOGIC: dict[Any, Callable[[int, int], int]] = {
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
}
FOLDED: dict[Any, Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
}


class Terms:
    """Makes terms, each once, in a form that shows what they depend on."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Term] = {}

    def _make(self, kind: type[Any], type_: str, *content: Any) -> Any:
        key = (kind, type_, *content)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = kind(len(self._known), type_, *content)
        return found

    def input(self, type_: str, operand: int, column: int) -> Term:
        """An element of an operand."""
        return self._make(Input, type_, operand, column)

    def constant(self, value: int, width: int) -> Term:
        """An integer of a width."""
        return self._make(Constant, f"i{width}", value & ((1 << width) - 1))

    def apply(self, op: Callable[..., Operation], type_: str, *operands: Term, detail: tuple[Any, ...] = ()) -> Term:
        """An op on operands. Sums and products of constants are constants."""
        fold = FOLDED.get(op)
        if fold is not None and all(isinstance(operand, Constant) for operand in operands):
            first, second = cast(tuple[Constant, Constant], operands)
            return self.constant(fold(first.value, second.value), bits_of(type_))
        return self._make(Apply, type_, op, operands, detail)

    def bitcast(self, term: Term, type_: str) -> Term:
        """The same bits as another type."""
        while isinstance(term, Apply) and term.op is tt.BitcastOp:
            term = term.operands[0]
        return term if term.type == type_ else self._make(Apply, type_, tt.BitcastOp, (term,), ())

    def bits(self, term: Term) -> Term:
        """A term of any type as an integer."""
        return self.bitcast(term, f"i{bits_of(term.type)}")

    def select(self, condition: Term, yes: Term, no: Term) -> Term:
        """One of two terms. Of the bits of two floats: the bits of one of them."""
        if isinstance(condition, Constant):
            return yes if condition.value else no
        if yes is no:
            return yes
        floats = [term.operands[0] for term in (yes, no) if isinstance(term, Apply) and term.op is tt.BitcastOp]
        if len(floats) == 2 and floats[0].type == floats[1].type:
            return self.bitcast(self.select(condition, *floats), yes.type)
        return self.apply(arith.SelectOp, yes.type, condition, yes, no)

    # Words

    def field(self, term: Term, low: int, width: int) -> Term:
        """Bits of an integer: those of its parts where they are known, of the operands of logic and selections."""
        if width == bits_of(term.type):
            return term
        match term:
            case Constant(value=value):
                return self.constant(value >> low, width)
            case Field(source=source, low=start):
                return self.field(source, start + low, width)
            case Word():
                return self._field_of_word(term, low, width)
            case Apply(op=op) if op in LOGIC or op is arith.SelectOp:
                return self._field_of_lanes(term, low, width)
            case _:
                return self._make(Field, f"i{width}", term, low)

    def _field_of_word(self, word: Word, low: int, width: int) -> Term:
        found: list[Term] = []
        start = 0
        for part in word.parts:
            end = start + bits_of(part.type)
            first, last = max(start, low), min(end, low + width)
            if first < last:
                found.append(self.field(part, first - start, last - first))
            start = end
        return self.word(found)

    def _field_of_lanes(self, term: Apply, low: int, width: int) -> Term:
        """Logic and selections treat bits alone: of the bytes, halves or words around a field only, so that no op is
        on integers of a strange width."""
        total = bits_of(term.type)
        around = next((w for w in STANDARD_WIDTHS if w < total and low // w == (low + width - 1) // w), None)
        if around is None:
            return self._make(Field, f"i{width}", term, low)
        start = low // around * around
        operands = [
            operand if operand.type == "i1" and total > 1 else self.field(operand, start, around)
            for operand in term.operands
        ]
        narrow = self.select(*operands) if term.op is arith.SelectOp else self.logic(term.op, *operands)
        return self.field(narrow, low - start, width)

    def word(self, parts: Sequence[Term]) -> Term:
        """An integer made of parts, the lowest first. Neighbours in another integer become one field."""
        merged: list[Term] = []
        for part in parts:
            for piece in part.parts if isinstance(part, Word) else (part,):
                joined = self._joined(merged[-1], piece) if merged else None
                if joined is None:
                    merged.append(piece)
                else:
                    merged[-1] = joined
        if len(merged) == 1:
            return merged[0]
        return self._make(Word, f"i{sum(bits_of(part.type) for part in merged)}", tuple(merged))

    def _joined(self, low: Term, high: Term) -> Term | None:
        """Two neighbours as one term without parts, where they are one."""
        width = bits_of(low.type)
        both = width + bits_of(high.type)
        if isinstance(low, Constant) and isinstance(high, Constant):
            return self.constant(low.value | high.value << width, both)
        if not isinstance(low, Field) or not isinstance(high, Field):
            return None
        if low.source is high.source and high.low == low.low + width:
            return self.field(low.source, low.low, both)
        return None

    def zero_extended(self, term: Term, width: int) -> Term:
        """An integer in a wider one, or its low bits."""
        missing = width - bits_of(term.type)
        return self.word([term, self.constant(0, missing)]) if missing > 0 else self.field(term, 0, width)

    def sign_extended(self, term: Term, width: int) -> Term:
        """A signed integer in a wider one, or its low bits."""
        own = bits_of(term.type)
        if width <= own:
            return self.field(term, 0, width)
        if isinstance(term, Constant):
            return self.constant(term.value - (term.value >> (own - 1) << own), width)
        return self.apply(arith.ExtSIOp, f"i{width}", term)

    # Logic

    def logic(self, op: Callable[..., Operation], a: Term, b: Term) -> Term:
        """`and`, `or` or `xor` of two integers."""
        width = bits_of(a.type)
        if isinstance(a, Constant) and isinstance(b, Constant):
            return self.constant(LOGIC[op](a.value, b.value), width)
        if isinstance(a, Constant):
            a, b = b, a
        if a is b:
            return self.constant(0, width) if op is arith.XOrIOp else a
        if isinstance(b, Constant):
            return self._masked(op, a, b.value, width)
        if isinstance(a, Word) or isinstance(b, Word):
            found = self._by_parts(op, a, b)
            if found is not None:
                return found
        return self.apply(op, a.type, *sorted((a, b), key=lambda term: term.serial))

    def _masked(self, op: Callable[..., Operation], term: Term, mask: int, width: int) -> Term:
        """Logic with a constant: `and` and `or` leave fields of the term between constants."""
        ones = (1 << width) - 1
        if op is arith.XOrIOp:
            if isinstance(term, Apply) and term.op is op and isinstance(term.operands[1], Constant):
                return self._masked(op, term.operands[0], mask ^ term.operands[1].value, width)
            return self._make(Apply, term.type, op, (term, self.constant(mask, width)), ()) if mask else term
        kept = mask if op is arith.AndIOp else ones & ~mask
        edges = [0, *(bit for bit in range(1, width) if (kept >> bit ^ kept >> (bit - 1)) & 1), width]
        if len(edges) > 2 * MOST_PARTS:
            return self._make(Apply, term.type, op, (term, self.constant(mask, width)), ())
        parts = [
            self.field(term, low, high - low) if kept >> low & 1 else self.constant(mask >> low, high - low)
            for low, high in pairwise(edges)
        ]
        return self.word(parts)

    def _by_parts(self, op: Callable[..., Operation], a: Term, b: Term) -> Term | None:
        """Logic part by part, where in each part one of the two is constant."""
        width = bits_of(a.type)
        edges = sorted({0, width, *_edges(a), *_edges(b)})
        if len(edges) > 2 * MOST_PARTS:
            return None
        pairs = [
            (self.field(a, low, high - low), self.field(b, low, high - low), low, high) for low, high in pairwise(edges)
        ]
        parts: list[Term] = []
        for first, second, low, high in pairs:
            constant = second if isinstance(second, Constant) else first
            other = first if constant is second else second
            if not isinstance(constant, Constant):
                return None
            if op is arith.XOrIOp and constant.value and not isinstance(other, Constant):
                return None
            parts.append(self.logic(op, other, self.constant(constant.value, high - low)))
        return self.word(parts)

    def inverted(self, term: Term) -> Term:
        """All bits the other way."""
        width = bits_of(term.type)
        return self.logic(arith.XOrIOp, term, self.constant(-1, width))

    # What terms depend on

    def renamed(self, term: Term, column: int, known: dict[Term, Term]) -> Term:
        """A term with the elements of one column as those of the first."""
        for each in in_order([term]):
            if each in known:
                continue
            match each:
                case Input(type=type_, operand=operand):
                    known[each] = self.input(type_, operand, 0) if each.column == column else each
                case Constant():
                    known[each] = each
                case Field():
                    known[each] = self._make(Field, each.type, known[each.source], each.low)
                case Word():
                    known[each] = self._make(Word, each.type, tuple(known[part] for part in each.parts))
                case Apply():
                    operands = tuple(known[operand] for operand in each.operands)
                    known[each] = self._make(Apply, each.type, each.op, _sorted(each.op, operands), each.detail)
        return known[term]


def _sorted(op: Callable[..., Operation], operands: tuple[Term, ...]) -> tuple[Term, ...]:
    """Operands in the order in which logic has them."""
    if op not in LOGIC or any(isinstance(operand, Constant) for operand in operands):
        return operands
    return tuple(sorted(operands, key=lambda term: term.serial))


def _edges(term: Term) -> list[int]:
    """Return where the parts of a word begin."""
    found: list[int] = []
    if isinstance(term, Word):
        start = 0
        for part in term.parts:
            found.append(start)
            start += bits_of(part.type)
    return found


def operands_of(term: Term) -> Sequence[Term]:
    """The terms that a term is made of."""
    match term:
        case Field(source=source):
            return (source,)
        case Word(parts=parts):
            return parts
        case Apply(operands=operands):
            return operands
        case _:
            return ()


def in_order(terms: Sequence[Term]) -> list[Term]:
    """Terms and all that they depend on, what is needed first in front."""
    found: set[Term] = set()
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        if term not in found:
            found.add(term)
            waiting += operands_of(term)
    return sorted(found, key=lambda term: term.serial)


def columns_of(term: Term) -> frozenset[int]:
    """The columns whose elements a term depends on."""
    return frozenset(each.column for each in in_order([term]) if isinstance(each, Input))

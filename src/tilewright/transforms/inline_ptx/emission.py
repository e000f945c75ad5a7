"""Terms become ops, each once: on tensors of one shape, or on scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith.casts import CastOp
from tilewright.dialects.arith.constant import constant_splat
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.inline_ptx.numbers import number_of_bits
from tilewright.transforms.inline_ptx.terms import Apply, Constant, Field, Input, Term, Word, bits_of

FLOATS: dict[str, Attribute] = {
    "f8E4M3FN": Float8E4M3FNType(),
    "f8E5M2": Float8E5M2Type(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
}
NAMES = {type_: name for name, type_ in FLOATS.items()}


def element_of(type_: str) -> Attribute:
    """The element type of a name: `i12`, `f32`."""
    return FLOATS.get(type_) or IntegerType(int(type_[1:]))


class Emitter:
    """Ops for terms. `shaped` makes the type of a value from that of its elements."""

    def __init__(
        self,
        builder: OpBuilder,
        shaped: Callable[[Attribute], Attribute],
        inputs: Mapping[tuple[int, int], SSAValue],
    ) -> None:
        self.builder = builder
        self.shaped = shaped
        self.inputs = inputs
        self.values: dict[Term, SSAValue] = {}

    def emit_all(self, terms: Sequence[Term]) -> list[SSAValue]:
        """The values of terms."""
        needed = _without_parts(terms)
        for term in needed:
            if term not in self.values:
                self.values[term] = self._emit(term)
        return [self.values[term] for term in terms]

    def _type(self, name: str) -> Attribute:
        return self.shaped(element_of(name))

    def _emit(self, term: Term) -> SSAValue:
        match term:
            case Input(operand=operand, column=column):
                return self.inputs[operand, column]
            case Constant(value=value):
                return self._integer(value, term.type)
            case Field(source=source, low=low):
                return self._resized(self._shifted(self.values[source], source.type, -low), source.type, term.type)
            case Word():
                return self._word(term)
            case Apply():
                return self._apply(term)

    def _integer(self, value: int, type_: str) -> SSAValue:
        width = bits_of(type_)
        signed = value - (1 << width) if value >> (width - 1) and width > 1 else value
        return self.builder.result(constant_splat(signed, self._type(type_)))

    def _apply(self, term: Apply) -> SSAValue:
        op = term.op
        type_ = self._type(term.type)
        if (number := _known_number(term)) is not None:
            return self.builder.result(constant_splat(number, type_))
        operands = [self.values[operand] for operand in term.operands]
        if op is tt.ExternElementwiseOp:
            return self.builder.result(
                tt.ExternElementwiseOp(operands, type_, libname="", libpath="", symbol=term.detail[0], pure=True)
            )
        if op is tt.FpToFpOp:
            return self.builder.result(
                tt.FpToFpOp(operands[0], type_, rounding=term.detail[0] if term.detail else None)
            )
        if op is tt.BitcastOp or (isinstance(op, type) and issubclass(op, CastOp)):
            return self.builder.result(op(operands[0], type_))
        return self.builder.insert(op(*operands, *term.detail)).results[-1]  # of a long product the high half

    # Words

    def _word(self, word: Word) -> SSAValue:
        """The parts that come from one integer by one shift are one shift and one mask."""
        groups: dict[tuple[Term, int], int] = {}
        constant, start = 0, 0
        for part in word.parts:
            width = bits_of(part.type)
            ones = ((1 << width) - 1) << start
            if isinstance(part, Constant):
                constant |= part.value << start
            else:
                source, low = (part.source, part.low) if isinstance(part, Field) else (part, 0)
                groups[source, start - low] = groups.get((source, start - low), 0) | ones
            start += width
        found = self._integer(constant, word.type) if constant else None
        for (source, shift), mask in groups.items():
            value = self._placed(source, shift, mask, word.type)
            found = value if found is None else self.builder.result(arith.OrIOp(found, value))
        assert found is not None
        return found

    def _placed(self, source: Term, shift: int, mask: int, type_: str) -> SSAValue:
        """Some bits of an integer at their places in a wider or narrower one."""
        width, own = bits_of(type_), bits_of(source.type)
        value = self.values[source]
        if shift < 0:
            value = self._resized(self._shifted(value, source.type, shift), source.type, type_)
        else:
            value = self._shifted(self._resized(value, source.type, type_), type_, shift)
        ends = min(own + shift, width)
        present = (1 << ends) - (1 << max(shift, 0))
        return value if mask == present else self.builder.result(arith.AndIOp(value, self._integer(mask, type_)))

    def _shifted(self, value: SSAValue, type_: str, by: int) -> SSAValue:
        if by == 0:
            return value
        return self.builder.result((arith.ShLIOp if by > 0 else arith.ShRUIOp)(value, self._integer(abs(by), type_)))

    def _resized(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if source == target:
            return value
        op = arith.ExtUIOp if bits_of(target) > bits_of(source) else arith.TruncIOp
        return self.builder.result(op(value, self._type(target)))


def _without_parts(terms: Sequence[Term]) -> list[Term]:
    """Terms and what ops need of what they depend on: constants that are parts of words need no op of their own."""
    found: set[Term] = set()
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        if term in found:
            continue
        found.add(term)
        match term:
            case Field(source=source):
                waiting.append(source)
            case Word(parts=parts):
                for part in parts:
                    if isinstance(part, Field):
                        waiting.append(part.source)
                    elif not isinstance(part, Constant):
                        waiting.append(part)
            case Apply():
                if _known_number(term) is None:
                    waiting += term.operands
            case _:
                pass
    return sorted(found, key=lambda term: term.serial)


def _known_number(term: Apply) -> float | None:
    """The number that constant bits are."""
    if term.op is not tt.BitcastOp or not isinstance(bits := term.operands[0], Constant):
        return None
    number = number_of_bits(bits.value, term.type)
    return None if isnan(number) else number

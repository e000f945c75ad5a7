"""The body of a step for one register: what it makes of vectors, and of the bits of the indices.

    %c = cmpf ogt, %x, %partner;  %d = cmpi ne, %c, (bit 2 ^ bit 0 of the index);  select %d, %partner, %x
      ->  bit 2 is set in the whole register, bit 0 in odd lanes:
          select [1, 0, 1, 0, ...], (select %c, %partner, %x), (select %c, %x, %partner)

The two inner ones are the minimum and the maximum in one instruction each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, linalg, vector
from tilewright.dialects.types import is_integer_or_index
from tilewright.lowering.linalg_to_loops.emitter import INDEX
from tilewright.lowering.linalg_to_loops.networks.parities import (
    EQUAL,
    UNEQUAL,
    BitNumber,
    Parity,
    evaluate,
    index_number,
    value_at,
    width_of,
)
from tilewright.lowering.linalg_to_loops.networks.plan import Step
from tilewright.lowering.linalg_to_loops.networks.registers import VectorBuilder, lane_sets
from tilewright.lowering.linalg_to_loops.networks.segments import Layout
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Inverted:
    """A condition of lanes, inverted where a parity holds."""

    condition: SSAValue
    where: Parity


class LoopBits:
    """The bits of a segment's loop counters, as conditions."""

    def __init__(self, builder: VectorBuilder, inner: int, counters: Mapping[int, tuple[SSAValue, int]]):
        self.builder = builder
        self.inner = inner
        """The bits that are not the loop's."""
        self.counters = counters
        """For each other bit its counter, and its position there."""

    def parity(self, bits: int) -> SSAValue:
        """The exclusive or of some of the loop's bits."""
        found: SSAValue | None = None
        for bit, (counter, position) in self.counters.items():
            if bits >> bit & 1:
                one = self._bit(counter, position)
                found = one if found is None else self.builder.xor(found, one)
        assert found is not None
        return found

    def _bit(self, counter: SSAValue, position: int) -> SSAValue:
        emitter, value = self.builder.emitter, self.builder.value
        mask = emitter.constant(1 << position, INDEX)
        masked = value(arith.AndIOp, (counter, mask), INDEX)
        return value(arith.CmpiOp, (masked, emitter.constant(0, INDEX)), i1, {"predicate": IntegerAttr(UNEQUAL, i64)})


def index_numbers(step: Step) -> dict[SSAValue, BitNumber]:
    """The values of a body that are made of indices alone."""
    numbers: dict[SSAValue, BitNumber] = {}
    for op in step.op.body.block.ops:
        if isinstance(op, linalg.IndexOp):
            numbers[op.result] = index_number(step.dims[op.dim.value.data], 64)
        elif op.results and is_integer_or_index(op.results[0].type):
            known = [numbers.get(operand) or _constant(operand) for operand in op.operands]
            operands = [number for number in known if number is not None]
            number = evaluate(op, operands) if len(operands) == len(known) else None
            if number is not None:
                numbers[op.results[0]] = number
    return numbers


def _constant(value: SSAValue) -> BitNumber | None:
    owner = value.owner
    return evaluate(owner, ()) if isinstance(owner, arith.ConstantOp) and is_integer_or_index(value.type) else None


class BodyOfRegister:
    """The values of a step's body for the register of index `register`, given the vectors of its arguments."""

    def __init__(
        self,
        builder: VectorBuilder,
        loop: LoopBits,
        numbers: Mapping[SSAValue, BitNumber],
        layout: Layout,
        register: int,
        arguments: Mapping[SSAValue, SSAValue],
    ):
        self.builder = builder
        self.loop = loop
        self.numbers = numbers
        self.indices = [ones | register for ones in lane_sets(layout)]
        self.vectors: dict[SSAValue, SSAValue | Inverted] = dict(arguments)

    def get(self, value: SSAValue) -> SSAValue:
        """A value of the body as a vector."""
        found = self._find(value)
        if isinstance(found, Inverted):
            mask = self._mask(found.where)
            if isinstance(mask, bool):
                mask = self.builder.constant([int(mask)] * self.builder.lanes, i1)
            found = self.vectors[value] = self.builder.xor(found.condition, mask)
        return found

    def _find(self, value: SSAValue) -> SSAValue | Inverted:
        if (found := self.vectors.get(value)) is None:
            if (number := self.numbers.get(value)) is not None:
                found = self._vector_of(number, value.type)
            elif isinstance(value.owner, Operation) and isinstance(value.owner.parent_op(), linalg.StructuredOp):
                found = self._compute(value.owner)
            else:
                found = self.builder.spread(value)
            self.vectors[value] = found
        return found

    def _compute(self, op: Operation) -> SSAValue | Inverted:
        builder, type_ = self.builder, op.results[0].type
        match op:
            case arith.ConstantOp():
                with builder.emitter.at(builder.before):
                    scalar = builder.emitter.result(op.clone())
                return builder.spread(scalar)
            case arith.XOrIOp() | arith.CmpiOp() if (inverted_bit := self._inverted(op)) is not None:
                return inverted_bit
            case arith.SelectOp():
                return self._select(op)
            case arith.MuliOp() if (masked := self._times_bit(op)) is not None:
                return masked
            case _:
                return builder.same(op, [self.get(operand) for operand in op.operands], builder.vector(type_))

    def _inverted(self, op: arith.XOrIOp | arith.CmpiOp) -> Inverted | None:
        """A condition that differs, or does not, from a bit of the indices; a condition may stand there as 0 or 1."""
        inverted = False
        if isinstance(op, arith.CmpiOp):
            if (predicate := op.predicate.value.data) not in (EQUAL, UNEQUAL):
                return None
            inverted = predicate == EQUAL
        elif op.operands[0].type != i1:
            return None
        for one, other in (op.operands, reversed(op.operands)):
            if (number := self.numbers.get(other)) is not None and not any(bit != Parity() for bit in number[1:]):
                if one.type != i1:
                    if not isinstance(one.owner, arith.ExtUIOp) or one.owner.operands[0].type != i1:
                        continue
                    one = one.owner.operands[0]
                found = self._find(one)
                where = number[0] ^ Parity(inverted=inverted)
                if isinstance(found, Inverted):
                    return Inverted(found.condition, found.where ^ where)
                return Inverted(found, where)
        return None

    def _select(self, op: arith.SelectOp) -> SSAValue:
        condition, when_true, when_false = op.operands
        if (number := self.numbers.get(condition)) is not None:
            return self._choose(number[0], lambda: self.get(when_true), lambda: self.get(when_false))
        found, select = self._find(condition), self.builder.select
        if not isinstance(found, Inverted):
            return select(found, self.get(when_true), self.get(when_false))
        one, other = self.get(when_true), self.get(when_false)
        return self._choose(
            found.where, lambda: select(found.condition, other, one), lambda: select(found.condition, one, other)
        )

    def _choose(self, where: Parity, when_set: Callable[[], SSAValue], when_clear: Callable[[], SSAValue]) -> SSAValue:
        mask = self._mask(where)
        if isinstance(mask, bool):
            return when_set() if mask else when_clear()
        return self.builder.select(mask, when_set(), when_clear())

    def _times_bit(self, op: arith.MuliOp) -> SSAValue | None:
        """x * bit is x or 0."""
        factor, other = op.operands
        if factor not in self.numbers:
            factor, other = other, factor
        number = self.numbers.get(factor)
        if number is None or other in self.numbers or any(bit != Parity() for bit in number[1:]):
            return None
        zeros = [0] * self.builder.lanes
        return self._choose(
            number[0], lambda: self.get(other), lambda: self.builder.constant(zeros, op.results[0].type)
        )

    # -- bits of indices --------------------------------------------------------------------------------------------

    def _mask(self, parity: Parity) -> SSAValue | bool:
        """The lanes where a parity holds; a bool where it is all of them, or none."""
        inside = Parity(parity.bits & self.loop.inner, parity.inverted)
        lanes = [int(inside.at(ones)) for ones in self.indices]
        outside = parity.bits & ~self.loop.inner
        if not outside:
            return bool(lanes[0]) if len(set(lanes)) == 1 else self.builder.constant(lanes, i1)
        inverted_bit = self._spread(self.loop.parity(outside))
        return self.builder.xor(inverted_bit, self.builder.constant(lanes, i1)) if any(lanes) else inverted_bit

    def _vector_of(self, number: BitNumber, type_: Attribute) -> SSAValue:
        """An integer computed from indices, in all lanes."""
        builder = self.builder
        inside = tuple(Parity(parity.bits & self.loop.inner, parity.inverted) for parity in number)
        lanes = builder.constant([value_at(inside, ones) for ones in self.indices], type_)
        for position, parity in enumerate(number):
            if outside := parity.bits & ~self.loop.inner:
                wide = builder.emitter.constant(_signed_bit(position, type_), type_)
                none = builder.emitter.constant(0, type_)
                lanes = builder.xor(lanes, self._spread(builder.select(self.loop.parity(outside), wide, none)))
        return lanes

    def _spread(self, scalar: SSAValue) -> SSAValue:
        """Splat a scalar of the loop."""
        return self.builder.value(vector.BroadcastOp, (scalar,), self.builder.vector(scalar.type))


def _signed_bit(position: int, type_: Attribute) -> int:
    return -(1 << position) if position == width_of(type_) - 1 > 0 else 1 << position

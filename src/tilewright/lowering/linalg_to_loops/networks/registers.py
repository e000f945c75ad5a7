"""Tensors in registers: vectors by the bits of their register index, exchanges of lanes, loads and stores of both.

bits (0, 1, 2, 3) lanes, 4 and 5 registers      four vectors of 16 elements, register indices {}, {4}, {5}, {4, 5}
neighbours along bit 1                          shuffle of each vector, lanes exchanged by their second bit
neighbours along bit 5                          another register
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from tilewright.dialects import arith, vector
from tilewright.dialects.construction import index_array
from tilewright.dialects.types import element_type, is_integer
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter, exchange_orders, vector_type
from tilewright.lowering.linalg_to_loops.networks.segments import Layout
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.support.records import dataclass


@dataclass(slots=True)
class Registers:
    """A tensor's elements in one step of a segment's loop: a vector for each set of register bits."""

    layout: Layout
    vectors: dict[int, SSAValue]


def indices_of(bits: Iterable[int]) -> Iterator[int]:
    """All sets of some bits, as integers, in ascending order of the bits as they are given."""
    found = [0]
    for bit in bits:
        found += [register | 1 << bit for register in found]
    return iter(found)


def lane_sets(layout: Layout) -> list[int]:
    """The set of index bits that each lane stands for."""
    return [
        sum(1 << bit for position, bit in enumerate(layout) if bit is not None and lane >> position & 1)
        for lane in range(1 << len(layout))
    ]


class VectorBuilder:
    """Makes each value once, in the body of a segment's loop; what does not change there before the loop."""

    def __init__(self, emitter: LoopEmitter, lanes: int, before: Cursor):
        self.emitter = emitter
        self.lanes = lanes
        self.before = before
        self._made: dict[object, SSAValue] = {}

    def value(
        self,
        op_class: type[IRDLOperation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """An op on these operands, or what is known to be equal to it."""
        if (same := _folded(op_class, operands, type_)) is not None:
            return same
        known = tuple(properties.items()) if properties else ()
        key = (op_class, tuple(operands), type_, known)
        if (found := self._made.get(key)) is None:
            found = self._made[key] = self.emitter.value(op_class, operands, type_, properties)
        return found

    def same(self, op: Operation, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """An op of a body on other operands."""
        assert isinstance(op, IRDLOperation)
        return self.value(type(op), operands, type_, op.properties)

    def vector(self, element: Attribute) -> VectorType[Attribute]:
        """The type of a register of such elements."""
        return vector_type(self.lanes, element)

    def select(self, condition: SSAValue, when_true: SSAValue, when_false: SSAValue) -> SSAValue:
        """Lanes of one or the other."""
        if when_true is when_false:
            return when_true
        return self.value(arith.SelectOp, (condition, when_true, when_false), when_true.type)

    def xor(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """The exclusive or of two integers."""
        return self.value(arith.XOrIOp, (left, right), left.type)

    def shuffle(self, first: SSAValue, second: SSAValue, order: Sequence[int]) -> SSAValue:
        """Some lanes of two vectors, in an order."""
        type_ = vector_type(len(order), element_type(first.type))
        return self.value(vector.ShuffleOp, (first, second), type_, {"mask": index_array(tuple(order))})

    def spread(self, scalar: SSAValue) -> SSAValue:
        """Splat a scalar from outside of the loop."""
        return self._before_loop(("spread", scalar), lambda: self.emitter.broadcast(scalar, self.lanes))

    def constant(self, values: Sequence[int], element: Attribute) -> SSAValue:
        """A vector of known integers."""
        if len(set(values)) == 1:
            return self.spread(self.emitter.constant(_signed(values[0], element), element))

        return self.emitter.lane_constant([_signed(value, element) for value in values], element)

    def _before_loop(self, key: object, make: Callable[[], SSAValue]) -> SSAValue:
        if (found := self._made.get(key)) is None:
            with self.emitter.at(self.before):
                found = self._made[key] = make()
        return found

    # -- lanes ------------------------------------------------------------------------------------------------------

    def across(self, lanes: SSAValue, position: int) -> SSAValue:
        """Each lane's neighbour, whose lane index differs in the bit at `position`."""
        return self.shuffle(lanes, lanes, [lane ^ 1 << position for lane in range(self.lanes)])

    def half(self, lanes: SSAValue, position: int, *, upper: bool) -> SSAValue:
        """In each lane the one of it and its neighbour whose bit is set, or is not."""
        bit = 1 << position
        return self.shuffle(lanes, lanes, [lane | bit if upper else lane & ~bit for lane in range(self.lanes)])

    def exchange(self, tensor: Registers, position: int, register_bit: int) -> Registers:
        """Exchange a bit of the lane index with one of the register index."""
        lane_bit = tensor.layout[position]
        assert lane_bit is not None
        moved: dict[int, SSAValue] = {}
        orders = exchange_orders(self.lanes, 1 << position)
        for register, first in tensor.vectors.items():
            if register >> register_bit & 1:
                continue
            second = tensor.vectors[register | 1 << register_bit]
            moved[register] = self.shuffle(first, second, orders[0])
            moved[register | 1 << lane_bit] = self.shuffle(first, second, orders[1])
        return Registers((*tensor.layout[:position], register_bit, *tensor.layout[position + 1 :]), moved)

    # -- memory -----------------------------------------------------------------------------------------------------

    def load(self, view: StridedView, start: Index, strides: Mapping[int, int], layout: Layout) -> SSAValue:
        """One register; `strides` are those of the bits that the tensor has."""
        steps = [0 if bit is None else strides.get(bit, 0) for bit in layout]
        width = _neighbours(steps)
        if not any(steps[width:]):
            return self._unpack(view, self._load_repeated(view, start, 1 << width))
        zero = self.emitter.zero(self._stored(view))
        offsets = self.constant(_lane_offsets(steps), INDEX)
        everywhere = self.constant([1] * self.lanes, i1)
        return self._unpack(view, self.emitter.gather(view.flat, start, offsets, everywhere, self.spread(zero)))

    def _load_repeated(self, view: StridedView, start: Index, count: int) -> SSAValue:
        if count == 1:
            return self.emitter.broadcast(self.emitter.load(view.flat, start), self.lanes)
        loaded = self.emitter.vector_load(view.flat, start, count)
        return loaded if count == self.lanes else self.shuffle(loaded, loaded, [n % count for n in range(self.lanes)])

    def store(
        self, value: SSAValue, view: StridedView, start: Index, strides: Mapping[int, int], layout: Layout
    ) -> None:
        """One register; lanes that hold the same element write it once, or several times."""
        steps = [0 if bit is None else strides[bit] for bit in layout]
        value = self.emitter.pack(value, view.stored_as_byte)
        width = _neighbours(steps)
        if any(steps[width:]):
            everywhere = self.constant([1] * self.lanes, i1)
            self.emitter.scatter(value, view.flat, start, self.constant(_lane_offsets(steps), INDEX), everywhere)
        elif width == 0:
            self.emitter.store(self.emitter.result(vector.ExtractOp(value, (0,))), view.flat, start)
        else:
            part = value if 1 << width == self.lanes else self.shuffle(value, value, range(1 << width))
            self.emitter.vector_store(part, view.flat, start)

    @staticmethod
    def _stored(view: StridedView) -> Attribute:
        return element_type(view.flat.type)

    def _unpack(self, view: StridedView, value: SSAValue) -> SSAValue:
        return self.emitter.unpack(value, view.stored_as_byte)


def _neighbours(steps: Sequence[int]) -> int:
    """Return how many of the lowest lane bits go from each element to the next one in memory."""
    count = 0
    while count < len(steps) and steps[count] == 1 << count:
        count += 1
    return count


def _lane_offsets(steps: Sequence[int]) -> list[int]:
    return [sum(step for position, step in enumerate(steps) if lane >> position & 1) for lane in range(1 << len(steps))]


def _signed(value: int, element: Attribute) -> int:
    """An integer, which may be unsigned, as constants of its type are written."""
    width = element.width.data if is_integer(element) else 64
    return value - (1 << width) if width > 1 and value >= 1 << (width - 1) else value


def _folded(op_class: type[IRDLOperation], operands: Sequence[SSAValue], type_: Attribute) -> SSAValue | None:
    """x for bits(bits(x)) in the type of x; y for x ^ (x ^ y), which is how kernels compute the partner of x."""
    if op_class is arith.BitcastOp:
        inner = operands[0].owner
        return inner.input if isinstance(inner, arith.BitcastOp) and inner.input.type == type_ else None
    if op_class is arith.XOrIOp:
        for one, other in (operands, reversed(operands)):
            if isinstance(other.owner, arith.XOrIOp) and one in (parts := other.owner.operands):
                return parts[1] if parts[0] is one else parts[0]
    return None

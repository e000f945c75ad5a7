"""Runs a network: each segment is a loop that holds a block of elements in registers from its loads to its stores.

for %o = 0 to 64 {                      the bits of the index that no step of the segment exchanges
  %v = load x[%o * 16]                  lanes: bits 0 to 3
  %p = shuffle %v [1, 0, 3, 2, ...]     bit 0
  ... minimum, maximum, select ...      and so on for all steps of the segment
  store
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.combiners import is_identity
from tilewright.dialects import linalg_ext
from tilewright.lowering.linalg_to_loops.emitter import Cursor
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers
from tilewright.lowering.linalg_to_loops.networks.bodies import BodyOfRegister, LoopBits, index_numbers
from tilewright.lowering.linalg_to_loops.networks.parities import BitNumber
from tilewright.lowering.linalg_to_loops.networks.plan import Network, Step, find_networks
from tilewright.lowering.linalg_to_loops.networks.registers import Registers, VectorBuilder, indices_of
from tilewright.lowering.linalg_to_loops.networks.segment_memory import SegmentMemory
from tilewright.lowering.linalg_to_loops.networks.segments import Layout, Segment, cut_into_segments, find_results
from tilewright.lowering.linalg_to_loops.sources import Splat, StridedView
from tilewright.support.records import dataclass

Operands: TypeAlias = "dict[SSAValue, tuple[Registers, int]]"
"""What the arguments of a body stand for, each with the set of register bits that it has."""


@lowers(linalg_ext.ExchangeNetworkOp)
def lower_exchange_network(op: linalg_ext.ExchangeNetworkOp, lowering: FunctionLowering) -> None:
    """Emit all segments at the cursor; what reads the results finds them in memory."""
    (network,) = find_networks(op.body.block)
    position = lowering.emitter.cursor
    copies: dict[SSAValue, StridedView] = {}
    for segment in cut_into_segments(network, lowering.facts.vector_bits):
        lowering.emitter.cursor = Cursor(position.block, position.anchor)
        _SegmentWriter(lowering, network, segment, copies).run()
    end = op.body.block.last_op
    assert end is not None
    for result, made in zip(op.results, end.operands, strict=True):
        view = lowering.in_memory(made)
        lowering.storage.put(result, view)
    lowering.values.dead.append(op)


class _SegmentWriter:
    def __init__(
        self, lowering: FunctionLowering, network: Network, segment: Segment, copies: dict[SSAValue, StridedView]
    ):
        self.lowering = lowering
        self.segment = segment
        self.results = find_results(network, segment)
        lanes = 1 << len(segment.layouts[segment.steps[0]])
        self.builder = VectorBuilder(lowering.emitter, lanes, lowering.emitter.cursor)
        self.memory = SegmentMemory(lowering, segment, self.builder, copies)
        self.loop = LoopBits(self.builder, sum(1 << bit for bit in segment.inner), self.memory.counters)
        self.values: dict[SSAValue, Registers] = {}

    def run(self) -> None:
        """Emit the loop."""
        emitter, memory = self.lowering.emitter, self.memory
        made = {result for step in self.segment.steps for result in step.op.results}
        for step in self.segment.steps:
            for source in (*step.inputs, *step.inits):
                if source is not None and source[0] not in made:
                    memory.find_strides(*source)
        for result, bits in self.results:
            memory.new_tile(result, bits)
        position = emitter.cursor
        blocks: list[Cursor] = []
        for run in reversed(memory.loop_runs()):
            loop, body = emitter.open_for(0, 1 << len(run), 1)
            if not blocks:
                self.builder.before = Cursor(position.block, loop)
            memory.counters.update((bit, (body.args[0], counter_bit)) for counter_bit, bit in enumerate(run))
            emitter.cursor = Cursor(body)
            blocks.append(emitter.cursor)
        for step in self.segment.steps:
            if step.reduced:
                self._reduce(step)
            else:
                self._elementwise(step)
        for result, _ in self.results:
            memory.store(result, self.values[result])
        for cursor in reversed(blocks):
            emitter.cursor = cursor
            emitter.yield_()
        emitter.cursor = position

    def _operands(self, step: Step, layout: Layout) -> Operands:
        """Return what the arguments of a body stand for, each with the register bits that it has."""
        found: Operands = {}
        block = step.op.body.block
        for argument, operand, source in zip(block.args, step.op.operands, (*step.inputs, *step.inits), strict=True):
            if not argument.uses.get_length():
                continue
            if source is None:
                value = self.lowering.values.sources.get(operand)
                scalar = value.value if isinstance(value, Splat) else operand
                found[argument] = Registers(layout, {0: self.builder.spread(scalar)}), 0
                continue
            value, bits = source
            registers = self.values.get(value) or self.memory.load(value, bits, layout)
            has = sum(1 << bit for bit in self.segment.register_bits(bits, registers.layout))
            found[argument] = registers, has
        return found

    def _elementwise(self, step: Step) -> None:
        layout, numbers = self.segment.layouts[step], index_numbers(step)
        operands = self._operands(step, layout)
        last = step.op.body.block.last_op
        assert last is not None
        made: list[dict[int, SSAValue]] = [{} for _ in step.op.results]
        for register in indices_of(self.segment.register_bits(step.bits, layout)):
            arguments = {argument: lanes.vectors[register & has] for argument, (lanes, has) in operands.items()}
            body = BodyOfRegister(self.builder, self.loop, numbers, layout, register, arguments)
            for vectors, yielded in zip(made, last.operands, strict=True):
                vectors[register] = body.get(yielded)
        for result, vectors in zip(step.op.results, made, strict=True):
            self.values[result] = Registers(layout, vectors)

    def _reduce(self, step: Step) -> None:
        layout, swap = self.segment.layouts[step], self.segment.swaps[step]
        (bit,) = step.reduced
        if swap is None:
            operands = self._operands(step, layout)
        else:
            lane_bit, register_bit = swap
            before = (*layout[:lane_bit], bit, *layout[lane_bit + 1 :])
            operands = self._operands(step, before)
            for argument, (lanes, has) in operands.items():
                if has >> register_bit & 1:
                    exchanged = self.builder.exchange(lanes, lane_bit, register_bit)
                    operands[argument] = exchanged, has & ~(1 << register_bit) | 1 << bit
        left = tuple(None if lane == bit else lane for lane in layout)
        pair = _Pair(step, layout, left, index_numbers(step), operands)
        made: list[dict[int, SSAValue]] = [{} for _ in step.op.results]
        for register in indices_of(self.segment.register_bits([other for other in step.bits if other != bit], left)):
            values = self._combined(pair, register) if step.combiner is not None else self._one_by_one(pair, register)
            for vectors, value in zip(made, values, strict=True):
                vectors[register] = value
        for result, vectors in zip(step.op.results, made, strict=True):
            self.values[result] = Registers(left, vectors)

    def _combined(self, pair: _Pair, register: int) -> list[SSAValue]:
        """Combine both elements by a commutative op."""
        step, builder = pair.step, self.builder
        assert step.combiner is not None
        (accumulator,) = pair.accumulators
        op = pair.yielded[0].owner
        assert isinstance(op, Operation)
        term = op.operands[1] if op.operands[0] is accumulator else op.operands[0]
        first = self._body(pair, pair.layout, register, pair.elements(register)).get(term)
        if pair.lane_bit is None:
            partner = register | 1 << pair.bit
            second = self._body(pair, pair.layout, partner, pair.elements(partner)).get(term)
        else:
            second = builder.across(first, pair.lane_bit)
        total = builder.same(op, (first, second), first.type)
        start = self.lowering.values.sources.get(step.op.outputs[0])
        if isinstance(start, Splat) and is_identity(step.combiner, start.value):
            return [total]
        return [builder.same(op, (total, pair.starts(register)[0]), total.type)]

    def _one_by_one(self, pair: _Pair, register: int) -> list[SSAValue]:
        """The body run for the first element, then for the second."""
        carried = pair.starts(register)
        for upper in (False, True):
            here = register | upper << pair.bit
            arguments = pair.elements(here)
            if pair.lane_bit is not None:
                for argument in arguments:
                    if pair.operands[argument][0].layout[pair.lane_bit] == pair.bit:
                        arguments[argument] = self.builder.half(arguments[argument], pair.lane_bit, upper=upper)
            arguments.update(zip(pair.accumulators, carried, strict=True))
            body = self._body(pair, pair.left, here, arguments)
            carried = [body.get(value) for value in pair.yielded]
        return carried

    def _body(
        self, pair: _Pair, layout: Layout, register: int, arguments: Mapping[SSAValue, SSAValue]
    ) -> BodyOfRegister:
        return BodyOfRegister(self.builder, self.loop, pair.numbers, layout, register, arguments)


@dataclass(slots=True)
class _Pair:
    """A reduction of elements whose indices differ in one bit."""

    step: Step
    layout: Layout
    left: Layout
    """The lanes of the result."""
    numbers: dict[SSAValue, BitNumber]
    operands: Operands

    @property
    def bit(self) -> int:
        return self.step.reduced[0]

    @property
    def lane_bit(self) -> int | None:
        """The bit of the lane index that is reduced; None where it is a register's."""
        return self.layout.index(self.bit) if self.bit in self.layout else None

    @property
    def accumulators(self) -> Sequence[SSAValue]:
        return self.step.op.body.block.args[len(self.step.op.inputs) :]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        last = self.step.op.body.block.last_op
        assert last is not None
        return last.operands

    def elements(self, register: int) -> dict[SSAValue, SSAValue]:
        """Return the register of index `register` of each input."""
        inputs = self.step.op.body.block.args[: len(self.step.op.inputs)]
        return {
            argument: self.operands[argument][0].vectors[register & self.operands[argument][1]]
            for argument in inputs
            if argument in self.operands
        }

    def starts(self, register: int) -> list[SSAValue]:
        """Return what the results start from."""
        found: list[SSAValue] = []
        for argument in self.accumulators:
            lanes, has = self.operands[argument]
            found.append(lanes.vectors[register & has])
        return found

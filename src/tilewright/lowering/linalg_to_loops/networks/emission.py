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
from itertools import pairwise
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.combiners import is_identity
from tilewright.dialects import linalg_ext
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers
from tilewright.lowering.linalg_to_loops.networks.bodies import BodyOfRegister, LoopBits, index_numbers
from tilewright.lowering.linalg_to_loops.networks.parities import BitNumber
from tilewright.lowering.linalg_to_loops.networks.plan import Network, Step, base_of, find_networks
from tilewright.lowering.linalg_to_loops.networks.registers import Registers, VectorBuilder, numbers_of
from tilewright.lowering.linalg_to_loops.networks.segments import Layout, Segment, cut_into_segments
from tilewright.lowering.linalg_to_loops.sources import Source, Uniform, Window
from tilewright.support.records import dataclass

Operands: TypeAlias = "dict[SSAValue, tuple[Registers, int]]"
"""What the arguments of a body stand for, each with the set of register bits that it has."""


@lowers(linalg_ext.ExchangeNetworkOp)
def lower_exchange_network(op: linalg_ext.ExchangeNetworkOp, lowering: FunctionLowering) -> None:
    """Emit all segments at the cursor, and say where the results are that others read."""
    (network,) = find_networks(op.body.block)
    position = lowering.emitter.cursor
    copies: dict[SSAValue, Window] = {}
    for segment in cut_into_segments(network, lowering.facts.vector_bits):
        lowering.emitter.cursor = Cursor(position.block, position.anchor)
        _SegmentWriter(lowering, network, segment, copies).run()
    end = op.body.block.last_op
    assert end is not None
    for result, made in zip(op.results, end.operands, strict=True):
        window = lowering.in_memory(made)
        lowering.storage.put(result, window)
    lowering.values.dead.append(op)


class _SegmentWriter:
    def __init__(self, lowering: FunctionLowering, network: Network, segment: Segment, copies: dict[SSAValue, Window]):
        self.lowering = lowering
        self.copies = copies
        """Buffers of tensors from outside whose own places in memory are not known well enough."""
        self.emitter = lowering.emitter
        self.segment = segment
        self.inner = segment.inner
        self.builder = VectorBuilder(self.emitter, 1 << len(segment.layouts[segment.steps[0]]), self.emitter.cursor)
        self.values: dict[SSAValue, Registers] = {}
        self.loaded: dict[tuple[SSAValue, Layout], Registers] = {}
        self.strides: dict[SSAValue, dict[int, int]] = {}
        """For each tensor in memory how far apart the elements are whose indices differ in a bit."""
        self.counters: dict[int, tuple[SSAValue, int]] = {}
        """For each bit of the loop the counter that it is in, and its place there."""
        self.ops = dict.fromkeys(network.ops)
        own: set[Operation] = {step.op for step in segment.steps}
        self.kept = [
            (result, step.results[number])
            for step in segment.steps
            for number, result in enumerate(step.op.results)
            if self._is_read_elsewhere(result, own)
        ]

    def _is_read_elsewhere(self, value: SSAValue, own: set[Operation]) -> bool:
        """Return whether a result, or a reshape of it, is read by what is not a step of this segment."""
        for use in value.uses:
            user = use.operation
            if user in self.ops and user not in own and base_of(user.results[0]) is not user.results[0]:
                if self._is_read_elsewhere(user.results[0], own):
                    return True
            elif user not in own:
                return True
        return False

    def run(self) -> None:
        """Emit the loop."""
        lowering, emitter = self.lowering, self.emitter
        for step in self.segment.steps:
            for source in (*step.inputs, *step.inits):
                if source is not None and not self._is_made_here(source[0]):
                    self._find_memory(*source)
        for result, bits in self.kept:
            window = lowering.memory.new_tile(result)
            lowering.storage.put(result, window)
            self.strides[result] = {bit: 1 << place for place, bit in enumerate(bits)}
        runs = self._loop_runs()
        position = emitter.cursor
        blocks: list[Cursor] = []
        for run in reversed(runs):
            loop, body = emitter.open_for(0, 1 << len(run), 1)
            if not blocks:
                self.builder.before = Cursor(position.block, loop)
            self.counters.update((bit, (body.args[0], place)) for place, bit in enumerate(run))
            emitter.cursor = Cursor(body)
            blocks.append(emitter.cursor)
        self.loop = LoopBits(self.builder, sum(1 << bit for bit in self.inner), self.counters)
        for step in self.segment.steps:
            if step.reduced:
                self._reduce(step)
            else:
                self._elementwise(step)
        for result, bits in self.kept:
            self._store(result, bits)
        for cursor in reversed(blocks):
            emitter.cursor = cursor
            emitter.yield_()
        emitter.cursor = position

    def _is_made_here(self, value: SSAValue) -> bool:
        return any(value in step.op.results for step in self.segment.steps)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _source(self, value: SSAValue) -> Source:
        return self.copies.get(value) or self.lowering.source(value)

    def _find_memory(self, value: SSAValue, bits: Sequence[int]) -> None:
        """Know the strides of a tensor from outside, which is copied where they are not numbers."""
        source = self._source(value)
        if isinstance(source, Uniform) or value in self.strides:
            return
        if not isinstance(source, Window) or not all(isinstance(stride, int) for stride in source.strides):
            copy = self.lowering.memory.new_tile(value)
            self.lowering.copy(source, copy)
            self.lowering.storage.contents[copy.flat] = value
            source = self.copies[value] = copy
        places: list[int] = []
        for extent, stride in zip(reversed(source.shape), reversed(source.strides), strict=True):
            assert isinstance(stride, int)
            places += [stride << place for place in range(extent.bit_length() - 1)]
        self.strides[value] = dict(zip(bits, places, strict=True))

    def _loop_runs(self) -> list[list[int]]:
        """The bits of the loop; those that make up one counter together, the lowest first."""
        order: dict[int, None] = {}
        for step in sorted(self.segment.steps, key=lambda step: -len(step.bits)):
            for dim in reversed(step.dims):
                order.update(dict.fromkeys(bit for bit in dim if bit not in self.inner))
        bits = list(order)
        runs = [bits[:1]] if bits else []
        for low, high in pairwise(bits):
            if all(strides.get(high, 0) == 2 * strides.get(low, 0) for strides in self.strides.values()):
                runs[-1].append(high)
            else:
                runs.append([high])
        return runs

    def _start(self, window: Window, strides: Mapping[int, int]) -> Index:
        """Return where the block of the current step starts in a tensor."""
        start = window.offset
        for bit, (counter, place) in self.counters.items():
            if place == 0:
                start = self.emitter.add(start, self.emitter.mul(counter, strides.get(bit, 0)))
        return start

    def _load(self, value: SSAValue, bits: Sequence[int], layout: Layout) -> Registers:
        """A tensor from outside, in the lanes of its reader."""
        source = self._source(value)
        if isinstance(source, Uniform):
            vector = self.builder.spread(source.value)
            return Registers(layout, dict.fromkeys(numbers_of(self._register_bits(bits, layout)), vector))
        key = value, tuple(bit if bit in bits else None for bit in layout)
        if (found := self.loaded.get(key)) is None:
            assert isinstance(source, Window)
            strides = self.strides[value]
            start = self._start(source, strides)
            vectors = {
                number: self.builder.load(source, self._offset(start, strides, number), strides, key[1])
                for number in numbers_of(self._register_bits(bits, layout))
            }
            found = self.loaded[key] = Registers(key[1], vectors)
        return found

    def _store(self, value: SSAValue, bits: Sequence[int]) -> None:
        window, registers, strides = self.lowering.source(value), self.values[value], self.strides[value]
        assert isinstance(window, Window)
        start = self._start(window, strides)
        for number, lanes in registers.vectors.items():
            self.builder.store(lanes, window, self._offset(start, strides, number), strides, registers.layout)

    def _offset(self, start: Index, strides: Mapping[int, int], number: int) -> Index:
        return self.emitter.add(start, sum(step for bit, step in strides.items() if number >> bit & 1))

    def _register_bits(self, bits: Sequence[int], layout: Layout) -> list[int]:
        """The bits of a register's number: those of a segment's block that are not lanes."""
        return [bit for bit in bits if bit in self.inner and bit not in layout]

    # -- steps ------------------------------------------------------------------------------------------------------

    def _operands(self, step: Step, layout: Layout) -> Operands:
        """Return what the arguments of a body stand for, each with the register bits that it has."""
        found: Operands = {}
        block = step.op.body.block
        for argument, operand, source in zip(block.args, step.op.operands, (*step.inputs, *step.inits), strict=True):
            if not argument.uses.get_length():
                continue
            if source is None:
                value = self.lowering.values.sources.get(operand)
                scalar = value.value if isinstance(value, Uniform) else operand
                found[argument] = Registers(layout, {0: self.builder.spread(scalar)}), 0
                continue
            value, bits = source
            registers = self.values.get(value) or self._load(value, bits, layout)
            has = sum(1 << bit for bit in self._register_bits(bits, registers.layout))
            found[argument] = registers, has
        return found

    def _elementwise(self, step: Step) -> None:
        layout, numbers = self.segment.layouts[step], index_numbers(step)
        operands = self._operands(step, layout)
        last = step.op.body.block.last_op
        assert last is not None
        made: list[dict[int, SSAValue]] = [{} for _ in step.op.results]
        for number in numbers_of(self._register_bits(step.bits, layout)):
            arguments = {argument: lanes.vectors[number & has] for argument, (lanes, has) in operands.items()}
            body = BodyOfRegister(self.builder, self.loop, numbers, layout, number, arguments)
            for vectors, yielded in zip(made, last.operands, strict=True):
                vectors[number] = body.get(yielded)
        for result, vectors in zip(step.op.results, made, strict=True):
            self.values[result] = Registers(layout, vectors)

    def _reduce(self, step: Step) -> None:
        layout, swap = self.segment.layouts[step], self.segment.swaps[step]
        (bit,) = step.reduced
        if swap is None:
            operands = self._operands(step, layout)
        else:
            place, register_bit = swap
            before = (*layout[:place], bit, *layout[place + 1 :])
            operands = self._operands(step, before)
            for argument, (lanes, has) in operands.items():
                if has >> register_bit & 1:
                    exchanged = self.builder.exchange(lanes, place, register_bit)
                    operands[argument] = exchanged, has & ~(1 << register_bit) | 1 << bit
        left = tuple(None if lane == bit else lane for lane in layout)
        pair = _Pair(step, layout, left, index_numbers(step), operands)
        made: list[dict[int, SSAValue]] = [{} for _ in step.op.results]
        for number in numbers_of(self._register_bits([other for other in step.bits if other != bit], left)):
            values = self._combined(pair, number) if step.combiner is not None else self._one_by_one(pair, number)
            for vectors, value in zip(made, values, strict=True):
                vectors[number] = value
        for result, vectors in zip(step.op.results, made, strict=True):
            self.values[result] = Registers(left, vectors)

    def _combined(self, pair: _Pair, number: int) -> list[SSAValue]:
        """Return what is reduced of both elements, combined by an op whose operands may change places."""
        step, builder = pair.step, self.builder
        assert step.combiner is not None
        (accumulator,) = pair.accumulators
        op = pair.yielded[0].owner
        assert isinstance(op, Operation)
        term = op.operands[1] if op.operands[0] is accumulator else op.operands[0]
        first = self._body(pair, pair.layout, number, pair.elements(number)).get(term)
        if pair.place is None:
            partner = number | 1 << pair.bit
            second = self._body(pair, pair.layout, partner, pair.elements(partner)).get(term)
        else:
            second = builder.across(first, pair.place)
        total = builder.same(op, (first, second), first.type)
        start = self.lowering.values.sources.get(step.op.outputs[0])
        if isinstance(start, Uniform) and is_identity(step.combiner, start.value):
            return [total]
        return [builder.same(op, (total, pair.starts(number)[0]), total.type)]

    def _one_by_one(self, pair: _Pair, number: int) -> list[SSAValue]:
        """The body run for the first element, then for the second."""
        carried = pair.starts(number)
        for upper in (False, True):
            here = number | upper << pair.bit
            arguments = pair.elements(here)
            if pair.place is not None:
                for argument in arguments:
                    if pair.operands[argument][0].layout[pair.place] == pair.bit:
                        arguments[argument] = self.builder.half(arguments[argument], pair.place, upper=upper)
            arguments.update(zip(pair.accumulators, carried, strict=True))
            body = self._body(pair, pair.left, here, arguments)
            carried = [body.get(value) for value in pair.yielded]
        return carried

    def _body(self, pair: _Pair, layout: Layout, number: int, arguments: Mapping[SSAValue, SSAValue]) -> BodyOfRegister:
        return BodyOfRegister(self.builder, self.loop, pair.numbers, layout, number, arguments)


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
    def place(self) -> int | None:
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

    def elements(self, number: int) -> dict[SSAValue, SSAValue]:
        """The inputs' registers with a number."""
        inputs = self.step.op.body.block.args[: len(self.step.op.inputs)]
        return {
            argument: self.operands[argument][0].vectors[number & self.operands[argument][1]]
            for argument in inputs
            if argument in self.operands
        }

    def starts(self, number: int) -> list[SSAValue]:
        """Return what the results start from."""
        found: list[SSAValue] = []
        for argument in self.accumulators:
            lanes, has = self.operands[argument]
            found.append(lanes.vectors[number & has])
        return found

"""The tensors that a segment of a network reads and writes, by the strides of the bits of their indices.

tensor<4x8xf32> with strides [8, 1], bits (0, 1, 2) along the columns, (3, 4) along the rows
  ->  strides {0: 1, 1: 2, 2: 4, 3: 8, 4: 16}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from xdsl.ir import SSAValue

from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.networks.registers import Registers, VectorBuilder, indices_of
from tilewright.lowering.linalg_to_loops.networks.segments import Layout, Segment
from tilewright.lowering.linalg_to_loops.sources import Source, Splat, StridedView


class SegmentMemory:
    """Loads the operands of one segment, and stores its results."""

    def __init__(
        self, lowering: FunctionLowering, segment: Segment, builder: VectorBuilder, copies: dict[SSAValue, StridedView]
    ):
        self.lowering = lowering
        self.segment = segment
        self.builder = builder
        self.counters: dict[int, tuple[SSAValue, int]] = {}
        """For each bit of the loop the counter that it is in, and its position there."""
        self._copies = copies
        """Buffers, shared by the segments of a network, of tensors from outside whose strides are not constants."""
        self._strides: dict[SSAValue, dict[int, int]] = {}
        """For each tensor in memory how far apart the elements are whose indices differ in a bit."""
        self._loaded: dict[tuple[SSAValue, Layout], Registers] = {}

    def new_tile(self, result: SSAValue, bits: Sequence[int]) -> None:
        """Make a tile for a result of the segment."""
        self.lowering.storage.put(result, self.lowering.memory.new_tile(result))
        self._strides[result] = {bit: 1 << position for position, bit in enumerate(bits)}

    def _source(self, value: SSAValue) -> Source:
        return self._copies.get(value) or self.lowering.source(value)

    def find_strides(self, value: SSAValue, bits: Sequence[int]) -> None:
        """Find the strides of a tensor from outside, which is copied first where they are not constants."""
        source = self._source(value)
        if isinstance(source, Splat) or value in self._strides:
            return
        if not isinstance(source, StridedView) or not all(isinstance(stride, int) for stride in source.strides):
            copy = self.lowering.memory.new_tile(value)
            self.lowering.copy(source, copy)
            self.lowering.storage.contents[copy.flat] = value
            source = self._copies[value] = copy
        steps: list[int] = []
        for extent, stride in zip(reversed(source.shape), reversed(source.strides), strict=True):
            assert isinstance(stride, int)
            steps += [stride << position for position in range(extent.bit_length() - 1)]
        self._strides[value] = dict(zip(bits, steps, strict=True))

    def loop_runs(self) -> list[list[int]]:
        """The bits of the loop; those that make up one counter together, the lowest first."""
        order: dict[int, None] = {}
        for step in sorted(self.segment.steps, key=lambda step: -len(step.bits)):
            for dim in reversed(step.dims):
                order.update(dict.fromkeys(bit for bit in dim if bit not in self.segment.inner))
        bits = list(order)
        runs = [bits[:1]] if bits else []
        for low, high in pairwise(bits):
            if all(strides.get(high, 0) == 2 * strides.get(low, 0) for strides in self._strides.values()):
                runs[-1].append(high)
            else:
                runs.append([high])
        return runs

    def _start(self, view: StridedView, strides: Mapping[int, int]) -> Index:
        """Return where the block of the current step starts in a tensor."""
        start = view.offset
        for bit, (counter, counter_bit) in self.counters.items():
            if counter_bit == 0:
                start = self.lowering.emitter.add(start, self.lowering.emitter.mul(counter, strides.get(bit, 0)))
        return start

    def load(self, value: SSAValue, bits: Sequence[int], layout: Layout) -> Registers:
        """A tensor from outside, in the lanes of its reader."""
        source = self._source(value)
        if isinstance(source, Splat):
            vector = self.builder.spread(source.value)
            return Registers(layout, dict.fromkeys(indices_of(self.segment.register_bits(bits, layout)), vector))
        key = value, tuple(bit if bit in bits else None for bit in layout)
        if (found := self._loaded.get(key)) is None:
            assert isinstance(source, StridedView)
            strides = self._strides[value]
            start = self._start(source, strides)
            vectors = {
                register: self.builder.load(source, self._offset(start, strides, register), strides, key[1])
                for register in indices_of(self.segment.register_bits(bits, layout))
            }
            found = self._loaded[key] = Registers(key[1], vectors)
        return found

    def store(self, value: SSAValue, registers: Registers) -> None:
        """Store a result of the segment to its tile."""
        view, strides = self.lowering.source(value), self._strides[value]
        assert isinstance(view, StridedView)
        start = self._start(view, strides)
        for register, lanes in registers.vectors.items():
            self.builder.store(lanes, view, self._offset(start, strides, register), strides, registers.layout)

    def _offset(self, start: Index, strides: Mapping[int, int], register: int) -> Index:
        return self.lowering.emitter.add(start, sum(step for bit, step in strides.items() if register >> bit & 1))

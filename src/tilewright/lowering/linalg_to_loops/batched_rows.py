"""Horizontal reductions of as many rows as a vector has lanes, at a time.

for %i = 0 to 64 { %v = lanes of row %i; store vector.reduction <add>, %v at %i }
  ->
for %i = 0 to 64 { %v = lanes of row %i; store %v at %lanes[%i * 16] }
for %i = 0 to 64 step 16 { 16 vectors of %lanes, folded with each other in 4 rounds; store one vector at %i }

A reduction of one row after the other is a chain of log2(lanes) shuffles and ops. Sixteen rows together need 30
shuffles and 15 ops, which do not wait for each other:

    rows a, b  ->  (a0 + a2, a1 + a3, b0 + b2, b1 + b3)  ->  with two such of c, d:  (sum a, sum b, sum c, sum d)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.analysis.combiners import is_identity
from tilewright.dialects.types import bit_width, is_float
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, exchange_orders
from tilewright.lowering.linalg_to_loops.nest import Nest, Output
from tilewright.lowering.linalg_to_loops.sources import Splat, StridedView
from tilewright.support.cpu_costs import FEWEST_LANES
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of

Combine = Callable[[int, SSAValue, SSAValue], SSAValue]
"""Combines two accumulators of the output of an index."""


@dataclass(frozen=True, slots=True)
class BatchedRows:
    """What the rows of one nest are kept in, until they are combined."""

    emitter: LoopEmitter
    lanes: int
    registers: int
    """How many times so many lanes a row has."""
    rows: int
    buffers: dict[int, SSAValue]
    """For each output, by its index, the lanes of all its rows."""

    def keep(self, index: int, row: Index, accumulator: SSAValue, combine: Combine) -> None:
        """Put the lanes of a row aside; those of several registers are combined first."""
        lanes = self.lanes * self.registers
        while lanes > self.lanes:
            lanes //= 2
            low, high = (self.emitter.pick(accumulator, range(first, first + lanes)) for first in (0, lanes))
            accumulator = combine(index, low, high)
        self.emitter.vector_store(accumulator, self.buffers[index], self.emitter.mul(row, self.lanes))

    def finish(self, outputs: Sequence[Output], combine: Combine) -> None:
        """Combine the lanes of all rows at the cursor."""
        emitter = self.emitter
        loop, body = emitter.open_for(0, self.rows, self.lanes)
        with emitter.at(body):
            first = body.args[0]
            for index, buffer in self.buffers.items():
                offsets = [emitter.mul(emitter.add(first, row), self.lanes) for row in range(self.lanes)]
                rows = [emitter.vector_load(buffer, offset, self.lanes) for offset in offsets]
                dest = outputs[index].dest
                assert dest is not None
                emitter.vector_store(
                    _fold(emitter, rows, lambda a, b, index=index: combine(index, a, b)),
                    dest.flat,
                    emitter.add(dest.offset, first),
                )
            emitter.yield_()
        _ = loop


def plan_batched_rows(emitter: LoopEmitter, nest: Nest, reducing: Sequence[int]) -> BatchedRows | None:
    """Buffers for the lanes of rows, if a nest reduces many rows of vectors into tiles."""
    lanes = nest.schedule.lanes // nest.schedule.registers
    if not nest.vector_reduces() or nest.folds() or len(nest.schedule.order) != 2 or lanes < FEWEST_LANES:
        return None
    row_dim = nest.schedule.order[0]
    rows = nest.extents[row_dim]
    if nest.iterators[row_dim] or nest.bounds[row_dim] != rows or rows % lanes:
        return None
    outputs = [nest.outputs[index] for index in reducing]
    if not all(_is_tile_of_rows(output, row_dim) for output in outputs):
        return None
    buffers: dict[int, SSAValue] = {}
    for index, output in zip(reducing, outputs, strict=True):
        assert output.dest is not None
        buffers[index] = emitter.alloca(output.dest.element, rows * lanes)
    return BatchedRows(emitter, lanes, nest.schedule.registers, rows, buffers)


def _is_tile_of_rows(output: Output, row_dim: int) -> bool:
    dest, start = output.dest, output.init.source
    if not isinstance(dest, StridedView) or not dest.owned or output.access != (AffineDimExpr(row_dim),):
        return False
    if constant_of(dest.strides[0]) != 1 or not is_float(dest.element) or bit_width(dest.element) < 32:
        return False
    return output.combiner is not None and isinstance(start, Splat) and is_identity(output.combiner, start.value)


def _fold(emitter: LoopEmitter, rows: list[SSAValue], combine: Callable[[SSAValue, SSAValue], SSAValue]) -> SSAValue:
    """One vector of the combinations of all lanes of each row, in their order."""
    lanes = len(rows)
    while len(rows) > 1:
        distance = len(rows) // 2
        orders = exchange_orders(lanes, distance)
        rows = [
            combine(*(emitter.shuffle(first, second, order) for order in orders))
            for first, second in zip(rows[:distance], rows[distance:], strict=True)
        ]
    return rows[0]

"""What the reductions of a nest carry: where accumulators start, how they meet, and the results that they become.

sum over %n lanes, four vectors a step:
  4 accumulators of 0  ->  loops  ->  (a0 + a1) + (a2 + a3)  ->  vector.reduction  ->  + what the output starts from
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.analysis.combination import Combination
from tilewright.analysis.combiners import identity_of, is_identity
from tilewright.dialects import arith, vector
from tilewright.lowering.linalg_to_loops.batched_rows import BatchedRows
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import LoopEmitter, default_flags
from tilewright.lowering.linalg_to_loops.lane_combinations import combine, fold_lanes
from tilewright.lowering.linalg_to_loops.nest import Nest, Output
from tilewright.lowering.linalg_to_loops.operand_access import read_operand, write_output
from tilewright.lowering.linalg_to_loops.padding import Padding, padded_element
from tilewright.lowering.linalg_to_loops.sources import Splat


class Accumulators:
    """The accumulators of one nest: a set has one for each output that reduces."""

    def __init__(self, emitter: LoopEmitter, nest: Nest):
        self.emitter = emitter
        self.nest = nest
        """As it was planned: versions of it have the same outputs."""
        self.reducing = [output for output, written in enumerate(nest.outputs) if written.reduces]
        self.scalars: list[SSAValue | None] = [None] * len(nest.outputs)
        """The result of each output that has no destination."""
        self.padding: Padding | None = None
        self.batched: BatchedRows | None = None
        self._identities: set[SSAValue] = set()
        """Accumulators that change nothing they are combined with: of sums 0 changes -0."""

    @property
    def outputs(self) -> Sequence[Output]:
        """The nest's."""
        return self.nest.outputs

    @property
    def combination(self) -> Combination | None:
        """The combination of all results together, if lanes are combined by it."""
        return self.nest.combination if self.nest.folds() else None

    # -- starting ---------------------------------------------------------------------------------------------------

    def start(self, values: BodyValues, vector: int = 0) -> list[SSAValue]:
        """Return what one set of accumulators starts from: that of vector number `vector` of an unrolled loop."""
        return [self._start(values, index, vector) for index in self.reducing]

    def _start(self, values: BodyValues, index: int, vector: int) -> SSAValue:
        nest, output = values.nest, self.outputs[index]
        if self.combination is not None or nest.starts_at_first():
            return self._first_element(values, index, vector)
        if nest.vector_reduces():
            assert output.combiner is not None
            element = self.nest.yielded[index].type
            identity = identity_of(output.combiner, element)
            assert identity is not None
            start = values.spread(self.emitter.constant(identity, element), frozenset())
            if not (identity == 0 and output.combiner.op_class is arith.AddfOp):
                self._identities.add(start)
            return start
        return values.spread(read_operand(values, output.init), output.init.dims())

    def _first_element(self, values: BodyValues, index: int, vector: int) -> SSAValue:
        """Return what is combined first: the first element along each reduced dimension, or, where lanes are reduced,
        the elements of one vector."""
        nest, frames = values.nest, values.frames
        assert nest.combination is not None
        inner = [
            Frame(frames[-1].cursor, dim, vector * nest.schedule.lanes)
            for dim in nest.schedule.order[len(frames) - 1 :]
        ]
        return BodyValues(self.emitter, nest, [*frames, *inner]).get_lanes(nest.combination.right[index])

    def first_term(self, nest: Nest, index: int, accumulator: SSAValue) -> SSAValue | None:
        """Return what an accumulator that still is its identity becomes in one step, if that is the term
        itself.
        """
        combiner, combined = self.outputs[index].combiner, self.nest.yielded[index].owner
        if accumulator not in self._identities or combiner is None or not isinstance(combined, combiner.op_class):
            return None
        return next((operand for operand in combined.operands if operand is not nest.accumulator(index)), None)

    # -- combining --------------------------------------------------------------------------------------------------

    def sets(self, carried: list[SSAValue]) -> list[list[SSAValue]]:
        """Return what loops carry, one set after the other."""
        width = len(self.reducing)
        return [carried[first : first + width] for first in range(0, len(carried), width)]

    def merge(self, carried: list[SSAValue]) -> list[SSAValue]:
        """Pairwise combination of the sets of an unrolled loop."""
        sets = self.sets(carried)
        while len(sets) > 1:
            merged = [self._combine_sets(left, right) for left, right in zip(sets[::2], sets[1::2], strict=False)]
            sets = merged + ([sets[-1]] if len(sets) % 2 else [])
        return sets[0]

    def _combine_sets(self, left: list[SSAValue], right: list[SSAValue]) -> list[SSAValue]:
        if self.combination is not None:
            return combine(self.emitter, self.combination, left, right)
        return [self.combine(index, a, b) for index, a, b in zip(self.reducing, left, right, strict=True)]

    def combine(self, index: int, left: SSAValue, right: SSAValue) -> SSAValue:
        """Two accumulators of the output `index` as one."""
        combiner = self.outputs[index].combiner
        assert combiner is not None
        return self.emitter.value(
            combiner.op_class,  # pyright: ignore[reportArgumentType]
            (left, right),
            left.type,
            default_flags(combiner.op_class),  # pyright: ignore[reportArgumentType]
        )

    # -- results ----------------------------------------------------------------------------------------------------

    def finish(self, values: BodyValues, accumulators: list[SSAValue]) -> None:
        """Make results of one set after its loops: write them where they go, or keep them in `scalars`."""
        nest = values.nest
        if self.combination is not None:
            accumulators = self._fold(values, accumulators)
        for index, accumulator in zip(self.reducing, accumulators, strict=True):
            output = self.outputs[index]
            if self.batched is not None:
                self.batched.keep(index, values.induction(nest.schedule.order[0]), accumulator, self.combine)
                continue
            result = accumulator
            if nest.vector_reduces() and self.combination is None:
                result = self._across_lanes(values, index, output, accumulator)
            if output.dest is None:
                self.scalars[index] = result
            else:
                write_output(values, output.dest, output.access, result)

    def _fold(self, values: BodyValues, accumulators: list[SSAValue]) -> list[SSAValue]:
        """All lanes of all accumulators combined, then with what the results start from."""
        assert self.combination is not None
        folded = fold_lanes(self.emitter, self.combination, accumulators)
        if self.combination.starts_at_first:
            return folded
        starts = [read_operand(values, output.init) for output in self.outputs]
        return combine(self.emitter, self.combination, starts, folded)

    def _across_lanes(self, values: BodyValues, index: int, output: Output, accumulator: SSAValue) -> SSAValue:
        combiner = output.combiner
        assert combiner is not None
        result = self.emitter.result(vector.ReductionOp(combiner.kind, accumulator, fastmath=("reassoc",)))
        if self.padding is not None:
            result = self.padding.combine(self.emitter, combiner, result, padded_element(values, self.padding, index))
        start = output.init.source
        if isinstance(start, Splat) and is_identity(combiner, start.value):
            return result
        return self.combine(index, result, read_operand(values, output.init))

"""Accumulators that hold an index, as those of argmax do, in a loop that takes several vectors a step.

Within a step all elements have the index of its first one, which one register holds; what the vector and the lane add
is subtracted before the loop and added after it:

    for %i step 64 { %index' = select(%first, %index', %i) }     %index = %index' + 16 * vector + lane
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import arith
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import Nest
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class CarriedIndices:
    """The results of one nest that are the index of the element that is chosen."""

    emitter: LoopEmitter
    results: Sequence[int] = ()
    reducing: Sequence[int] = ()
    """All results that reduce, in the order of the accumulators of a set."""

    def subtract_lanes(self, values: BodyValues, carried: list[SSAValue]) -> list[SSAValue]:
        """Turn indices of elements into those of the first element of their step."""
        return self._shift(arith.SubiOp, values, carried)

    def add_lanes(self, values: BodyValues, carried: list[SSAValue]) -> list[SSAValue]:
        """Turn indices of the first element of a step into those of the elements."""
        return self._shift(arith.AddiOp, values, carried)

    def _shift(
        self, op_class: type[arith.AddiOp | arith.SubiOp], values: BodyValues, carried: list[SSAValue]
    ) -> list[SSAValue]:
        changed, width, lanes = list(carried), len(self.reducing), values.nest.schedule.lanes
        for result in self.results:
            element = values.nest.yielded[result].type
            with self.emitter.at(values.frames[-1].cursor):
                lane_indices = values.lane_indices(element)
                for vector in range(len(carried) // width):
                    position = vector * width + self.reducing.index(result)
                    first = self.emitter.broadcast(self.emitter.constant(vector * lanes, element), lanes)
                    within = self.emitter.arith(arith.AddiOp, first, lane_indices)
                    changed[position] = self.emitter.arith(op_class, changed[position], within)
        return changed

    def share_first(self, nest: Nest, groups: list[list[Frame]]) -> None:
        """Give all elements of a step the index of its first one."""
        shared = groups[0][-1]
        for result in self.results:
            assert nest.combination is not None
            with self.emitter.at(shared.cursor):
                first = self.emitter.index_cast(self.emitter.ssa(shared.induction), nest.yielded[result].type)
                lanes = self.emitter.broadcast(first, nest.schedule.lanes)
            for frames in groups:
                frames[-1].values[nest.combination.right[result]] = lanes

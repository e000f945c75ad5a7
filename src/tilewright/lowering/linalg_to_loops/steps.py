"""How the range of one dimension is cut into loops.

[0, n)  ->  [0, n / 64 * 64) in steps of 4 vectors of 16;  [.., n / 16 * 16) vector by vector;  the rest masked
"""

from __future__ import annotations

from tilewright.lowering.linalg_to_loops.body_values import Frame
from tilewright.lowering.linalg_to_loops.comparisons import UnmaskedPart
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import JAM, SEGMENT, Nest
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One loop over a dimension: its range, how many vectors one iteration handles, whether lanes are cut."""

    lower: Index
    upper: Index
    vectors: int = 1
    masked: bool = False
    streamed: bool = False
    is_unmasked: bool = False
    """Whether it is the loop over the unmasked part (see `comparisons.UnmaskedPart`)."""

    @property
    def is_empty(self) -> bool:
        """Known to have no iteration. Where accumulators start as the first elements, an unrolled loop without
        iterations still has those elements in its accumulators."""
        return isinstance(self.upper, int) and self.lower == self.upper


def steps_of(emitter: LoopEmitter, nest: Nest, unmasked: UnmaskedPart | None, dim: int, outer: Frame) -> list[Step]:
    """The loops over a dimension inside of the loop `outer`, one after the other."""
    if dim == JAM:
        return [Step(0, nest.extents[nest.schedule.order[-1]])]
    bound = nest.bounds[dim]
    if dim != nest.schedule.vector_dim:
        is_only_one = nest.iterators[dim] and sum(nest.iterators) == 1
        return [Step(int(is_only_one and nest.starts_at_first()), bound)]
    lanes, steps = nest.schedule.lanes, list[Step]()
    if outer.dim == SEGMENT:
        length = emitter.sub(outer.end, outer.induction)
        full = emitter.add(outer.induction, emitter.align_down(length, lanes))
        is_unmasked = unmasked is not None
        return [
            Step(outer.induction, full, is_unmasked=is_unmasked),
            Step(full, outer.end, masked=True, is_unmasked=is_unmasked),
        ]
    # Where accumulators start as the first elements, loops start after these.
    start: Index = lanes * nest.schedule.unroll if nest.folds() else 0
    if unmasked is not None:
        steps.append(Step(start, unmasked.bound, nest.schedule.unroll, is_unmasked=True))
        start = emitter.max(start, unmasked.bound) if start else unmasked.bound
    elif nest.schedule.unroll > 1:
        stop = emitter.align_down(bound, lanes * nest.schedule.unroll)
        steps.append(Step(start, stop, nest.schedule.unroll))
        start = stop
    full = emitter.align_down(bound, lanes)
    steps.append(Step(start, full))
    if not (isinstance(bound, int) and bound % lanes == 0):
        steps.append(Step(full, bound, masked=True))
    return [step for step in steps if not step.is_empty or (nest.folds() and step.vectors > 1)]


def streamed_steps(emitter: LoopEmitter, nest: Nest, head: Index, bound: Index) -> list[Step]:
    """As `steps_of`, with the first `head` elements by themselves and then non-temporal vectors."""
    full = emitter.add(head, emitter.align_down(emitter.sub(bound, head), nest.schedule.lanes))
    return [Step(0, head, masked=True), Step(head, full, streamed=True), Step(full, bound, masked=True)]

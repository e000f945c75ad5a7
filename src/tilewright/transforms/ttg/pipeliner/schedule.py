"""Schedules of loops: in which stage and cluster each op of a body runs.

A pipelined loop works on several iterations at once. With stages 0 to S, round i of the new loop runs the ops of stage
s for iteration i + S - s of the old one, so that a load of stage 0 is S rounds ahead of its use in stage S. Clusters
say in which order the stages follow each other inside a round: lower clusters first, and inside a cluster as written.

In the IR a schedule is two attributes on each op and one on the loop:

```mlir
scf.for %i = %lb to %ub step %s : i32 {
  %x = tt.load %p {loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<128x!tt.ptr<f32>>
  %y = arith.addf %x, %x {loop.cluster = 0 : i32, loop.stage = 2 : i32} : tensor<128xf32>
} {tt.scheduled_max_stage = 2 : i32}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf
from tilewright.dialects.construction import i32_attr
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.support.records import dataclass

STAGE, CLUSTER = "loop.stage", "loop.cluster"
MAX_STAGE = "tt.scheduled_max_stage"
LATENCY = "tt.latency"
NUM_STAGES = "tt.num_stages"
MEET_AT_MBARRIERS = "ttg.meet_at_mbarriers"
"""On loops whose warps wait for each other at mbarriers, and not all at once."""

COPIED_BY_OTHERS = "ttg.copied_by_others"
"""On loops whose buffers another warp fills: for iterations that exist, and no others."""


def body_ops(loop: scf.ForOp) -> list[Operation]:
    """The ops of a body without its terminator."""
    return [op for op in loop.body.block.ops if not isinstance(op, scf.YieldOp)]


def holder_in(block: Block, op: Operation) -> Operation:
    """The op of `block` that is `op` or holds it."""
    current = op
    while current.parent is not block:
        parent = current.parent_op()
        assert parent is not None, "an op outside of the block"
        current = parent
    return current


def used_values(op: Operation) -> Iterator[SSAValue]:
    """Yield what an op takes from outside: its operands, and what the ops that it holds use and do not define."""
    if not op.regions:
        yield from op.operands
        return
    own: set[int] = set()
    for inner in op.walk():
        own.update(id(value) for region in inner.regions for block in region.blocks for value in block.args)
        if inner is not op:
            own.update(id(value) for value in inner.results)
    for inner in op.walk():
        yield from (value for value in inner.operands if id(value) not in own)


@dataclass
class Schedule:
    """Stage and cluster of every op of one loop's body."""

    stages: dict[Operation, int] = field(default_factory=dict[Operation, int])
    clusters: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @property
    def max_stage(self) -> int:
        """The last stage."""
        return max(self.stages.values(), default=0)

    def place(self, op: Operation, stage: int, cluster: int) -> None:
        """Schedule one op."""
        self.stages[op], self.clusters[op] = stage, cluster

    def place_of_first(self, ops: Sequence[Operation]) -> tuple[int, int]:
        """Return the stage and the cluster of the op that runs first, of some ops of one iteration."""
        return min((self.stages[op], self.clusters[op]) for op in ops)

    def in_order(self, loop: scf.ForOp) -> list[Operation]:
        """The ops in the order in which they run in a round."""
        return sorted(body_ops(loop), key=lambda op: self.clusters[op])

    def write(self, loop: scf.ForOp) -> None:
        """Put the schedule on the ops, clusters numbered from 0 without gaps."""
        indices = {cluster: index for index, cluster in enumerate(sorted(set(self.clusters.values())))}
        for op in body_ops(loop):
            op.attributes[CLUSTER] = i32_attr(indices[self.clusters[op]])
            op.attributes[STAGE] = i32_attr(self.stages[op])
        loop.attributes[MAX_STAGE] = i32_attr(self.max_stage)

    @staticmethod
    def find(loop: scf.ForOp) -> Schedule | None:
        """The schedule that the ops of a loop bear; None unless all of them do."""
        if integer_attribute(loop, MAX_STAGE) is None:
            return None
        schedule = Schedule()
        for op in body_ops(loop):
            stage, cluster = integer_attribute(op, STAGE), integer_attribute(op, CLUSTER)
            if stage is None or cluster is None:
                return None
            schedule.place(op, stage, cluster)
        return schedule


def erase_schedule(loop: scf.ForOp) -> None:
    """Remove what a schedule left on the ops of a loop, and on the loop."""
    loop.attributes.pop(MAX_STAGE, None)
    for op in loop.body.block.ops:
        for name in (STAGE, CLUSTER, LATENCY):
            op.attributes.pop(name, None)


def carried_source(loop: scf.ForOp, value: SSAValue) -> SSAValue | None:
    """Return what a carried value of the body was given at the end of the iteration before; None for any other
    value.
    """
    if not isinstance(value, BlockArgument) or value.owner is not loop.body.block or value.index == 0:
        return None
    return loop.yielded[value.index - 1]


def definition_in(loop: scf.ForOp, value: SSAValue) -> Operation | None:
    """The op of the body that a value is a result of; None for what comes from elsewhere."""
    return value.op if isinstance(value, OpResult) and value.op.parent is loop.body.block else None


def find_violation(loop: scf.ForOp, schedule: Schedule) -> tuple[Operation, Operation] | None:
    """A pair of a definition and a use that a schedule does not respect; None where all is well.

    A value must be there when it is used: made in an earlier stage, or in the same stage and before. What the iteration
    before left may be made one stage later, and then before in the round.
    """
    position = {op: index for index, op in enumerate(schedule.in_order(loop))}
    for user in body_ops(loop):
        for value in used_values(user):
            distance, source = 0, value
            carried = carried_source(loop, value)
            if carried is not None:
                distance, source = 1, carried
            maker = definition_in(loop, source)
            if maker is None:
                continue
            slack = schedule.stages[user] + distance - schedule.stages[maker]
            if slack < 0 or (slack == 0 and position[maker] >= position[user]):
                return maker, user
    return None

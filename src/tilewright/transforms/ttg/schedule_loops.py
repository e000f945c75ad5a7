"""`tritongpu-schedule-loops`: each op of a loop whose loads have latencies gets a stage and a cluster."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import scf, tt
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.ir.effects import is_memory_free, may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.pipeliner.memory_roots import WrittenMemory
from tilewright.transforms.ttg.pipeliner.schedule import (
    LATENCY,
    Schedule,
    body_ops,
    carried_source,
    definition_in,
    find_violation,
    holder_in,
    used_values,
)

CLUSTERS_PER_STAGE = 4
"""Room between the clusters of two stages for what has to run just before one of them."""


class CannotPipeline(Exception):
    """Why no schedule respects the order of effects."""


class _Scheduler:
    """Makes the schedule of one loop."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self._ops = body_ops(loop)
        self._schedule = Schedule()
        self._distances: dict[Operation, int] = {}
        self._last = 0

    def run(self) -> Schedule:
        """The schedule; raises `CannotPipeline`."""
        self._schedule_latencies()
        for stage in range(self._last + 1):
            for op in [op for op in self._ops if self._schedule.stages.get(op) == stage]:
                self._pull_definitions(op)
        self._pull_carried_definitions()
        self._schedule_rest()
        self._check_effects()
        violation = find_violation(self._loop, self._schedule)
        if violation is not None:
            raise CannotPipeline(f"'{violation[1].name}' would run before the '{violation[0].name}' that it uses")
        return self._schedule

    def _cluster_of(self, stage: int) -> int:
        """Later stages run first in a round."""
        return CLUSTERS_PER_STAGE * (self._last - stage)

    def _latency(self, op: Operation) -> int:
        return integer_attribute(op, LATENCY) or 0

    def _schedule_latencies(self) -> None:
        """Each op with a latency, and whatever uses it, as many stages before the end as latencies follow it."""
        reached: set[Operation] = set()
        for op in self._ops:
            if LATENCY in op.attributes or op in reached:
                reached.add(op)
                reached.update(self._users(op))
        for op in reversed(self._ops):
            after = max((self._distances[user] for user in self._users(op)), default=0)
            self._distances[op] = after + self._latency(op)
        self._last = max((self._distances[op] for op in self._ops if LATENCY in op.attributes), default=0)
        for op in self._ops:
            stage = self._last - self._distances[op]
            if self._ends_iterations(op):
                self._schedule.place(op, self._last, self._cluster_of(-1))
            elif op in reached:
                self._schedule.place(op, stage, self._cluster_of(stage))

    def _ends_iterations(self, op: Operation) -> bool:
        """Return whether an op is a conditional that nothing else of its iteration waits for: it runs at the end of the
        round, when the loads ahead are under way.
        """
        if not isinstance(op, scf.IfOp) or self._users(op):
            return False
        makers = (definition_in(self._loop, value) for value in used_values(op))
        return all(maker is None or LATENCY not in maker.attributes for maker in makers)

    def _users(self, op: Operation) -> list[Operation]:
        """The ops of the body that use an op in the same iteration."""
        block = self._loop.body.block
        uses = (use.operation for result in op.results for use in result.uses)
        return [
            holder_in(block, user) for user in uses if not isinstance(user, scf.YieldOp) or user.parent is not block
        ]

    def _pull_definitions(self, op: Operation) -> list[Operation]:
        """Place what an op needs in the same iteration in its stage and cluster, unless it runs earlier already. Return
        what was placed.
        """
        stage, cluster = self._schedule.stages[op], self._schedule.clusters[op]
        placed: list[Operation] = []
        stack = [op]
        while stack:
            for value in used_values(stack.pop()):
                maker = definition_in(self._loop, value)
                if maker is not None and self._may_place(maker, stage, cluster):
                    self._schedule.place(maker, stage, cluster)
                    placed.append(maker)
                    stack.append(maker)
        return placed

    def _may_place(self, op: Operation, stage: int, cluster: int) -> bool:
        """Return whether an op has no place yet, or a later one that nothing ties it to."""
        if op not in self._schedule.stages:
            return True
        is_later = (self._schedule.stages[op], self._schedule.clusters[op]) > (stage, cluster)
        return is_later and is_memory_free(op) and LATENCY not in op.attributes

    def _pull_carried_definitions(self) -> None:
        """Place what the next iteration needs just before that: one stage later, in a cluster before. Loads stay in the
        stage of their use, as they would have to be waited for. Earlier stages choose first.
        """
        for stage in range(self._last):
            stack = [op for op in self._ops if self._schedule.stages.get(op) == stage]
            while stack:
                op = stack.pop()
                for value in used_values(op):
                    source = carried_source(self._loop, value)
                    maker = None if source is None else definition_in(self._loop, source)
                    if maker is None or maker in self._schedule.stages:
                        continue
                    if isinstance(maker, tt.LoadOp):
                        self._schedule.place(maker, stage, self._schedule.clusters[op])
                        stack += [maker, *self._pull_definitions(maker)]
                    else:
                        self._schedule.place(maker, stage + 1, self._cluster_of(stage) - 1)
                        self._pull_definitions(maker)

    def _schedule_rest(self) -> None:
        """All else runs in the last stage, where iterations end in order; nothing before what it uses."""
        clusters, stages = self._schedule.clusters, self._schedule.stages
        latest_effect = 0
        for op in self._ops:
            if op not in stages:
                self._schedule.place(op, self._last, self._cluster_of(self._last))
            for value in used_values(op):
                maker = definition_in(self._loop, value)
                if maker is not None and stages[maker] == stages[op]:
                    clusters[op] = max(clusters[op], clusters[maker])
            if stages[op] == self._last and not is_memory_free(op) and LATENCY not in op.attributes:
                clusters[op] = latest_effect = max(latest_effect, clusters[op])

    def _check_effects(self) -> None:
        """Only loads run ahead, and only of memory that the loop does not write."""
        written: WrittenMemory | None = None
        for op in self._ops:
            if self._schedule.stages[op] == self._last or is_memory_free(op):
                continue
            for inner in op.walk():
                if may_write(inner) and not inner.regions:
                    raise CannotPipeline(f"the addresses of its loads depend on '{inner.name}'")
                if isinstance(inner, tt.LoadOp | tt.DescriptorLoadOp):
                    written = written or WrittenMemory(self._loop)
                    if written.may_hold(inner.operands[:1]):
                        raise CannotPipeline("the loop may write what it loads ahead")


def schedule_loop(loop: scf.ForOp) -> Schedule:
    """The schedule of a loop some of whose ops bear latencies; raises `CannotPipeline`."""
    return _Scheduler(loop).run()


@register_pass
class ScheduleLoopsPass(Pass):
    """Loops with latencies get a schedule: loads as early as their latency asks for, what they need with them,
    everything else in the last stage.

    Before:
    ```mlir
    %a = tt.load %pa {tt.latency = 2 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
    %d = ttng.warp_group_dot ...
    ```
    After:
    ```mlir
    %a = tt.load %pa {loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
    %d = ttng.warp_group_dot ... {loop.cluster = 0 : i32, loop.stage = 2 : i32}
    ```
    """

    name = "tritongpu-schedule-loops"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            if not any(LATENCY in op.attributes for op in loop.body.block.ops):
                continue
            try:
                schedule: Schedule | None = schedule_loop(loop)
            except CannotPipeline as reason:
                context.remark(loop, f"the loop is not pipelined: {reason}", RemarkKind.NOT_PIPELINED)
                schedule = None
            for op in loop.body.block.ops:
                op.attributes.pop(LATENCY, None)
            if schedule is not None and schedule.max_stage > 0:
                schedule.write(loop)

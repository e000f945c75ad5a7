"""From a scheduled loop to one whose rounds work on several iterations.

With last stage S the new loop has as many rounds as the old one has iterations. Round i runs stage s for iteration
i + S - s, under the predicate that this iteration exists; what comes before round 0 is written out before the loop.
A value that is made in stage s and used in stage t > s is carried for t - s rounds.

```mlir
scf.for %i = %lb to %ub step %s iter_args(%acc = %c) -> (f32) : i32 {
  %x = load(%i)       // stage 0
  %y = addf %acc, %x  // stage 1
  scf.yield %y : f32
}
```
becomes
```mlir
%x0 = load(%lb) if %lb < %ub
scf.for %i = %lb to %ub step %s iter_args(%acc = %c, %x = %x0) -> (f32, f32) : i32 {
  %y = addf %acc, %x
  %x1 = load(%i + %s) if %i + %s < %ub
  scf.yield %y, %x1 : f32, f32
}
```
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects import arith, scf, ttng
from tilewright.ir.builder import OpBuilder
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.pipeliner.predication import guarded, predicate
from tilewright.transforms.ttg.pipeliner.schedule import (
    CLUSTER,
    COPIED_BY_OTHERS,
    MAX_STAGE,
    NUM_STAGES,
    STAGE,
    Schedule,
    body_ops,
    definition_in,
    used_values,
)


@dataclass
class _Stream:
    """A value of the old body as it changes from iteration to iteration.

    `stage` is the stage that makes it; for a carried value, one before the stage that makes its next value. `depth` is
    for how many rounds it is kept.
    """

    value: SSAValue
    stage: int
    depth: int = 0


class _Expander:
    """Expands one loop."""

    def __init__(self, loop: scf.ForOp, schedule: Schedule) -> None:
        self._loop = loop
        self._schedule = schedule
        self._last = schedule.max_stage
        self._order = schedule.in_order(loop)
        self._users = {op: list(dict.fromkeys(used_values(op))) for op in self._order}
        self._streams = self._find_streams()
        self._first_slot = self._number_slots()
        self._made: list[dict[SSAValue, SSAValue]] = [{} for _ in range(self._last + 1)]
        """Values of the iterations that begin before the loop."""
        self._in_loop: dict[SSAValue, SSAValue] = {}
        """Values of a round."""
        self._bounds: dict[int, SSAValue] = {}

    def run(self) -> scf.ForOp:
        """Replace the loop; returns the new one."""
        self._write_prologue()
        new = self._write_kernel()
        for position, old in enumerate(self._loop.results):
            if old.first_use is None:
                continue
            stream = self._streams[self._loop.body.block.args[1 + position]]
            old.replace_all_uses_with(new.results[self._slot(stream, self._last - stream.stage)])
        self._loop.detach()
        self._loop.erase()
        return new

    # Which values are kept for how long.

    def _find_streams(self) -> dict[SSAValue, _Stream]:
        streams: dict[SSAValue, _Stream] = {}
        for op in self._order:
            for result in op.results:
                streams[result] = _Stream(result, self._schedule.stages[op])
        for argument, source in zip(self._loop.region_iter_args, self._loop.yielded, strict=True):
            maker = definition_in(self._loop, source)
            stage = self._first_use(argument) if maker is None else self._schedule.stages[maker]
            streams[argument] = _Stream(argument, stage - 1)
        for op, values in self._users.items():
            for value in values:
                if value in streams:
                    stream = streams[value]
                    stream.depth = max(stream.depth, self._schedule.stages[op] - stream.stage)
        for argument, result in zip(self._loop.region_iter_args, self._loop.results, strict=True):
            if result.first_use is not None:
                stream = streams[argument]
                stream.depth = max(stream.depth, self._last - stream.stage)
        return streams

    def _first_use(self, argument: SSAValue) -> int:
        stages = (self._schedule.stages[op] for op, values in self._users.items() if argument in values)
        return min(stages, default=self._last)

    def _number_slots(self) -> dict[SSAValue, int]:
        """The position among the carried values where those of each stream begin."""
        positions: dict[SSAValue, int] = {}
        position = 0
        for value, stream in self._streams.items():
            positions[value] = position
            position += stream.depth
        return positions

    def _slot(self, stream: _Stream, age: int) -> int:
        """The position among the carried values of what a stream was `age` rounds ago."""
        return self._first_slot[stream.value] + age - 1

    # Iterations.

    def _counter(self, builder: OpBuilder, start: SSAValue, steps: int) -> SSAValue:
        """`start + steps * step`"""
        if steps == 0:
            return start
        base, step = arith.find_constant_int(start), arith.find_constant_int(self._loop.step)
        if base is not None and step is not None:
            return self._number(builder, base + steps * step)
        if step is not None:
            distance = self._number(builder, steps * step)
        else:
            distance = self._loop.step
            if steps > 1:
                distance = builder.result(arith.MuliOp(distance, self._number(builder, steps)))
        return builder.result(arith.AddiOp(start, distance))

    def _number(self, builder: OpBuilder, value: int) -> SSAValue:
        return builder.result(arith.constant_int(value, self._loop.lb.type))  # pyright: ignore[reportArgumentType]

    def _exists(self, builder: OpBuilder, start: SSAValue, steps: int) -> SSAValue | None:
        """Return whether the iteration `steps` after the one at `start` exists; None where it is known to."""
        lb, ub, step = (arith.find_constant_int(value) for value in (start, self._loop.ub, self._loop.step))
        is_unsigned = self._loop.unsigned_cmp is not None
        if lb is not None and ub is not None and step is not None and (not is_unsigned or min(lb, ub) >= 0):
            exists = lb + steps * step < ub
            return None if exists else builder.result(arith.constant_bool(False))
        if is_unsigned:
            counter = self._counter(builder, start, steps)
            return builder.result(arith.CmpiOp(counter, self._loop.ub, "ult"))
        return builder.result(arith.CmpiOp(start, self._bound(steps), "slt"))

    def _bound(self, steps: int) -> SSAValue:
        """`ub - steps * step`, before the loop: an iteration before it has that many after it."""
        if steps == 0:
            return self._loop.ub
        if steps not in self._bounds:
            builder = OpBuilder.before(self._loop)
            self._bounds[steps] = self._lowered_bound(builder, steps)
        return self._bounds[steps]

    def _lowered_bound(self, builder: OpBuilder, steps: int) -> SSAValue:
        ub, step = (arith.find_constant_int(value) for value in (self._loop.ub, self._loop.step))
        if ub is not None and step is not None:
            return self._number(builder, ub - steps * step)
        factor = self._number(builder, steps if step is None else steps * step)
        if step is None:
            factor = builder.result(arith.MuliOp(self._loop.step, factor))
        return builder.result(arith.SubiOp(self._loop.ub, factor))

    # What runs before the loop.

    def _write_prologue(self) -> None:
        builder = OpBuilder.before(self._loop)
        lb = self._loop.lb
        counters = [self._counter(builder, lb, iteration) for iteration in range(self._last)]
        exists = [self._exists(builder, lb, iteration) for iteration in range(self._last)]
        for first in range(self._last):
            for op in self._order:
                iteration = first - self._schedule.stages[op]
                if iteration >= 0:
                    mapping = {
                        value: self._before(value, iteration, counters)
                        for value in self._users[op]
                        if value in self._streams or value is self._loop.induction_variable
                    }
                    self._emit(builder, op, mapping, exists[iteration], self._made[iteration])

    def _before(self, value: SSAValue, iteration: int, counters: list[SSAValue]) -> SSAValue:
        """A value in one of the first iterations."""
        if value is self._loop.induction_variable:
            return counters[iteration]
        if not isinstance(value, BlockArgument) or value not in self._streams:
            return self._made[iteration].get(value, value)
        if iteration == 0:
            return self._loop.iter_args[value.index - 1]
        return self._before(self._loop.yielded[value.index - 1], iteration - 1, counters)

    def _emit(
        self,
        builder: OpBuilder,
        op: Operation,
        mapping: dict[SSAValue, SSAValue],
        exists: SSAValue | None,
        made: dict[SSAValue, SSAValue],
    ) -> None:
        copy = op.clone(mapping)
        for name in (STAGE, CLUSTER):
            copy.attributes.pop(name, None)
        if exists is None:
            copy = builder.insert(copy)
        elif made is not self._in_loop and self._reads_what_others_copy(copy):
            copy = guarded(builder, copy, exists)
        else:
            copy = predicate(builder, copy, exists)
        made.update(zip(op.results, copy.results, strict=True))

    def _reads_what_others_copy(self, op: Operation) -> bool:
        """Return whether an op reads buffers that nobody may have filled, as the loop may have no iterations."""
        return COPIED_BY_OTHERS in self._loop.attributes and isinstance(op, ttng.WarpGroupDotOp)

    # The loop.

    def _write_kernel(self) -> scf.ForOp:
        builder = OpBuilder.before(self._loop)
        lb = self._loop.lb
        counters = [self._counter(builder, lb, iteration) for iteration in range(self._last)]
        carried: list[SSAValue] = []
        for stream in self._streams.values():
            carried += [
                self._before(stream.value, self._last - stream.stage - age, counters)
                for age in range(1, stream.depth + 1)
            ]
        body = Block(arg_types=(lb.type, *(value.type for value in carried)))
        self._write_body(body)
        new = scf.ForOp(lb, self._loop.ub, self._loop.step, carried, body)
        new.properties.update(self._loop.properties)
        dropped = (MAX_STAGE, NUM_STAGES, COPIED_BY_OTHERS)
        new.attributes.update({name: value for name, value in self._loop.attributes.items() if name not in dropped})
        return builder.insert(new)

    def _write_body(self, body: Block) -> None:
        builder = OpBuilder.at_end(body, self._loop.location)
        ahead = [self._last - stage for stage in range(self._last + 1)]
        counters = [self._counter(builder, body.args[0], steps) for steps in ahead]
        exists = [self._exists(builder, body.args[0], steps) if steps else None for steps in ahead]
        made = self._in_loop
        for op in self._order:
            stage = self._schedule.stages[op]
            mapping = {
                value: self._inside(body, value, stage, made, counters)
                for value in self._users[op]
                if value in self._streams or value is self._loop.induction_variable
            }
            self._emit(builder, op, mapping, exists[stage], made)
        yielded: list[SSAValue] = []
        for stream in self._streams.values():
            if stream.depth:
                first = self._slot(stream, 1) + 1
                yielded.append(self._newest(stream, made, counters))
                yielded += body.args[first : first + stream.depth - 1]
        builder.insert(scf.YieldOp(*yielded))

    def _inside(
        self, body: Block, value: SSAValue, stage: int, made: dict[SSAValue, SSAValue], counters: list[SSAValue]
    ) -> SSAValue:
        """A value as an op of a stage uses it in a round."""
        if value is self._loop.induction_variable:
            return counters[stage]
        stream = self._streams[value]
        age = stage - stream.stage
        return body.args[1 + self._slot(stream, age)] if age else self._newest(stream, made, counters)

    def _newest(self, stream: _Stream, made: dict[SSAValue, SSAValue], counters: list[SSAValue]) -> SSAValue:
        """Return what a stream becomes in this round."""
        value = stream.value
        if isinstance(value, BlockArgument):
            value = self._loop.yielded[value.index - 1]
        if value is self._loop.induction_variable:
            return counters[stream.stage + 1]
        return made.get(value, value)


def expand(loop: scf.ForOp, schedule: Schedule) -> scf.ForOp:
    """Replace a scheduled loop by the pipelined one, which is returned."""
    assert set(schedule.stages) >= set(body_ops(loop))
    return _Expander(loop, schedule).run()

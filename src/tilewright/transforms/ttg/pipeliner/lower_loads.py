"""Pipelined loads become asynchronous copies into several buffers.

```mlir
scf.for %i = %lb to %ub step %s : i32 {
  %x = tt.load %p {loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
  %m = ttg.local_alloc %x {loop.cluster = 0 : i32, loop.stage = 2 : i32} : (...) -> !ttg.memdesc<128x64xf16, ...>
```
becomes
```mlir
%b = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
scf.for %i = %lb to %ub step %s iter_args(%in = %c-1, %out = %c-1) -> (i32, i32) : i32 {
  %in1 = (%in + 1) mod 3                                 // stage 0
  %v = ttg.memdesc_index %b[%in1]
  %t = ttg.async_copy_global_to_local %p, %v
  %g = ttg.async_commit_group tokens %t
  %out1 = (%out + 1) mod 3                               // stage 2
  %w = ttg.async_wait %g {num = 0 : i32}
  %m = ttg.memdesc_index %b[%out1]
```
Blocks behind descriptors are copied by TMA, and waited for at a barrier in shared memory per buffer.

In loops whose warps meet at mbarriers the other copies have such barriers, too, at which every thread arrives once its
part is there. Another barrier counts the warps that are done with a round, and is waited for before the copies of the
next, which overwrite no younger buffer. So no warp waits for others but for what it needs, and up to a round may lie
between two of them:
```mlir
  ttng.wait_barrier %done, %phase                        // last stage, before the copies
  %t = ttg.async_copy_global_to_local %p, %v {ttg.ordered}
  ttng.async_copy_mbarrier_arrive %filled[%in1] {noIncrement}
  ...
  ttng.wait_barrier %filled[%out1], %turn                // before the use
  ...
  ttng.arrive_barrier %done, 1 {perWarp}                 // at the end of a round, and before the loop
```
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.analysis.membar.accesses import ORDERED
from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.construction import UNIT, static_values
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.shared_encodings import shared_encoding_of
from tilewright.dialects.ttg.types import memdesc_type
from tilewright.dialects.ttg.verification import DEFAULT_THREADS_PER_WARP, warps_of_program
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.layouts.shared import SwizzledSharedLayout
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.load_groups import LoadGroup, LoadGroups, PipelinedLoad
from tilewright.transforms.ttg.pipeliner.schedule import MEET_AT_MBARRIERS, Schedule

OpT = TypeVar("OpT", bound=Operation)


class Placer(OpBuilder):
    """Inserts ops at a point with a stage and a cluster."""

    def __init__(self, schedule: Schedule, builder: OpBuilder, stage: int, cluster: int) -> None:
        super().__init__(builder.cursor, builder.location)
        self._schedule = schedule
        self._stage = stage
        self._cluster = cluster

    @staticmethod
    def like(schedule: Schedule, op: Operation) -> Placer:
        """A placer before an op, in its stage and cluster."""
        return Placer(schedule, OpBuilder.before(op), schedule.stages[op], schedule.clusters[op])

    def insert(self, op: OpT) -> OpT:
        """Insert and schedule an op."""
        self._schedule.place(op, self._stage, self._cluster)
        return super().insert(op)


@dataclass(frozen=True)
class _Ring:
    """`count` buffers that are filled `ahead` rounds before the last stage, and their barriers; the buffer in use, and
    its turn, are the added carried values `position` and `position + 1`.
    """

    barriers: SSAValue
    count: int
    position: int
    ahead: int


class LoadLowering:
    """Lowers the loads of one scheduled loop."""

    def __init__(self, loop: scf.ForOp, schedule: Schedule, axis_info: ModuleAxisInfo) -> None:
        self._schedule = schedule
        self._groups = LoadGroups(loop, schedule, axis_info)
        self._carried = CarriedValues(loop)
        self._num_warps = warps_of_program(loop)
        self._rings: list[_Ring] = []
        self._outside = OpBuilder.before(loop)
        self._after: list[Operation] = []
        self._reads_done: SSAValue | None = None
        """Where warps arrive at the end of each round, in loops whose warps do not meet."""

    def run(self) -> scf.ForOp:
        """Rewrite the body and return the loop, which carries the positions in the buffers."""
        groups = self._groups.find()
        if MEET_AT_MBARRIERS in self._carried.loop.attributes and any(group.is_ordered for group in groups):
            self._reads_done = self._wait_for_reads([group for group in groups if group.is_ordered])
        for group in groups:
            self._lower(group)
        loop = self._carried.finish()
        self._outside = OpBuilder.before(loop)
        self._after[:0] = [op for ring in self._rings for op in self._wait_for_rest(ring, loop)]
        if any(not group.loads[0].uses_tma for group in groups):
            self._after.insert(0, ttg.AsyncWaitOp((), num=0))
        OpBuilder.after(loop).insert_all(self._after)
        return loop

    def _lower(self, group: LoadGroup) -> None:
        first, uses_tma = group.loads[0].op, group.loads[0].uses_tma
        fill = Placer.like(self._schedule, first)
        use = Placer(self._schedule, OpBuilder.before(group.users[0]), *self._place_of_wait(group))
        buffers = [self._allocate(load, group.num_buffers) for load in group.loads]
        into, _ = self._next_index(fill, group.num_buffers, has_phase=False)
        is_ordered = self._reads_done is not None and group.is_ordered
        out_of, phase = self._next_index(use, group.num_buffers, has_phase=uses_tma or is_ordered)
        token: SSAValue | None = None
        if is_ordered:
            assert phase is not None
            barriers = self._make_barriers(group.num_buffers, DEFAULT_THREADS_PER_WARP * self._num_warps)
            self._copy(group, fill, buffers, into)
            filled = fill.result(ttg.MemDescIndexOp(barriers, into))
            fill.insert(ttng.AsyncCopyMbarrierArriveOp(filled, no_increment=True))
            awaited = use.result(ttg.MemDescIndexOp(barriers, out_of))
            use.insert(ttng.WaitBarrierOp(awaited, phase)).attributes[ORDERED] = UNIT
            ahead = self._schedule.max_stage - self._schedule.stages[first]
            self._rings.append(_Ring(barriers, group.num_buffers, self._carried.count - 2, ahead))
        elif phase is not None:
            barriers = self._make_barriers(group.num_buffers)
            self._copy_by_tma(group, fill, buffers, barriers, into)
            awaited = use.result(ttg.MemDescIndexOp(barriers, out_of))
            use.insert(ttng.WaitBarrierOp(awaited, phase))
        else:
            copied = self._copy(group, fill, buffers, into)
            token = use.insert(ttg.AsyncWaitOp((copied,), num=0)).ret_token
        views: list[SSAValue | None] = [None] * len(buffers)
        if group.is_sliced:
            views = [use.result(ttg.MemDescIndexOp(buffer, out_of)) for buffer in buffers]
        for load, buffer, view in zip(group.loads, buffers, views, strict=True):
            Replacement(self._schedule, load, buffer, out_of, token, view).run()

    def _place_of_wait(self, group: LoadGroup) -> tuple[int, int]:
        """Before the first use; for products that are sliced, at the end of the round before."""
        stage, cluster = self._schedule.place_of_first(group.users)
        return (stage - 1, max(self._schedule.clusters.values()) + 1) if group.is_sliced else (stage, cluster)

    def _allocate(self, load: PipelinedLoad, count: int) -> SSAValue:
        type = as_tensor(load.op.result.type)
        buffers = memdesc_type((count, *type.get_shape()), type.element_type, load.encoding)
        alloc = self._outside.insert(ttg.LocalAllocOp(buffers))
        self._after.append(ttg.LocalDeallocOp(alloc))
        return alloc.result

    def _number(self, value: int) -> SSAValue:
        return self._outside.result(arith.constant_int(value, i32))

    def _next_index(self, placer: Placer, count: int, *, has_phase: bool) -> tuple[SSAValue, SSAValue | None]:
        """The next buffer, and the phase of its barrier, which changes with each turn around the buffers."""
        if count == 1 and not has_phase:
            return self._number(0), None
        index = self._carried.add(self._number(-1))
        one, zero = self._number(1), self._number(0)
        following = placer.result(arith.AddiOp(index, one))
        wraps = placer.result(arith.CmpiOp(following, self._number(count), "sge"))
        following = placer.result(arith.SelectOp(wraps, zero, following))
        self._carried.yields(following)
        if not has_phase:
            return following, None
        phase = self._carried.add(zero)
        flipped = placer.result(arith.XOrIOp(phase, one))
        phase = placer.result(arith.SelectOp(wraps, flipped, phase))
        self._carried.yields(phase)
        return following, phase

    def _copy(self, group: LoadGroup, fill: Placer, buffers: list[SSAValue], into: SSAValue) -> SSAValue:
        """Start the copies of a group; returns their token."""
        tokens: list[SSAValue] = []
        for load, buffer in zip(group.loads, buffers, strict=True):
            op = load.op
            assert isinstance(op, tt.LoadOp)
            fill.move_before(op)
            view = fill.insert(ttg.MemDescIndexOp(buffer, into))
            copy = ttg.AsyncCopyGlobalToLocalOp(
                op.ptr,
                view,
                op.mask,
                cache=CacheModifier.of(op.cache),
                evict=EvictionPolicy.of(op.evict),
                contiguity=load.contiguity,
            )
            if self._reads_done is not None and group.is_ordered:
                copy.attributes[ORDERED] = UNIT
            tokens.append(fill.insert(copy).token)
        return fill.insert(ttg.AsyncCommitGroupOp(tokens)).async_token

    def _copy_by_tma(
        self, group: LoadGroup, fill: Placer, buffers: list[SSAValue], barriers: SSAValue, into: SSAValue
    ) -> None:
        true = self._outside.result(arith.constant_bool(True))
        filled = fill.result(ttg.MemDescIndexOp(barriers, into))
        fill.insert(ttng.BarrierExpectOp(filled, sum(load.bytes for load in group.loads), true))
        for load, buffer in zip(group.loads, buffers, strict=True):
            op = load.op
            assert isinstance(op, tt.DescriptorLoadOp)
            fill.move_before(op)
            view = fill.insert(ttg.MemDescIndexOp(buffer, into))
            copy = ttng.AsyncTMACopyGlobalToLocalOp(
                op.desc,
                tuple(op.indices),
                filled,
                view,
                true,
                cache=CacheModifier.of(op.cache),
                evict=EvictionPolicy.of(op.evict),
            )
            fill.insert(copy)

    def _wait_for_rest(self, ring: _Ring, loop: scf.ForOp) -> list[Operation]:
        """After the loop, wait for the copies of iterations that do not exist: nothing arrives at barriers that are
        gone. The results of the loop are the buffer of the last iteration, and its turn.
        """
        ops: list[Operation] = []

        def add(op: Operation) -> SSAValue:
            ops.append(op)
            return op.results[0]

        added = len(loop.results) - self._carried.count
        index, phase = (loop.results[added + ring.position + offset] for offset in (0, 1))
        one, zero, count = self._number(1), self._number(0), self._number(ring.count)
        for _ in range(ring.ahead):
            following = add(arith.AddiOp(index, one))
            wraps = add(arith.CmpiOp(following, count, "sge"))
            index = add(arith.SelectOp(wraps, zero, following))
            phase = add(arith.SelectOp(wraps, add(arith.XOrIOp(phase, one)), phase))
            ops.append(ttng.WaitBarrierOp(add(ttg.MemDescIndexOp(ring.barriers, index)), phase))
        return ops

    def _wait_for_reads(self, groups: list[LoadGroup]) -> SSAValue:
        """Before the first copies of a round, wait until all warps are done with the round before; returns where."""
        barriers = self._make_barriers(1, self._num_warps)
        barrier = self._outside.result(ttg.MemDescIndexOp(barriers, self._number(0)))
        loads = [load.op for group in groups for load in group.loads]
        first = next(op for op in self._schedule.in_order(self._carried.loop) if op in loads)
        last = self._schedule.max_stage
        placer = Placer(self._schedule, OpBuilder.before(first), last, self._schedule.clusters[first])
        phase = self._carried.add(self._number(0))
        placer.insert(ttng.WaitBarrierOp(barrier, phase))
        self._carried.yields(placer.result(arith.XOrIOp(phase, self._number(1))))
        return barrier

    def free_buffers(self, loop: scf.ForOp) -> None:
        """In the pipelined loop, have warps say when they are done with a round, and before it with all else."""
        if self._reads_done is not None:
            last = loop.body.block.last_op
            assert last is not None
            for placer in (loop, last):
                OpBuilder.before(placer).insert(ttng.ArriveBarrierOp(self._reads_done, 1, per_warp=True))

    def _make_barriers(self, count: int, arrivals: int = 1) -> SSAValue:
        """Barriers that so many arrivals complete, one a buffer; invalid again after the loop."""
        encoding = shared_encoding_of(SwizzledSharedLayout(1, 1, 1, (0,)))
        alloc = self._outside.insert(ttg.LocalAllocOp(memdesc_type((count, 1), i64, encoding)))
        ends: list[Operation] = []
        for index in range(count):
            view = self._outside.insert(ttg.MemDescIndexOp(alloc, self._number(index)))
            self._outside.insert(ttng.InitBarrierOp(view, arrivals))
            ends.append(ttng.InvalBarrierOp(view))
        self._after[:0] = [*ends, ttg.LocalDeallocOp(alloc)]
        return alloc.result


class Replacement:
    """Gives the users of one load what they need out of the buffer at `index`."""

    def __init__(
        self,
        schedule: Schedule,
        load: PipelinedLoad,
        buffers: SSAValue,
        index: SSAValue,
        token: SSAValue | None,
        view: SSAValue | None,
    ) -> None:
        self._schedule = schedule
        self._load = load
        self._buffers = buffers
        self._index = index
        self._token = token
        self._view = view

    def run(self) -> None:
        """Replace the load, which goes."""
        in_registers: list[Operation] = []
        for user in self._load.users:
            placer = Placer.like(self._schedule, user)
            if self._load.is_buffer(user):
                view = placer.result(ttg.MemDescIndexOp(self._buffers, self._index))
                self._replace_buffer(user.results[0], view)
                self._drop(user)
            elif isinstance(user, ttg.ConvertLayoutOp) and self._load.fill is None:
                user.result.replace_all_uses_with(self._read(placer, user))
                self._drop(user)
            else:
                in_registers.append(user)
        if in_registers:
            self._load.op.result.replace_all_uses_with(self._read_for(in_registers))
        self._drop(self._load.op)

    def _read_for(self, users: list[Operation]) -> SSAValue:
        """Read the buffer into registers for all of some users, which follow in the body but may run in any order."""
        placer = Placer(self._schedule, OpBuilder.before(users[0]), *self._schedule.place_of_first(users))
        loaded = self._read(placer, self._load.op)
        if self._load.fill is None:
            return loaded
        mask, other = self._load.fill
        return placer.result(arith.SelectOp(mask, loaded, other))

    def _read(self, placer: Placer, like: Operation) -> SSAValue:
        view = self._view
        if view is None:
            view = placer.result(ttg.MemDescIndexOp(self._buffers, self._index))
        return placer.result(ttg.LocalLoadOp(view, like.results[0].type, self._token))

    def _drop(self, op: Operation) -> None:
        del self._schedule.stages[op], self._schedule.clusters[op]
        op.detach()
        op.erase()

    def _replace_buffer(self, old: SSAValue, new: SSAValue) -> None:
        """Put a mutable buffer in place of an immutable one; views of it become mutable too."""
        for op in list(dict.fromkeys(use.operation for use in old.uses)):
            view = _view_like(op, new)
            if view is None:
                continue
            Placer.like(self._schedule, op).insert(view)
            self._replace_buffer(op.results[0], view.results[0])
            self._drop(op)
        old.replace_all_uses_with(new)


def _view_like(op: Operation, source: SSAValue) -> Operation | None:
    """The view that an op makes, of another buffer; None for an op that is no view."""
    match op:
        case ttg.MemDescTransOp():
            return ttg.MemDescTransOp(source, static_values(op.order))
        case ttg.MemDescReshapeOp():
            return ttg.MemDescReshapeOp(source, as_memdesc(op.result.type).get_shape())
        case ttg.MemDescSubsliceOp():
            return ttg.MemDescSubsliceOp(source, static_values(op.offsets), as_memdesc(op.result.type).get_shape())
        case _:
            return None

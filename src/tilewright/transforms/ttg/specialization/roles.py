"""From the roles of a loop's warps to a `ttg.warp_specialize`: rings, the loop that copies, the one that multiplies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue, Use

from tilewright.dialects import arith, scf, ttg, ttng
from tilewright.dialects.construction import UNIT, i32_array
from tilewright.dialects.ttg.types import MemDescType, memdesc_type
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.lower_loads import Placer, Replacement
from tilewright.transforms.ttg.pipeliner.releases import RELEASES
from tilewright.transforms.ttg.pipeliner.schedule import COPIED_BY_OTHERS, Schedule, body_ops
from tilewright.transforms.ttg.specialization.copying import CopyingPartition
from tilewright.transforms.ttg.specialization.decision import Ring, Roles
from tilewright.transforms.ttg.specialization.rings import (
    SLOT_VALUES,
    Memory,
    allocate,
    carry_around,
    free,
    next_slot,
)

REGISTERS_TO_COPY = 24
"""Registers of a thread that does nothing but start copies."""


def specialize(roles: Roles) -> None:
    """Give a loop its roles."""
    _Specialization(roles).run()


class _Specialization:
    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._outermost = roles.tiles or roles.loop
        block = self._outermost.parent
        assert block is not None
        self._block = block
        self._first = _first_effect(self._outermost)
        self._before = OpBuilder.before(self._first, roles.loop.location)
        self._after: OpBuilder

    def run(self) -> None:
        """Rewrite the function."""
        roles = self._roles
        warps = warps_of_program(roles.loop)
        memory = [self._allocate(ring, warps) for ring in roles.rings]
        kept = [self._allocate(ring, warps) for ring in roles.kept]
        partition = CopyingPartition(roles, memory, kept)
        region = partition.make()
        loop = _MultiplyingLoop(roles, memory, self._before).make()
        if roles.tiles is not None:
            tiles = carry_around(roles.tiles, loop, SLOT_VALUES * len(roles.rings))
            loop = _read_kept(tiles, loop, zip(roles.kept, kept, strict=True))
        default, results = self._move_into_region(loop)
        op = ttg.WarpSpecializeOp(
            partition.captures,
            [value.type for value in results],
            default,
            [region],
            [1],
            {"requestedRegisters": i32_array((REGISTERS_TO_COPY,))},
        )
        self._after.insert(op)
        for inner, outer in zip(results, op.results, strict=True):
            outer.name_hint = inner.name_hint
            inner.replace_uses_with_if(outer, lambda use: not op.is_ancestor(use.operation))
        for each in (*memory, *kept):
            free(self._after, each)

    def _allocate(self, ring: Ring, warps: int) -> Memory:
        types: list[MemDescType] = []
        for load in ring.loads:
            type = as_tensor(load.op.result.type)
            types.append(memdesc_type((ring.count, *type.get_shape()), type.element_type, load.encoding))
        return allocate(self._before, types, ring.count, readers=warps)

    def _move_into_region(self, loop: scf.ForOp) -> tuple[Region, Sequence[SSAValue]]:
        """The ops up to and including the loop as the default region, with the values that others use."""
        first = self._first if self._first is not self._outermost else loop
        inside = [first]
        while inside[-1] is not loop:
            following = inside[-1].next_op
            assert following is not None
            inside.append(following)
        self._after = OpBuilder.after(loop)
        moved = set(inside)

        def leaves(use: Use) -> bool:
            holder: Operation | None = use.operation
            while holder is not None and holder.parent is not self._block:
                holder = holder.parent_op()
            return holder not in moved

        results = [value for op in inside for value in op.results if any(leaves(use) for use in value.uses)]
        body = Block()
        for op in inside:
            op.detach()
            body.add_op(op)
        body.add_op(ttg.WarpYieldOp(results))
        return Region(body), results


def _first_effect(loop: scf.ForOp) -> Operation:
    """The first op before a loop that does more than compute: copies begin while it runs."""
    block = loop.parent
    assert block is not None
    for op in block.ops:
        if op is loop or not is_memory_free(op):
            return op
    raise AssertionError("a loop outside of its block")


def _read_kept(tiles: scf.ForOp, loop: scf.ForOp, kept: Iterable[tuple[Ring, Memory]]) -> scf.ForOp:
    """Have a loop's products read what each program keeps from its buffer; returns the loop over programs."""
    carried, outside = CarriedValues(tiles), OpBuilder.before(tiles, loop.location)
    for ring, memory in kept:
        [load], [buffer] = ring.loads, memory.buffers
        [alloc] = load.users
        place = OpBuilder.before(loop)
        slot, turn = next_slot(place, carried, outside, ring.count, first_turn=0)
        place.insert(ttng.WaitBarrierOp(place.result(ttg.MemDescIndexOp(memory.full, slot)), turn))
        alloc.results[0].replace_all_uses_with(place.result(ttg.MemDescIndexOp(buffer, slot)))
        after = OpBuilder.after(loop)
        after.insert(ttng.ArriveBarrierOp(after.result(ttg.MemDescIndexOp(memory.empty, slot)), 1, per_warp=True))
        for op in (alloc, load.op):
            op.detach()
            op.erase()
    return carried.finish()


class _MultiplyingLoop:
    """What is left of the loop for the kernel's own warps."""

    def __init__(self, roles: Roles, memory: list[Memory], outside: OpBuilder) -> None:
        self._roles = roles
        self._schedule = roles.schedule
        self._memory = memory
        self._outside = outside
        self._carried = CarriedValues(roles.loop)

    def make(self) -> scf.ForOp:
        """The loop with its new schedule."""
        for ring, memory in zip(self._roles.rings, self._memory, strict=True):
            self._read(ring, memory)
        loop = self._carried.finish()
        _erase_unused(loop, self._schedule)
        first = min(self._schedule.stages.values())
        for op in body_ops(loop):
            self._schedule.stages[op] -= first
        self._schedule.write(loop)
        loop.attributes[COPIED_BY_OTHERS] = UNIT
        return loop

    def _read(self, ring: Ring, memory: Memory) -> None:
        schedule = self._schedule
        position = {op: index for index, op in enumerate(body_ops(self._roles.loop))}

        def place(op: Operation) -> tuple[int, int, int]:
            return schedule.stages[op], schedule.clusters[op], position[op]

        stage, cluster, _ = min(place(op) for op in ring.users)
        earliest = min(ring.users, key=lambda op: position[op])
        last = max(ring.readers, key=place)
        use = Placer(schedule, OpBuilder.before(earliest), stage, cluster)
        exists = self._exists(use) if stage < schedule.max_stage else None
        slot, turn = next_slot(use, self._carried, self._outside, ring.count, first_turn=0, exists=exists)
        use.insert(ttng.WaitBarrierOp(use.result(ttg.MemDescIndexOp(memory.full, slot)), turn))
        free = Placer(schedule, OpBuilder.after(last), schedule.stages[last], schedule.clusters[last])
        emptied = free.result(ttg.MemDescIndexOp(memory.empty, slot))
        free.insert(ttng.ArriveBarrierOp(emptied, 1, per_warp=True)).attributes[RELEASES] = UNIT
        for load, buffer in zip(ring.loads, memory.buffers, strict=True):
            Replacement(schedule, load, buffer, slot, None, None).run()

    def _exists(self, place: Placer) -> SSAValue:
        """Return whether there is an iteration: what runs ahead of others in a round may run for none."""
        loop = self._roles.loop
        predicate = "slt" if loop.unsigned_cmp is None else "ult"
        return place.result(arith.CmpiOp(loop.induction_variable, loop.ub, predicate))


def _erase_unused(loop: scf.ForOp, schedule: Schedule) -> None:
    """Erase what only the copies needed."""
    for op in reversed(body_ops(loop)):
        if is_memory_free(op) and all(result.first_use is None for result in op.results):
            del schedule.stages[op], schedule.clusters[op]
            op.detach()
            op.erase()

"""From the roles of a loop's warps to a `ttg.warp_specialize`: rings, the loop that copies, the one that multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.construction import UNIT, i32_array
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.dialects.ttg.shared_encodings import shared_encoding_of
from tilewright.dialects.ttg.types import memdesc_type
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.layouts.shared import SwizzledSharedLayout
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.lower_loads import Placer, Replacement
from tilewright.transforms.ttg.pipeliner.releases import RELEASES
from tilewright.transforms.ttg.pipeliner.schedule import (
    CLUSTER,
    COPIED_BY_OTHERS,
    LATENCY,
    STAGE,
    Schedule,
    body_ops,
)
from tilewright.transforms.ttg.specialization.decision import Ring, Roles

REGISTERS_TO_COPY = 24
"""Registers of a thread that does nothing but start copies."""

BARRIER_LAYOUT = shared_encoding_of(SwizzledSharedLayout(1, 1, 1, (0,)))


@dataclass(frozen=True)
class _Memory:
    """What a ring has in shared memory: buffers of each load, barriers that say that they are full, or were read."""

    buffers: tuple[SSAValue, ...]
    full: SSAValue
    empty: SSAValue


def specialize(roles: Roles) -> None:
    """Give a loop its roles."""
    _Specialization(roles).run()


class _Specialization:
    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        block = roles.loop.parent
        assert block is not None
        self._block = block
        self._first = _first_effect(roles.loop)
        self._before = OpBuilder.before(self._first, roles.loop.location)
        self._after: OpBuilder

    def run(self) -> None:
        """Rewrite the function."""
        roles = self._roles
        warps = warps_of_program(roles.loop)
        memory = [self._allocate(ring, warps) for ring in roles.rings]
        partition = _CopyingPartition(roles, memory)
        region = partition.make()
        loop = _MultiplyingLoop(roles, memory, self._before).make()
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
        for each in memory:
            self._free(each)

    def _allocate(self, ring: Ring, warps: int) -> _Memory:
        buffers: list[SSAValue] = []
        for load in ring.loads:
            type = as_tensor(load.op.result.type)
            shape = (ring.count, *type.get_shape())
            buffers.append(
                self._before.insert(ttg.LocalAllocOp(memdesc_type(shape, type.element_type, load.encoding))).result
            )
        full, empty = (
            self._before.insert(ttg.LocalAllocOp(memdesc_type((ring.count, 1), i64, BARRIER_LAYOUT))).result
            for _ in range(2)
        )
        for barriers, arrivals in ((full, 1), (empty, warps)):
            for slot in range(ring.count):
                self._before.insert(ttng.InitBarrierOp(_at(self._before, barriers, slot), arrivals))
        return _Memory(tuple(buffers), full, empty)

    def _free(self, memory: _Memory) -> None:
        builder = self._after
        for barriers in (memory.full, memory.empty):
            type = barriers.type
            assert isinstance(type, ttg.MemDescType)
            for slot in range(type.get_shape()[0]):
                builder.insert(ttng.InvalBarrierOp(_at(builder, barriers, slot)))
        for buffer in (*memory.buffers, memory.full, memory.empty):
            builder.insert(ttg.LocalDeallocOp(buffer))

    def _move_into_region(self, loop: scf.ForOp) -> tuple[Region, Sequence[SSAValue]]:
        """The ops up to and including the loop as the default region, with the values that others use."""
        first = self._first if self._first is not self._roles.loop else loop
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


def _at(builder: OpBuilder, barriers: SSAValue, slot: int) -> SSAValue:
    number = builder.insert(arith.constant_int(slot, i32)).results[0]
    return builder.insert(ttg.MemDescIndexOp(barriers, number)).result


def _next_slot(
    place: OpBuilder | Placer,
    carried: CarriedValues,
    outside: OpBuilder,
    count: int,
    *,
    first_turn: int,
    exists: SSAValue | None = None,
) -> tuple[SSAValue, SSAValue]:
    """The next buffer of a ring, and the parity of the turn around it. In the rounds of a pipelined loop for iterations
    that do not exist, the last buffer again, which was filled: it is multiplied for nothing.
    """

    def number(value: int) -> SSAValue:
        return outside.insert(arith.constant_int(value, i32)).results[0]

    last, turn = carried.add(number(-1)), carried.add(number(first_turn))
    one = number(1)
    following = place.insert(arith.AddiOp(last, one)).results[0]
    wraps = place.insert(arith.CmpiOp(following, number(count), "sge")).results[0]
    slot = place.insert(arith.SelectOp(wraps, number(0), following)).results[0]
    if exists is not None:
        slot = place.insert(arith.SelectOp(exists, slot, last)).results[0]
    flipped = place.insert(arith.XOrIOp(turn, one)).results[0]
    turn = place.insert(arith.SelectOp(wraps, flipped, turn)).results[0]
    carried.yields(slot)
    carried.yields(turn)
    return slot, turn


class _CopyingPartition:
    """The loop of the warp that copies. What it needs from before the loop it computes again, or captures."""

    def __init__(self, roles: Roles, memory: list[_Memory]) -> None:
        self._roles = roles
        self._memory = memory
        self._block = Block()
        self._builder = OpBuilder.at_end(self._block, roles.loop.location)
        self._known: dict[SSAValue, SSAValue] = {}
        self.captures: list[SSAValue] = []

    def make(self) -> Region:
        """The partition's region."""
        old = self._roles.loop
        bounds = [self._outer(value) for value in (old.lb, old.ub, old.step)]
        starts = [self._outer(old.iter_args[position]) for position in self._roles.carried]
        body = Block(arg_types=[old.lb.type, *(value.type for value in starts)])
        mapping: dict[SSAValue, SSAValue] = {old.induction_variable: body.args[0]}
        for position, argument in zip(self._roles.carried, body.args[1:], strict=True):
            mapping[old.region_iter_args[position]] = argument
        lower, upper, step = bounds
        loop = scf.ForOp(lower, upper, step, starts, body)
        loop.properties.update(old.properties)
        self._builder.insert(loop)
        outside = OpBuilder.before(loop)
        self._builder = outside
        carried = CarriedValues(loop)
        inside = OpBuilder.at_end(body, old.location)
        for op in self._roles.copied:
            for value in op.operands:
                if value not in mapping:
                    mapping[value] = self._outer(value)
            copy = inside.insert(op.clone(mapping))
            for name in (STAGE, CLUSTER, LATENCY):
                copy.attributes.pop(name, None)
            mapping.update(zip(op.results, copy.results, strict=True))
        true = outside.insert(arith.constant_bool(True)).results[0]
        for ring, memory in zip(self._roles.rings, self._memory, strict=True):
            self._copy(ring, memory, inside, carried, mapping, true)
        inside.insert(scf.YieldOp(*[self._inner(old.yielded[p], mapping) for p in self._roles.carried]))
        loop = carried.finish()
        OpBuilder.at_end(self._block, old.location).insert(ttg.WarpReturnOp())
        return Region(self._block)

    def _inner(self, value: SSAValue, mapping: dict[SSAValue, SSAValue]) -> SSAValue:
        found = mapping.get(value)
        return self._outer(value) if found is None else found

    def _copy(
        self,
        ring: Ring,
        memory: _Memory,
        inside: OpBuilder,
        carried: CarriedValues,
        mapping: dict[SSAValue, SSAValue],
        true: SSAValue,
    ) -> None:
        slot, turn = _next_slot(inside, carried, self._builder, ring.count, first_turn=1)
        full, empty, *buffers = (self._capture(value) for value in (memory.full, memory.empty, *memory.buffers))
        inside.insert(ttng.WaitBarrierOp(inside.insert(ttg.MemDescIndexOp(empty, slot)).result, turn))
        filled = inside.insert(ttg.MemDescIndexOp(full, slot)).result
        inside.insert(ttng.BarrierExpectOp(filled, sum(load.bytes for load in ring.loads), true))
        for load, buffer in zip(ring.loads, buffers, strict=True):
            op = load.op
            assert isinstance(op, tt.DescriptorLoadOp)
            view = inside.insert(ttg.MemDescIndexOp(buffer, slot)).result
            inside.insert(
                ttng.AsyncTMACopyGlobalToLocalOp(
                    self._inner(op.desc, mapping),
                    [self._inner(value, mapping) for value in op.indices],
                    filled,
                    view,
                    true,
                    cache=CacheModifier.of(op.cache),
                    evict=EvictionPolicy.of(op.evict),
                )
            )

    def _outer(self, value: SSAValue) -> SSAValue:
        """A value from before the loop."""
        known = self._known.get(value)
        if known is not None:
            return known
        op = value.owner
        if not isinstance(op, Operation) or not _is_scalar_arithmetic(op):
            return self._capture(value)
        copy = self._builder.insert(op.clone({operand: self._outer(operand) for operand in op.operands}))
        self._known.update(zip(op.results, copy.results, strict=True))
        return self._known[value]

    def _capture(self, value: SSAValue) -> SSAValue:
        if value not in self._known:
            self.captures.append(value)
            self._known[value] = self._block.insert_arg(value.type, len(self._block.args))
        return self._known[value]


def _is_scalar_arithmetic(op: Operation) -> bool:
    values = (*op.operands, *op.results)
    return is_memory_free(op) and not op.regions and not any(is_tensor(value.type) for value in values)


class _MultiplyingLoop:
    """What is left of the loop for the kernel's own warps."""

    def __init__(self, roles: Roles, memory: list[_Memory], outside: OpBuilder) -> None:
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

    def _read(self, ring: Ring, memory: _Memory) -> None:
        schedule = self._schedule
        position = {op: index for index, op in enumerate(body_ops(self._roles.loop))}

        def place(op: Operation) -> tuple[int, int, int]:
            return schedule.stages[op], schedule.clusters[op], position[op]

        stage, cluster, _ = min(place(op) for op in ring.users)
        earliest = min(ring.users, key=lambda op: position[op])
        last = max(ring.readers, key=place)
        use = Placer(schedule, OpBuilder.before(earliest), stage, cluster)
        exists = self._exists(use) if stage < schedule.max_stage else None
        slot, turn = _next_slot(use, self._carried, self._outside, ring.count, first_turn=0, exists=exists)
        use.insert(ttng.WaitBarrierOp(use.insert(ttg.MemDescIndexOp(memory.full, slot)).result, turn))
        free = Placer(schedule, OpBuilder.after(last), schedule.stages[last], schedule.clusters[last])
        emptied = free.insert(ttg.MemDescIndexOp(memory.empty, slot)).result
        free.insert(ttng.ArriveBarrierOp(emptied, 1, per_warp=True)).attributes[RELEASES] = UNIT
        for load, buffer in zip(ring.loads, memory.buffers, strict=True):
            Replacement(schedule, load, buffer, slot, None, None).run()

    def _exists(self, place: Placer) -> SSAValue:
        """Whether there is an iteration: what runs ahead of others in a round may run for none."""
        loop = self._roles.loop
        predicate = "slt" if loop.unsigned_cmp is None else "ult"
        return place.insert(arith.CmpiOp(loop.induction_variable, loop.ub, predicate)).results[0]


def _erase_unused(loop: scf.ForOp, schedule: Schedule) -> None:
    """Erase what only the copies needed."""
    for op in reversed(body_ops(loop)):
        if is_memory_free(op) and all(result.first_use is None for result in op.results):
            del schedule.stages[op], schedule.clusters[op]
            op.detach()
            op.erase()

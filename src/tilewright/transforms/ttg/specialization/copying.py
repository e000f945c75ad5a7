"""The loop of the warp that copies what the others multiply."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.schedule import CLUSTER, LATENCY, STAGE
from tilewright.transforms.ttg.specialization.decision import Ring, Roles, is_scalar_arithmetic
from tilewright.transforms.ttg.specialization.rings import SLOT_VALUES, Memory, carry_around, next_slot


class CopyingPartition:
    """The loop of the warp that copies. What it needs from before the loop it computes again, or captures."""

    def __init__(self, roles: Roles, memory: Sequence[Memory], kept: Sequence[Memory]) -> None:
        self._roles = roles
        self._memory = memory
        self._kept = kept
        self._block = Block()
        self._builder = OpBuilder.at_end(self._block, roles.loop.location)
        self._known: dict[SSAValue, SSAValue] = {}
        self._outside_tiles: OpBuilder | None = None
        self.captures: list[SSAValue] = []

    def make(self) -> Region:
        """The partition's region."""
        old, tiles = self._roles.loop, self._roles.tiles
        copying = None if tiles is None else self._copy_kept(self._enter_tiles(tiles))
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
        self._builder = OpBuilder.before(loop)
        outside = self._builder if copying is None else OpBuilder.before(copying)
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
        true = outside.result(arith.constant_bool(True))
        for ring, memory in zip(self._roles.rings, self._memory, strict=True):
            self._copy(ring, memory, inside, carried, mapping, outside, true)
        inside.insert(scf.YieldOp(*[self._inner(old.yielded[p], mapping) for p in self._roles.carried]))
        loop = carried.finish()
        if copying is not None:
            carry_around(copying, loop, SLOT_VALUES * len(self._roles.rings))
        OpBuilder.at_end(self._block, old.location).insert(ttg.WarpReturnOp())
        return Region(self._block)

    def _copy_kept(self, copying: scf.ForOp) -> scf.ForOp:
        """Have what a program keeps copied first; returns the loop over programs."""
        carried, outside = CarriedValues(copying), OpBuilder.before(copying)
        true = outside.result(arith.constant_bool(True))
        for ring, memory in zip(self._roles.kept, self._kept, strict=True):
            self._copy(ring, memory, self._builder, carried, {}, outside, true)
        copying = carried.finish()
        self._outside_tiles = OpBuilder.before(copying)
        return copying

    def _inner(self, value: SSAValue, mapping: dict[SSAValue, SSAValue]) -> SSAValue:
        found = mapping.get(value)
        return self._outer(value) if found is None else found

    def _copy(
        self,
        ring: Ring,
        memory: Memory,
        inside: OpBuilder,
        carried: CarriedValues,
        mapping: dict[SSAValue, SSAValue],
        outside: OpBuilder,
        true: SSAValue,
    ) -> None:
        slot, turn = next_slot(inside, carried, outside, ring.count, first_turn=1)
        full, empty, *buffers = (self._capture(value) for value in (memory.full, memory.empty, *memory.buffers))
        inside.insert(ttng.WaitBarrierOp(inside.result(ttg.MemDescIndexOp(empty, slot)), turn))
        filled = inside.result(ttg.MemDescIndexOp(full, slot))
        inside.insert(ttng.BarrierExpectOp(filled, sum(load.bytes for load in ring.loads), true))
        for load, buffer in zip(ring.loads, buffers, strict=True):
            op = load.op
            assert isinstance(op, tt.DescriptorLoadOp)
            view = inside.result(ttg.MemDescIndexOp(buffer, slot))
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

    def _enter_tiles(self, tiles: scf.ForOp) -> scf.ForOp:
        """The loop over programs, empty, for what follows to go into."""
        body = Block(arg_types=[tiles.lb.type])
        lower, upper, step = (self._outer(value) for value in (tiles.lb, tiles.ub, tiles.step))
        copying = scf.ForOp(lower, upper, step, [], body)
        self._builder.insert(copying)
        end = OpBuilder.at_end(body, tiles.location).insert(scf.YieldOp())
        self._known[tiles.induction_variable] = body.args[0]
        self._outside_tiles = OpBuilder.before(copying)
        self._builder = OpBuilder.before(end)
        return copying

    def _outer(self, value: SSAValue) -> SSAValue:
        """A value from before the loop."""
        known = self._known.get(value)
        if known is not None:
            return known
        op = value.owner
        if not isinstance(op, Operation) or not is_scalar_arithmetic(op):
            return self._capture(value)
        operands = {operand: self._outer(operand) for operand in op.operands}
        copy = self._place_of(op).insert(op.clone(operands))
        self._known.update(zip(op.results, copy.results, strict=True))
        return self._known[value]

    def _place_of(self, op: Operation) -> OpBuilder:
        """Return where to compute an op from before the loop again: in the loop over programs, or before it."""
        tiles = self._roles.tiles
        if self._outside_tiles is None or (tiles is not None and op.parent is tiles.body.block):
            return self._builder
        return self._outside_tiles

    def _capture(self, value: SSAValue) -> SSAValue:
        if value not in self._known:
            self.captures.append(value)
            self._known[value] = self._block.insert_arg(value.type, len(self._block.args))
        return self._known[value]

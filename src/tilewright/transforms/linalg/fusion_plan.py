"""Decides which producers move into which consumers, before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum, auto
from math import prod
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import arith, bufferization, linalg, memref, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import is_integer_or_index
from tilewright.ir.walking import find_ops, ops_within
from tilewright.support.cpu_costs import CHEAP, EXPENSIVE, LONGEST_CHAIN, MOST_REPEATED, SHORTEST_RUN
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.body_cost import body_cost, is_expensive
from tilewright.transforms.linalg.effects import Writers, may_write, root_of_memref
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.producers import (
    SHAPE_CHANGES,
    Readers,
    access_to,
    is_movable,
    is_output,
    producer_of,
    reads_output,
    structured_readers,
    substitute,
    users_through_copies,
)
from tilewright.transforms.linalg.structured import is_elementwise, loop_extents, shape_or_scalar

Access: TypeAlias = tuple[AffineExpr, ...]
"""Which element of a tensor a step reads or makes."""


class Lanes(Enum):
    """How the elements of an op follow one another."""

    RUNS = auto()
    """The same in runs of at least `SHORTEST_RUN`, as `x // 256` and what is loaded there."""
    ROWS = auto()
    """Integers that grow by one along such runs, as `x % 256`, and such plus what is the same there."""
    OTHER = auto()


@dataclass(slots=True)
class Work:
    """What an op does, by itself and through the producers that move into it."""

    cost: int = 0
    """With the producers, each counted as often as it is read."""
    own_cost: int = 0
    """Of the body of the op alone."""
    depth: int = 0
    """How long the longest chain of producers is that is computed inside of the op."""
    lanes: Lanes = Lanes.OTHER
    is_index: bool = False
    """Whether it makes integers of loop counters and scalars alone."""
    is_scattered: bool = False
    """Whether elements are loaded at other places that make no rows."""
    is_expensive: bool = False
    reads: set[SSAValue] | None = None
    """The pointer arguments and buffers that are read, where memory is: it cannot pass a write."""

    def read(self, roots: Iterable[SSAValue]) -> None:
        """Note that memory is read; what of it, as far as it is not computed here."""
        self.reads = {*(self.reads or ()), *roots}


@dataclass(slots=True)
class FusionPlan:
    """Which producers move where."""

    moving: dict[Operation, set[Operation]] = field(default_factory=dict[Operation, set[Operation]])
    """From a structured op to the producers that were decided to move into it. What moves into these moves on with
    them (`parts`): along a chain of a thousand ops, writing that out for each would take a million entries."""
    moved: set[Operation] = field(default_factory=set[Operation])
    """The producers that move anywhere."""
    kept: dict[Operation, dict[SSAValue, Access]] = field(default_factory=dict[Operation, dict[SSAValue, Access]])
    """Consumer to the inputs that it computes itself and yields for others too."""
    kept_before: dict[SSAValue, set[Operation]] = field(default_factory=dict[SSAValue, set[Operation]])
    """The readers that an input moved on with, into the one that keeps it now."""
    work: dict[Operation, Work] = field(default_factory=dict[Operation, Work])
    _asked: Operation | None = None
    _parts: set[Operation] = field(default_factory=set[Operation])

    def of(self, op: Operation) -> Work:
        """The record of what an op does, made on first use."""
        if (found := self.work.get(op)) is None:
            found = self.work[op] = Work()
        return found

    def lanes_of(self, op: Operation | None) -> Lanes:
        """Find how the elements of a producer follow one another, if the op is one."""
        return Lanes.OTHER if op is None else self.of(op).lanes

    def moves(self, producer: Operation, consumer: Operation) -> bool:
        """Return whether `producer` is computed inside of `consumer`."""
        if producer in self.moving.get(consumer, ()):
            return True
        return producer in self.moved and producer in self.parts(consumer)

    def parts(self, consumer: Operation) -> set[Operation]:
        """All producers that are computed inside of `consumer`. Those of ops that were decided about stay as they are,
        as producers stand before their readers."""
        if self._asked is not consumer:
            self._asked, self._parts = consumer, set[Operation]()
            pending = [*self.moving.get(consumer, ())]
            while pending:
                producer = pending.pop()
                if producer not in self._parts:
                    self._parts.add(producer)
                    pending.extend(self.moving.get(producer, ()))
        return self._parts

    def is_within(self, op: Operation, most: int) -> bool:
        """Return whether an op, with all that is computed inside of it, counted once each, costs at most that."""
        seen, pending, cost = {op}, [op], 0
        while pending and cost <= most:
            part = pending.pop()
            cost += max(self.of(part).own_cost, 1)
            new = [producer for producer in self.moving.get(part, ()) if producer not in seen]
            seen.update(new)
            pending.extend(new)
        return cost <= most

    def kept_in(self, consumer: Operation) -> Mapping[SSAValue, Access]:
        """The producers' results that a consumer yields besides its own, and at which of its indices."""
        return self.kept.get(consumer, {})

    def is_worthwhile(self, op: linalg.StructuredOp) -> bool:
        """Return whether rebuilding an op changes anything."""
        return any(isinstance(value.owner, Operation) and _can_vanish(value.owner) for value in op.inputs) or any(
            self.moves(value.owner, op) for value in op.inputs if isinstance(value.owner, Operation)
        )


def _can_vanish(op: Operation) -> bool:
    return isinstance(op, linalg.FillOp | tensor.SplatOp | arith.ConstantOp | SHAPE_CHANGES)


@dataclass(frozen=True, slots=True)
class _Writes:
    """The ops of a block that write memory."""

    order: dict[Operation, int]
    """The positions of all ops of the block."""
    ops: Sequence[tuple[int, Operation]]
    """Those that may write, each with its position."""
    memory: Disjointness

    def may_come_between(self, op: Operation, reader: Operation, roots: Iterable[SSAValue]) -> bool:
        """Return whether memory that an op reads may be written between it and a reader of its result."""
        first, last = self.order[op], self.order[reader]
        return any(
            first < number < last and self.memory.may_disturb(writer, root)
            for number, writer in self.ops
            for root in roots
        )


def plan_fusion(block: Block, writers: Writers, memory: Disjointness) -> FusionPlan:
    """The plan for the structured ops of one block."""
    plan = FusionPlan()
    order = {op: number for number, op in enumerate(block.ops)}
    writes = _Writes(order, [(number, op) for op, number in order.items() if writers.may_write(op)], memory)
    for op in block.ops:
        if isinstance(op, linalg.StructuredOp) and op.results:
            _describe(op, plan)
            _decide(op, plan, writes)
    return plan


def _describe(op: linalg.StructuredOp, plan: FusionPlan) -> None:
    """Note what an op costs, reads and computes, with the producers that move into it."""
    body, work = list(op.body.block.ops), plan.of(op)
    work.own_cost = work.cost = sum(map(body_cost, body))
    for value in op.inputs:
        producer = producer_of(value)
        if producer is not None and plan.moves(producer, op):
            work.cost += plan.of(producer).cost
            work.depth = max(work.depth, plan.of(producer).depth + 1)
    loads = find_ops(op.body, memref.LoadOp, tensor.ExtractOp)
    if loads:
        work.read(root for load in loads for root in _memory_of(load))
    if _has_runs(op, plan):
        work.lanes, work.cost = Lanes.RUNS, 1
    elif loads:
        work.is_scattered = work.is_scattered or not all(_follows_rows(value, plan) for value in op.inputs)
    elif _follows_row(op, plan):
        work.lanes = Lanes.ROWS
    work.is_expensive = work.is_expensive or any(map(is_expensive, body))


def _decide(op: linalg.StructuredOp, plan: FusionPlan, writes: _Writes) -> None:
    """Decide for a producer which of its readers compute it themselves. Producers come before their readers."""
    work = plan.of(op)
    if not is_movable(op) or work.depth >= LONGEST_CHAIN:
        return
    result = op.results[0]
    readers = structured_readers(result)
    same_block = [reader for reader in readers.ops if reader.parent_block() is op.parent_block()]
    if work.reads is not None:
        if any(_is_disturbed(op, reader, plan, writes) for reader in same_block):
            return
    elif _is_between_exchanges(op, readers, plan):
        return
    if _is_index_arithmetic(op, plan) and not _repeats_much(op, len(readers.ops), plan):
        work.is_index = True
    has_one_reader = len(readers.ops) == 1 and not readers.others and len(same_block) == 1
    if work.cost > CHEAP and not work.is_index and not has_one_reader:
        _keep_in_first_reader(op, result, plan, writes)
        return
    is_trivial = work.cost <= 2 and work.reads is None and not op.inputs
    for reader in readers.ops:
        if (reader in same_block or is_trivial) and _may_move(op, reader, plan):
            _move(op, reader, plan)
            if has_one_reader:
                _hand_over(op, reader, plan, writes.order)


def _may_move(op: linalg.StructuredOp, reader: linalg.StructuredOp, plan: FusionPlan) -> bool:
    """Return whether a reader computes the elements that it reads without doing much work again."""
    if plan.of(op).cost > CHEAP and _repeats(op, reader):
        return False
    if plan.of(op).is_expensive and _has_atomics(reader):
        return False
    return STARTS_AT_FIRST not in reader.attributes or not any(inner.regions for inner in op.body.block.ops)


def _is_disturbed(op: linalg.StructuredOp, reader: linalg.StructuredOp, plan: FusionPlan, writes: _Writes) -> bool:
    """Return whether a reader would read other memory than an op did."""
    return writes.may_come_between(op, reader, plan.of(op).reads or ()) or _may_disturb(reader, op, plan, writes.memory)


def _memory_of(op: memref.LoadOp | tensor.ExtractOp) -> list[SSAValue]:
    """The pointer argument or buffer that an op of a body reads; none if it is a tensor that was computed."""
    if isinstance(op, memref.LoadOp):
        return [root_of_memref(op.memref)]
    source = op.tensor.owner
    return [root_of_memref(source.memref)] if isinstance(source, bufferization.ToTensorOp) else []


def _may_disturb(
    reader: linalg.StructuredOp, producer: linalg.StructuredOp, plan: FusionPlan, memory: Disjointness
) -> bool:
    """Return whether a reader may write what a producer reads, or updates memory atomically, one lane after the other,
    where the producer reads lane by lane, too.
    """
    if not may_write(reader):
        return False
    if _has_atomics(reader) and plan.of(producer).is_scattered:
        return True
    return any(memory.may_disturb(reader, root) for root in plan.of(producer).reads or ())


def _has_runs(op: linalg.StructuredOp, plan: FusionPlan) -> bool:
    """Return whether the elements of an op are the same in runs: a quotient, or what is made of such alone."""
    body = op.body.block
    if op.iterators and len(op.iterators) != 1:
        return False
    if any(isinstance(inner, arith.DivSIOp | arith.DivUIOp) for inner in body.ops) and not body.args[-1].uses:
        divisors = [find_constant_of_fill(value) for value in op.inputs[1:]]
        return len(divisors) == 1 and divisors[0] is not None and divisors[0] >= SHORTEST_RUN
    if any((isinstance(inner, linalg.IndexOp) and inner.results[0].uses) or inner.regions for inner in body.ops):
        return False
    varying = [value for value in op.inputs if not isinstance(value.owner, linalg.FillOp | arith.ConstantOp)]
    return bool(varying) and all(plan.lanes_of(producer_of(value)) is Lanes.RUNS for value in varying)


def _follows_row(op: linalg.StructuredOp, plan: FusionPlan) -> bool:
    """Return whether the elements of an op grow by one along runs: the index itself, its remainder, sums with runs."""
    body = op.body.block
    if len(op.iterators) != 1 or body.args[-1].uses:
        return False
    computed = [inner for inner in body.ops if not isinstance(inner, linalg.YieldOp | arith.IndexCastOp)]
    if not op.inputs:
        return all(isinstance(inner, linalg.IndexOp) for inner in computed)
    match computed:
        case [] | [arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp()]:
            return all(plan.lanes_of(producer_of(value)) is Lanes.ROWS for value in op.inputs)
        case [arith.AddiOp()]:
            growing = sum(plan.lanes_of(producer_of(value)) is Lanes.ROWS for value in op.inputs)
            return growing == 1 and all(_follows_rows(value, plan) for value in op.inputs)
        case [arith.RemSIOp() | arith.RemUIOp()] if plan.lanes_of(producer_of(op.inputs[0])) is Lanes.ROWS:
            divisor = find_constant_of_fill(op.inputs[1]) if len(op.inputs) == 2 else None
            return divisor is not None and divisor >= SHORTEST_RUN
        case _:
            return False


def _follows_rows(value: SSAValue, plan: FusionPlan) -> bool:
    """Return whether elements grow by one along runs, or are the same there."""
    producer = producer_of(value)
    is_same = isinstance(producer or value.owner, linalg.FillOp | arith.ConstantOp)
    return is_same or plan.lanes_of(producer) is not Lanes.OTHER


def find_constant_of_fill(value: SSAValue) -> int | None:
    """The integer that all elements of a tensor are."""
    return arith.find_constant_int(value.owner.inputs[0]) if isinstance(value.owner, linalg.FillOp) else None


def _is_between_exchanges(op: linalg.StructuredOp, readers: Readers, plan: FusionPlan) -> bool:
    """Return whether an op makes the elements of one exchange of pairs from those of another, as the steps of sorts do.

    Such steps run in registers, one after the other. In its readers, each would be computed twice with all before it.
    """
    # The readers first: few values go to exchanges, and after long chains many are what an op is made from.
    extents = shape_or_scalar(op.results[0].type)
    if any(extent & (extent - 1) for extent in extents) or not _feeds_exchange(readers):
        return False
    parts = (op, *plan.parts(op))
    sources = (value for part in parts if isinstance(part, linalg.StructuredOp) for value in part.inputs)
    return any(_exchanges(producer_of(value)) for value in sources)


def _feeds_exchange(readers: Readers) -> bool:
    """Return whether a pair reduction reads a value, also through casts and copies."""
    return any(
        _exchanges(reader)
        or (len(reader.inputs) == 1 and bool(reader.results) and is_elementwise(reader)
            and _feeds_exchange(structured_readers(reader.results[0])))
        for reader in readers.ops
    )  # fmt: skip


def _exchanges(op: linalg.StructuredOp | None) -> bool:
    """Return whether an op reduces pairs."""
    if op is None or is_elementwise(op):
        return False
    kinds = zip(loop_extents(op), op.iterators, strict=True)
    return prod(extent for extent, kind in kinds if kind == "reduction") == 2


def _is_index_arithmetic(op: linalg.StructuredOp, plan: FusionPlan) -> bool:
    """Return whether an op makes integers of loop counters and scalars alone, which a loop need not look up."""
    for value in op.inputs:
        producer = producer_of(value)
        is_index = producer is not None and plan.of(producer).is_index
        if not is_index and not isinstance(producer or value.owner, linalg.FillOp | arith.ConstantOp):
            return False
    body = op.body.block
    if body.args[len(op.inputs)].uses.get_length():
        return False
    return all(
        isinstance(inner, linalg.YieldOp | linalg.IndexOp)
        or (is_arithmetic(inner) and is_integer_or_index(inner.results[0].type))
        for inner in body.ops
    )


def _repeats_much(op: linalg.StructuredOp, readers: int, plan: FusionPlan) -> bool:
    """Return whether computing an op in each of its readers costs more than index arithmetic is worth."""
    return readers > 1 and not plan.is_within(op, MOST_REPEATED // (readers - 1))


def _move(producer: linalg.StructuredOp, reader: linalg.StructuredOp, plan: FusionPlan) -> None:
    plan.moving.setdefault(reader, set()).add(producer)
    plan.moved.add(producer)
    inner, outer = plan.of(producer), plan.of(reader)
    if inner.reads is not None:
        outer.read(inner.reads)
    outer.is_scattered = outer.is_scattered or inner.is_scattered
    outer.is_expensive = outer.is_expensive or inner.is_expensive


def _has_atomics(op: Operation) -> bool:
    """Return whether a body updates memory atomically: threads take turns there, and what is dear is computed before
    it, side by side.
    """
    return any(isinstance(inner, memref.AtomicRMWOp | memref.GenericAtomicRMWOp) for inner in ops_within(op))


def _repeats(producer: linalg.StructuredOp, reader: linalg.StructuredOp) -> bool:
    """Return whether a reader would compute one element of a dear producer in many iterations of a reduction."""
    if is_elementwise(reader):
        return False
    used: set[int] = set()
    for operand, map_ in zip(reader.inputs, reader.maps, strict=False):
        if producer_of(operand) is producer:
            used |= {expr.position for expr in map_.results if isinstance(expr, AffineDimExpr)}
    return len(used) < len(reader.iterators)


def _keep_in_first_reader(op: linalg.StructuredOp, result: SSAValue, plan: FusionPlan, writes: _Writes) -> None:
    """A dear producer with several readers is a further result of the first, if that walks the same elements."""
    block = op.parent_block()
    users = [_in_block(user, block) for user in users_through_copies(result)]
    first = min(users, key=lambda user: writes.order.get(user, 1 << 30), default=None)
    if not isinstance(first, linalg.StructuredOp) or first.parent_block() is not block or len(users) < 2:
        return
    if isinstance(first, linalg.MatmulOp | linalg.BatchMatmulOp | linalg.FillOp):
        return
    if any(use.operation is first and reads_output(first, use.index) for use in result.uses if is_output(use)):
        return
    if STARTS_AT_FIRST in first.attributes:
        return
    if (reads := plan.of(op).reads) is not None and writes.may_come_between(op, first, reads):
        return
    access = _find_walk(first, result)
    if access is None:
        return
    _move(op, first, plan)
    plan.kept.setdefault(first, {})[result] = access
    plan.of(first).cost = EXPENSIVE
    _hand_over(op, first, plan, writes.order)


def _find_walk(op: linalg.StructuredOp, value: SSAValue) -> Access | None:
    """Find how an op reads a value, if that is once and each of its steps reads another element."""
    found = [access_to(operand, map_.results, value) for operand, map_ in zip(op.inputs, op.maps, strict=False)]
    accesses = [access for access in found if access is not None]
    if len(accesses) != 1:
        return None
    dims = [expr.position for expr in accesses[0] if isinstance(expr, AffineDimExpr)]
    is_walk = len(dims) == len(accesses[0]) and sorted(dims) == list(range(len(op.iterators)))
    return accesses[0] if is_walk else None


def _hand_over(
    op: linalg.StructuredOp, reader: linalg.StructuredOp, plan: FusionPlan, order: Mapping[Operation, int]
) -> None:
    """Make what an op keeps that moves into a reader a further result of that, if it walks the same elements and
    stands before all others that read them; if there are no others, it is kept nowhere. Else these are computed twice:
    for the reader, and in a loop of their own.
    """
    outer = _find_walk(reader, op.results[0]) if op in plan.kept and STARTS_AT_FIRST not in reader.attributes else None
    if outer is None:
        return
    loops: list[AffineExpr] = [AffineConstantExpr(0)] * len(op.iterators)
    for expr, step in zip(op.maps[len(op.inputs)].results, outer, strict=True):
        if isinstance(expr, AffineDimExpr):
            loops[expr.position] = step
    block, kept = op.parent_block(), plan.kept[op]
    for value, access in list(kept.items()):
        before = plan.kept_before.setdefault(value, set())
        before.add(op)
        users = {_in_block(user, block) for user in users_through_copies(value)} - before - {reader}
        if all(order.get(user, 0) > order[reader] for user in users):
            del kept[value]
            if users:
                plan.kept.setdefault(reader, {})[value] = tuple(substitute(expr, loops) for expr in access)
                plan.of(reader).cost = EXPENSIVE


def _in_block(op: Operation, block: Block | None) -> Operation:
    current = op
    while current.parent_block() is not block:
        parent = current.parent_op()
        if parent is None:
            return op
        current = parent
    return current

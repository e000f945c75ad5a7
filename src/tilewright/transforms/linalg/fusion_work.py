"""What the ops of a block do, with the producers that move into them: work, memory that is read, order of elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum, auto
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import arith, bufferization, linalg, memref, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import is_integer_or_index
from tilewright.ir.walking import find_ops
from tilewright.support.cpu_costs import SHORTEST_RUN
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.body_cost import body_cost, is_expensive
from tilewright.transforms.linalg.effects import root_of_memref
from tilewright.transforms.linalg.producers import SHAPE_CHANGES, producer_of
from tilewright.transforms.linalg.structured import is_elementwise, loop_extents

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
    """Whether elements are loaded at computed offsets that are not contiguous."""
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


def describe(op: linalg.StructuredOp, plan: FusionPlan) -> None:
    """Note what an op costs, reads and computes, with the producers that move into it."""
    body, work = list(op.body.block.ops), plan.of(op)
    work.own_cost = work.cost = sum(map(body_cost, body))
    for value, map_ in zip(op.inputs, op.maps, strict=False):
        producer = producer_of(value)
        if producer is not None and plan.moves(producer, op):
            work.cost += _cost_of_element(plan.of(producer), op, map_.results)
            work.depth = max(work.depth, plan.of(producer).depth + 1)
    loads = find_ops(op.body, memref.LoadOp, tensor.ExtractOp)
    if loads:
        work.read(root for load in loads for root in _memory_of(load))
    if _has_runs(op, plan):
        work.lanes, work.cost = Lanes.RUNS, 1
    elif loads and not _reads_rows(op):
        work.is_scattered = work.is_scattered or not all(_follows_rows(value, plan) for value in op.inputs)
    elif _follows_row(op, plan):
        work.lanes = Lanes.ROWS
    work.is_expensive = work.is_expensive or any(map(is_expensive, body))


def _cost_of_element(producer: Work, reader: linalg.StructuredOp, access: Access) -> int:
    """What a producer costs for each element of a reader: what the elements of a row share is computed once for all."""
    last = len(reader.iterators) - 1
    if last < 1 or not is_elementwise(reader) or any(last in expr.used_dims() for expr in access):
        return producer.cost
    return min(producer.cost, 1 + producer.cost // loop_extents(reader)[last])


def _memory_of(op: memref.LoadOp | tensor.ExtractOp) -> list[SSAValue]:
    """The pointer argument or buffer that an op of a body reads; none if it is a tensor that was computed."""
    if isinstance(op, memref.LoadOp):
        return [root_of_memref(op.memref)]
    source = op.tensor.owner
    return [root_of_memref(source.memref)] if isinstance(source, bufferization.ToTensorOp) else []


def _reads_rows(op: linalg.StructuredOp) -> bool:
    """Return whether an op reads memory at addresses that grow by one along its last loop of some length."""
    if not op.iterators or loop_extents(op)[-1] < SHORTEST_RUN:
        return False
    views = [load.memref.owner for load in find_ops(op.body, memref.LoadOp)]
    steps = _steps(op) if views else {}
    return bool(views) and all(
        isinstance(view, memref.ReinterpretCastOp) and [steps.get(offset, 0) for offset in view.offsets] == [1]
        for view in views
    )


def _steps(op: linalg.StructuredOp) -> dict[SSAValue, int | None]:
    """By how much the integers of a body grow from one step of the last loop to the next, if that is not 0; None where
    they do in another way."""
    body, last = op.body.block, len(op.iterators) - 1
    found: dict[SSAValue, int | None] = {}
    for argument, map_ in zip(body.args, op.maps, strict=True):
        if AffineDimExpr(last) in map_.results:
            found[argument] = None
    for inner in body.ops:
        if isinstance(inner, linalg.IndexOp):
            step = int(inner.dim.value.data == last)
        else:
            steps = [found.get(operand, 0) for operand in inner.operands]
            is_same = not inner.regions and not any(step != 0 for step in steps)
            step = 0 if is_same else _step(inner, steps)
        if step != 0:
            found.update(dict.fromkeys(inner.results, step))
    return found


def _step(op: Operation, steps: list[int | None]) -> int | None:
    match op:
        case arith.AddiOp():
            return 1 if steps in ([0, 1], [1, 0]) else None
        case arith.IndexCastOp() | arith.ExtSIOp():
            return steps[0]
        case _:
            return None


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


def is_index_arithmetic(op: linalg.StructuredOp, plan: FusionPlan) -> bool:
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

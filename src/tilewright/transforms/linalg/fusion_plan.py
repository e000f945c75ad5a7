"""Decides which producers move into which consumers, before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cache, lru_cache
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import arith, bufferization, cf, linalg, memref, tensor
from tilewright.dialects.arithmetic import is_arithmetic, takes_many_instructions
from tilewright.dialects.types import is_integer_or_index
from tilewright.ir.walking import find_ops, is_subclass, ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import Writers, may_write, root_of_memref
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.structured import is_elementwise, loop_extents, shape_or_scalar

CHEAP = 16
"""A body of at most this cost is computed again in each of its readers."""

MOST_REPEATED = 8192
"""Index arithmetic with several readers is computed again in each of them, up to this cost for all but one of them:
what costs more is a hash or the like, of which hundreds of results would cost its length each, to compile and to run.
"""

SHORTEST_RUN = 16
"""A load for so many elements costs each of them nothing, so every reader makes it."""

LONGEST_CHAIN = 1000
"""Ops that are computed inside of one another, at most. Beyond, a value goes through memory: passing a tile on costs
nothing next to a thousand ops on it, while a loop without end takes more than its length to compile."""

EXPENSIVE = 100
_SHAPE_CHANGES = tensor.ExpandShapeOp | tensor.CollapseShapeOp


@dataclass(slots=True)
class FusionPlan:
    """Which producers move where."""

    moving: dict[Operation, set[Operation]] = field(default_factory=dict[Operation, set[Operation]])
    """From a structured op to the producers that were decided to move into it. What moves into these moves on with
    them (`parts`): along a chain of a thousand ops, writing that out for each would take a million entries."""
    moved: set[Operation] = field(default_factory=set[Operation])
    """The producers that move anywhere."""
    kept: dict[Operation, list[SSAValue]] = field(default_factory=dict[Operation, list[SSAValue]])
    """Consumer to the inputs that it computes itself and yields for others too."""
    cost: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Of an op with the producers that move into it, each counted as often as it is read."""
    own_cost: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Of the body of an op alone."""
    depth: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """How long the longest chain of producers is that is computed inside of an op."""
    indices: set[Operation] = field(default_factory=set[Operation])
    """Ops that make integers of loop counters and scalars alone."""
    reading: dict[Operation, set[SSAValue]] = field(default_factory=dict[Operation, set[SSAValue]])
    """Ops that read memory, by themselves or through a producer that moves into them, and which pointer arguments and
    buffers that is: they cannot pass a write."""
    runs: set[Operation] = field(default_factory=set[Operation])
    """Ops whose elements are the same in runs of at least `SHORTEST_RUN`, as `x // 256` and what is loaded there."""
    rows: set[Operation] = field(default_factory=set[Operation])
    """Ops whose elements are integers that grow by one along runs of at least `SHORTEST_RUN`, as `x % 256`, and such
    plus what is the same there."""
    scattered: set[Operation] = field(default_factory=set[Operation])
    """Ops that load elements at other places that make no rows, by themselves or through a producer that moves into
    them."""
    computing: set[Operation] = field(default_factory=set[Operation])
    """Ops that compute something dear, by themselves or through a producer that moves into them."""
    _asked: Operation | None = None
    _parts: set[Operation] = field(default_factory=set[Operation])

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
            cost += max(self.own_cost.get(part, 0), 1)
            new = [producer for producer in self.moving.get(part, ()) if producer not in seen]
            seen.update(new)
            pending.extend(new)
        return cost <= most

    def kept_in(self, consumer: Operation) -> list[SSAValue]:
        """The producers' results that a consumer yields besides its own."""
        return self.kept.get(consumer, [])

    def is_worthwhile(self, op: linalg.StructuredOp) -> bool:
        """Return whether rebuilding an op changes anything."""
        return any(isinstance(value.owner, Operation) and _can_vanish(value.owner) for value in op.inputs) or any(
            self.moves(value.owner, op) for value in op.inputs if isinstance(value.owner, Operation)
        )


def _can_vanish(op: Operation) -> bool:
    return isinstance(op, linalg.FillOp | tensor.SplatOp | arith.ConstantOp | _SHAPE_CHANGES)


def plan_fusion(block: Block, writers: Writers, memory: Disjointness) -> FusionPlan:
    """The plan for the structured ops of one block."""
    plan = FusionPlan()
    order = {op: number for number, op in enumerate(block.ops)}
    writes = [(number, op) for op, number in order.items() if writers.may_write(op)]
    for op in block.ops:
        if isinstance(op, linalg.StructuredOp) and op.results:
            _decide(op, plan, order, writes, memory)
    return plan


def _is_written_between(
    op: Operation,
    reader: Operation,
    plan: FusionPlan,
    order: dict[Operation, int],
    writes: Sequence[tuple[int, Operation]],
    memory: Disjointness,
) -> bool:
    """Return whether what an op reads may be written between it and a reader of its result."""
    first, last = order[op], order[reader]
    return any(
        first < number < last and memory.may_disturb(writer, root)
        for number, writer in writes
        for root in plan.reading[op]
    )


def _decide(
    op: linalg.StructuredOp,
    plan: FusionPlan,
    order: dict[Operation, int],
    writes: Sequence[tuple[int, Operation]],
    memory: Disjointness,
) -> None:
    """Decide for a producer which of its readers compute it themselves. Producers come before their readers."""
    body = list(op.body.block.ops)
    plan.own_cost[op] = plan.cost[op] = sum(map(body_cost, body))
    for value in op.inputs:
        producer = producer_of(value)
        if producer is not None and plan.moves(producer, op):
            plan.cost[op] += plan.cost.get(producer, 0)
            plan.depth[op] = max(plan.depth.get(op, 0), plan.depth.get(producer, 0) + 1)
    loads = find_ops(op.body, memref.LoadOp, tensor.ExtractOp)
    for load in loads:
        plan.reading.setdefault(op, set()).update(_memory_behind(load))
    if _has_runs(op, plan):
        plan.runs.add(op)
        plan.cost[op] = 1
    elif loads:
        if not all(_follows_rows(value, plan) for value in op.inputs):
            plan.scattered.add(op)
    elif _follows_row(op, plan):
        plan.rows.add(op)
    if any(map(_is_expensive, body)):
        plan.computing.add(op)
    if not is_movable(op) or plan.depth.get(op, 0) >= LONGEST_CHAIN:
        return
    result = op.results[0]
    readers = structured_readers(result)
    same_block = [reader for reader in readers.ops if reader.parent_block() is op.parent_block()]
    reads_memory = op in plan.reading
    if not reads_memory and _is_between_exchanges(op, readers, plan):
        return
    total = plan.cost[op]
    if any(
        reads_memory
        and (_is_written_between(op, reader, plan, order, writes, memory) or _may_disturb(reader, op, plan, memory))
        for reader in same_block
    ):
        return
    trivial = total <= 2 and not reads_memory
    if _is_index_arithmetic(op, plan) and not _repeats_much(op, len(readers.ops), plan):
        plan.indices.add(op)
    if total <= CHEAP or op in plan.indices or (len(readers.ops) == 1 and not readers.others and len(same_block) == 1):
        for reader in readers.ops:
            if reader in same_block or (trivial and not op.inputs):
                if total > CHEAP and _repeats(op, reader, result):
                    continue
                if op in plan.computing and _has_atomics(reader):
                    continue
                if STARTS_AT_FIRST in reader.attributes and any(inner.regions for inner in op.body.block.ops):
                    continue
                _move(op, reader, plan)
        return
    _keep_in_first_reader(op, result, plan, order, writes, memory)


def _memory_behind(op: memref.LoadOp | tensor.ExtractOp) -> list[SSAValue]:
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
    if _has_atomics(reader) and producer in plan.scattered:
        return True
    return any(memory.may_disturb(reader, root) for root in plan.reading[producer])


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
    return bool(varying) and all(producer_of(value) in plan.runs for value in varying)


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
            return all(producer_of(value) in plan.rows for value in op.inputs)
        case [arith.AddiOp()]:
            growing = sum(producer_of(value) in plan.rows for value in op.inputs)
            return growing == 1 and all(_follows_rows(value, plan) for value in op.inputs)
        case [arith.RemSIOp() | arith.RemUIOp()] if producer_of(op.inputs[0]) in plan.rows:
            divisor = find_constant_of_fill(op.inputs[1]) if len(op.inputs) == 2 else None
            return divisor is not None and divisor >= SHORTEST_RUN
        case _:
            return False


def _follows_rows(value: SSAValue, plan: FusionPlan) -> bool:
    """Return whether elements grow by one along runs, or are the same there."""
    owner = producer_of(value) or value.owner
    return owner in plan.rows or owner in plan.runs or isinstance(owner, linalg.FillOp | arith.ConstantOp)


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
        if producer not in plan.indices and not isinstance(producer or value.owner, linalg.FillOp | arith.ConstantOp):
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
    if producer in plan.reading:
        plan.reading.setdefault(reader, set()).update(plan.reading[producer])
    if producer in plan.scattered:
        plan.scattered.add(reader)
    if producer in plan.computing:
        plan.computing.add(reader)


def _has_atomics(op: Operation) -> bool:
    """Return whether a body updates memory atomically: threads take turns there, and what is dear is computed before
    it, side by side.
    """
    return any(isinstance(inner, memref.AtomicRMWOp | memref.GenericAtomicRMWOp) for inner in ops_within(op))


def _repeats(producer: linalg.StructuredOp, reader: linalg.StructuredOp, value: SSAValue) -> bool:
    """Return whether a reader would compute one element of a dear producer in many iterations of a reduction."""
    if is_elementwise(reader):
        return False
    used: set[int] = set()
    for operand, map_ in zip(reader.inputs, reader.maps, strict=False):
        if producer_of(operand) is producer:
            used |= {expr.position for expr in map_.results if isinstance(expr, AffineDimExpr)}
    _ = value
    return len(used) < len(reader.iterators)


def _keep_in_first_reader(
    op: linalg.StructuredOp,
    result: SSAValue,
    plan: FusionPlan,
    order: dict[Operation, int],
    writes: Sequence[tuple[int, Operation]],
    memory: Disjointness,
) -> None:
    """A dear producer with several readers is a further result of the first, if that walks the same elements."""
    block = op.parent_block()
    users = [_in_block(user, block) for user in users_through_copies(result)]
    first = min(users, key=lambda user: order.get(user, 1 << 30), default=None)
    if not isinstance(first, linalg.StructuredOp) or first.parent_block() is not block or len(users) < 2:
        return
    if isinstance(first, linalg.MatmulOp | linalg.BatchMatmulOp | linalg.FillOp):
        return
    if any(use.operation is first and _reads_output(first, use.index) for use in result.uses if _is_output(use)):
        return
    if STARTS_AT_FIRST in first.attributes:
        return
    if op in plan.reading and _is_written_between(op, first, plan, order, writes, memory):
        return
    accesses = [access for access in (access_to(operand, map_.results, result) for operand, map_
                in zip(first.inputs, first.maps, strict=False)) if access is not None]  # fmt: skip
    if len(accesses) != 1:
        return
    dims = [expr.position for expr in accesses[0] if isinstance(expr, AffineDimExpr)]
    if len(dims) != len(accesses[0]) or sorted(dims) != list(range(len(first.iterators))):
        return
    _move(op, first, plan)
    plan.kept.setdefault(first, []).append(result)
    plan.cost[first] = EXPENSIVE


def is_copy(op: Operation) -> bool:
    """Return whether an op only rearranges the elements of its one input: a transpose or a broadcast."""
    if not isinstance(op, linalg.StructuredOp) or len(op.inputs) != 1 or not is_movable(op):
        return False
    body = op.body.block
    end = body.first_op
    return isinstance(end, linalg.YieldOp) and end.operands[0] is body.args[0]


def users_through_copies(value: SSAValue) -> list[Operation]:
    """The ops that do something with the elements of a value."""
    found: list[Operation] = []
    for use in value.uses:
        user = use.operation
        if (isinstance(user, _SHAPE_CHANGES) and changes_unit_dims_only(user)) or (is_copy(user) and use.index == 0):
            found.extend(inner for inner in users_through_copies(user.results[0]) if inner not in found)
        elif (
            isinstance(user, linalg.StructuredOp)
            and use.index >= len(user.inputs)
            and not _reads_output(user, use.index)
        ):
            continue
        elif user not in found:
            found.append(user)
    return found


def _is_output(use: Use) -> bool:
    """Return whether a structured op is given a value as destination."""
    op = use.operation
    return isinstance(op, linalg.StructuredOp) and use.index >= len(op.inputs)


def _reads_output(op: linalg.StructuredOp, index: int) -> bool:
    return bool(op.body.block.args[index].uses.get_length())


def access_to(operand: SSAValue, access: tuple[AffineExpr, ...], value: SSAValue) -> tuple[AffineExpr, ...] | None:
    """Return how an access of `operand` reaches `value` through copies and unit dimensions; None if it does not."""
    while operand is not value:
        op = operand.owner
        if isinstance(op, tensor.ExpandShapeOp):
            inner = through_expand(op, access)
            operand = op.src
        elif isinstance(op, tensor.CollapseShapeOp):
            inner = through_collapse(op, access)
            operand = op.src
        elif isinstance(op, linalg.StructuredOp) and is_copy(op):
            loops: list[AffineExpr] = [AffineConstantExpr(0)] * len(op.iterators)
            for expr, outer in zip(op.maps[-1].results, access, strict=True):
                assert isinstance(expr, AffineDimExpr)
                loops[expr.position] = outer
            inner = tuple(substitute(expr, loops) for expr in op.maps[0].results)
            operand = op.inputs[0]
        else:
            return None
        if inner is None:
            return None
        access = inner
    return access


def substitute(expr: AffineExpr, loops: Sequence[AffineExpr]) -> AffineExpr:
    """An access of a producer, in terms of the consumer's loops."""
    return loops[expr.position] if isinstance(expr, AffineDimExpr) else expr


def through_expand(op: tensor.ExpandShapeOp, access: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...] | None:
    """The access below an expansion that only adds unit dimensions."""
    shape = shape_or_scalar(op.result.type)  # pyright: ignore[reportAttributeAccessIssue]
    inner: list[AffineExpr] = []
    for group in op.groups:
        wide = [dim for dim in group if shape[dim] != 1]
        if len(wide) > 1:
            return None
        inner.append(access[wide[0]] if wide else AffineConstantExpr(0))
    return tuple(inner)


def through_collapse(op: tensor.CollapseShapeOp, access: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...] | None:
    """The access below a collapse that only drops unit dimensions."""
    shape = shape_or_scalar(op.src.type)
    inner: list[AffineExpr] = [AffineConstantExpr(0)] * len(shape)
    for position, group in enumerate(op.groups):
        wide = [dim for dim in group if shape[dim] != 1]
        if len(wide) > 1:
            return None
        if wide:
            inner[wide[0]] = access[position]
    return tuple(inner)


def _in_block(op: Operation, block: Block | None) -> Operation:
    current = op
    while current.parent_block() is not block:
        parent = current.parent_op()
        if parent is None:
            return op
        current = parent
    return current


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads a value: structured ops, and whether anything else does."""

    ops: list[linalg.StructuredOp]
    others: bool


def structured_readers(value: SSAValue) -> Readers:
    """The structured ops that read a value as input, looking through changes of unit dimensions."""
    ops: list[linalg.StructuredOp] = []
    others = False
    for use in value.uses:
        user = use.operation
        if isinstance(user, linalg.StructuredOp) and not isinstance(user, linalg.MatmulOp | linalg.BatchMatmulOp):
            if use.index >= len(user.inputs):
                # A destination that the body does not read is only a shape.
                if user.body.block.args[use.index].uses.get_length():
                    others = True
            elif user not in ops:
                ops.append(user)
        elif isinstance(user, _SHAPE_CHANGES) and changes_unit_dims_only(user):
            inner = structured_readers(user.results[0])
            ops.extend(reader for reader in inner.ops if reader not in ops)
            others = others or inner.others
        else:
            others = True
    return Readers(ops, others)


def changes_unit_dims_only(op: Operation) -> bool:
    """Return whether a change of shape adds or drops nothing but unit dimensions."""
    assert isinstance(op, _SHAPE_CHANGES)
    larger = op.result.type if isinstance(op, tensor.ExpandShapeOp) else op.src.type
    assert isinstance(larger, TensorType)
    shape = larger.get_shape()
    return all(sum(shape[dim] != 1 for dim in group) <= 1 for group in op.groups)


def producer_of(value: SSAValue) -> linalg.StructuredOp | None:
    """The structured op behind a value, through unit dimensions."""
    owner = value.owner
    while isinstance(owner, _SHAPE_CHANGES) and changes_unit_dims_only(owner):
        owner = owner.src.owner
    return owner if isinstance(owner, linalg.StructuredOp) else None


def is_movable(op: linalg.StructuredOp) -> bool:
    """Elementwise, one result, no effect on memory, each element reached by its own index."""
    if len(op.results) != 1 or not is_elementwise(op) or isinstance(op, linalg.FillOp):
        return False
    if not _are_by_own_index(tuple(op.maps)):
        return False
    if op.body.block.args[len(op.inputs)].uses.get_length() and op.outputs[0].owner is op:
        return False
    return not any(map(_is_visible, op.body.block.ops))


@lru_cache(maxsize=1024)
def _are_by_own_index(maps: tuple[AffineMap, ...]) -> bool:
    """Return whether each element of the last operand has an index of its own, and the others go by loops alone."""
    output = maps[-1].results
    if any(not isinstance(expr, AffineDimExpr) for expr in output) or len(set(output)) != maps[-1].num_dims:
        return False
    return all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for map_ in maps for expr in map_.results)


def _is_visible(op: Operation) -> bool:
    """Return whether others see that an op of a body runs: it writes, or may end the program."""
    return may_write(op) or isinstance(op, cf.AssertOp)


def body_cost(op: Operation) -> int:
    """Rough cycles of one element; what must not be repeated costs `EXPENSIVE`."""
    return EXPENSIVE if op.regions or _is_expensive(op) else _cost_of_class(type(op))


@cache
def _cost_of_class(cls: type[Operation]) -> int:
    if is_subclass(cls, (linalg.YieldOp, linalg.IndexOp, arith.ConstantOp, arith.IndexCastOp)):
        return 0
    slow = (memref.LoadOp, tensor.ExtractOp, arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)
    return EXPENSIVE if is_subclass(cls, slow) else 1


def _is_expensive(op: Operation) -> bool:
    """Return whether an op on floats takes many cycles."""
    return takes_many_instructions(op) or is_subclass(type(op), (arith.DivfOp, arith.RemFOp))

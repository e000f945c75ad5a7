"""Decides which producers move into which consumers, before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import linalg, memref
from tilewright.ir.walking import ops_within
from tilewright.support.cpu_costs import CHEAP, EXPENSIVE, LONGEST_CHAIN, MOST_REPEATED
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import Writers, may_write
from tilewright.transforms.linalg.fusion_work import Access, FusionPlan, describe, is_index_arithmetic
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.producers import (
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
            first < position < last and self.memory.may_disturb(writer, root)
            for position, writer in self.ops
            for root in roots
        )


def plan_fusion(block: Block, writers: Writers, memory: Disjointness) -> FusionPlan:
    """The plan for the structured ops of one block."""
    plan = FusionPlan()
    order = {op: position for position, op in enumerate(block.ops)}
    writes = _Writes(order, [(position, op) for op, position in order.items() if writers.may_write(op)], memory)
    for op in block.ops:
        if isinstance(op, linalg.StructuredOp) and op.results:
            describe(op, plan)
            _decide(op, plan, writes)
    return plan


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
    if is_index_arithmetic(op, plan) and not _repeats_much(op, len(readers.ops), plan):
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
    work = plan.of(op)
    if work.cost > CHEAP and (_repeats(op, reader) or (not work.is_index and _repeats_by_row(op, reader))):
        return False
    if work.is_expensive and _has_atomics(reader):
        return False
    return STARTS_AT_FIRST not in reader.attributes or not any(inner.regions for inner in op.body.block.ops)


def _is_disturbed(op: linalg.StructuredOp, reader: linalg.StructuredOp, plan: FusionPlan, writes: _Writes) -> bool:
    """Return whether a reader would read other memory than an op did."""
    return writes.may_come_between(op, reader, plan.of(op).reads or ()) or _may_disturb(reader, op, plan, writes.memory)


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
    """Return whether a body updates memory atomically: threads serialise there, and expensive work is done before
    it, side by side.
    """
    return any(isinstance(inner, memref.AtomicRMWOp | memref.GenericAtomicRMWOp) for inner in ops_within(op))


def _repeats(producer: linalg.StructuredOp, reader: linalg.StructuredOp) -> bool:
    """Return whether a reader would compute one element of an expensive producer in many iterations of a reduction."""
    if is_elementwise(reader):
        return False
    used: set[int] = set()
    for operand, map_ in zip(reader.inputs, reader.maps, strict=False):
        if producer_of(operand) is producer:
            used |= {expr.position for expr in map_.results if isinstance(expr, AffineDimExpr)}
    return len(used) < len(reader.iterators)


def _repeats_by_row(producer: linalg.StructuredOp, reader: linalg.StructuredOp) -> bool:
    """Return whether an elementwise reader would compute an expensive producer of its columns again for each row: what
    belongs to a row is computed once for all columns, in the loop around them.
    """
    extents = loop_extents(reader)
    for operand, map_ in zip(reader.inputs, reader.maps, strict=False):
        if producer_of(operand) is producer:
            used = {expr.position for expr in map_.results if isinstance(expr, AffineDimExpr)}
            if any(extent > 1 and dim not in used for dim, extent in enumerate(extents[: max(used, default=0)])):
                return True
    return False


def _keep_in_first_reader(op: linalg.StructuredOp, result: SSAValue, plan: FusionPlan, writes: _Writes) -> None:
    """Make an expensive producer of several readers a further result of the first, if that visits the same elements."""
    block = op.parent_block()
    users = [_in_block(user, block) for user in users_through_copies(result)]
    first = min(users, key=lambda user: writes.order.get(user, 1 << 30), default=None)
    if first is None or _gathers_from(first, result):
        return
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


def _gathers_from(op: Operation, value: SSAValue) -> bool:
    """Return whether the body of an op reads a tensor at indices of its own: all of it is there before then."""
    block = op.parent_block()
    return any(user is not op and _in_block(user, block) is op for user in users_through_copies(value))


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
    if op not in plan.kept or STARTS_AT_FIRST in reader.attributes:
        return
    outer = _find_walk(reader, op.results[0])
    if outer is None or any(_gathers_from(reader, value) for value in plan.kept[op]):
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

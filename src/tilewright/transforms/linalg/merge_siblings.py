"""The pass `linalg-merge-siblings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from tilewright.dialects import cf, func, linalg, memref
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.cpu_costs import MOST_LOOP_INPUTS, MOST_LOOP_OPS, MOST_LOOP_RESULTS, MOST_LOOPS_TRIED
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import Writers, may_write
from tilewright.transforms.linalg.hoisting import Hoisting
from tilewright.transforms.linalg.loads import Disjointness, ancestor_in
from tilewright.transforms.linalg.sibling_loops import (
    Merge,
    SiblingLoop,
    captured,
    is_guarded_load,
    own_index_of,
    read_values,
)
from tilewright.transforms.linalg.structured import access_of, is_elementwise


@register_pass
class LinalgMergeSiblingsPass(Pass):
    """Merges elementwise generics over the same elements of the same tiles into one generic with several results.

    ```mlir
    %share = linalg.generic {divf} ins(%one, %count) outs(%e) -> tensor<64xf32>
    %mean = linalg.generic {subf, mulf, addf} ins(%m, %x, %share) outs(%e) -> tensor<64xf32>
    bufferization.materialize_in_destination %mean in writable %out
    %next = linalg.generic {subf, mulf, mulf, addf} ins(%q, %m, %x, %share) outs(%e) -> tensor<64xf32>
    // becomes
    %mean, %next = linalg.generic {divf, subf, mulf, addf, mulf, mulf, addf} ins(%one, %count, %m, %x, %q) outs(%e, %e2)
      -> tensor<64xf32>, tensor<64xf32>
    bufferization.materialize_in_destination %mean in writable %out
    ```
    Shared computations and reads then happen once, and values that the first generic computes only for the second stay
    in registers. The second moves up to the first, together with the scalar arithmetic and loads that it needs, if
    everything else it reads is available there. Otherwise the first moves down to the second, if nothing in between
    reads its results or writes the caller's memory.
    """

    name = "linalg-merge-siblings"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if not isinstance(function, func.FuncOp) or function.body.blocks.first is None:
                continue
            hoisting, writers = Hoisting(Disjointness(function)), Writers()
            for op in ops_within(function):
                if not isinstance(op, linalg.StructuredOp):
                    for region in op.regions:
                        for block in region.blocks:
                            merge_block(block, hoisting, writers)


def merge_block(block: Block, hoisting: Hoisting, writers: Writers) -> None:
    """Merge the generics of one block, each into the last one before it that it may join."""
    heads: list[SiblingLoop | None] = []
    touching: dict[SSAValue, set[int]] = {}
    """From a value to the heads that read or make it, by number: only these have anything in common with a reader."""
    writes = _Writes()
    before: dict[Operation, _Writes] = {}
    for op in list(block.ops):
        before[op] = writes
        writes = writes.with_those_of(op, writers)
        if not isinstance(op, linalg.GenericOp) or not is_mergeable(op):
            continue
        loop = SiblingLoop.of(op)
        position: int | None = None
        while True:  # what joined one may now join another, too
            values = (*loop.op.inputs, *loop.op.results) if position is not None else loop.op.inputs
            near = {index for value in values for index in _with_room(touching.get(value), heads)}
            nearest = sorted(near, reverse=True)[:MOST_LOOPS_TRIED]
            merged = _merge_with_one(loop, position, nearest, heads, before, hoisting)
            if merged is None:
                break
            if position is not None:
                heads[position] = None
            position, loop = merged
            heads[position] = loop
            for value in (*loop.op.inputs, *loop.op.results):
                touching.setdefault(value, set()).add(position)
        if position is None:
            position = len(heads)
            heads.append(loop)
            for value in (*loop.op.inputs, *loop.op.results):
                touching.setdefault(value, set()).add(position)


def _merge_with_one(
    loop: SiblingLoop,
    position: int | None,
    near: Sequence[int],
    heads: Sequence[SiblingLoop | None],
    before: dict[Operation, _Writes],
    hoisting: Hoisting,
) -> tuple[int, SiblingLoop] | None:
    """Merge a loop, which may be one of the heads itself, with the first of some heads before it that it may join."""
    for index in near:
        head = heads[index]
        if head is None or index == position:
            continue
        if position is not None and not head.op.is_before_in_block(loop.op):
            continue
        if (anchor := choose_merge_point(head, loop, before, hoisting)) is not None:
            merged = Merge(head, loop, anchor).write(hoisting)
            before[merged.op] = before[anchor]
            return index, merged
    return None


def _with_room(indices: set[int] | None, heads: Sequence[SiblingLoop | None]) -> set[int]:
    """The indices of heads that may get further results; the others are struck out for good."""
    if indices is None:
        return set()
    indices -= {index for index in indices if (head := heads[index]) is None or _is_full(head.op)}
    return indices


def _is_full(op: linalg.GenericOp) -> bool:
    """Return whether a loop cannot get further results, whatever they read."""
    return len(op.results) >= MOST_LOOP_RESULTS and len(op.inputs) < MOST_LOOP_INPUTS


@dataclass(frozen=True, slots=True)
class _Writes:
    """How many ops of a block before one may write memory."""

    any: int = 0
    lasting: int = 0
    """To memory that is not allocated here."""

    def with_those_of(self, op: Operation, writers: Writers) -> _Writes:
        if not writers.may_write(op):
            return self
        roots = writers.written(op)
        is_local = roots is not None and all(isinstance(root.owner, memref.AllocOp) for root in roots)
        return _Writes(self.any + 1, self.lasting + (not is_local))


def is_mergeable(op: linalg.GenericOp) -> bool:
    """Return whether a generic is elementwise, has no effects, writes each result at the loops' own index, and reads
    no old element of a destination."""
    if not op.results or not is_elementwise(op) or not op.iterators:
        return False
    if any(argument.uses.get_length() for argument in op.body.block.args[len(op.inputs) :]):
        return False
    own_index = own_index_of(op)
    if any(access_of(map_) != own_index for map_ in op.maps[len(op.inputs) :]):
        return False
    if any(not isinstance(expr, AffineDimExpr | AffineConstantExpr) for map_ in op.maps for expr in map_.results):
        return False
    return not any(
        (inner.regions and not is_guarded_load(inner)) or may_write(inner) or isinstance(inner, cf.AssertOp)
        for inner in op.body.block.ops
    )


def choose_merge_point(
    head: SiblingLoop, loop: SiblingLoop, before: Mapping[Operation, _Writes], hoisting: Hoisting
) -> linalg.GenericOp | None:
    """Return at which of the two, of which `head` comes first in the same block, the merged op goes; None: they stay.

    `loop` moves up where all that it reads is known there, or can move along. Else `head` moves down, if nothing in
    between reads its results or writes memory: what it reads would have to be kept beyond that.
    """
    if not _fit(head, loop):
        return None
    first, op = head.op, loop.op
    if any(value.owner is first for value in captured(op)):
        return None  # a gather: any iteration may read what any other makes
    if before[first].any != before[op].any and loop.reads_memory:
        return None
    outer = (value for value in read_values(op) if value.owner is not first)
    if all(hoisting.is_possible(value, first) for value in outer):
        return first
    if before[first].lasting != before[op].lasting or head.reads_memory:
        return None
    return op if all(_is_read_after(result, op, hoisting) for result in first.results) else None


def _fit(head: SiblingLoop, loop: SiblingLoop) -> bool:
    """Return whether two generics make a good one: over the same elements, with something in common, and not too
    large. Loops that each read many tiles are large anyhow: most of the second's reads should be gone.
    """
    first, op = head.op, loop.op
    if head.extents != loop.extents or head.widest != loop.widest or head.length + loop.length > MOST_LOOP_OPS:
        return False
    known = {(value, access_of(map_)) for value, map_ in zip(first.inputs, first.maps, strict=False)}
    own_index = own_index_of(op)
    shared = extra = 0
    for value, map_ in zip(op.inputs, op.maps, strict=False):
        if value.owner is first:
            if access_of(map_) != own_index:
                return False
            shared += 1
        elif (value, access_of(map_)) in known:
            shared += access_of(map_) == own_index
        else:
            extra += 1
    if len(known) + extra <= MOST_LOOP_INPUTS and len(first.results) + len(op.results) <= MOST_LOOP_RESULTS:
        return shared > 0
    return min(len(known), len(op.inputs)) >= MOST_LOOP_INPUTS and shared >= extra


def _is_read_after(value: SSAValue, op: Operation, hoisting: Hoisting) -> bool:
    """Return whether whatever refers to a value is `op`, or comes after it in its block."""
    block = op.parent_block()
    assert block is not None
    order = hoisting.order.of_block(block)
    users = (ancestor_in(block, use.operation) for use in value.uses)
    return all(user is op or (user is not None and order.is_before(op, user)) for user in users)

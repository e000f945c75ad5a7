"""Decides how one generic becomes a loop nest: which dimension is the vector, in what order the loops stand, how wide.

generic  (d0 parallel, d1 reduction)  ins (d0, d1) stride 1 in d1
  ->  for d0 { for d1 step 16 { vector accumulators } horizontal reduction }          lanes along the reduction
generic  (d0 reduction, d1 parallel)  ins (d0, d1) stride 1 in d1
  ->  for d1 step 16 { for d0 { one vector of accumulators } store }                   lanes side by side
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import BFloat16Type, IndexType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects import arith, linalg, memref
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.atomic_offsets import find_offsets_of_atomics
from tilewright.lowering.linalg_to_loops.lane_steps import find_lane_steps
from tilewright.lowering.linalg_to_loops.nest import BodyFacts, Nest, Schedule, stride_along
from tilewright.lowering.linalg_to_loops.predication import Predicate, find_obstacle, if_convert, is_straight
from tilewright.lowering.linalg_to_loops.sources import memory_of
from tilewright.lowering.linalg_to_loops.split_offsets import find_split_offsets
from tilewright.support.cpu_costs import (
    HEAVY,
    MOST_PAIRED,
    STREAMED_ELEMENTS,
    STREAMED_RESULTS,
    STREAMING_COST,
)
from tilewright.support.facts import TargetFacts
from tilewright.transforms.linalg.body_cost import LOADS, WRITES, vector_cost
from tilewright.transforms.linalg.effects import root_of_memref
from tilewright.transforms.linalg.vector_dims import Access, choose_vector_dim, may_vectorize


def plan_nest(nest: Nest, target: TargetFacts, *, vectorizes: bool = True) -> Nest:
    """Schedule a nest: order, vector dimension and lanes; unrolled as its schedule says, as far as that fits."""
    predicates = if_convert(nest.body)
    facts = BodyFacts(predicates, find_dependences(nest, predicates), cost=sum(vector_cost(op) for op in nest.body.ops))
    nest = replace(nest, target=target, facts=facts)
    dim = find_vector_dim(nest) if vectorizes and obstacle_to_vectors(nest) is None else None
    if dim is not None and is_straight(nest.body):
        steps = find_lane_steps(nest.body, facts.depends, predicates, dim)
        offsets = find_split_offsets(nest.body, facts.depends, dim)
        nest = replace(nest, facts=replace(facts, steps=steps, offsets=offsets))
    nest = with_lanes(replace(nest, schedule=Schedule(vector_dim=dim, unroll=nest.schedule.unroll)))
    if nest.schedule.lanes == 1:
        nest = replace(nest, schedule=Schedule())
    schedule = replace(nest.schedule, order=order_loops(nest), unroll=fit_unrolling(nest))
    return replace(nest, schedule=schedule)


def fit_unrolling(nest: Nest) -> int:
    """Return how many vectors a loop over lanes takes at a time: the schedule's, as far as the loop has so many."""
    dim, unroll = nest.schedule.vector_dim, nest.schedule.unroll
    if dim is None or not nest.has_reduction:
        return 1
    vectors = nest.extents[dim] // nest.schedule.lanes
    if nest.folds():
        return unroll if vectors >= 2 * unroll and nest.bounds[dim] == nest.extents[dim] else 1
    return min(unroll, _power_of_two_at_most(vectors))


def with_lanes(nest: Nest) -> Nest:
    """The nest with as many lanes in its vectors as suit it, and the registers that these take."""
    if nest.schedule.vector_dim is None:
        return replace(nest, schedule=replace(nest.schedule, lanes=1, registers=1))
    register_lanes, registers = nest.target.lanes(widest_lane(nest)), 1
    is_wide = nest.target.vector_bits >= 512
    if is_wide and waits_for_memory(nest):
        register_lanes = max(1, register_lanes // 2)
    elif is_wide and narrows_pairs(nest):
        register_lanes, registers = 2 * register_lanes, 2
    lanes = min(register_lanes, _power_of_two_at_most(nest.extents[nest.schedule.vector_dim]))
    registers = registers if lanes == register_lanes else 1
    return replace(nest, schedule=replace(nest.schedule, lanes=lanes, registers=registers))


def waits_for_memory(nest: Nest) -> bool:
    """Return whether the caller's arrays, unless they are short, take longer to pass by than what is computed from
    them.
    """
    inputs = (memory_of(operand.source) for operand in nest.inputs if nest.schedule.vector_dim in operand.dims())
    read = [view for view in inputs if view is not None]
    written = [output.dest for output in nest.outputs if output.dest is not None]
    views = (*read, *written)
    if nest.has_reduction or all(view.owned for view in views):
        return False
    if nest.facts.cost <= STREAMING_COST:
        return True
    if (
        not nest.target.streams_half_vectors
        or len(written) > STREAMED_RESULTS
        or prod(nest.extents) < STREAMED_ELEMENTS
    ):
        return False
    if any(view.owned or bit_width(view.element) < widest_lane(nest) for view in views):
        return False
    arrays = len({view.root for view in read}) + len(written)
    return nest.facts.cost <= STREAMING_COST * arrays


def narrows_pairs(nest: Nest) -> bool:
    """Return whether a short body that computes much rounds f32 to bf16, which AVX-512 does to two registers at a
    time.
    """
    ops = list(nest.body.ops)
    if nest.facts.cost < HEAVY or len(ops) > MOST_PAIRED or widest_lane(nest) != 32:
        return False
    return any(isinstance(op, arith.TruncFOp) and isinstance(op.results[0].type, BFloat16Type) for op in ops)


def find_dependences(nest: Nest, predicates: Mapping[Operation, Predicate]) -> dict[SSAValue, frozenset[int]]:
    """The dimensions that each value of the body depends on; accumulators depend on everything."""
    everything = frozenset(range(len(nest.extents)))
    depends: dict[SSAValue, frozenset[int]] = {}
    arguments = list(nest.body.args)
    for argument, operand in zip(arguments, nest.inputs, strict=False):
        depends[argument] = operand.dims()
    for argument, output in zip(arguments[len(nest.inputs) :], nest.outputs, strict=True):
        depends[argument] = everything if output.reduces else output.init.dims()
    nothing: frozenset[int] = frozenset()
    for op in nest.body.ops:
        if isinstance(op, linalg.IndexOp):
            dims = frozenset((op.dim.value.data,))
        elif op.regions:
            dims = everything
        else:
            dims = nothing.union(*(depends.get(operand, nothing) for operand in op.operands))
            for condition, _ in predicates.get(op, ()):
                dims |= depends.get(condition, nothing)
        for result in op.results:
            depends[result] = dims
    return depends


def widest_lane(nest: Nest) -> int:
    """Bits of the widest type that lanes hold.

    Not counted: i1 and index; what all lanes share; offsets of one stride, of which the first is enough; offsets of
    atomics, which go lane by lane anyhow.
    """
    widest = 8
    atomic_offsets = find_offsets_of_atomics(nest.body)
    for value in (*nest.body.args, *(result for op in nest.body.ops for result in op.results)):
        if isinstance(value.type, IndexType | MemRefType) or nest.schedule.vector_dim not in nest.facts.depends[value]:
            continue
        if value in nest.facts.offsets.inner:
            continue
        if value in nest.facts.steps.of and all(_is_offset(use.operation, nest) for use in value.uses):
            continue
        if value not in atomic_offsets:
            widest = max(widest, bit_width(value.type))
    return widest


def _is_offset(op: Operation, nest: Nest) -> bool:
    """Return whether an op only computes an offset further, or is the view at it."""
    return isinstance(op, memref.ReinterpretCastOp) or any(result in nest.facts.steps.of for result in op.results)


def obstacle_to_vectors(nest: Nest) -> str | None:
    """Return why the body has no form on vectors; None where it has one."""
    # Accumulators without a known combiner can only lie side by side, unless the body combines lanes.
    known = nest.combination is not None or all(output.combiner or not output.reduces for output in nest.outputs)
    if (op := find_obstacle(nest.body)) is not None:
        return f"'{op.name}' takes them one by one"
    if all(nest.iterators) and nest.has_reduction and not known:
        return "it combines elements by a function that is not known to be associative"
    stores = [op for op in nest.body.ops if isinstance(op, WRITES)]
    if len(stores) > 1:
        return "each of its elements writes to several addresses"
    if stores and any(_may_see(op, stores[0], nest) for op in nest.body.ops):
        return "it may read what it wrote for an element before, as its arguments may overlap"
    accesses = (*(operand.access for operand in nest.inputs), *(output.access for output in nest.outputs))
    if not all(_is_vector_access(expr) for access in accesses for expr in access):
        return "an index is more than a dimension or a constant"
    return None


def _may_see(op: Operation, write: memref.StoreOp | memref.AtomicRMWOp, nest: Nest) -> bool:
    """Return whether a load may read what a write puts there in an iteration before."""
    if not isinstance(op, LOADS):
        return False
    if isinstance(op, memref.LoadOp):
        return not nest.around.are_apart(root_of_memref(op.memref), root_of_memref(write.memref))
    read = memory_of(nest.around.source(op.tensor))
    return read is not None and not nest.around.are_apart(read.root, root_of_memref(write.memref))


def _is_vector_access(expr: AffineExpr) -> bool:
    return isinstance(expr, AffineDimExpr | AffineConstantExpr)


def find_vector_dim(nest: Nest) -> int | None:
    """Return the dimension that vectors go along: the one that the op names, or else the best by its memory."""
    reduced = [is_reduced and nest.has_reduction for is_reduced in nest.iterators]
    lanes = _can_reduce_lanes(nest)
    chosen = nest.schedule.vector_dim
    if chosen is not None and may_vectorize(nest.extents[chosen], is_reduced=reduced[chosen], may_reduce_lanes=lanes):
        return chosen
    loops = range(len(nest.extents))
    accesses = [
        Access(len(operand.dims()), tuple(stride_along(operand.source, operand.access, dim) for dim in loops))
        for operand in nest.inputs
    ]
    for output in nest.outputs:
        if output.dest is not None:
            used = {position for expr in output.access for position in expr.used_dims()}
            strides = tuple(stride_along(output.dest, output.access, dim) for dim in loops)
            accesses.append(Access(len(used), strides, is_write=True))
    accesses += _accesses_at_addresses(nest)
    return choose_vector_dim(nest.extents, reduced, accesses, may_reduce_lanes=lanes)


def _accesses_at_addresses(nest: Nest) -> list[Access]:
    """The accesses at addresses that the body computes, as gathers do."""
    casts = [op for op in nest.body.ops if isinstance(op, memref.ReinterpretCastOp) and op.offsets]
    if not casts or not is_straight(nest.body):
        return []
    facts = nest.facts
    steps = [
        find_lane_steps(nest.body, facts.depends, facts.predicates, dim).of if extent > 1 else {}
        for dim, extent in enumerate(nest.extents)
    ]
    accesses: list[Access] = []
    for cast in casts:
        offset = cast.offsets[0]
        depends = facts.depends.get(offset, frozenset[int]())
        strides = tuple(found.get(offset) if dim in depends else 0 for dim, found in enumerate(steps))
        accesses.append(Access(len(depends), strides))
    return accesses


def _can_reduce_lanes(nest: Nest) -> bool:
    """Return whether lanes may belong to one accumulator."""
    if nest.combination is not None:
        return sum(nest.iterators) == 1
    return all(output.combiner is not None or not output.reduces for output in nest.outputs)


def order_loops(nest: Nest) -> tuple[int, ...]:
    """Parallel loops outside, reductions inside; lanes innermost unless accumulators lie side by side in them."""
    dim = nest.schedule.vector_dim
    others = [other for other in range(len(nest.extents)) if other != dim]
    lanes = () if dim is None else (dim,)
    if not nest.has_reduction:
        return (*others, *lanes)
    parallel = [other for other in others if not nest.iterators[other]]
    reduced = [other for other in others if nest.iterators[other]]
    if dim is not None and nest.iterators[dim]:
        return (*parallel, *reduced, *lanes)
    return (*parallel, *lanes, *reduced)


def _power_of_two_at_most(value: int) -> int:
    return 1 << (value.bit_length() - 1) if value > 0 else 1

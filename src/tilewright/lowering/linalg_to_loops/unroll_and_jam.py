"""Several iterations of an outer loop share one reduction: what they have in common is loaded and computed once.

    for %v = 0 to 8 { for %k { %acc = addf %acc, (decode %w[%k, lanes]) * %x[%v, %k] } }
      ->
    for %k { %w = decode %w[%k, lanes]; %acc0 = addf %acc0, %w * %x[0, %k]; ...; %acc7 = addf %acc7, %w * %x[7, %k] }

The loop over `%v` becomes the innermost one, written out. It is the loop without which most of a step stays the same,
taken as many iterations at a time as half of the registers have room for in accumulators. Measured (Zen 3, matrices of
Q6_K and Q4_K times 8 vectors, in the caches, other work beside it): 3 times and 1.3 times as fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.lowering.linalg_to_loops.nest import JAM, Nest
from tilewright.lowering.linalg_to_loops.predication import is_straight
from tilewright.lowering.linalg_to_loops.sources import Vectors, memory_of
from tilewright.support.cpu_costs import JAMMED, LOAD
from tilewright.transforms.linalg.body_cost import WRITES, vector_cost


def plan_jam(nest: Nest) -> Nest | None:
    """A planned nest of which iterations of a parallel loop share the reduction; None where that saves nothing."""
    if nest.schedule.vector_dim is None or not nest.has_reduction or not _is_plain(nest) or _may_overlap(nest):
        return None
    shared, dim = max(((_shared_work(nest, dim), -dim) for dim in _jammable(nest)), default=(0, 0))
    if not shared:
        return None
    dim = -dim
    if _repeated_work(nest, dim) >= shared:
        return None
    free = (nest.target.vector_registers - _shared_registers(nest, dim)) // 2
    each = nest.schedule.registers * len(nest.outputs)
    count = next((size for size in JAMMED if nest.extents[dim] % size == 0 and size * each <= free), 1)
    if count == 1:
        return None
    outer = (JAM,) if count < nest.extents[dim] else ()
    order = [kept for other in nest.schedule.order for kept in (outer if other == dim else (other,))]
    if nest.vector_reduces():
        if count < nest.schedule.unroll:  # too few accumulators to hide their latency
            return None
        return replace(nest, schedule=replace(nest.schedule, order=(*order, dim), jammed=count, unroll=1))
    unroll = max(
        size for size in (1, 2, 4) if size <= nest.schedule.unroll and (size == 1 or size * count * each <= free)
    )
    return replace(nest, schedule=replace(nest.schedule, order=(*order, dim), jammed=count, unroll=unroll))


def _jammable(nest: Nest) -> Iterable[int]:
    """The dimensions of loops outside of the reduction, all of whose iterations run."""
    inner = next(level for level, dim in enumerate(nest.schedule.order) if nest.iterators[dim])
    for dim in nest.schedule.order[:inner]:
        if dim != nest.schedule.vector_dim and nest.extents[dim] > 1 and nest.bounds[dim] == nest.extents[dim]:
            yield dim


def _is_plain(nest: Nest) -> bool:
    """Return whether a nest only computes, and carries accumulators of known combiners."""
    if nest.combination is not None or not is_straight(nest.body) or not all(out.reduces for out in nest.outputs):
        return False
    operands = (*nest.inputs, *(output.init for output in nest.outputs))
    in_registers = any(isinstance(operand.source, Vectors) for operand in operands)
    return not in_registers and not any(isinstance(op, WRITES) for op in nest.body.ops)


def _may_overlap(nest: Nest) -> bool:
    """Return whether a result may lie where an input does: iterations write in another order than they read."""
    written = [output.dest for output in nest.outputs if output.dest is not None]
    read = [view for operand in nest.inputs if (view := memory_of(operand.source)) is not None]
    return any(
        dest.root is view.root or not (dest.owned or view.owned or nest.around.are_apart(dest.root, view.root))
        for dest in written
        for view in read
    )


def _shared_work(nest: Nest, dim: int) -> int:
    """Return the cost of what each step of the reduction computes or loads that does not depend on a dimension."""
    return sum(work for value, work in _work(nest).items() if dim not in nest.facts.depends[value])


def _repeated_work(nest: Nest, dim: int) -> int:
    """Return the cost of what each iteration of a dimension computes before the reduction; jammed, each step does."""
    reduced = {other for other in nest.schedule.order if nest.iterators[other]}
    ops = (op for op in nest.body.ops if op.results)
    return sum(
        vector_cost(op) for op in ops if dim in (dims := nest.facts.depends[op.results[0]]) and not dims & reduced
    )


def _work(nest: Nest) -> dict[SSAValue, int]:
    """The cost of each value that is made anew in each step of the reduction."""
    reduced = {dim for dim in nest.schedule.order if nest.iterators[dim]}
    inputs = {argument: LOAD for argument in nest.body.args[: len(nest.inputs)] if argument.uses.get_length()}
    made = {op.results[0]: vector_cost(op) for op in nest.body.ops if op.results}
    return {value: cost for value, cost in (inputs | made).items() if nest.facts.depends[value] & reduced}


def _shared_registers(nest: Nest, dim: int) -> int:
    """Return how many vectors all iterations of a dimension read."""
    shared = {
        value
        for value in _work(nest)
        if {dim, nest.schedule.vector_dim} & nest.facts.depends[value] == {nest.schedule.vector_dim}
    }
    users = {value: [use.operation for use in value.uses] for value in shared}
    read = [value for value, ops in users.items() if any(not {*op.results} <= shared for op in ops)]
    return nest.schedule.registers * len(read)

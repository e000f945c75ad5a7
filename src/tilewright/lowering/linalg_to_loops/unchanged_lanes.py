"""Tiles that are updated in place under a mask: lanes past the mask's bound keep what they hold, and are not visited.

for %j = 0 to 1024 step 8 { %acc[%j] = select(%start + %j < %n, %acc[%j] + %x[%j], %acc[%j]) }
  ->
for %j = 0 to clamp(%n - %start, 0, 1024) step 8 { ... }                                 the last vector masked
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects import arith
from tilewright.ir.effects import may_write
from tilewright.lowering.linalg_to_loops.comparisons import add_bound, find_limited_lane, is_outside, lane_bound
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import Nest, Output
from tilewright.transforms.linalg.index_proofs import is_at_most


def without_unchanged_lanes(emitter: LoopEmitter, nest: Nest) -> Nest:
    """A planned nest that ends where all its outputs keep what they hold; the same nest where that is not known."""
    dim = nest.schedule.vector_dim
    if dim is None or nest.has_reduction or any(may_write(op) for op in nest.body.ops):
        return nest
    common: set[SSAValue] | None = None
    for output, value in zip(nest.outputs, nest.yielded, strict=True):
        conditions = _conditions_of_update(nest, output, value)
        common = conditions if common is None else common & conditions
    bounds: list[Index] = []
    for op in nest.body.ops:
        if op.results and op.results[0] in (common or ()):
            found = find_limited_lane(nest, op)
            if found is not None and found.dim == dim and found.result_below:
                add_bound(bounds, lane_bound(emitter, found.limit, found.shift, nest.extents[dim]))
    bound = nest.bounds[dim]
    for limit in bounds:
        if not is_at_most(bound, limit):
            bound = emitter.min(bound, limit)
    if bound is nest.bounds[dim]:
        return nest
    # What the last vector reaches past the bound is needed, too.
    outputs = [replace(output, may_overrun=False) for output in nest.outputs]
    return replace(nest, bounds=(*nest.bounds[:dim], bound, *nest.bounds[dim + 1 :]), outputs=outputs)


def _conditions_of_update(nest: Nest, output: Output, value: SSAValue) -> set[SSAValue]:
    """The values of the body that all hold where an output gets a new element; where one fails, it keeps its own."""
    op = value.owner
    if not isinstance(op, arith.SelectOp) or output.dest is None or is_outside(nest, value):
        return set()
    kept = op.rhs
    if not isinstance(kept, BlockArgument) or kept.owner is not nest.body or kept.index >= len(nest.inputs):
        return set()
    operand = nest.inputs[kept.index]
    if operand.source != output.dest or operand.access != output.access:
        return set()
    conditions, pending = set[SSAValue](), [op.cond]
    while pending:
        condition = pending.pop()
        conditions.add(condition)
        if isinstance(both := condition.owner, arith.AndIOp) and not is_outside(nest, condition):
            pending.extend(both.operands)
    return conditions

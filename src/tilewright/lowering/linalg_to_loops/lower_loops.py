"""Loops that carry tiles in buffers."""

from __future__ import annotations

from tilewright.dialects import scf
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
    has_tensors,
    lowers,
)
from tilewright.lowering.linalg_to_loops.region_tiles import carried_buffer, finish_region, replace_op
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.transforms.linalg.lay_out_carried_tiles import take_by_columns
from tilewright.transforms.linalg.region_values import drop_arguments, tensor_positions, without


@lowers(scf.ForOp)
def lower_for(op: scf.ForOp, lowering: FunctionLowering) -> None:
    """A loop with carried tiles."""
    body = op.body.block
    inits = list(op.iter_args)
    tensors = tensor_positions(inits)
    if not tensors:
        lowering.lower_block(body)
        return
    storage = lowering.storage
    yield_op = body.last_op
    assert yield_op is not None
    by_columns = take_by_columns(op)
    views: dict[int, StridedView] = {}
    for position in tensors:
        init, result, taken = inits[position], op.results[position], list(views.values())
        views[position] = carried_buffer(lowering, op, init, result, taken, by_columns=position in by_columns)
    storage.put_all(body.args[1:], views)
    storage.set_targets(yield_op, views)
    lowering.lower_block(body)
    finish_region(lowering, yield_op, 0, views)
    storage.put_all(op.results, views)
    drop_arguments(body, [position + 1 for position in tensors])
    region = op.detach_region(op.body)
    kept = without(inits, tensors)
    new = scf.ForOp.create(
        operands=[op.lb, op.ub, op.step, *kept],
        result_types=[value.type for value in kept],
        properties=dict(op.properties),
        regions=[region],
    )
    replace_op(lowering, op, new, tensors)


@lowers(scf.WhileOp)
def lower_while(op: scf.WhileOp, lowering: FunctionLowering) -> None:
    """A while loop: one buffer per tile that enters the test, one per tile that leaves it unless it is the same."""
    before, after = op.regions[0].block, op.regions[1].block
    if not has_tensors(before.args) and not has_tensors(after.args):
        lowering.lower_block(before)
        lowering.lower_block(after)
        return
    storage = lowering.storage
    condition, yield_op = before.last_op, after.last_op
    assert condition is not None and yield_op is not None
    inits = list(op.operands)
    entering = tensor_positions(inits)
    views: dict[int, StridedView] = {}
    for position in entering:
        views[position] = carried_buffer(lowering, op, inits[position], None, list(views.values()))
    storage.put_all(before.args, views)
    storage.set_targets(yield_op, views)
    lowering.lower_block(before)
    leaving = tensor_positions(op.results)
    exits: dict[int, StridedView] = {}
    for position in leaving:
        value = condition.operands[position + 1]
        source = lowering.source(value)
        used = [view.flat for view in exits.values()]
        if value in before.args and isinstance(source, StridedView) and source.flat not in used:
            exits[position] = source
        else:
            exits[position] = lowering.memory.new_tile(value)
    finish_region(lowering, condition, 1, exits)
    storage.put_all(after.args, exits)
    lowering.lower_block(after)
    finish_region(lowering, yield_op, 0, views)
    storage.put_all(op.results, exits)
    drop_arguments(before, entering)
    drop_arguments(after, leaving)
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = scf.WhileOp.create(
        operands=without(inits, entering),
        result_types=[value.type for value in without(op.results, leaving)],
        regions=regions,
    )
    replace_op(lowering, op, new, leaving)

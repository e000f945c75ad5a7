"""Loops that carry tiles: in buffers, in vectors that the loop carries, or, where they scan an axis, as scans."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import scf
from tilewright.dialects.types import element_type, is_tensor
from tilewright.lowering.linalg_to_loops.carried_registers import (
    PromotedTiles,
    add_arguments,
    enter_loop,
    find_carried,
    leave_loop,
    made_vectors,
    start_tiles,
)
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
    has_tensors,
    lowers,
    tensor_shape,
)
from tilewright.lowering.linalg_to_loops.region_tiles import carried_buffer, finish_region, replace_op
from tilewright.lowering.linalg_to_loops.sources import Window
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
    if (tiles := find_carried(lowering, body, body.args[1:], yield_op.operands)) is not None:
        lower_for_in_registers(lowering, op, tiles)
        return
    windows: dict[int, Window] = {}
    for position in tensors:
        windows[position] = carried_buffer(lowering, op, inits[position], op.results[position], list(windows.values()))
    for position, window in windows.items():
        lowering.values.sources[body.args[position + 1]] = window
        storage.held[window.flat] = body.args[position + 1]
        storage.wanted[yield_op, position] = window
    lowering.lower_block(body)
    finish_region(lowering, yield_op, 0, windows)
    for position, window in windows.items():
        lowering.values.sources[op.results[position]] = window
        storage.held[window.flat] = op.results[position]
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


def lower_for_in_registers(lowering: FunctionLowering, op: scf.ForOp, tiles: PromotedTiles) -> None:
    """A loop whose tiles are vectors that it carries."""
    body, inits = op.body.block, list(op.iter_args)
    yield_op = body.last_op
    assert yield_op is not None
    started = start_tiles(lowering, tiles, inits)
    enter_loop(lowering, tiles, body)
    lowering.lower_block(body)
    positions = list(tiles.arguments)
    yield_op.operands = [*without(yield_op.operands, positions), *made_vectors(tiles)]
    drop_arguments(body, [position + 1 for position in positions])
    kept = [*without(inits, positions), *started]
    new = scf.ForOp.create(
        operands=[op.lb, op.ub, op.step, *kept],
        result_types=[value.type for value in kept],
        properties=dict(op.properties),
        regions=[op.detach_region(op.body)],
    )
    replace_op(lowering, op, new, positions, added=len(started))
    leave_loop(lowering, tiles, new, dict(enumerate(op.results)))


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
    passed = passed_on(before, after, condition)
    if passed is not None and (tiles := find_carried(lowering, after, passed, yield_op.operands)) is not None:
        lower_while_in_registers(lowering, op, tiles)
        return
    inits = list(op.operands)
    entering = tensor_positions(inits)
    windows: dict[int, Window] = {}
    for position in entering:
        windows[position] = carried_buffer(lowering, op, inits[position], None, list(windows.values()))
    for position, window in windows.items():
        lowering.values.sources[before.args[position]] = window
        storage.held[window.flat] = before.args[position]
        storage.wanted[yield_op, position] = window
    lowering.lower_block(before)
    leaving = tensor_positions(op.results)
    exits: dict[int, Window] = {}
    for position in leaving:
        value = condition.operands[position + 1]
        source = lowering.source(value)
        used = [window.flat for window in exits.values()]
        if value in before.args and isinstance(source, Window) and source.flat not in used:
            exits[position] = source
        else:
            assert is_tensor(value.type)
            exits[position] = lowering.memory.new_buffer(element_type(value.type), tensor_shape(value))
    finish_region(lowering, condition, 1, exits)
    for position, window in exits.items():
        lowering.values.sources[after.args[position]] = window
        storage.held[window.flat] = after.args[position]
    lowering.lower_block(after)
    finish_region(lowering, yield_op, 0, windows)
    for position, window in exits.items():
        lowering.values.sources[op.results[position]] = window
        storage.held[window.flat] = op.results[position]
    drop_arguments(before, entering)
    drop_arguments(after, leaving)
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = scf.WhileOp.create(
        operands=without(inits, entering),
        result_types=[value.type for value in without(op.results, leaving)],
        regions=regions,
    )
    replace_op(lowering, op, new, leaving)


def passed_on(before: Block, after: Block, condition: Operation) -> list[SSAValue] | None:
    """Return what stands for each tile that enters the test after it, if all that the test does is to pass them on."""
    found: list[SSAValue] = list(before.args)
    handed = list(condition.operands)[1:]
    for position in tensor_positions(before.args):
        argument = before.args[position]
        if argument.uses.get_length() != 1 or argument not in handed:
            return None
        found[position] = after.args[handed.index(argument)]
    return found if len(tensor_positions(handed)) == len(tensor_positions(before.args)) else None


def lower_while_in_registers(lowering: FunctionLowering, op: scf.WhileOp, tiles: PromotedTiles) -> None:
    """A while loop whose tiles are vectors that it carries."""
    before, after = op.regions[0].block, op.regions[1].block
    condition, yield_op = before.last_op, after.last_op
    assert condition is not None and yield_op is not None
    inits = list(op.operands)
    started = start_tiles(lowering, tiles, inits)
    handed = add_arguments(tiles, before)
    enter_loop(lowering, tiles, after)
    lowering.lower_block(before)
    lowering.lower_block(after)
    entering, leaving = list(tiles.arguments), tensor_positions(op.results)
    called = {number: op.results[after.args.index(value)] for number, value in tiles.arguments.items()}
    condition.operands = [condition.operands[0], *without(list(condition.operands)[1:], leaving), *handed]
    yield_op.operands = [*without(yield_op.operands, entering), *made_vectors(tiles)]
    drop_arguments(before, entering)
    drop_arguments(after, leaving)
    new = scf.WhileOp.create(
        operands=[*without(inits, entering), *started],
        result_types=[*(value.type for value in without(op.results, leaving)), *tiles.types],
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    replace_op(lowering, op, new, leaving, added=len(started))
    leave_loop(lowering, tiles, new, called)

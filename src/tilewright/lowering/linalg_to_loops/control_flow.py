"""Loops and branches that carry tensors: each carried tile gets a buffer, the op keeps only its scalars.

%r = scf.for ... iter_args(%acc = %init, %n = %c0) -> (tensor<64xf32>, i32)
  ->  init is computed into (or already is in) a buffer;  %n = scf.for ... iter_args(%n = %c0) -> (i32)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import arith, memref, scf
from tilewright.dialects.types import element_type, is_memref, is_tensor
from tilewright.lowering.linalg_to_loops.carried_registers import (
    CarriedTiles,
    add_arguments,
    enter_loop,
    find_carried,
    leave_loop,
    made_vectors,
    start_tiles,
)
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
    LoweringTable,
    has_tensors,
    same_window,
    tensor_shape,
)
from tilewright.lowering.linalg_to_loops.k_loop import emit_fast_path, plan_k_loop
from tilewright.lowering.linalg_to_loops.provable import constant_of, is_same
from tilewright.lowering.linalg_to_loops.scan_loop import ScanLoop, emit_scan, find_scan
from tilewright.lowering.linalg_to_loops.sources import Source, Window, root_of


def tensor_positions(values: Sequence[SSAValue]) -> list[int]:
    """Which of the values are tensors."""
    return [number for number, value in enumerate(values) if is_tensor(value.type)]


def without(values: Sequence[SSAValue], positions: Sequence[int]) -> list[SSAValue]:
    """The values at all other positions."""
    return [value for number, value in enumerate(values) if number not in positions]


def carried_buffer(
    lowering: FunctionLowering,
    op: Operation,
    init: SSAValue,
    result: SSAValue | None,
    taken: list[Window],
    *,
    is_filled: bool = True,
) -> Window:
    """The buffer of a loop-carried tile, with the initial elements in it if it `is_filled`."""
    storage = lowering.storage
    source = lowering.source(init)
    window = storage.find_wanted(result) if result is not None else None
    if window is not None and isinstance(source, Window) and same_window(source, window):
        if storage.take(init, op) is None:
            window = None
    elif window is not None and not storage.may_overwrite(window, op):
        window = None
    if window is None:
        window = storage.take(init, op)
    if window is None or any(window.flat is other.flat for other in taken):
        assert is_tensor(init.type)
        window = lowering.memory.new_buffer(element_type(init.type), tensor_shape(init))
    if is_filled:
        lowering.copy(source, window)
    return window


def finish_region(lowering: FunctionLowering, terminator: Operation, first: int, windows: dict[int, Window]) -> None:
    """Bring the tensors that a region yields into their buffers and drop them from its terminator."""
    block = terminator.parent_block()
    assert block is not None
    lowering.emitter.cursor = Cursor(block, terminator)
    moves: list[tuple[Source, Window]] = []
    for position, window in windows.items():
        source = lowering.source(terminator.operands[first + position])
        if not (isinstance(source, Window) and same_window(source, window)):
            moves.append((source, window))
    flats = {window.flat for window in windows.values()}
    for number, (source, window) in enumerate(moves):
        root = root_of(source)
        if root in flats or (isinstance(source, Window) and source.flat in flats):
            # The source is a carried tile itself, which another move may overwrite first.
            buffer = lowering.memory.new_buffer(window.element, window.shape)
            lowering.copy(source, buffer)
            moves[number] = (buffer, window)
    for source, window in moves:
        lowering.copy(source, window)
    kept = terminator.operands[:first], terminator.operands[first:]
    terminator.operands = [*kept[0], *without(kept[1], list(windows))]


def drop_arguments(block: Block, positions: Sequence[int]) -> None:
    """Remove block arguments whose remaining users are about to be erased."""
    for position in sorted(positions, reverse=True):
        block.erase_arg(block.args[position], safe_erase=False)


def replace_op(
    lowering: FunctionLowering, old: Operation, new: Operation, dropped: Sequence[int], added: int = 0
) -> None:
    """Put `new`, which has the results of `old` that are not dropped and then some new ones, in the place of `old`."""
    block = old.parent_block()
    assert block is not None
    new.location = old.location
    new.attributes = dict(old.attributes)
    block.insert_op_before(new, old)
    kept = new.results[: len(new.results) - added]
    for result, value in zip(without(old.results, dropped), kept, strict=True):
        result.replace_all_uses_with(value)
    old.detach()
    lowering.dead.append(old)
    lowering.storage.order[new] = lowering.storage.place(old)


def lower_for(lowering: FunctionLowering, op: scf.ForOp) -> None:
    """A loop with carried tiles."""
    body = op.body.block
    inits = list(op.iter_args)
    tensors = tensor_positions(inits)
    if not tensors:
        lowering.lower_block(body)
        return
    scan = find_scan(op)
    if scan is not None:
        lower_scan(lowering, op, scan)
        return
    storage = lowering.storage
    yield_op = body.last_op
    assert yield_op is not None
    if (tiles := find_carried(lowering, body, body.args[1:], yield_op.operands)) is not None:
        lower_for_in_registers(lowering, op, tiles)
        return
    fast_path = plan_k_loop(lowering, op) if len(tensors) == 1 else None
    init = lowering.source(inits[tensors[0]])
    windows: dict[int, Window] = {}
    for position in tensors:
        windows[position] = carried_buffer(
            lowering, op, inits[position], op.results[position], list(windows.values()), is_filled=fast_path is None
        )
    for position, window in windows.items():
        lowering.sources[body.args[position + 1]] = window
        storage.held[window.flat] = body.args[position + 1]
        storage.wanted[yield_op, position] = window
    if fast_path is not None:
        emit_fast_path(lowering, op, fast_path, windows[tensors[0]], init)
    lowering.lower_block(body)
    finish_region(lowering, yield_op, 0, windows)
    for position, window in windows.items():
        lowering.sources[op.results[position]] = window
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


def lower_for_in_registers(lowering: FunctionLowering, op: scf.ForOp, tiles: CarriedTiles) -> None:
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


def lower_scan(lowering: FunctionLowering, op: scf.ForOp, scan: ScanLoop) -> None:
    """A loop that scans the last axis of tiles: vectors instead of elements."""
    count = len(scan.sources)
    windows: list[Window] = []
    bounds: list[tuple[Index, ...]] = []
    access = tuple(AffineDimExpr(dim) for dim in range(len(scan.shape)))
    for init, result in zip(list(op.iter_args)[:count], op.results[:count], strict=True):
        window = carried_buffer(lowering, op, init, result, windows, is_filled=False)
        windows.append(window)
        bounds.append(lowering.demand.loop_bounds(op, len(bounds), access, scan.shape))
    common = tuple(
        ends[0] if all(is_same(ends[0], end) for end in ends) else extent
        for extent, *ends in zip(scan.shape, *bounds, strict=True)
    )
    emit_scan(lowering, scan, windows, common if all(window.owned for window in windows) else scan.shape)
    for window, result in zip(windows, op.results[:count], strict=True):
        lowering.sources[result] = window
        lowering.storage.held[window.flat] = result
    lowering.dead.append(op)


def turn_choices_into_branches(function: Operation) -> None:
    """`arith.select %c, %a, %b : tensor<...>` by a scalar is a branch that gives one of two tiles."""
    for op in list(function.walk()):
        if not isinstance(op, arith.SelectOp) or not is_tensor(op.results[0].type):
            continue
        condition, then, otherwise = op.operands
        block = op.parent_block()
        if is_tensor(condition.type) or block is None:
            continue
        branch = scf.IfOp(condition, (then.type,), (scf.YieldOp(then),), (scf.YieldOp(otherwise),))
        branch.location = op.location
        block.insert_op_before(branch, op)
        op.results[0].replace_all_uses_with(branch.results[0])
        op.detach()
        op.erase()


def lower_if(lowering: FunctionLowering, op: scf.IfOp) -> None:
    """A branch whose results are tiles: both sides write the same buffer."""
    if any(is_memref(result.type) for result in op.results):
        lower_view_results(lowering, op)
        return
    tensors = tensor_positions(op.results)
    storage = lowering.storage
    windows: dict[int, Window] = {}
    for position in tensors:
        result = op.results[position]
        window = storage.find_wanted(result)
        if window is None or not storage.may_overwrite_after(window, op):
            assert is_tensor(result.type)
            window = lowering.memory.new_buffer(element_type(result.type), tensor_shape(result))
        windows[position] = window
    held = {window.flat: storage.held.get(window.flat) for window in windows.values()}
    for region in op.regions:
        for block in region.blocks:
            for flat, holder in held.items():
                if holder is not None:
                    storage.held[flat] = holder
                else:
                    storage.held.pop(flat, None)
            terminator = block.last_op
            assert terminator is not None
            for position, window in windows.items():
                storage.wanted[terminator, position] = window
            lowering.lower_block(block)
            if tensors:
                finish_region(lowering, terminator, 0, windows)
    if not tensors:
        return
    for position, window in windows.items():
        lowering.sources[op.results[position]] = window
        storage.held[window.flat] = op.results[position]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = scf.IfOp.create(
        operands=[op.cond],
        result_types=[value.type for value in without(op.results, tensors)],
        properties=dict(op.properties),
        regions=regions,
    )
    replace_op(lowering, op, new, tensors)


def lower_view_results(lowering: FunctionLowering, op: scf.IfOp) -> None:
    """A branch that chooses between views yields their parts: flat memory, offset and strides."""
    if has_tensors(op.results):
        lowering.fail(op, "a branch that yields both tensors and views")
    emitter, memory = lowering.emitter, lowering.memory
    views = [number for number, result in enumerate(op.results) if is_memref(result.type)]
    chosen: list[list[Window]] = []
    for region in op.regions:
        lowering.lower_block(region.block)
        terminator = region.block.last_op
        assert terminator is not None
        chosen.append([lowering.window_for(op, terminator.operands[number]) for number in views])
    for region, windows in zip(op.regions, chosen, strict=True):
        terminator = region.block.last_op
        assert terminator is not None
        parts: list[SSAValue] = []
        with emitter.at(Cursor(region.block, terminator)):
            for window in windows:
                flat_type = MemRefType(window.element, [DYNAMIC_INDEX])
                flat = window.flat
                if flat.type != flat_type:
                    flat = emitter.value(memref.CastOp, (flat,), flat_type)
                parts += [flat, emitter.ssa(window.offset), *(emitter.ssa(stride) for stride in window.strides)]
        terminator.operands = [*without(terminator.operands, views), *parts]
    kept = without(op.results, views)
    yielded = op.true_region.block.last_op
    assert yielded is not None
    part_types = [value.type for value in yielded.operands[len(kept) :]]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = scf.IfOp.create(
        operands=[op.cond], result_types=[*(value.type for value in kept), *part_types], regions=regions
    )
    replace_op(lowering, op, new, views, added=len(part_types))
    parts = list(new.results[len(kept) :])
    for position, number in enumerate(views):
        first, second = chosen[0][position], chosen[1][position]
        flat, offset, *rest = parts
        rank = len(first.strides)
        strides = tuple(
            a if constant_of(a) is not None and is_same(a, b) else value
            for a, b, value in zip(first.strides, second.strides, rest[:rank], strict=True)
        )
        parts = rest[rank:]
        root = next((window.root for window in (first, second) if not window.owned), first.root)
        window = Window(flat, offset, strides, first.shape, first.element, root)
        memory.define(op.results[number], window)


def lower_while(lowering: FunctionLowering, op: scf.WhileOp) -> None:
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
        lowering.sources[before.args[position]] = window
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
        lowering.sources[after.args[position]] = window
        storage.held[window.flat] = after.args[position]
    lowering.lower_block(after)
    finish_region(lowering, yield_op, 0, windows)
    for position, window in exits.items():
        lowering.sources[op.results[position]] = window
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
    """What stands for each tile that enters a test behind it, if all that the test does is to pass them on."""
    found: list[SSAValue] = list(before.args)
    handed = list(condition.operands)[1:]
    for position in tensor_positions(before.args):
        argument = before.args[position]
        if argument.uses.get_length() != 1 or argument not in handed:
            return None
        found[position] = after.args[handed.index(argument)]
    return found if len(tensor_positions(handed)) == len(tensor_positions(before.args)) else None


def lower_while_in_registers(lowering: FunctionLowering, op: scf.WhileOp, tiles: CarriedTiles) -> None:
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


def keep(lowering: FunctionLowering, op: Operation) -> None:
    """Terminators are finished with the op that they belong to."""


LOWERINGS: LoweringTable = {
    scf.ForOp: lower_for,
    scf.IfOp: lower_if,
    scf.WhileOp: lower_while,
    scf.YieldOp: keep,
    scf.ConditionOp: keep,
}
"""From op class to its lowering."""

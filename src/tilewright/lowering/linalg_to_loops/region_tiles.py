"""Tiles that enter and leave regions: each gets a buffer, the op that the region belongs to keeps only its scalars.

%r = scf.for ... iter_args(%acc = %init, %n = %c0) -> (tensor<64xf32>, i32)
  ->  init is computed into (or already is in) a buffer;  %n = scf.for ... iter_args(%n = %c0) -> (i32)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.lowering.linalg_to_loops.emitter import Cursor
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, same_window
from tilewright.lowering.linalg_to_loops.sources import Source, Window, root_of
from tilewright.transforms.linalg.region_values import without


def carried_buffer(
    lowering: FunctionLowering,
    op: Operation,
    init: SSAValue,
    result: SSAValue | None,
    taken: list[Window],
    *,
    is_filled: bool = True,
    by_columns: bool = False,
) -> Window:
    """The buffer of a loop-carried tile, with the initial elements in it if it `is_filled`. A new one is laid out
    `by_columns` where that is asked for."""
    storage = lowering.storage
    source = lowering.source(init)
    window = storage.find_target(result) if result is not None else None
    if window is not None and isinstance(source, Window) and same_window(source, window):
        if storage.find_reusable(init, op) is None:
            window = None
    elif window is not None and not storage.may_overwrite(window, op):
        window = None
    if window is None:
        window = storage.find_reusable(init, op)
    if window is None or any(window.flat is other.flat for other in taken):
        window = lowering.memory.new_tile(init, by_columns=by_columns)
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
    for index, (source, window) in enumerate(moves):
        root = root_of(source)
        if root in flats or (isinstance(source, Window) and source.flat in flats):
            # The source is a carried tile itself, which another move may overwrite first.
            buffer = lowering.memory.new_buffer(window.element, window.shape)
            lowering.copy(source, buffer)
            moves[index] = (buffer, window)
    for source, window in moves:
        lowering.copy(source, window)
    kept = terminator.operands[:first], terminator.operands[first:]
    terminator.operands = [*kept[0], *without(kept[1], list(windows))]


def replace_op(
    lowering: FunctionLowering, old: Operation, new: Operation, dropped: Sequence[int], added: int = 0
) -> None:
    """Put `new`, which has the results of `old` that are not dropped and then some new ones, in place of `old`."""
    block = old.parent_block()
    assert block is not None
    new.location = old.location
    new.attributes = dict(old.attributes)
    block.insert_op_before(new, old)
    kept = new.results[: len(new.results) - added]
    for result, value in zip(without(old.results, dropped), kept, strict=True):
        result.replace_all_uses_with(value)
    old.detach()
    lowering.values.dead.append(old)
    lowering.storage.lifetimes.take_position(new, old)

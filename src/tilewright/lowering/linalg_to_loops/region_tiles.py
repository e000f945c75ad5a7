"""Tiles that enter and leave regions: each gets a buffer, the op that the region belongs to keeps only its scalars.

%r = scf.for ... iter_args(%acc = %init, %n = %c0) -> (tensor<64xf32>, i32)
  ->  init is computed into (or already is in) a buffer;  %n = scf.for ... iter_args(%n = %c0) -> (i32)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.lowering.linalg_to_loops.emitter import Cursor
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, same_view
from tilewright.lowering.linalg_to_loops.sources import Source, StridedView, root_of
from tilewright.transforms.linalg.region_values import without


def carried_buffer(
    lowering: FunctionLowering,
    op: Operation,
    init: SSAValue,
    result: SSAValue | None,
    taken: list[StridedView],
    *,
    is_filled: bool = True,
    by_columns: bool = False,
) -> StridedView:
    """The buffer of a loop-carried tile, with the initial elements in it if it `is_filled`. A new one is laid out
    `by_columns` where that is asked for."""
    storage = lowering.storage
    source = lowering.source(init)
    view = storage.find_target(result) if result is not None else None
    if view is not None and isinstance(source, StridedView) and same_view(source, view):
        if storage.find_reusable(init, op) is None:
            view = None
    elif view is not None and not storage.may_overwrite(view, op):
        view = None
    if view is None:
        view = storage.find_reusable(init, op)
    if view is None or any(view.flat is other.flat for other in taken):
        view = lowering.memory.new_tile(init, by_columns=by_columns)
    if is_filled:
        lowering.copy(source, view)
    return view


def finish_region(lowering: FunctionLowering, terminator: Operation, first: int, views: dict[int, StridedView]) -> None:
    """Bring the tensors that a region yields into their buffers and drop them from its terminator."""
    block = terminator.parent_block()
    assert block is not None
    lowering.emitter.cursor = Cursor(block, terminator)
    moves: list[tuple[Source, StridedView]] = []
    for position, view in views.items():
        source = lowering.source(terminator.operands[first + position])
        if not (isinstance(source, StridedView) and same_view(source, view)):
            moves.append((source, view))
    flats = {view.flat for view in views.values()}
    for index, (source, view) in enumerate(moves):
        root = root_of(source)
        if root in flats or (isinstance(source, StridedView) and source.flat in flats):
            # The source is a carried tile itself, which another move may overwrite first.
            buffer = lowering.memory.new_buffer(view.element, view.shape)
            lowering.copy(source, buffer)
            moves[index] = (buffer, view)
    for source, view in moves:
        lowering.copy(source, view)
    kept = terminator.operands[:first], terminator.operands[first:]
    terminator.operands = [*kept[0], *without(kept[1], list(views))]


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

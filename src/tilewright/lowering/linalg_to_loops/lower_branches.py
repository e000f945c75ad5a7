"""Branches whose results are tiles, or views of memory, of which they yield the parts."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import memref, scf
from tilewright.dialects.types import is_memref
from tilewright.lowering.linalg_to_loops.emitter import Cursor
from tilewright.lowering.linalg_to_loops.function_lowering import (
    FunctionLowering,
    has_tensors,
    lowers,
)
from tilewright.lowering.linalg_to_loops.region_tiles import finish_region, replace_op
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.transforms.linalg.index_proofs import constant_of, is_same
from tilewright.transforms.linalg.region_values import tensor_positions, without


@lowers(scf.IfOp)
def lower_if(op: scf.IfOp, lowering: FunctionLowering) -> None:
    """A branch whose results are tiles: both sides write the same buffer."""
    if any(is_memref(result.type) for result in op.results):
        lower_view_results(lowering, op)
        return
    tensors = tensor_positions(op.results)
    storage = lowering.storage
    views: dict[int, StridedView] = {}
    for position in tensors:
        result = op.results[position]
        view = storage.find_target(result)
        if view is None or not storage.may_overwrite_after(view, op):
            view = lowering.memory.new_tile(result)
        views[position] = view
    held = {view.flat: storage.contents.get(view.flat) for view in views.values()}
    for region in op.regions:
        for block in region.blocks:
            for flat, holder in held.items():
                if holder is not None:
                    storage.contents[flat] = holder
                else:
                    storage.contents.pop(flat, None)
            terminator = block.last_op
            assert terminator is not None
            storage.set_targets(terminator, views)
            lowering.lower_block(block)
            if tensors:
                finish_region(lowering, terminator, 0, views)
    if not tensors:
        return
    storage.put_all(op.results, views)
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
    positions = [index for index, result in enumerate(op.results) if is_memref(result.type)]
    chosen: list[list[StridedView]] = []
    before = lowering.accesses.copy()
    for region in op.regions:
        lowering.lower_block(region.block)
        terminator = region.block.last_op
        assert terminator is not None
        chosen.append([lowering.view_for(op, terminator.operands[index]) for index in positions])
    if all(any(not view.owned for view in views) for views in zip(*chosen, strict=True)):
        lowering.accesses = before  # what copies into a buffer is for the rare tile that cannot be read in place
    for region, views in zip(op.regions, chosen, strict=True):
        terminator = region.block.last_op
        assert terminator is not None
        parts: list[SSAValue] = []
        with emitter.at(Cursor(region.block, terminator)):
            for view in views:
                flat_type = MemRefType(view.element, [DYNAMIC_INDEX])
                flat = view.flat
                if flat.type != flat_type:
                    flat = emitter.value(memref.CastOp, (flat,), flat_type)
                parts += [flat, emitter.ssa(view.offset), *(emitter.ssa(stride) for stride in view.strides)]
        terminator.operands = [*without(terminator.operands, positions), *parts]
    kept = without(op.results, positions)
    yielded = op.true_region.block.last_op
    assert yielded is not None
    part_types = [value.type for value in yielded.operands[len(kept) :]]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = scf.IfOp.create(
        operands=[op.cond], result_types=[*(value.type for value in kept), *part_types], regions=regions
    )
    replace_op(lowering, op, new, positions, added=len(part_types))
    parts = list(new.results[len(kept) :])
    for position, index in enumerate(positions):
        first, second = chosen[0][position], chosen[1][position]
        flat, offset, *rest = parts
        rank = len(first.strides)
        strides = tuple(
            a if constant_of(a) is not None and is_same(a, b) else value
            for a, b, value in zip(first.strides, second.strides, rest[:rank], strict=True)
        )
        parts = rest[rank:]
        root = next((view.root for view in (first, second) if not view.owned), first.root)
        view = StridedView(flat, offset, strides, first.shape, first.element, root)
        memory.define(op.results[index], view)


@lowers(scf.YieldOp, scf.ConditionOp)
def keep(op: Operation, lowering: FunctionLowering) -> None:
    """Terminators are finished with the op that they belong to."""

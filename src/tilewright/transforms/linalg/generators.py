"""Index ranges, and what is cheaply computed from them, are recomputed where they are read, also inside of loops.

%r = linalg.generic { linalg.index }                 scf.for {
scf.for { linalg.generic ins(%r) }            ->       %r = linalg.generic { linalg.index }
                                                       linalg.generic ins(%r) }
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from tilewright.dialects import linalg, tensor
from tilewright.dialects.types import is_tensor
from tilewright.support.cpu_costs import CHEAP_GENERATOR, EXPENSIVE
from tilewright.transforms.linalg.body_cost import body_cost
from tilewright.transforms.linalg.producers import SHAPE_CHANGES, is_movable


def repeat_generators(block: Block) -> None:
    """Copy generators of a block before their readers in nested blocks."""
    if not any(op.regions and not isinstance(op, linalg.StructuredOp) for op in block.ops):
        return
    costs: dict[Operation, int] = {}
    for op in block.ops:
        cost = _cost_of_generator(op, costs)
        if cost <= CHEAP_GENERATOR and op.results:
            costs[op] = cost
    for op in reversed(list(costs)):
        # Fills are scalars to whoever reads them, and an empty tensor is only a shape.
        if isinstance(op, linalg.FillOp | tensor.EmptyOp):
            continue
        for use in list(op.results[0].uses):
            reader = use.operation
            if reader.parent_block() is block or isinstance(reader, linalg.YieldOp):
                continue
            anchor = _outside_of_bodies(reader)
            # One element at a time would compute the whole tile for each.
            if anchor.parent_block() is not block and not isinstance(anchor, tensor.ExtractOp):
                _copy_before(op, reader, use.index, costs, anchor)


def _cost_of_generator(op: Operation, costs: dict[Operation, int]) -> int:
    """The cost per element of what depends on nothing but indices and scalars."""
    if isinstance(op, SHAPE_CHANGES):
        return costs.get(op.src.owner, EXPENSIVE) if isinstance(op.src.owner, Operation) else EXPENSIVE
    if isinstance(op, linalg.FillOp | tensor.EmptyOp):
        return 0
    if not isinstance(op, linalg.StructuredOp) or not is_movable(op):
        return EXPENSIVE
    total = sum(body_cost(inner) for inner in op.body.block.ops)
    for value in op.inputs:
        owner = value.owner
        total += costs.get(owner, EXPENSIVE) if isinstance(owner, Operation) else EXPENSIVE
    return total


def _outside_of_bodies(reader: Operation) -> Operation:
    """The structured op whose body reads a tensor by `tensor.extract`; otherwise the reader itself."""
    anchor, parent = reader, reader.parent_op()
    while parent is not None:
        if isinstance(parent, linalg.StructuredOp):
            anchor = parent
        parent = parent.parent_op()
    return anchor


def _copy_before(op: Operation, reader: Operation, index: int, costs: dict[Operation, int], anchor: Operation) -> None:
    """Give a reader its own copy of a generator, and of what that is made from, before `anchor`."""
    inner = anchor.parent_block()
    assert inner is not None
    copy = op.clone()
    inner.insert_op_before(copy, anchor)
    reader.operands[index] = copy.results[0]
    for position, value in enumerate(copy.operands):
        if is_tensor(value.type):
            owner = value.owner
            if (isinstance(owner, Operation) and owner in costs) or isinstance(owner, tensor.EmptyOp):
                _copy_before(owner, copy, position, costs, copy)

"""Tensors that control flow passes on are copied into buffers where they are passed; scalars are passed as before.

%r = scf.for ... iter_args(%acc = %init) -> (tensor<4xf32>) { ... scf.yield %next }
  ->  memref.copy %init, %buffer;  scf.for ... { ... memref.copy %next, %buffer }      %acc and %r are in %buffer
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import cf, scf
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer, lowers
from tilewright.transforms.linalg.region_values import drop_arguments, tensor_positions, without


@lowers(scf.ForOp)
def bufferize_for(op: scf.ForOp, f: Bufferizer) -> None:
    """The carried tensors have a buffer each, which holds the results, too."""
    body, inits = op.body.block, list(op.iter_args)
    positions = tensor_positions(inits)
    targets = [f.buffers.new(inits[position].type) for position in positions]
    f.buffers.transfer([inits[position] for position in positions], targets)
    for position, target in zip(positions, targets, strict=True):
        f.buffers.bind(body.args[position + 1], target)
        f.buffers.bind(op.results[position], target)
    f.block(body)
    if not positions:
        return
    _finish(f, _terminator(body), positions, targets)
    drop_arguments(body, [position + 1 for position in positions])
    kept = without(inits, positions)
    new = scf.ForOp.create(
        operands=[op.lb, op.ub, op.step, *kept],
        result_types=[value.type for value in kept],
        properties=dict(op.properties),
        regions=[op.detach_region(op.body)],
    )
    f.rebuild(op, new, positions)


@lowers(scf.WhileOp)
def bufferize_while(op: scf.WhileOp, f: Bufferizer) -> None:
    """Bufferise a while loop: the operands of its test, and what the test passes to the body and as results."""
    before, after, inits = op.regions[0].block, op.regions[1].block, list(op.operands)
    entering, leaving = tensor_positions(inits), tensor_positions(op.results)
    tested = [f.buffers.new(inits[position].type) for position in entering]
    passed = [f.buffers.new(op.results[position].type) for position in leaving]
    f.buffers.transfer([inits[position] for position in entering], tested)
    for position, target in zip(entering, tested, strict=True):
        f.buffers.bind(before.args[position], target)
    for position, target in zip(leaving, passed, strict=True):
        f.buffers.bind(after.args[position], target)
        f.buffers.bind(op.results[position], target)
    f.block(before)
    _finish(f, _terminator(before), leaving, passed, first=1)
    f.block(after)
    _finish(f, _terminator(after), entering, tested)
    if not entering and not leaving:
        return
    drop_arguments(before, entering)
    drop_arguments(after, leaving)
    new = scf.WhileOp.create(
        operands=without(inits, entering),
        result_types=[value.type for value in without(op.results, leaving)],
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    f.rebuild(op, new, leaving)


@lowers(scf.IfOp, scf.IndexSwitchOp, scf.ExecuteRegionOp)
def bufferize_choice(op: scf.IfOp | scf.IndexSwitchOp | scf.ExecuteRegionOp, f: Bufferizer) -> None:
    """All regions write the buffers of the results."""
    positions = tensor_positions(op.results)
    targets = [f.buffers.new(op.results[position].type) for position in positions]
    for position, target in zip(positions, targets, strict=True):
        f.buffers.bind(op.results[position], target)
    for region in op.regions:
        f.region(region)
        for block in region.blocks:
            if isinstance(block.last_op, scf.YieldOp):
                _finish(f, block.last_op, positions, targets)
    if not positions:
        return
    new = type(op).create(
        operands=list(op.operands),
        result_types=[value.type for value in without(op.results, positions)],
        properties=dict(op.properties),
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    f.rebuild(op, new, positions)


@lowers(scf.YieldOp, scf.ConditionOp)
def keep_terminator(op: Operation, f: Bufferizer) -> None:
    """A terminator is finished with the op that it belongs to."""


def _terminator(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _finish(
    f: Bufferizer, terminator: Operation, positions: Sequence[int], targets: Sequence[SSAValue], first: int = 0
) -> None:
    """Copy the tensors that a terminator passes on, from operand `first` on, and drop them from it."""
    if not positions:
        return
    f.move_before(terminator)
    operands = list(terminator.operands)
    f.buffers.transfer([operands[first + position] for position in positions], targets)
    terminator.operands = without(operands, [first + position for position in positions])


# -- branches between blocks -------------------------------------------------------------------------------------------


@lowers(cf.BranchOp)
def bufferize_branch(op: cf.BranchOp, f: Bufferizer) -> None:
    """Tensors go into the buffers of the target's arguments."""
    positions = tensor_positions(op.operands)
    if positions:
        _pass(f, op.operands, op.successors[0])
        f.rebuild(op, cf.BranchOp(op.successors[0], *without(op.operands, positions)), ())


@lowers(cf.ConditionalBranchOp)
def bufferize_conditional_branch(op: cf.ConditionalBranchOp, f: Bufferizer) -> None:
    """Each edge that passes tensors gets a block for the copies."""
    if not tensor_positions(op.operands):
        return
    then, then_values = _edge(f, op, op.then_block, op.then_arguments)
    otherwise, else_values = _edge(f, op, op.else_block, op.else_arguments)
    f.rebuild(op, cf.ConditionalBranchOp(op.cond, then, then_values, otherwise, else_values), ())


@lowers(cf.SwitchOp)
def bufferize_switch(op: cf.SwitchOp, f: Bufferizer) -> None:
    """As for a conditional branch."""
    if not tensor_positions(op.operands):
        return
    default, default_values = _edge(f, op, op.successors[0], op.default_operands)
    edges = [(value, *_edge(f, op, block, operands)) for value, block, operands in op.cases]
    new = cf.SwitchOp(
        op.flag,
        default,
        default_values,
        [value for value, _, _ in edges],
        [block for _, block, _ in edges],
        [operands for _, _, operands in edges],
    )
    f.rebuild(op, new, ())


def _pass(f: Bufferizer, values: Sequence[SSAValue], target: Block) -> None:
    positions = tensor_positions(values)
    buffers = [f.buffers.of(target.args[position]) for position in positions]
    f.buffers.transfer([values[position] for position in positions], buffers)


def _edge(f: Bufferizer, op: Operation, target: Block, values: Sequence[SSAValue]) -> tuple[Block, list[SSAValue]]:
    """The block that a branch leads to in place of `target`, and what it passes there."""
    positions = tensor_positions(values)
    if not positions:
        return target, list(values)
    region = op.parent_region()
    assert region is not None
    block = Block()
    region.insert_block_before(block, target)
    with f.builder.at(block, op.location):
        _pass(f, values, target)
        f.builder.insert(cf.BranchOp(target, *without(values, positions)))
    return block, []

"""Clean-up of regions with several blocks: unreachable blocks, chains of blocks, arguments that nothing needs."""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects import cf
from tilewright.dialects.construction import segment_sizes
from tilewright.ir.walking import ops_within


def simplify_regions(root: Operation) -> list[Operation]:
    """Simplify every region inside `root`; returns the ops that changed and may now be simplified further."""
    touched: list[Operation] = []
    regions = [region for op in ops_within(root) for region in op.regions if _has_several_blocks(region)]
    for region in regions:
        _simplify_region(region, touched)
    return [op for op in touched if op.parent is not None]


def _has_several_blocks(region: Region) -> bool:
    first = region.blocks.first
    return first is not None and first.next_block is not None


def _simplify_region(region: Region, touched: list[Operation]) -> None:
    _erase_unreachable(region, touched)
    _merge_chains(region, touched)
    _drop_arguments(region, touched)


def _erase_unreachable(region: Region, touched: list[Operation]) -> None:
    entry = region.blocks.first
    assert entry is not None
    reachable: set[int] = {id(entry)}
    stack = [entry]
    while stack:
        last = stack.pop().last_op
        for successor in last.successors if last is not None else ():
            if id(successor) not in reachable:
                reachable.add(id(successor))
                stack.append(successor)
    dead = [block for block in region.blocks if id(block) not in reachable]
    for block in dead:
        for op in block.ops:
            touched.extend(operand.owner for operand in op.operands if isinstance(operand.owner, Operation))
    for block in dead:
        region.detach_block(block)
    for block in dead:
        block.drop_all_references()
    for block in dead:
        block.erase(safe_erase=False)


def _merge_chains(region: Region, touched: list[Operation]) -> None:
    """`^a: .. cf.br ^b(%x)` and `^b(%y)` with no other predecessor become one block."""
    block = region.blocks.first
    while block is not None:
        branch = block.last_op
        successor = branch.successor if isinstance(branch, cf.BranchOp) else None
        if (
            isinstance(branch, cf.BranchOp)
            and successor is not None
            and successor is not block
            and successor is not region.blocks.first
            and len(successor.predecessors()) == 1
        ):
            _merge(block, branch, successor, touched)
            continue
        block = block.next_block


def _merge(block: Block, branch: cf.BranchOp, successor: Block, touched: list[Operation]) -> None:
    for argument, value in zip(successor.args, tuple(branch.arguments), strict=True):
        touched.extend(use.operation for use in argument.uses)
        argument.replace_all_uses_with(value)
    branch.detach()
    branch.erase()
    for op in tuple(successor.ops):
        op.detach()
        block.add_op(op)
    region = successor.parent
    assert region is not None
    region.erase_block(successor)


def _drop_arguments(region: Region, touched: list[Operation]) -> None:
    """Remove block arguments that have no use, or that every predecessor gives the same value."""
    entry = region.blocks.first
    changed = True
    while changed:
        changed = False
        for block in region.blocks:
            if block is entry:
                continue
            for argument in reversed(block.args):
                changed |= _drop_argument(block, argument, touched)


def _drop_argument(block: Block, argument: BlockArgument, touched: list[Operation]) -> bool:
    incoming = _incoming_values(block, argument.index)
    if incoming is None:
        return False
    distinct = {id(value): value for value in incoming if value is not argument}
    if argument.first_use is not None:
        if len(distinct) != 1 or not _is_available(next(iter(distinct.values())), block):
            return False
        touched.extend(use.operation for use in argument.uses)
        argument.replace_all_uses_with(next(iter(distinct.values())))
    index = argument.index
    for predecessor in dict.fromkeys(block.predecessors()):
        assert predecessor.last_op is not None
        touched.extend(v.owner for v in predecessor.last_op.operands if isinstance(v.owner, Operation))
        _remove_successor_operand(predecessor.last_op, block, index)
    block.erase_arg(argument)
    return True


def _is_available(value: SSAValue, block: Block) -> bool:
    """Return whether a value that all edges into `block` carry may stand for an argument of it: it must dominate the
    block, which is certain for what comes from outside the region or from the entry block.
    """
    owner = value.owner
    home = owner if isinstance(owner, Block) else owner.parent
    assert block.parent is not None
    return home is not None and (home.parent is not block.parent or home is block.parent.blocks.first)


def _incoming_values(block: Block, index: int) -> list[SSAValue] | None:
    """Return what each edge into `block` passes as argument `index`; None when some terminator is not understood."""
    branches = [predecessor.last_op for predecessor in dict.fromkeys(block.predecessors())]
    passed = [passed_by(branch, block, index) for branch in branches]
    return None if None in passed else [value for values in passed for value in values or ()]


def passed_by(branch: Operation | None, block: Block, index: int) -> tuple[SSAValue, ...] | None:
    """Return what a terminator passes to a block as argument `index`, an element for each of its edges; None where it
    is not understood.
    """
    match branch:
        case cf.BranchOp():
            return (branch.arguments[index],)
        case cf.ConditionalBranchOp():
            edges = (branch.then_block, branch.then_arguments), (branch.else_block, branch.else_arguments)
            return tuple(arguments[index] for successor, arguments in edges if successor is block)
        case _:
            return None


def _remove_successor_operand(branch: Operation, block: Block, index: int) -> None:
    operands = list(branch.operands)
    if isinstance(branch, cf.BranchOp):
        del operands[index]
        branch.operands = operands
        return
    assert isinstance(branch, cf.ConditionalBranchOp)
    then_count, else_count = len(branch.then_arguments), len(branch.else_arguments)
    if branch.else_block is block:
        del operands[1 + then_count + index]
        else_count -= 1
    if branch.then_block is block:
        del operands[1 + index]
        then_count -= 1
    branch.operands = operands
    branch.properties["operandSegmentSizes"] = segment_sizes(1, then_count, else_count)

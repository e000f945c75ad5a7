"""Erasing what rewritten accesses leave unused: address arithmetic without a use, and loops that carry it.

```mlir
%r:2 = scf.for ... iter_args(%acc = %zero, %p = %ptrs) -> (tensor<64xf32>, tensor<64x!tt.ptr<f32>>) {
  ...                                              // nobody accesses %p
  %q = tt.addptr %p, %step
  scf.yield %sum, %q
}
```
becomes `%r = scf.for ... iter_args(%acc = %zero) -> (tensor<64xf32>) { ... scf.yield %sum }`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from xdsl.ir import Block, Operation, SSAValue, SSAValues

from tilewright.analysis.use import Use, find_uses, is_action
from tilewright.dialects import cf, scf
from tilewright.dialects.construction import segment_sizes
from tilewright.ir.walking import ops_within


def erase_dead_values(function: Operation) -> None:
    """Erases ops of a function that act on nothing and whose results have no use, and carried values without use."""
    uses = find_uses(function)
    ops = ops_within(function)[1:]
    for op in ops:
        _drop_carried(op, uses)
    for region in function.regions:
        for block in list(region.blocks)[1:]:
            _drop_passed(block, uses)
    for op in reversed(ops):
        if _is_dead(op, uses):
            op.detach()
            op.erase(safe_erase=False)


def _is_dead(op: Operation, uses: dict[SSAValue, Use]) -> bool:
    if isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp) or any(result in uses for result in op.results):
        return False
    return bool(op.results) and not is_action(op)


def _drop_carried(op: Operation, uses: dict[SSAValue, Use]) -> None:
    match op:
        case scf.ForOp():
            arguments = op.regions[0].block.args[1:]
            dead = {n for n, pair in enumerate(zip(arguments, op.results, strict=True)) if not _any(pair, uses)}
            if dead:
                _drop_operands(op, 3, dead)
                _drop_arguments(op.regions[0].block, 1, dead)
                _drop_operands(_last(op.regions[0].block), 0, dead)
                _drop_results(op, dead)
        case scf.IfOp() if op.results:
            dead = {n for n, result in enumerate(op.results) if result not in uses}
            if dead:
                for region in op.regions:
                    _drop_operands(_last(region.block), 0, dead)
                _drop_results(op, dead)
        case scf.WhileOp():
            _drop_from_while(op, uses)
        case _:
            pass


def _drop_from_while(op: scf.WhileOp, uses: dict[SSAValue, Use]) -> None:
    before, after = op.regions[0].block, op.regions[1].block
    dead = {n for n, argument in enumerate(before.args) if argument not in uses}
    if dead:
        _drop_operands(op, 0, dead)
        _drop_operands(_last(after), 0, dead)
        _drop_arguments(before, 0, dead)
    dead = {n for n, pair in enumerate(zip(after.args, op.results, strict=True)) if not _any(pair, uses)}
    if dead:
        _drop_operands(_last(before), 1, dead)
        _drop_arguments(after, 0, dead)
        _drop_results(op, dead)


def _drop_passed(block: Block, uses: dict[SSAValue, Use]) -> None:
    """Drops arguments of a block that branches go to, with what the branches pass."""
    dead = {n for n, argument in enumerate(block.args) if argument not in uses}
    branches = [(use.operation, use.index) for use in block.uses]
    if not dead or not all(isinstance(branch, cf.BranchOp | cf.ConditionalBranchOp) for branch, _ in branches):
        return
    for branch, successor in branches:
        if isinstance(branch, cf.ConditionalBranchOp):
            sides = [list(branch.then_arguments), list(branch.else_arguments)]
            sides[successor] = [value for n, value in enumerate(sides[successor]) if n not in dead]
            branch.operands = [branch.cond, *sides[0], *sides[1]]
            branch.properties["operandSegmentSizes"] = segment_sizes(1, len(sides[0]), len(sides[1]))
        else:
            _drop_operands(branch, 0, dead)
    _drop_arguments(block, 0, dead)


def _any(values: Collection[SSAValue], uses: dict[SSAValue, Use]) -> bool:
    return any(value in uses for value in values)


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _keeps(first: int, dead: Collection[int]) -> Callable[[int], bool]:
    return lambda index: index < first or index - first not in dead


def _drop_operands(op: Operation, first: int, dead: Collection[int]) -> None:
    keeps = _keeps(first, dead)
    op.operands = [operand for index, operand in enumerate(op.operands) if keeps(index)]


def _drop_arguments(block: Block, first: int, dead: Collection[int]) -> None:
    for index in sorted(dead, reverse=True):
        block.erase_arg(block.args[first + index], safe_erase=False)


def _drop_results(op: Operation, dead: Collection[int]) -> None:
    kept = [result for index, result in enumerate(op.results) if index not in dead]
    for index, result in enumerate(kept):
        result.index = index
    op.results = SSAValues(kept)

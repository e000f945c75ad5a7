"""Ops that are legal at the linalg stage and not at the loops stage, and stand for several that are.

`scf.parallel` becomes loops that run one iteration after the other; `math.sincos` two functions, `math.ipowi` products.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import math, scf
from tilewright.dialects.types import INDEX
from tilewright.lowering.integer_powers import emit_integer_power
from tilewright.lowering.scalar_builder import ScalarBuilder

EXPANDED = scf.ParallelOp | math.SincosOp | math.IPowIOp


def expand(builder: ScalarBuilder, op: EXPANDED) -> None:
    """Emit what an op does at the insertion point and give its users the results."""
    match op:
        case scf.ParallelOp():
            results = _emit_loops(builder, op, [], op.initVals)
        case math.SincosOp():
            results = [builder.emit(math.SinOp, op.operand), builder.emit(math.CosOp, op.operand)]
        case math.IPowIOp():
            results = [emit_integer_power(builder, op.lhs, op.rhs)]
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)


def _emit_loops(
    builder: ScalarBuilder, op: scf.ParallelOp, counters: list[SSAValue], totals: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The loops that are left, the last one innermost; each carries what is combined over all iterations."""
    level = len(counters)
    if level == len(op.step):
        return _emit_iteration(builder, op, counters, totals)
    block = Block(arg_types=[INDEX, *(total.type for total in totals)])
    values = builder.inline(block, lambda arguments: _emit_loops(builder, op, [*counters, arguments[0]], arguments[1:]))
    block.add_op(scf.YieldOp(*values))
    loop = scf.ForOp(op.lowerBound[level], op.upperBound[level], op.step[level], totals, Region(block))
    return builder.insert(loop).results


def _emit_iteration(
    builder: ScalarBuilder, op: scf.ParallelOp, counters: Sequence[SSAValue], totals: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The body, then each total combined with its part."""
    end = _move_body(builder, op.body.block, counters)
    combined: list[SSAValue] = []
    for region, total, part in zip(end.regions, totals, end.operands, strict=True):
        combined.append(_move_body(builder, region.block, (total, part)).operands[0])
    return combined


def _move_body(builder: ScalarBuilder, block: Block, values: Sequence[SSAValue]) -> Operation:
    """Move the ops of a block to the insertion point, with values for its arguments; its terminator stays."""
    for argument, value in zip(block.args, values, strict=True):
        argument.replace_all_uses_with(value)
    *ops, end = block.ops
    for op in ops:
        op.detach()
        builder.insert(op)
    return end

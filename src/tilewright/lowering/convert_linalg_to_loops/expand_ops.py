"""Ops that are legal at the linalg stage and not at the loops stage, and stand for several that are.

`scf.parallel` becomes loops that run one iteration after the other; `math.sincos` two functions, `math.ipowi` products.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import math, scf
from tilewright.dialects.types import INDEX
from tilewright.lowering.convert_linalg_to_loops.rules import Rules
from tilewright.lowering.integer_powers import emit_integer_power
from tilewright.lowering.scalar_builder import ScalarBuilder

EXPANDED = Rules()
lowers = EXPANDED.lowers


@lowers(math.SincosOp)
def lower_sincos(op: math.SincosOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return (builder.emit(math.SinOp, op.operand), builder.emit(math.CosOp, op.operand))


@lowers(math.IPowIOp)
def lower_integer_power(op: math.IPowIOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return (emit_integer_power(builder, op.lhs, op.rhs),)


@lowers(scf.ParallelOp)
def lower_parallel(op: scf.ParallelOp, builder: ScalarBuilder) -> Sequence[SSAValue]:
    return _emit_loops(builder, op, [], op.initVals)


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

"""Further arguments, results and operands for ops whose last group is variadic: loops and conditionals that come to
carry more values stay the same op."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue, SSAValues


def append_argument(block: Block, type: Attribute) -> BlockArgument:
    """A further argument of a block."""
    return block.insert_arg(type, len(block.args))


def append_result(op: Operation, type: Attribute) -> OpResult:
    """A further result of an op whose results are one variadic group."""
    result = OpResult(type, op, len(op.results))
    op.results = SSAValues((*op.results, result))
    return result


def append_operands(op: Operation, values: Sequence[SSAValue]) -> None:
    """Further operands of an op whose last operand group is variadic and needs no segment sizes."""
    op.operands = [*op.operands, *values]

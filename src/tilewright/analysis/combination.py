"""The combine functions of reductions and scans: a body that maps two groups of values to one.

linalg.reduce { (%v, %i, %best, %place): ... yield select(%v > %best, %v, %best), select(%v > %best, %i, %place) }
  ->  left (%best, %place), right (%v, %i), ops, results
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue

from tilewright.analysis.selections import STARTS_AT_FIRST, find_choices
from tilewright.dialects import arith, linalg, linalg_ext
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Combination:
    """`results` computed by `ops` from `left`, what was combined so far, and `right`, values of the same types."""

    left: tuple[SSAValue, ...]
    right: tuple[SSAValue, ...]
    ops: tuple[Operation, ...]
    results: tuple[SSAValue, ...]
    starts_at_first: bool = False
    """Whether it chooses one of the two, and results start from the first elements, whatever their operands hold."""


def combination_of(
    ops: Sequence[Operation], left: Sequence[SSAValue], right: Sequence[SSAValue], results: Sequence[SSAValue]
) -> Combination | None:
    """The combination of these ops and values; None where an op has no form on lanes, or types differ."""
    if any(not is_arithmetic(op) for op in ops):
        return None
    kinds = [value.type for value in left]
    if kinds != [value.type for value in right] or kinds != [value.type for value in results]:
        return None
    return Combination(tuple(left), tuple(right), tuple(ops), tuple(results))


def combination_of_reduction(op: linalg.StructuredOp) -> Combination | None:
    """The combination of a reduction: of a choice, of as many inputs as results that it combines as they are read."""
    if STARTS_AT_FIRST in op.attributes:
        return combination_of_choice(op)
    *ops, yield_op = op.body.block.ops
    args, count = op.body.block.args, len(op.inputs)
    if not isinstance(op, linalg.ReduceOp) or len(op.results) != count:
        return None
    return combination_of(ops, args[count:], args[:count], yield_op.operands)


def combination_of_scan(op: linalg_ext.ScanOp) -> Combination | None:
    """The combination of a scan; None where its body has no form on lanes."""
    *ops, end = op.body.block.ops
    args, count = op.body.block.args, len(op.inputs)
    return combination_of(ops, args[:count], args[count:], end.operands)


def combination_of_choice(op: linalg.StructuredOp) -> Combination | None:
    """The combination of a reduction that chooses between what it has and an element, which its body may compute.

    The element of a result is what it may be besides what it was. None where that is not clear, or all elements are one
    constant.
    """
    body, count = op.body.block, len(op.results)
    left, yield_op = body.args[len(body.args) - count :], body.last_op
    assert yield_op is not None
    if any(inner.regions for inner in body.ops):
        return None
    combining = _computed_from(left, body)
    right: list[SSAValue] = []
    for before, result in zip(left, yield_op.operands, strict=True):
        others = find_choices(result, combining) - {before}
        if len(others) != 1 or isinstance((other := others.pop()).owner, arith.ConstantOp):
            return None
        right.append(other)
    if len(set(right)) != count or any(value.owner in combining or value in left for value in right):
        return None
    known, ops = {*left, *right}, dict[Operation, None]()
    for inner in combining:
        if not _collect(inner, known, ops):
            return None
    combination = combination_of(list(ops), left, right, yield_op.operands)
    return None if combination is None else replace(combination, starts_at_first=True)


def _collect(op: Operation, known: Collection[SSAValue], ops: dict[Operation, None]) -> bool:
    """Add an op of a body to `ops`, after those that it needs; False where it needs more than `known` and constants."""
    for operand in op.operands:
        maker = operand.owner
        if operand in known or maker in ops:
            continue
        if not isinstance(maker, Operation) or not _collect(maker, known, ops):
            return False
    ops[op] = None
    return True


def _computed_from(values: Sequence[SSAValue], body: Block) -> dict[Operation, None]:
    """The ops of a body that need some values, in their order."""
    known = set(values)
    found: dict[Operation, None] = {}
    for op in body.ops:
        if not isinstance(op, linalg.YieldOp) and any(operand in known for operand in op.operands):
            found[op] = None
            known.update(op.results)
    return found

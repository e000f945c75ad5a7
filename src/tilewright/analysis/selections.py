"""Combine functions that select: each result is a value of the left element or of the right one.

    (v1, i1), (v2, i2)  ->  first = v1 > v2 or (v1 == v2 and i1 < i2);  select(first, v1, v2), select(first, i1, i2)

An element combined with itself stays as it is, whatever is asked to choose, so that a reduction may start from one of
the elements that it goes over. argmax and argmin are such functions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith

STARTS_AT_FIRST = "tilewright.starts_at_first"
"""On a reduction whose body chooses: its results start from the elements of number 0 along the reduced axis."""

_EITHER = (
    arith.MaximumfOp,
    arith.MaxnumfOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinimumfOp,
    arith.MinnumfOp,
    arith.MinSIOp,
    arith.MinUIOp,
)
"""Ops that give one of their operands, and of equal ones these."""


def find_choices(value: SSAValue, ops: Collection[Operation] | None = None) -> set[SSAValue]:
    """The values of which `value` is always one, as far as selections and extrema tell; only those among `ops`, if
    these are given."""
    choices, pending, seen = set[SSAValue](), [value], {value}
    while pending:
        current = pending.pop()
        op = current.owner
        operands: Sequence[SSAValue] = ()
        if ops is not None and op not in ops:
            choices.add(current)
        elif isinstance(op, arith.SelectOp):
            operands = op.operands[1:]
        elif isinstance(op, Operation) and isinstance(op, _EITHER):
            operands = op.operands
        else:
            choices.add(current)
        pending.extend(operand for operand in operands if operand not in seen)
        seen.update(operands)
    return choices


def is_selection(left: Sequence[SSAValue], right: Sequence[SSAValue], results: Sequence[SSAValue]) -> bool:
    """Return whether each result is always the value of its number on one of the two sides."""
    return all(find_choices(result) <= {one, other} for one, other, result in zip(left, right, results, strict=True))

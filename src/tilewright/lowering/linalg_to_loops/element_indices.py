"""Choices between elements that also say which element it was: argmax, argmin, and functions of users like them.

    %first = %value > %in or (%value == %in and %index < %in_index)     %in_index: the number of the element

Elements come in the order of their numbers, so %index < %in_index always holds. And within a step over several vectors
all of them carry the number of its first element; what the lane adds is added after the loop:

    for %i step 64 { %index' = select(%first, %index', %i) }     %index = %index' + 16 * vector + lane
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import SSAValue

from tilewright.dialects import arith, linalg
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.nest import Nest

_LESS, _GREATER = (2, 3), (4, 5)
"""Predicates of a smaller signed number on the left, and of a larger one."""


def comparisons_in_order(nest: Nest) -> list[SSAValue]:
    """Return whether what was chosen stands before the element, where that always holds.

    The element that a choice starts from may come once more: it is chosen then, whatever the comparison says.
    """
    combination = nest.combination
    if combination is None or not combination.starts_at_first or sum(nest.iterators) != 1:
        return []
    pairs = zip(combination.left, combination.right, strict=True)
    numbers = {(left, right) for left, right in pairs if _is_number_of_element(nest, right)}
    return [
        op.result
        for op in combination.ops
        if isinstance(op, arith.CmpiOp)
        and (
            (op.predicate.value.data in _LESS and (op.lhs, op.rhs) in numbers)
            or (op.predicate.value.data in _GREATER and (op.rhs, op.lhs) in numbers)
        )
    ]


def find_carried_indices(nest: Nest, in_order: Collection[SSAValue]) -> list[int]:
    """The results that only carry the number of the element, besides comparisons that are `in_order`."""
    combination = nest.combination
    if combination is None or not combination.starts_at_first or sum(nest.iterators) != 1:
        return []
    found: list[int] = []
    for number, (left, right) in enumerate(zip(combination.left, combination.right, strict=True)):
        choice = combination.results[number].owner
        if not isinstance(choice, arith.SelectOp) or set(choice.operands[1:]) != {left, right}:
            continue
        users = {use.operation for value in (left, right) for use in value.uses} - {choice}
        settled = all(any(result in in_order for result in user.results) for user in users)
        if settled and _is_number_of_element(nest, right):
            found.append(number)
    return found


def _is_number_of_element(nest: Nest, value: SSAValue) -> bool:
    """Return whether a value is the index of the axis that is reduced, in integers that hold all of its indices."""
    bits, op = 64, value.owner
    while isinstance(op, arith.IndexCastOp | arith.ExtSIOp):
        bits, op = min(bits, bit_width(op.results[0].type)), op.operands[0].owner
    if not isinstance(op, linalg.IndexOp):
        return False
    dim = op.dim.value.data
    return nest.iterators[dim] and nest.extents[dim] <= 1 << (bits - 1)

"""Reductions that choose an element and return its index, too: argmax, argmin, and functions of users like them.

    %first = %value > %in or (%value == %in and %index < %in_index)     %in_index: the index of the element

Elements come in the order of their indices, so %index < %in_index always holds. An index that is only carried can be
that of the first element of a step (`carried_indices.py`).
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import SSAValue

from tilewright.dialects import arith, linalg
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.nest import Nest

_LESS, _GREATER = (2, 3), (4, 5)
"""Predicates of a smaller signed integer on the left, and of a larger one."""


def comparisons_in_order(nest: Nest) -> list[SSAValue]:
    """Find the comparisons that ask whether the chosen element comes before this one, which always holds.

    The element that a reduction starts from may come once more: it is chosen then, whatever the comparison says.
    """
    combination = nest.combination
    if combination is None or not combination.starts_at_first or sum(nest.iterators) != 1:
        return []
    pairs = zip(combination.left, combination.right, strict=True)
    indices = {(left, right) for left, right in pairs if _is_element_index(nest, right)}
    return [
        op.result
        for op in combination.ops
        if isinstance(op, arith.CmpiOp)
        and (
            (op.predicate.value.data in _LESS and (op.lhs, op.rhs) in indices)
            or (op.predicate.value.data in _GREATER and (op.rhs, op.lhs) in indices)
        )
    ]


def find_carried_indices(nest: Nest, in_order: Collection[SSAValue]) -> list[int]:
    """Find the results that only carry the index of the element, apart from comparisons that are `in_order`."""
    combination = nest.combination
    if combination is None or not combination.starts_at_first or sum(nest.iterators) != 1:
        return []
    found: list[int] = []
    for result, (left, right) in enumerate(zip(combination.left, combination.right, strict=True)):
        choice = combination.results[result].owner
        if not isinstance(choice, arith.SelectOp) or set(choice.operands[1:]) != {left, right}:
            continue
        users = {use.operation for value in (left, right) for use in value.uses} - {choice}
        is_ordered = all(any(value in in_order for value in user.results) for user in users)
        if is_ordered and _is_element_index(nest, right):
            found.append(result)
    return found


def _is_element_index(nest: Nest, value: SSAValue) -> bool:
    """Return whether a value is the index of the axis that is reduced, in integers that hold all of its indices."""
    bits, op = 64, value.owner
    while isinstance(op, arith.IndexCastOp | arith.ExtSIOp):
        bits, op = min(bits, bit_width(op.results[0].type)), op.operands[0].owner
    if not isinstance(op, linalg.IndexOp):
        return False
    dim = op.dim.value.data
    return nest.iterators[dim] and nest.extents[dim] <= 1 << (bits - 1)

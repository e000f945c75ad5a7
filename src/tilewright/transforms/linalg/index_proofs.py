"""Small proofs about index values: equality and order of expressions, by structure.

%a = arith.minsi %n, %c64      is_at_most(%a, 64), is_at_most(%a, %n)
%b = arith.minsi %n, %c64      is_same(%a, %b)
%c = arith.addi %n, %c64       distance(%c, %n) = 64
%s = max(min(%f + 64, %n), %f) - %f     find_cut(%s, 64) = (%f, %n)
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import Index
from tilewright.support.records import dataclass

_DEPTH = 12


def constant_of(value: Index) -> int | None:
    """The value of an index, if it is a constant or an index cast of one."""
    if isinstance(value, int):
        return value
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    if isinstance(op, arith.IndexCastOp):
        return constant_of(op.input)
    return None


def fold_index(value: Index) -> Index:
    """The integer if an index is constant, else the index."""
    number = constant_of(value)
    return value if number is None else number


def is_same(left: Index, right: Index, depth: int = _DEPTH) -> bool:
    """Return whether both are the same pure expression of the same values."""
    if left is right:
        return True
    left_number, right_number = constant_of(left), constant_of(right)
    if left_number is not None or right_number is not None:
        return left_number == right_number
    if isinstance(left, int) or isinstance(right, int) or depth == 0 or left.type != right.type:
        return False
    first, second = left.owner, right.owner
    if not isinstance(first, Operation) or not isinstance(second, Operation) or type(first) is not type(second):
        return False
    if not is_arithmetic(first) or first.properties != second.properties:
        return False
    return all(is_same(a, b, depth - 1) for a, b in zip(first.operands, second.operands, strict=True))


def is_at_most(left: Index, right: Index, depth: int = 6) -> bool:
    """Return whether `left <= right` follows from how they are made of minima and maxima."""
    left_number, right_number = constant_of(left), constant_of(right)
    if left_number is not None and right_number is not None:
        return left_number <= right_number
    if is_same(left, right):
        return True
    if depth == 0:
        return False
    if isinstance(left, SSAValue):
        op = left.owner
        if isinstance(op, arith.MinSIOp):
            return any(is_at_most(operand, right, depth - 1) for operand in op.operands)
        if isinstance(op, arith.MaxSIOp):
            return all(is_at_most(operand, right, depth - 1) for operand in op.operands)
        if isinstance(op, arith.SelectOp):
            return is_at_most(op.lhs, right, depth - 1) and is_at_most(op.rhs, right, depth - 1)
    if isinstance(right, SSAValue):
        op = right.owner
        if isinstance(op, arith.MaxSIOp):
            return any(is_at_most(left, operand, depth - 1) for operand in op.operands)
        if isinstance(op, arith.MinSIOp):
            return all(is_at_most(left, operand, depth - 1) for operand in op.operands)
    return False


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a segment of `extent` elements from `first` on that is cut off at `end`."""

    first: SSAValue
    end: SSAValue


def find_cut(size: Index, extent: int) -> Cut | None:
    """The cut by which a segment has `size` elements: ``max(min(first + extent, end), first) - first``."""
    op = size.owner if isinstance(size, SSAValue) else None
    if not isinstance(op, arith.SubiOp) or not isinstance(last := op.lhs.owner, arith.MaxSIOp):
        return None
    first, inner = op.rhs, last.lhs.owner
    if not is_same(last.rhs, first) or not isinstance(inner, arith.MinSIOp):
        return None
    total = inner.lhs.owner
    if not isinstance(total, arith.AddiOp) or not is_same(total.lhs, first) or fold_index(total.rhs) != extent:
        return None
    return Cut(first, inner.rhs)


def distance(left: Index, right: Index) -> int | None:
    """`left - right`, where both are the same expression up to constants that are added."""
    (base, shift), (other, other_shift) = _base_and_shift(left), _base_and_shift(right)
    return shift - other_shift if base == other or is_same(base, other) else None


def _base_and_shift(value: Index) -> tuple[Index, int]:
    if (number := constant_of(value)) is not None:
        return 0, number
    if isinstance(value, SSAValue) and isinstance(op := value.owner, arith.AddiOp):
        for operand, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (number := constant_of(other)) is not None:
                base, shift = _base_and_shift(operand)
                return base, shift + number
    return value, 0

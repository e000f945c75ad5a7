"""Facts about bitwise operations, shifts and comparisons."""

from __future__ import annotations

from math import gcd

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from tilewright.analysis.axis_info import lattice
from tilewright.analysis.axis_info.arithmetic import aligned_groups, folded, scale
from tilewright.analysis.axis_info.lattice import AxisInfo, per_dimension, power_of_two_in, shape_of
from tilewright.analysis.axis_info.rules import Infos, common_constancy, in_aligned_groups, rule, within_width
from tilewright.analysis.signs import Signs
from tilewright.dialects import arith
from tilewright.dialects.arith import CmpIPredicate, meaning
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.types import bit_width, element_type


@rule(arith.AndIOp)
@folded
def bit_and(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """x & (2^k - 1) counts through groups of 2^k numbers, x & -2^k is constant in them."""
    lhs, rhs = infos if infos[1].constant_value is not None else (infos[1], infos[0])
    mask = rhs.constant_value
    if mask == -1:
        return lhs
    divisibility = per_dimension(lhs.rank, lambda d: max(lhs.divisibility_at(d, 1), rhs.divisibility_at(d, 1)))
    groups, constancy = (1,) * lhs.rank, common_constancy(infos)
    if mask is not None and mask > 0 and power_of_two_in(mask + 1) == mask + 1:
        groups = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], lhs.divisibility[d], mask + 1))
        divisibility = per_dimension(lhs.rank, lambda d: lhs.divisibility_at(d, groups[d]))
    elif mask is not None and mask != 0:
        low = power_of_two_in(mask)
        steps = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], lhs.divisibility[d], low))
        constancy = tuple(map(max, constancy, steps))
    return AxisInfo(groups, divisibility, constancy)


@rule(arith.OrIOp, arith.XOrIOp)
@folded
def bit_or(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Bits above those that count through a group leave the group contiguous."""
    lhs, rhs = infos
    groups = per_dimension(lhs.rank, lambda d: max(aligned_groups(lhs, rhs, d), aligned_groups(rhs, lhs, d)))
    divisibility = per_dimension(
        lhs.rank, lambda d: gcd(lhs.divisibility_at(d, groups[d]), rhs.divisibility_at(d, groups[d]))
    )
    return AxisInfo(groups, divisibility, common_constancy(infos))


def _shift_amount(op: Operation, infos: Infos) -> int | None:
    amount = infos[1].constant_value
    return amount if amount is not None and 0 <= amount < bit_width(element_type(op.results[0].type)) else None


@rule(arith.ShLIOp)
@folded
def shift_left(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    lhs = infos[0]
    amount = _shift_amount(op, infos)
    if amount == 0:
        return lhs
    return AxisInfo((1,) * lhs.rank, scale(lhs, 1 << (amount or 0)), common_constancy(infos))


@rule(arith.ShRSIOp, arith.ShRUIOp)
@folded
def shift_right(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """x >> k is constant where x runs from a multiple of 2^k over 2^k numbers, also below zero."""
    lhs = infos[0]
    amount = _shift_amount(op, infos)
    if amount == 0:
        return lhs
    constancy = common_constancy(infos)
    if amount is None:
        return AxisInfo((1,) * lhs.rank, (1,) * lhs.rank, constancy)
    divisibility = per_dimension(lhs.rank, lambda d: max(lhs.divisibility_at(d, 1) >> amount, 1))
    groups = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], lhs.divisibility[d], 1 << amount))
    return AxisInfo((1,) * lhs.rank, divisibility, tuple(map(max, constancy, groups)))


LESS = (CmpIPredicate.SLT, CmpIPredicate.SGE, CmpIPredicate.ULT, CmpIPredicate.UGE)
"""Predicates that do not change while the left side runs from one multiple of a number to the next, if the right side
is a multiple of it: x < c * g."""
GREATER = (CmpIPredicate.SGT, CmpIPredicate.SLE, CmpIPredicate.UGT, CmpIPredicate.ULE)
"""The same with the sides exchanged."""


@rule(arith.CmpiOp)
def compare(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    assert isinstance(op, arith.CmpiOp)
    lhs, rhs = infos
    kind = op.kind
    if lhs.constant_value is not None and rhs.constant_value is not None:
        return lattice.constant(_compare(op, lhs.constant_value, rhs.constant_value), shape_of(op.result.type))
    constancy = common_constancy(infos)
    if kind in GREATER:
        lhs, rhs = rhs, lhs
    if kind in LESS or kind in GREATER:
        groups = per_dimension(lhs.rank, lambda d: aligned_groups(lhs, rhs, d))
        constancy = tuple(map(max, constancy, groups))
    return lattice.constancy_only(constancy)


def _compare(op: arith.CmpiOp, lhs: int, rhs: int) -> int:
    element = element_type(op.lhs.type)
    left, right = (np.array([value], dtype_of(element)) for value in (lhs, rhs))
    return int(meaning.compare_integers(op.kind, left, right, bit_width(element))[0])


@rule(arith.BitcastOp)
def bitcast(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Integers to integers of the same width keep their number; of floats only equality is known."""
    same = op.operands[0].type == op.results[0].type
    return infos[0] if same else lattice.constancy_only(infos[0].constancy)


@rule(arith.ExtSIOp, arith.IndexCastOp)
def extend(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """The same number at another width."""
    info = _of_bool(op, infos[0], signed=True)
    return within_width(info, op.operands[0].type) if is_wider(op) else truncated(op, info)


@rule(arith.ExtUIOp, arith.IndexCastUIOp)
def extend_unsigned(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """A number that was negative becomes a large one, so only groups that do not cross zero are kept."""
    info = _of_bool(op, infos[0], signed=False)
    if not is_wider(op):
        return truncated(op, info)
    if info.constant_value is not None:
        width = bit_width(element_type(op.operands[0].type))
        return lattice.constant(info.constant_value & ((1 << width) - 1), shape_of(op.results[0].type))
    return info if signs.is_value_nonnegative(op.operands[0]) else in_aligned_groups(info)


@rule(arith.TruncIOp)
def truncate(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Bits are cut off: what wraps around keeps its divisibility."""
    return truncated(op, infos[0])


def truncated(op: Operation, info: AxisInfo) -> AxisInfo:
    """The number cut to the width of the result."""
    element = element_type(op.results[0].type)
    width = bit_width(element)
    if info.constant_value is not None:
        value = info.constant_value & ((1 << width) - 1)
        value -= (1 << width) if width > 1 and value >> (width - 1) else 0
        return lattice.constant(value, shape_of(op.results[0].type))
    return in_aligned_groups(info, limit=1 << (width - 1))


def is_wider(op: Operation) -> bool:
    """Return whether the result of a cast has the width of its operand or more."""
    source, target = (bit_width(element_type(value.type)) for value in (op.operands[0], op.results[0]))
    return source <= target


def _of_bool(op: Operation, info: AxisInfo, *, signed: bool) -> AxisInfo:
    """A bool as a number: true is -1 when it is extended with its sign."""
    if element_type(op.operands[0].type) != i1 or info.constant_value is None:
        return info
    return lattice.constant(-info.constant_value if signed else info.constant_value, shape_of(op.operands[0].type))

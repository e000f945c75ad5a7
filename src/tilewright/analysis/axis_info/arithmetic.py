"""Facts about integer arithmetic."""

from __future__ import annotations

from math import gcd

import numpy as np
from xdsl.ir import Operation

from tilewright.analysis.axis_info import lattice
from tilewright.analysis.axis_info.lattice import LARGEST, AxisInfo, per_dimension, shape_of
from tilewright.analysis.axis_info.rules import Infos, Rule, common_constancy, in_aligned_groups, rule, within_width
from tilewright.analysis.signs import Signs
from tilewright.dialects import arith
from tilewright.dialects.arith import meaning
from tilewright.dialects.numeric import dtype_of, wrap_to_width
from tilewright.dialects.types import bit_width, element_type

QUOTIENTS = (arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp)
DIVISIONS = (*QUOTIENTS, arith.RemSIOp, arith.RemUIOp)
SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)


def fold(op: Operation, lhs: int, rhs: int) -> int | None:
    """The result of an integer op on two numbers; None where it is not defined."""
    element = element_type(op.results[0].type)
    width = bit_width(element)
    if width > 64 or (isinstance(op, DIVISIONS) and rhs == 0) or (isinstance(op, SHIFTS) and not 0 <= rhs < width):
        return None
    dtype = dtype_of(element)
    with np.errstate(over="ignore"):
        result = meaning.INTEGER_BINARY[op.name](np.array([lhs], dtype), np.array([rhs], dtype), width)
    return int(np.asarray(wrap_to_width(np.asarray(result), element))[0])


def folded(function: Rule) -> Rule:
    """A rule of a binary op that computes the result where both operands are known numbers."""

    def of_constants(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
        left, right = (info.constant_value for info in infos)
        value = None if left is None or right is None else fold(op, left, right)
        return function(op, infos, signs) if value is None else lattice.constant(value, shape_of(op.results[0].type))

    return of_constants


def scale(info: AxisInfo, factor: int) -> tuple[int, ...]:
    """Return what divides every element of `info * factor`, per dimension."""
    return per_dimension(info.rank, lambda d: min(info.divisibility_at(d, 1) * factor, LARGEST))


def sum_of(lhs: AxisInfo, rhs: AxisInfo, unit: int = 1) -> AxisInfo:
    """Facts about `lhs + unit * rhs`, where neighbours in groups of `lhs` differ by `unit`.

    A contiguous group stays one where the other operand is constant. The sum of two contiguous groups that start at s
    and t is s + t + 2i.
    """

    def contiguity(dim: int) -> int:
        left = gcd(lhs.contiguity[dim], rhs.constancy[dim])
        right = gcd(lhs.constancy[dim], rhs.contiguity[dim])
        return max(left, right)

    def divisibility_at(dim: int, step: int) -> int:
        return gcd(lhs.divisibility_at(dim, step, unit), min(rhs.divisibility_at(dim, step) * unit, LARGEST))

    def divisibility(dim: int) -> int:
        known = divisibility_at(dim, groups[dim])
        both = gcd(lhs.contiguity[dim], rhs.contiguity[dim])
        if groups[dim] == 1 and both > 1:
            known = max(known, gcd(divisibility_at(dim, both), 2 * unit))
        return known

    groups = per_dimension(lhs.rank, contiguity)
    return AxisInfo(groups, per_dimension(lhs.rank, divisibility), common_constancy((lhs, rhs)))


@rule(arith.AddiOp)
@folded
def add(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    return within_width(sum_of(infos[0], infos[1]), op.results[0].type)


@rule(arith.SubiOp)
@folded
def subtract(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """The difference of two contiguous groups is constant."""
    lhs, rhs = infos
    both = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], rhs.contiguity[d]))
    groups = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], rhs.constancy[d]))
    constancy = per_dimension(lhs.rank, lambda d: max(gcd(lhs.constancy[d], rhs.constancy[d]), both[d]))

    def divisibility(dim: int) -> int:
        step = both[dim] if groups[dim] == 1 else groups[dim]
        return gcd(lhs.divisibility_at(dim, step), rhs.divisibility_at(dim, step))

    return within_width(AxisInfo(groups, per_dimension(lhs.rank, divisibility), constancy), op.results[0].type)


@rule(arith.MuliOp)
@folded
def multiply(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    lhs, rhs = infos
    for factor, other in ((rhs, lhs), (lhs, rhs)):
        if factor.constant_value == 1:
            return other
        if factor.constant_value == 0:
            return lattice.constant(0, shape_of(op.results[0].type))
    divisibility = per_dimension(
        lhs.rank, lambda d: min(lhs.divisibility_at(d, 1) * rhs.divisibility_at(d, 1), LARGEST)
    )
    return AxisInfo((1,) * lhs.rank, divisibility, common_constancy(infos))


def aligned_groups(lhs: AxisInfo, rhs: AxisInfo, dim: int) -> int:
    """Size of the groups along `dim` in which `lhs` is contiguous from a multiple of the size, and `rhs` one multiple
    of the size: `lhs` never crosses a multiple of `rhs` inside of one."""
    return gcd(lhs.contiguity[dim], lhs.divisibility[dim], rhs.divisibility_at(dim, 1), rhs.constancy[dim])


SIGNED_DIVISIONS = (arith.DivSIOp, arith.RemSIOp)
"""Rounding towards zero: a group of negative numbers does not behave like one of positive numbers."""


def _keeps_groups(op: Operation, signs: Signs) -> bool:
    """Return whether the quotient is constant in the groups of `aligned_groups`."""
    return not isinstance(op, SIGNED_DIVISIONS) or signs.is_value_nonnegative(op.operands[0])


@rule(arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp)
@folded
def divide(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """x / (c * g) is constant where x runs from a multiple of g over g numbers."""
    lhs, rhs = infos
    if rhs.constant_value == 1 or lhs.constant_value == 0:
        return lhs
    constancy = common_constancy(infos)
    groups = per_dimension(lhs.rank, lambda d: aligned_groups(lhs, rhs, d))
    if any(group > known for group, known in zip(groups, constancy, strict=True)) and _keeps_groups(op, signs):
        constancy = tuple(map(max, groups, constancy))
    return AxisInfo((1,) * lhs.rank, _quotient_divisibility(lhs, rhs.constant_value), constancy)


def _quotient_divisibility(lhs: AxisInfo, divisor: int | None) -> tuple[int, ...]:
    """An exact division by a power of two takes its factors away; of other quotients nothing is known."""
    magnitude = abs(divisor or 0)
    if not magnitude or magnitude & (magnitude - 1):
        return (1,) * lhs.rank
    return per_dimension(lhs.rank, lambda d: max(lhs.divisibility_at(d, 1) // magnitude, 1))


@rule(arith.CeilDivSIOp, arith.CeilDivUIOp)
@folded
def divide_up(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    lhs, rhs = infos
    if rhs.constant_value == 1 or lhs.constant_value == 0:
        return lhs
    return AxisInfo((1,) * lhs.rank, _quotient_divisibility(lhs, rhs.constant_value), common_constancy(infos))


@rule(arith.RemSIOp, arith.RemUIOp)
@folded
def remainder(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """x % (c * g) is contiguous where x runs from a multiple of g over g numbers."""
    lhs, rhs = infos
    if rhs.constant_value == 1:
        return lattice.constant(0, shape_of(op.results[0].type))
    groups = per_dimension(lhs.rank, lambda d: aligned_groups(lhs, rhs, d))
    if any(group > 1 for group in groups) and not _keeps_groups(op, signs):
        groups = (1,) * lhs.rank
    divisibility = per_dimension(lhs.rank, lambda d: gcd(lhs.divisibility_at(d, groups[d]), rhs.divisibility_at(d, 1)))
    return AxisInfo(groups, divisibility, common_constancy(infos))


@rule(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp)
@folded
def extremum(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Of two contiguous groups the one that starts higher is the maximum everywhere."""
    lhs, rhs = infos
    if isinstance(op, arith.MaxUIOp | arith.MinUIOp):
        lhs, rhs = _without_sign_change(lhs), _without_sign_change(rhs)
    return _either(lhs, rhs, per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], rhs.contiguity[d])))


def _without_sign_change(info: AxisInfo) -> AxisInfo:
    """Groups that start at a multiple of their size hold numbers of one sign, so that their order as unsigned numbers
    is that of their starts."""
    return in_aligned_groups(info)


def _either(lhs: AxisInfo, rhs: AxisInfo, groups: tuple[int, ...], limit: tuple[int, ...] | None = None) -> AxisInfo:
    """One of two values, the same one within each group of `groups` and of `limit`."""
    divisibility = per_dimension(
        lhs.rank, lambda d: gcd(lhs.divisibility_at(d, groups[d]), rhs.divisibility_at(d, groups[d]))
    )
    constancy = common_constancy((lhs, rhs))
    return AxisInfo(groups, divisibility, constancy if limit is None else tuple(map(gcd, constancy, limit)))


@rule(arith.SelectOp)
def select(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    condition, lhs, rhs = infos
    if condition.constant_value is not None:
        return lhs if condition.constant_value else rhs
    if lhs == rhs and lhs.constant_value is not None:
        return lhs
    same = condition.constancy if shape_of(op.operands[0].type) == shape_of(op.operands[1].type) else None
    unit = lattice.pointee_bytes(op.results[0].type)
    if same is None or (lhs.rank == 1 and shape_of(op.results[0].type) == (1,)):
        return lhs.join(rhs, unit)
    groups = per_dimension(lhs.rank, lambda d: gcd(lhs.contiguity[d], rhs.contiguity[d], same[d]))
    divisibility = per_dimension(
        lhs.rank, lambda d: gcd(lhs.divisibility_at(d, groups[d], unit), rhs.divisibility_at(d, groups[d], unit))
    )
    return AxisInfo(groups, divisibility, common_constancy((condition, lhs, rhs)))

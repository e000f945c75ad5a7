"""The table of transfer functions: from facts about operands to facts about results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from xdsl.ir import Attribute, Operation

from tilewright.analysis.axis_info.lattice import AxisInfo, per_dimension
from tilewright.analysis.signs import Signs
from tilewright.dialects.types import bit_width, element_type

Infos = Sequence[AxisInfo]
Rule = Callable[[Operation, Infos, Signs], AxisInfo]
"""From an op, the facts about its operands and what proves signs, to the facts about each of its results."""

RULES: dict[type[Operation], Rule] = {}
"""The rule of each op class; results of other ops are unknown."""


def rule(*classes: type[Operation]) -> Callable[[Rule], Rule]:
    """Files a function as the rule of op classes."""

    def register(function: Rule) -> Rule:
        for cls in classes:
            RULES[cls] = function
        return function

    return register


EXACT_WIDTH = 32
"""Integers of this width and more are taken not to overflow, as everywhere in address arithmetic."""


def within_width(info: AxisInfo, type: Attribute) -> AxisInfo:
    """Facts about a number that may have wrapped around at a small width.

    It keeps its divisibility by powers of two; a contiguous group surely does not wrap if it starts at a multiple of
    its size.
    """
    width = bit_width(element_type(type))
    if width >= EXACT_WIDTH or info.constant_value is not None:
        return info
    return in_aligned_groups(info, limit=1 << max(width - 1, 0))


def in_aligned_groups(info: AxisInfo, limit: int | None = None) -> AxisInfo:
    """The same facts, but only about contiguous groups that start at a multiple of their size."""
    groups = per_dimension(info.rank, lambda d: gcd(info.contiguity[d], info.divisibility[d], limit or 0))
    if groups == info.contiguity:
        return info
    divisibility = per_dimension(info.rank, lambda d: info.divisibility_at(d, groups[d]))
    return AxisInfo(groups, divisibility, info.constancy, info.constant_value)


def common_constancy(infos: Infos) -> tuple[int, ...]:
    """Groups in which all of the operands are constant."""
    return per_dimension(infos[0].rank, lambda d: gcd(*(info.constancy[d] for info in infos)))


def elementwise_constancy(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Of a function of each element by itself: equal inputs give equal results."""
    constancy = common_constancy(infos)
    ones = (1,) * len(constancy)
    return AxisInfo(ones, ones, constancy)

"""Questions that generic code asks about arithmetic ops, answered by traits, once per op class, and never by name."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.traits import ConstantLike

from tilewright.dialects import math, ub
from tilewright.dialects.traits import ElementwiseMappable

_SINGLE_INSTRUCTION = {math.AbsFOp, math.AbsIOp, math.FmaOp}


def is_arithmetic(op: Operation) -> bool:
    """Return whether results follow from the operands alone, lane by lane, or from nothing: `arith`, `math` and
    `ub`.
    """
    return _is_arithmetic_class(type(op))


@cache
def _is_arithmetic_class(cls: type[Operation]) -> bool:
    return cls is ub.PoisonOp or cls.has_trait(ElementwiseMappable) or cls.has_trait(ConstantLike)


@cache
def _is_function_class(cls: type[Operation]) -> bool:
    return cls in math.OPERATIONS


def is_function(op: Operation) -> bool:
    """Return whether an op is a function of mathematics (`math`), from absolute values to logarithms."""
    return _is_function_class(type(op))


def takes_many_instructions(op: Operation) -> bool:
    """Return whether an op is a function of mathematics that no single instruction computes."""
    return is_function(op) and type(op) not in _SINGLE_INSTRUCTION

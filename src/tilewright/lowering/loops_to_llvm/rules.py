"""The table of the lowering: each op of the loops stage and the function that lowers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl.ir import Operation

from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering

OpT = TypeVar("OpT", bound=Operation)

RULES: dict[type[Operation], Callable[[FunctionLowering, Any], None]] = {}
"""Filled by `lowers` as the files of ops are imported."""


def lowers(
    *classes: type[OpT],
) -> Callable[[Callable[[FunctionLowering, OpT], None]], Callable[[FunctionLowering, OpT], None]]:
    """Register a rule ``(low, op) -> None`` for op classes."""

    def register(rule: Callable[[FunctionLowering, OpT], None]) -> Callable[[FunctionLowering, OpT], None]:
        for cls in classes:
            assert cls not in RULES, f"{cls.name} has a rule already"
            RULES[cls] = rule
        return rule

    return register

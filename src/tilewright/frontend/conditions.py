"""Is a condition decided while compiling, or at run time?"""

from __future__ import annotations

import ast
from typing import Any

from xdsl.ir import SSAValue

from tilewright.frontend.state import FunctionState
from tilewright.language.arithmetic import truth
from tilewright.language.creation import unsplat
from tilewright.language.values import describe, tensor, unwrap
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class RuntimeCondition:
    """An i1 value on which control flow depends."""

    handle: SSAValue


def decide(state: FunctionState, node: ast.expr, value: Any) -> bool | RuntimeCondition:
    """The condition `value`, written at `node`: a Python bool if it is known now."""
    if isinstance(value, tensor):
        if value.numel.value > 1:
            raise state.unsupported(
                node,
                "Boolean value of Tensor with more than one value is ambiguous",
                "use tl.where, or reduce the block to one value with tl.max or tl.reduce_or",
            )
        state.locate(node)
        if value.extents:
            state.warn("a block of one element is used as a condition; use a scalar, for example tl.max(x)")
            value = unsplat(value)
        return RuntimeCondition(truth(value).handle)
    plain = unwrap(value)
    if plain is None or type(plain) in (bool, int):
        return bool(plain)
    raise state.unsupported(
        node,
        "conditionals can only accept values of type {bool, int, NoneType}, not objects of type "
        f"{type(plain).__name__} ({describe(value)})",
    )

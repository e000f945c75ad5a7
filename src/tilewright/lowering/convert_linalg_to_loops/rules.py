"""What the passes of this folder share: tables from op class to what takes the place of such an op, and their use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import func
from tilewright.ir.lowerings import Lowerings
from tilewright.ir.walking import ops_within
from tilewright.lowering.scalar_builder import ScalarBuilder

Rules: TypeAlias = Lowerings[[ScalarBuilder], Sequence[SSAValue]]
"""A rule emits what an op does before the op, and returns the values of its results."""


def replace_ops(module: ModuleOp, rules: Rules) -> None:
    """Replace each op in the functions of a module that there is a rule for, outer ops first."""
    for function in module.ops:
        if isinstance(function, func.FuncOp) and (entry := function.body.blocks.first) is not None:
            builder = ScalarBuilder(entry)
            for op in ops_within(function.body):
                if (rule := rules.get(type(op))) is None:
                    continue
                builder.move_before(op)
                builder.location = op.location
                for old, new in zip(op.results, rule(op, builder), strict=True):
                    old.replace_all_uses_with(new)
                op.detach()
                op.erase(safe_erase=False)

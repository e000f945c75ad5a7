"""scf and cf as blocks and phis of LLVM text: what every lowering to LLVM does alike.

A value is carried by one phi for each of its parts: a scalar or vector by one, a memref by pointer, sizes and strides,
a tensor in registers by one per register. Which parts a value has is what a lowering says; everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from tilewright.dialects import cf, scf, ub
from tilewright.lowering.control_flow import cf_ops, scf_ops
from tilewright.lowering.control_flow.state import (
    AnyLowering,
    ControlFlowLowering,
    lower_joined,
    lower_region_end,
    reverse_postorder,
)

CONTROL_FLOW: dict[type[Operation], Callable[[Any, AnyLowering], None]] = {
    scf.ForOp: scf_ops.lower_for,
    scf.WhileOp: scf_ops.lower_while,
    scf.IfOp: scf_ops.lower_if,
    scf.IndexSwitchOp: scf_ops.lower_index_switch,
    scf.ExecuteRegionOp: scf_ops.lower_execute_region,
    scf.YieldOp: lower_region_end,
    scf.ConditionOp: lower_region_end,
    cf.BranchOp: cf_ops.lower_branch,
    cf.ConditionalBranchOp: cf_ops.lower_conditional_branch,
    cf.SwitchOp: cf_ops.lower_switch,
    ub.UnreachableOp: cf_ops.lower_unreachable,
}
"""The rule of each op."""

__all__ = ["CONTROL_FLOW", "ControlFlowLowering", "lower_joined", "lower_region_end", "reverse_postorder"]

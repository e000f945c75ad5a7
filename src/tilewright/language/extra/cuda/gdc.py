"""Dependent launches, for which nothing has to be done where programs run one after another."""

from __future__ import annotations

from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.context import emit_void
from tilewright.language.inline import inline_asm_elementwise
from tilewright.language.ir_modules import tt
from tilewright.language.registry import builtin
from tilewright.support.triton_version import is_before


@builtin
def gdc_wait() -> Any:
    """Wait for the kernels that this one depends on (programmatic dependent launch)."""
    if is_before("3.9"):
        inline_asm_elementwise("griddepcontrol.wait; // dummy $0", "=r", [], dt.int32, False, 1)
    else:
        emit_void(tt.GridDependencyWaitOp())


@builtin
def gdc_launch_dependents() -> Any:
    """Allow dependent kernels to start (programmatic dependent launch)."""
    if is_before("3.9"):
        inline_asm_elementwise("griddepcontrol.launch_dependents; // dummy $0", "=r", [], dt.int32, False, 1)
    else:
        emit_void(tt.GridDependencyLaunchDependentsOp())


__all__ = ["gdc_launch_dependents", "gdc_wait"]

"""Program ids, calls, and where index ranges come from."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from tilewright.dialects import tt
from tilewright.reference.machine import Frame, Values, meaning_of


@meaning_of(tt.GetProgramIdOp)
def program_id(op: tt.GetProgramIdOp, frame: Frame) -> Values:
    return (np.int32(frame.machine.program_id[op.axis.value.data]),)


@meaning_of(tt.GetNumProgramsOp)
def num_programs(op: tt.GetNumProgramsOp, frame: Frame) -> Values:
    return (np.int32(frame.machine.num_programs[op.axis.value.data]),)


@meaning_of(tt.GridDependencyWaitOp)
def grid_dependency_wait(op: tt.GridDependencyWaitOp, frame: Frame) -> Values:
    """Grids run one after another."""
    return ()


@meaning_of(tt.GridDependencyLaunchDependentsOp)
def launch_dependents(op: tt.GridDependencyLaunchDependentsOp, frame: Frame) -> Values:
    return ()


@meaning_of(tt.MakeRangeOp)
def make_range(op: tt.MakeRangeOp, frame: Frame) -> Values:
    return (np.arange(op.start.value.data, op.end.value.data, dtype=np.int32),)


@meaning_of(tt.CallOp)
def call(op: tt.CallOp, frame: Frame) -> Values:
    """Once shared memory is allocated, that of the callee begins at the `allocation.offset` of the call."""
    machine, offset = frame.machine, op.attributes.get("allocation.offset")
    inside = offset.value.data if isinstance(offset, IntegerAttr) else 0
    machine.shared_base += inside
    results = machine.call(op.callee.string_value(), frame.get_all(op.operands), op, frame.active)
    machine.shared_base -= inside
    return results

"""Which regions of scalars may be run on arrays: those whose ops treat every lane by itself."""

from __future__ import annotations

from xdsl.ir import Operation, Region

from tilewright.dialects import arith, scf, tt, ub
from tilewright.dialects.traits import is_elementwise_class
from tilewright.reference.machine import Machine

LANE_OPS = (
    arith.ConstantOp,
    scf.IfOp,
    scf.YieldOp,
    ub.PoisonOp,
    tt.ExternElementwiseOp,
    tt.MapElementwiseReturnOp,
    tt.ReduceReturnOp,
    tt.ReturnOp,
    tt.ScanReturnOp,
)
"""Ops without effects whose meanings take lanes, beside the elementwise ones."""


def runs_in_lanes(machine: Machine, region: Region) -> bool:
    """Return whether every op of a region, and of the functions that it calls, may be run for many lanes at once."""
    if len(region.blocks) != 1:
        return False
    return all(_takes_lanes(machine, op) for op in region.blocks[0].ops)


def _takes_lanes(machine: Machine, op: Operation) -> bool:
    if isinstance(op, tt.CallOp):
        callee = machine.functions.get(op.callee.string_value())
        return callee is not None and runs_in_lanes(machine, callee.regions[0])
    if not isinstance(op, LANE_OPS) and not is_elementwise_class(type(op)):
        return False
    return all(not region.blocks or runs_in_lanes(machine, region) for region in op.regions)

"""The scf dialect: structured loops and conditionals."""

from xdsl.ir import Dialect, Operation

from tilewright.dialects.scf.conditionals import ExecuteRegionOp, IfOp, IndexSwitchOp
from tilewright.dialects.scf.loops import ForOp, ParallelOp, WhileOp
from tilewright.dialects.scf.terminators import ConditionOp, ReduceOp, ReduceReturnOp, YieldOp

OPERATIONS: list[type[Operation]] = [
    ConditionOp,
    ExecuteRegionOp,
    ForOp,
    IfOp,
    IndexSwitchOp,
    ParallelOp,
    ReduceOp,
    ReduceReturnOp,
    WhileOp,
    YieldOp,
]

Scf = Dialect("scf", OPERATIONS, [])

__all__ = [
    "OPERATIONS",
    "ConditionOp",
    "ExecuteRegionOp",
    "ForOp",
    "IfOp",
    "IndexSwitchOp",
    "ParallelOp",
    "ReduceOp",
    "ReduceReturnOp",
    "Scf",
    "WhileOp",
    "YieldOp",
]

"""Barriers, predicated ops, and scratch memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects import ttg, ttng
from tilewright.dialects.numeric import Array, scalar_dtype
from tilewright.reference.machine import Frame, Values, as_bool, as_int, meaning_of
from tilewright.reference.ttg.shared_memory import POISON


@meaning_of(
    ttg.LocalBarrierOp,
    ttng.FenceAsyncSharedOp,
    ttng.ClusterArriveOp,
    ttng.ClusterWaitOp,
    ttng.ClusterBarrierOp,
    ttng.FenceMBarrierInitReleaseClusterOp,
    ttng.AwaitTurnOp,
    ttng.PassTurnOp,
    ttng.AsyncTMAPrefetchOp,
    ttng.StartRoleOp,
)
def nothing(op: Any, frame: Frame) -> Values:
    """Each op is executed by all threads before the next one begins, so there is nothing to order."""
    return ()


@meaning_of(ttg.PredicateStageOp)
def predicate_stage(op: ttg.PredicateStageOp, frame: Frame) -> Values:
    """``iv < ub - (maxStage - stage) * step``"""
    counter, bound, step = (as_int(value) for value in frame.get_all(op.operands))
    ahead = op.max_stage.value.data - op.stage.value.data
    return (np.bool_(counter < bound - ahead * step),)


@meaning_of(ttg.MaskOp)
def mask(op: ttg.MaskOp, frame: Frame) -> Values:
    """Results of ops that did not run are undefined."""
    if as_bool(frame.get(op.pred)):
        return frame.run_region(op.region)
    return [poison(result.type) for result in op.results]


def poison(type_: Any) -> Any:
    """An undefined value of a type: all ones where it has bits."""
    try:
        dtype = scalar_dtype(type_)
    except TypeError:
        return None
    shape = type_.get_shape() if hasattr(type_, "get_shape") else ()
    if dtype == np.bool_:
        return np.ones(shape, np.bool_)[()]
    return np.full((*shape, dtype.itemsize), POISON, np.uint8).view(dtype).reshape(shape)[()]


class Scratch:
    """The scratch memory of one op; programs run one after another, so they share it."""

    def __init__(self, frame: Frame, op: ttg.GlobalScratchAllocOp) -> None:
        alignment, size = op.alignment.value.data, op.nbytes.value.data
        whole: Array = np.empty(size + alignment, np.uint8)
        first = -int(whole.ctypes.data) % alignment
        self.data = whole[first : first + size]
        self.address = frame.machine.memory.add(self.data, "global scratch memory")


@meaning_of(ttg.GlobalScratchAllocOp)
def global_scratch(op: ttg.GlobalScratchAllocOp, frame: Frame) -> Values:
    """Global memory of this program; its contents are undefined."""
    key = ("global scratch", op)
    found = frame.machine.kept.get(key)
    if found is None:
        found = frame.machine.kept[key] = Scratch(frame, op)
    found.data.fill(POISON)
    return (found.address,)

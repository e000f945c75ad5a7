"""The meaning of scf, cf and func ops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType, UnrealizedConversionCastOp
from xdsl.ir import Block

from tilewright.dialects import cf, func, gpu, llvm, scf
from tilewright.dialects.arith.meaning import as_unsigned
from tilewright.dialects.construction import static_values
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import PointerType
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.errors import AssertionFailed, reference_error
from tilewright.reference.machine import BRANCHES, Frame, Values, as_bool, as_int, meaning_of, scalar
from tilewright.reference.memory import MemRef

MEMREF_TYPES = (MemRefType, UnrankedMemRefType)


@meaning_of(scf.ForOp)
def counted_loop(op: scf.ForOp, frame: Frame) -> Values:
    """``lb <= i < ub`` by step; a step that is not positive has no meaning."""
    lower, upper, step = (as_int(value) for value in frame.get_all(op.operands[:3]))
    type_ = op.lb.type
    if op.unsigned_cmp is not None:
        width = bit_width(type_)
        lower, upper, step = (int(as_unsigned(np.asarray(scalar(v, type_)), width)) for v in (lower, upper, step))
    if step <= 0:
        raise reference_error(op, f"the step of a loop must be positive, got {step}")
    carried = frame.get_all(op.iter_args)
    for counter in range(lower, upper, step):
        carried = frame.run_region(op.body, [scalar(counter, type_), *carried])
    return carried


@meaning_of(scf.IfOp)
def conditional(op: scf.IfOp, frame: Frame) -> Values:
    if frame.active is not None:
        return _conditional_lanes(op, frame, frame.active)
    if as_bool(frame.get(op.cond)):
        return frame.run_region(op.true_region)
    return frame.run_region(op.false_region) if op.false_region.blocks else ()


def _conditional_lanes(op: scf.IfOp, frame: Frame, active: Array) -> Values:
    """Both branches, each for the lanes that take it."""
    chosen = np.broadcast_to(np.asarray(frame.get(op.cond)), active.shape)
    frame.active = active & chosen
    then = frame.run_region(op.true_region)
    otherwise: Values = ()
    if op.false_region.blocks:
        frame.active = active & ~chosen
        otherwise = frame.run_region(op.false_region)
    frame.active = active
    return [np.where(chosen, a, b) for a, b in zip(then, otherwise, strict=True)] if op.results else ()


@meaning_of(scf.WhileOp)
def conditional_loop(op: scf.WhileOp, frame: Frame) -> Values:
    carried = frame.get_all(op.arguments)
    while True:
        goes_on, *passed = frame.run_region(op.before_region, carried)
        if not as_bool(goes_on):
            return passed
        carried = frame.run_region(op.after_region, passed)


@meaning_of(scf.ParallelOp)
def parallel_loop(op: scf.ParallelOp, frame: Frame) -> Values:
    """One iteration after another, the last counter fastest; reductions in that order."""
    bounds = zip(*(frame.get_all(group) for group in (op.lowerBound, op.upperBound, op.step)), strict=True)
    ranges = [range(as_int(low), as_int(high), as_int(step)) for low, high, step in bounds]
    totals = frame.get_all(op.initVals)
    for counters in product(*ranges):
        frame.bind(op.body.block, [np.int64(counter) for counter in counters])
        terminator = frame.run_ops(op.body.block)
        parts = frame.get_all(terminator.operands)
        for position, (region, part) in enumerate(zip(terminator.regions, parts, strict=True)):
            (totals[position],) = frame.run_region(region, [totals[position], part])
    return totals


@meaning_of(scf.IndexSwitchOp)
def index_switch(op: scf.IndexSwitchOp, frame: Frame) -> Values:
    chosen = as_int(frame.get(op.arg))
    for value, region in zip(static_values(op.cases), op.case_regions, strict=True):
        if value == chosen:
            return frame.run_region(region)
    return frame.run_region(op.default_region)


@meaning_of(scf.ExecuteRegionOp)
def execute_region(op: scf.ExecuteRegionOp, frame: Frame) -> Values:
    return frame.run_blocks(op.region, ())


@meaning_of(cf.AssertOp)
def assertion(op: cf.AssertOp, frame: Frame) -> Values:
    """Every lane that takes part has to satisfy it."""
    holds = np.asarray(frame.get(op.arg))
    if frame.active is not None:
        holds = holds | ~frame.active
    if not np.all(holds):
        place = frame.machine.program_id
        raise reference_error(op, f"{op.msg.data} (program {place[0]}, {place[1]}, {place[2]})", AssertionFailed)
    return ()


@meaning_of(func.CallOp)
def call(op: func.CallOp, frame: Frame) -> Values:
    return frame.machine.call(op.callee.string_value(), frame.get_all(op.operands), op)


@meaning_of(gpu.BarrierOp, llvm.AssumeOp)
def nothing(op: object, frame: Frame) -> Values:
    """Programs run alone, and a promise is not checked."""
    return ()


@meaning_of(UnrealizedConversionCastOp)
def unrealized_cast(op: UnrealizedConversionCastOp, frame: Frame) -> Values:
    """One value for one value is that value, a memref for a pointer the memory that it points to and the other way
    round; anything else is a pass that was not run."""
    if len(op.operands) != 1 or len(op.results) != 1:
        raise reference_error(op, "a conversion between several values has no reference meaning")
    value, source, target = frame.get(op.operands[0]), op.operands[0].type, op.results[0].type
    memory = frame.machine.memory
    if isinstance(source, PointerType) and isinstance(target, MEMREF_TYPES):
        element = element_type(op.results[0].type)
        return (MemRef(memory.storage_at(int(value), element), element=element),)
    if isinstance(source, MEMREF_TYPES) and isinstance(target, PointerType) and isinstance(value, MemRef):
        return (memory.address_of(value),)
    return (value,)


def _branch(op: cf.BranchOp, frame: Frame) -> tuple[Block, Sequence[Any]]:
    return op.successor, frame.get_all(op.arguments)


def _conditional_branch(op: cf.ConditionalBranchOp, frame: Frame) -> tuple[Block, Sequence[Any]]:
    if as_bool(frame.get(op.cond)):
        return op.then_block, frame.get_all(op.then_arguments)
    return op.else_block, frame.get_all(op.else_arguments)


def _switch(op: cf.SwitchOp, frame: Frame) -> tuple[Block, Sequence[Any]]:
    flag = as_int(frame.get(op.flag))
    for value, block, operands in op.cases:
        if value == flag:
            return block, frame.get_all(operands)
    return op.default_block, frame.get_all(op.default_operands)


BRANCHES[cf.BranchOp] = _branch
BRANCHES[cf.ConditionalBranchOp] = _conditional_branch
BRANCHES[cf.SwitchOp] = _switch

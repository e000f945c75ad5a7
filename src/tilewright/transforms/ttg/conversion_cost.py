"""What a conversion between layouts costs, and what it costs to compute values twice instead.

Costs are in thousandths of a cycle of one multiprocessor. A conversion is counted as a round trip through shared
memory of 8 per byte each way, twice that for the synchronisation; an instruction as 1 per byte of its result.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import arith, math, tt, ttg
from tilewright.dialects.arithmetic import is_arithmetic, is_function
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.types import as_tensor, is_float
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import LANE, WARP
from tilewright.transforms.ttg.layout_inference import layout_of
from tilewright.transforms.ttg.layout_slices import LayoutSlice

ROUND_TRIP_COST = 32
LOAD_COST = 8
EXPENSIVE_COST = 8
WARP_EXCHANGE_COST = 8

MIN_ELEMENTS = 32
MIN_BITS = 32
"""Shared memory works on words of 32 bits for 32 lanes at a time."""

CHEAP_MATH = (
    math.AbsFOp,
    math.AbsIOp,
    math.CeilOp,
    math.CopySignOp,
    math.FloorOp,
    math.FmaOp,
    math.FPowIOp,
    math.IPowIOp,
    math.RoundOp,
    math.RoundEvenOp,
    math.TruncOp,
)
"""Functions that are a few plain instructions; the others take the special function unit, or many."""


def byte_count(value: SSAValue, min_elements: int = 0, min_bits: int = 0) -> int:
    """Bytes of a tensor, counted as at least so many elements of at least so many bits; pointers have no bits."""
    elements = bits = 0
    if is_tensor(value.type):
        element = value.type.element_type
        elements = prod(value.type.get_shape())
        bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 0
    return max(elements, min_elements) * max(bits, min_bits) // 8


def conversion_cost(conversion: ttg.ConvertLayoutOp) -> int:
    """The cost of a conversion, taken to go through shared memory."""
    return ROUND_TRIP_COST * byte_count(conversion.src, MIN_ELEMENTS, MIN_BITS)


def recomputation_cost(slice: LayoutSlice, conversion: ttg.ConvertLayoutOp) -> int | None:
    """The cost of computing a slice in place of a conversion; None where the results could differ.

    What nothing else uses is not computed twice and costs nothing.
    """
    cost = 0
    for op in _shared_ops(slice.ops(), conversion):
        if isinstance(op, tt.ReduceOp):
            if not is_associative(op):
                return None
            cost += _reduction_cost(op)
        else:
            cost += _op_cost(op)
    return cost


def _shared_ops(ops: dict[Operation, None], conversion: ttg.ConvertLayoutOp) -> set[Operation]:
    """The ops of a slice that something besides the slice and its conversion depends on."""

    def is_used_elsewhere(op: Operation) -> bool:
        users = (use.operation for result in op.results for use in result.uses)
        return any(user is not conversion and user not in ops for user in users)

    pending = [op for op in ops if is_used_elsewhere(op)]
    shared = set(pending)
    while pending:
        for operand in pending.pop().operands:
            if isinstance(operand, OpResult) and operand.op in ops and operand.op not in shared:
                shared.add(operand.op)
                pending.append(operand.op)
    return shared


def _op_cost(op: Operation) -> int:
    match op:
        case arith.ConstantOp():
            return 0
        case tt.LoadOp() | ttg.LocalLoadOp():
            return LOAD_COST * sum(byte_count(result) for result in op.results)
        case _ if is_arithmetic(op):
            factor = EXPENSIVE_COST if is_expensive(op) else 1
            return factor * sum(byte_count(result) for result in op.results)
        case _:
            return 0


def is_expensive(op: Operation) -> bool:
    """Return whether an arithmetic op takes several instructions, or the special function unit."""
    return isinstance(op, arith.DivfOp) or (is_function(op) and not isinstance(op, CHEAP_MATH))


def is_associative(op: tt.ReduceOp) -> bool:
    """Return whether a reduction gives the same bits in any order."""
    type = as_tensor(op.srcs[0].type)
    if not is_float(type.element_type) or type.get_shape()[op.axis.value.data] <= 2:
        return True
    return not any(isinstance(inner, arith.AddfOp | arith.MulfOp) for inner in ops_within(op.combine_op))


def _reduction_cost(op: tt.ReduceOp) -> int:
    """Exchanges between the lanes, then between the warps, that hold different elements along the axis."""
    type, axis = as_tensor(op.srcs[0].type), op.axis.value.data
    linear = layout_of(type.encoding).to_linear(type.get_shape())
    lanes, warps = (1 << sum(bool(v[axis]) for v in linear.bases_of(name)) for name in (LANE, WARP))
    return lanes + WARP_EXCHANGE_COST * warps

"""Making, reshaping and reducing vectors: LLVM vectors of the same length; masks are vectors of i1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.literals import vector_constant
from tilewright.dialects import arith, vector
from tilewright.dialects.construction import static_values
from tilewright.lowering.loops_to_llvm.arith_ops import FLOAT_MINMAX
from tilewright.lowering.loops_to_llvm.conversions import float_literal, from_compute, widen
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.mask_bits import for_scalar_use
from tilewright.lowering.loops_to_llvm.types import F32, F64, ValueType
from tilewright.lowering.loops_to_llvm.uniform_division import plan_divisor

_DYNAMIC = -(2**63)


# ------------------------------------------------------------------------------------------------ making, reshaping


@lowers(vector.BroadcastOp)
def lower_broadcast(op: vector.BroadcastOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    value = low.get(op.operands[0])
    if source.lanes == target.lanes:
        low.set(op.results[0], value)
        return
    fn = low.fn
    if not source.lanes and value[0] != "%":
        low.set(op.results[0], f"splat ({source.text} {value})")
        return
    if source.lanes:
        single = value
        held = source.text
    else:
        held = f"<{target.lanes} x {source.text}>"
        single = fn.insert_element(held, "poison", source.text, value, 0)
    mask = f"<{target.lanes} x i32> zeroinitializer"
    low.set(op.results[0], fn.shuffle(held, single, "poison", mask))
    if not source.lanes and target.scalar in (F32, F64) and _is_divisor(op.results[0]):
        low.divisors[op.results[0]] = plan_divisor(low.lanes(target), value, target)


def _is_divisor(value: SSAValue) -> bool:
    return any(isinstance(use.operation, arith.DivfOp) and use.index == 1 for use in value.uses)


@lowers(vector.ShapeCastOp)
def lower_shape_cast(op: vector.ShapeCastOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    if source.lanes != target.lanes:
        low.fail(op, f"changes the number of lanes from {source.lanes} to {target.lanes}")
    low.set(op.results[0], low.get(op.operands[0]))


@lowers(vector.BitcastOp)
def lower_bitcast(op: vector.BitcastOp, low: CpuFunctionLowering) -> None:
    source, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    value = low.get(op.operands[0])
    if source.text != target.text:
        value = low.fn.cast("bitcast", source.text, value, target.text)
    low.set(op.results[0], value)


@lowers(vector.StepOp)
def lower_step(op: vector.StepOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.results[0])
    low.set(op.results[0], vector_constant(type.scalar.text, map(str, range(type.lanes))))


@lowers(vector.CreateMaskOp)
def lower_create_mask(op: vector.CreateMaskOp, low: CpuFunctionLowering) -> None:
    """Lane i is on when i < n: one comparison in 32 bits, after n is bounded to [0, lanes]."""
    type = low.type_of(op.results[0])
    lanes = type.lanes
    counts = [low.get(operand) for operand in op.operands]
    count = counts[-1]
    if len(counts) > 1:
        low.fail(op, "has more than one dimension")
    if count[0] != "%":
        low.set(op.results[0], _prefix_mask(int(count), lanes))
        return
    fn = low.fn
    at_least = fn.call("i64", "llvm.smax.i64", [("i64", count), ("i64", "0")])
    bounded = fn.call("i64", "llvm.smin.i64", [("i64", at_least), ("i64", str(lanes))])
    narrow = fn.cast("trunc", "i64", bounded, "i32")
    vector_type = f"<{lanes} x i32>"
    single = fn.insert_element(vector_type, "poison", "i32", narrow, 0)
    spread = fn.shuffle(vector_type, single, "poison", f"{vector_type} zeroinitializer")
    lane_numbers = vector_constant("i32", map(str, range(lanes)))
    low.set(op.results[0], fn.icmp("ult", vector_type, lane_numbers, spread))


def _prefix_mask(count: int, lanes: int) -> str:
    return vector_constant("i1", ("true" if lane < count else "false" for lane in range(lanes)))


@lowers(vector.ConstantMaskOp)
def lower_constant_mask(op: vector.ConstantMaskOp, low: CpuFunctionLowering) -> None:
    sizes = _static_values(op.properties["mask_dim_sizes"])
    low.set(op.results[0], _prefix_mask(sizes[-1], low.type_of(op.results[0]).lanes))


@lowers(vector.ShuffleOp)
def lower_shuffle(op: vector.ShuffleOp, low: CpuFunctionLowering) -> None:
    mask = _static_values(op.properties["mask"])
    a, b = op.operands
    left, right = low.type_of(a), low.type_of(b)
    if left.lanes != right.lanes:
        low.fail(op, "of two vectors of different length")
    low.set(op.results[0], _shuffle(low, left, low.get(a), low.get(b), mask))


def _shuffle(low: CpuFunctionLowering, type: ValueType, a: str, b: str, mask: Sequence[int]) -> str:
    lanes = ", ".join("i32 poison" if lane < 0 else f"i32 {lane}" for lane in mask)
    return low.fn.shuffle(type.text, a, b, f"<{len(mask)} x i32> <{lanes}>")


def _static_values(attr: object) -> list[int]:
    if isinstance(attr, DenseArrayBase):
        return list(static_values(cast("DenseArrayBase[Any]", attr)))
    return [item.value.data for item in cast("ArrayAttr[IntegerAttr]", attr).data]


@lowers(vector.ExtractStridedSliceOp)
def lower_extract_strided_slice(op: vector.ExtractStridedSliceOp, low: CpuFunctionLowering) -> None:
    (offset,), (size,), (stride,) = (_static_values(op.properties[k]) for k in ("offsets", "sizes", "strides"))
    type = low.type_of(op.operands[0])
    mask = [offset + stride * lane for lane in range(size)]
    low.set(op.results[0], _shuffle(low, type, low.get(op.operands[0]), "poison", mask))


@lowers(vector.InsertStridedSliceOp)
def lower_insert_strided_slice(op: vector.InsertStridedSliceOp, low: CpuFunctionLowering) -> None:
    (offset,) = _static_values(op.properties["offsets"])
    part, whole = low.type_of(op.operands[0]), low.type_of(op.results[0])
    widened = [lane if lane < part.lanes else -1 for lane in range(whole.lanes)]
    spread = _shuffle(low, part, low.get(op.operands[0]), "poison", widened)
    mask = [whole.lanes + i - offset if offset <= i < offset + part.lanes else i for i in range(whole.lanes)]
    low.set(op.results[0], _shuffle(low, whole, low.get(op.operands[1]), spread, mask))


@lowers(vector.InterleaveOp)
def lower_interleave(op: vector.InterleaveOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.operands[0])
    mask = [lane // 2 + (lane % 2) * type.lanes for lane in range(2 * type.lanes)]
    low.set(op.results[0], _shuffle(low, type, low.get(op.operands[0]), low.get(op.operands[1]), mask))


@lowers(vector.DeinterleaveOp)
def lower_deinterleave(op: vector.DeinterleaveOp, low: CpuFunctionLowering) -> None:
    type = low.type_of(op.operands[0])
    for part, result in enumerate(op.results):
        mask = list(range(part, type.lanes, 2))
        low.set(result, _shuffle(low, type, low.get(op.operands[0]), "poison", mask))


def _position(low: CpuFunctionLowering, op: Operation, dynamic: Sequence[SSAValue]) -> str:
    """The lane of an extract or insert, as an i64 operand."""
    static = _static_values(op.properties["static_position"])
    pending = list(dynamic)
    operands = [low.get(pending.pop(0)) if lane == _DYNAMIC else str(lane) for lane in static]
    return operands[-1] if operands else "0"


@lowers(vector.ExtractOp)
def lower_extract(op: vector.ExtractOp, low: CpuFunctionLowering) -> None:
    source, result = low.type_of(op.operands[0]), low.type_of(op.results[0])
    value = low.get(op.operands[0])
    if result.lanes == source.lanes:
        low.set(op.results[0], value)
        return
    lane = _position(low, op, op.operands[1:])
    if source.scalar.text == "i1":
        value = for_scalar_use(low, value, source.lanes)
    low.set(op.results[0], low.fn.extract_element(source.text, value, lane, index_type="i64"))


@lowers(vector.InsertOp)
def lower_insert(op: vector.InsertOp, low: CpuFunctionLowering) -> None:
    value, target = low.type_of(op.operands[0]), low.type_of(op.results[0])
    lane = _position(low, op, op.operands[2:])
    inserted = (
        f"insertelement {target.text} {low.get(op.operands[1])}, {value.text} {low.get(op.operands[0])}, i64 {lane}"
    )
    low.set(op.results[0], low.fn.value(inserted))


# ------------------------------------------------------------------------------------------------------- arithmetic


_INTEGER_REDUCTIONS = {
    "add": "add",
    "mul": "mul",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "minsi": "smin",
    "minui": "umin",
    "maxsi": "smax",
    "maxui": "umax",
}


@lowers(vector.ReductionOp)
def lower_reduction(op: vector.ReductionOp, low: CpuFunctionLowering) -> None:
    """All lanes to one value; sums and products in any order."""
    kind = _combining_kind(op)
    type = low.type_of(op.operands[0])
    start = low.get(op.operands[1]) if len(op.operands) > 1 else None
    value = low.get(op.operands[0])
    if not type.scalar.is_float:
        result = _reduce_integers(low, kind, type, value, start)
    else:
        is_number = low.nan_free.holds(op.operands[0])
        result = _reduce_floats(low, kind, type, value, start, flags="nnan nsz " if is_number else "nsz ")
    low.set(op.results[0], result)


def _combining_kind(op: Operation) -> str:
    """``add``, ``maxnumf``, ...: of whatever attribute class the dialect has for it."""
    attr = op.properties["kind"]
    data = getattr(attr, "data", None)
    return str(getattr(data, "value", data) if data is not None else attr).lower()


def _reduce_integers(low: CpuFunctionLowering, kind: str, type: ValueType, value: str, start: str | None) -> str:
    name = _INTEGER_REDUCTIONS[kind]
    text = type.scalar.text
    if text == "i1":
        value = for_scalar_use(low, value, type.lanes)
    result = low.fn.call(text, f"llvm.vector.reduce.{name}.v{type.lanes}{text}", [(type.text, value)])
    if start is None:
        return result
    b = LaneBuilder(low.fn, 0)
    if name in ("smin", "smax", "umin", "umax"):
        return b.intrinsic(name, text, result, start)
    return b.binary(name, result, start, text)


def _reduce_floats(
    low: CpuFunctionLowering, kind: str, type: ValueType, value: str, start: str | None, *, flags: str
) -> str:
    b = low.lanes(type)
    one = LaneBuilder(low.fn, 0)
    scalar = F32 if type.scalar.is_soft_float else type.scalar
    value = widen(b, value, type.scalar)
    start = None if start is None else widen(one, start, type.scalar)
    suffix = intrinsic_suffix(scalar.text, type.lanes)
    vector_text = b.type(scalar.text)
    if kind in ("add", "mul"):
        neutral = float_literal(-0.0 if kind == "add" else 1.0, scalar)
        arguments = [(scalar.text, neutral if start is None else start), (vector_text, value)]
        result = low.fn.call(scalar.text, f"llvm.vector.reduce.f{kind}.{suffix}", arguments, flags="reassoc ")
        return from_compute(one, result, type.scalar)
    result = _reduce_in_halves(low, FLOAT_MINMAX[kind], scalar.text, type.lanes, value, flags)
    if start is not None:
        result = one.intrinsic(FLOAT_MINMAX[kind], scalar.text, result, start, flags="nsz ")
    return from_compute(one, result, type.scalar)


def _reduce_in_halves(low: CpuFunctionLowering, name: str, scalar: str, lanes: int, value: str, flags: str) -> str:
    """Minimum or maximum over the lanes in log2(lanes) steps; LLVM's own expansion is a chain of all lanes."""
    fn = low.fn
    while lanes > 1:
        text, half = f"<{lanes} x {scalar}>", lanes // 2
        width = lanes - half
        low_lanes = ", ".join(f"i32 {lane}" for lane in range(width))
        high_lanes = ", ".join(f"i32 {lane}" for lane in range(half, lanes))
        parts = [fn.shuffle(text, value, "poison", f"<{width} x i32> <{mask}>") for mask in (low_lanes, high_lanes)]
        value = LaneBuilder(fn, width).intrinsic(name, scalar, *parts, flags=flags)
        lanes = width
    return fn.extract_element(f"<1 x {scalar}>", value, 0, index_type="i64")

"""Facts about ops that make tensors and change their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from tilewright.analysis.axis_info import lattice
from tilewright.analysis.axis_info.lattice import AxisInfo, pointee_bytes, power_of_two_in, shape_of
from tilewright.analysis.axis_info.rules import Infos, rule
from tilewright.analysis.signs import Signs
from tilewright.dialects import arith, tt, ttg, ub
from tilewright.dialects.arith.constant import is_dense
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import INDEX, bit_width, element_type, is_integer


@rule(arith.ConstantOp)
def constant(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    result = op.results[0]
    element, shape = element_type(result.type), shape_of(result.type)
    if is_integer(element) or element == INDEX:
        value = arith.find_constant_int(result)
        if value is not None:
            return lattice.constant(value & 1 if bit_width(element) == 1 else value, shape)
    attribute = arith.constant_attr(result)
    if is_dense(attribute) and arith.is_splat(attribute):
        return lattice.constancy_only(shape)
    return lattice.unknown(result.type)


@rule(ub.PoisonOp)
def poison(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    return lattice.anything(op.results[0].type)


@rule(tt.MakeRangeOp)
def make_range(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """The bounds are numbers of 32 bits, of which zero is divisible by 2^30."""
    start = op.properties["start"]
    assert isinstance(start, IntegerAttr)
    extent = shape_of(op.results[0].type)[0]
    first = start.value.data
    return AxisInfo((extent,), (min(power_of_two_in(first), 1 << 30),), (1,), first if extent == 1 else None)


@rule(tt.SplatOp)
def splat(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    shape = shape_of(op.results[0].type)
    rank = len(shape)
    return AxisInfo((1,) * rank, (infos[0].divisibility[0],) * rank, shape, infos[0].constant_value)


@rule(tt.UnsplatOp)
def unsplat(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    return AxisInfo(
        (1,), (infos[0].divisibility_of_all(pointee_bytes(op.results[0].type)),), (1,), infos[0].constant_value
    )


@rule(tt.ExpandDimsOp)
def expand_dims(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    assert isinstance(op, tt.ExpandDimsOp)
    info, axis = infos[0], op.axis.value.data
    of_all = info.divisibility_of_all(pointee_bytes(op.result.type))
    return AxisInfo(
        _inserted(info.contiguity, axis, 1),
        _inserted(info.divisibility, axis, of_all),
        _inserted(info.constancy, axis, 1),
        info.constant_value,
    )


def _inserted(values: tuple[int, ...], axis: int, value: int) -> tuple[int, ...]:
    return (*values[:axis], value, *values[axis:])


@rule(tt.BroadcastOp)
def broadcast(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    info = infos[0]
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    grown = [before != after for before, after in zip(source, target, strict=True)]
    return AxisInfo(
        tuple(1 if grows else value for grows, value in zip(grown, info.contiguity, strict=True)),
        info.divisibility,
        tuple(extent if grows else value for grows, extent, value in zip(grown, target, info.constancy, strict=True)),
        info.constant_value,
    )


@rule(tt.TransOp)
def transpose(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    assert isinstance(op, tt.TransOp)
    info, order = infos[0], static_values(op.order)
    return AxisInfo(
        tuple(info.contiguity[dim] for dim in order),
        tuple(info.divisibility[dim] for dim in order),
        tuple(info.constancy[dim] for dim in order),
        info.constant_value,
    )


@rule(ttg.ConvertLayoutOp)
def same(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    return infos[0]


@rule(tt.ReshapeOp)
def reshape(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Keep what fits of a dimension's groups where the result has one that steps like it."""
    assert isinstance(op, tt.ReshapeOp)
    info = infos[0]
    source, target = shape_of(op.src.type), shape_of(op.result.type)
    if info.constant_value is not None:
        return lattice.constant(info.constant_value, target)
    of_all = info.divisibility_of_all(pointee_bytes(op.result.type))
    if info.is_uniform(source):
        return AxisInfo((1,) * len(target), (of_all,) * len(target), target)
    if op.allow_reorder is not None:
        return AxisInfo((1,) * len(target), (of_all,) * len(target), (1,) * len(target))
    return _reshaped(info, source, target, of_all, pointee_bytes(op.result.type))


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[dim + 1 :]) for dim in range(len(shape))]


def _reshaped(info: AxisInfo, source: Sequence[int], target: Sequence[int], of_all: int, unit: int) -> AxisInfo:
    steps = _strides(source)
    contiguity, divisibility, constancy = [1] * len(target), [of_all] * len(target), [1] * len(target)
    for dim, step in enumerate(_strides(target)):
        covering = [d for d, extent in enumerate(source) if steps[d] <= step < steps[d] * extent]
        if not covering:
            continue
        origin = covering[0]
        every = step // steps[origin]
        constancy[dim] = gcd(max(info.constancy[origin] // every, 1), target[dim])
        if every == 1:
            contiguity[dim] = gcd(info.contiguity[origin], target[dim])
            divisibility[dim] = max(of_all, info.divisibility_at(origin, contiguity[dim], unit))
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy))


@rule(tt.JoinOp)
def join(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """The two sources alternate along a new last dimension."""
    unit = pointee_bytes(op.results[0].type)
    both = infos[0].join(infos[1], unit)
    of_all = gcd(*(info.divisibility_of_all(unit) for info in infos))
    value = both.constant_value
    constancy = (*both.constancy, 1 if value is None else 2)
    return AxisInfo((*both.contiguity, 1), (*both.divisibility, of_all), constancy, value)


@rule(tt.SplitOp)
def split(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    info = infos[0]
    if info.rank == 1:
        return lattice.unknown(op.results[0].type)
    return AxisInfo(info.contiguity[:-1], info.divisibility[:-1], info.constancy[:-1], info.constant_value)


@rule(tt.CatOp)
def concatenate(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Elements may come in any order."""
    shape = shape_of(op.results[0].type)
    if infos[0] == infos[1] and infos[0].constant_value is not None:
        return lattice.constant(infos[0].constant_value, shape)
    of_all = gcd(*(info.divisibility_of_all(pointee_bytes(op.results[0].type)) for info in infos))
    return AxisInfo((1,) * len(shape), (of_all,) * len(shape), (1,) * len(shape))

"""Facts about pointers and about what is loaded through them."""

from __future__ import annotations

from math import gcd

from xdsl.ir import Operation

from tilewright.analysis.axis_info import lattice
from tilewright.analysis.axis_info.arithmetic import sum_of
from tilewright.analysis.axis_info.lattice import LARGEST, AxisInfo, per_dimension, pointee_bytes, shape_of
from tilewright.analysis.axis_info.rules import Infos, common_constancy, rule
from tilewright.analysis.signs import Signs
from tilewright.dialects import tt
from tilewright.dialects.tt.types import PointerType, is_block_pointer
from tilewright.dialects.types import element_type


@rule(tt.AddPtrOp)
def add_pointer(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Offsets count elements, divisibility of pointers counts bytes."""
    return sum_of(infos[0], infos[1], pointee_bytes(op.results[0].type))


@rule(tt.BitcastOp)
def bitcast(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Pointers keep their address; a contiguous group does not stay one if the size of elements changes."""
    source, target = op.operands[0].type, op.results[0].type
    info = infos[0]
    if not isinstance(element_type(target), PointerType):
        same = source == target or info.constant_value is not None
        return info if same else lattice.constancy_only(info.constancy)
    if pointee_bytes(source) == pointee_bytes(target):
        return info
    return _single_elements(info, pointee_bytes(source))


@rule(tt.PtrToIntOp)
def pointer_to_integer(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    unit = pointee_bytes(op.operands[0].type)
    return infos[0] if unit == 1 else _single_elements(infos[0], unit)


@rule(tt.IntToPtrOp)
def integer_to_pointer(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    info = infos[0]
    if pointee_bytes(op.results[0].type) == 1:
        return AxisInfo(info.contiguity, info.divisibility, info.constancy)
    return _single_elements(info, 1)


def _single_elements(info: AxisInfo, unit: int) -> AxisInfo:
    """Return what is left of facts about groups when neighbours of a group are no neighbours any more."""
    divisibility = per_dimension(info.rank, lambda d: info.divisibility_at(d, 1, unit))
    return AxisInfo((1,) * info.rank, divisibility, info.constancy)


@rule(tt.LoadOp)
def load(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """Equal addresses under equal masks give equal numbers; what masked lanes get instead has to be equal too."""
    assert isinstance(op, tt.LoadOp)
    result = op.results[0].type
    if is_block_pointer(op.ptr.type) or op.is_volatile.value.data:
        return lattice.unknown(result)
    return lattice.constancy_only(common_constancy(infos))


@rule(tt.MakeTensorPtrOp)
def make_tensor_pointer(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """base + sum of (offset + index) * stride: contiguous along a dimension whose stride is 1."""
    assert isinstance(op, tt.MakeTensorPtrOp)
    shape = shape_of(op.results[0].type)
    rank = len(shape)
    base, strides, offsets = infos[0], infos[1 + rank : 1 + 2 * rank], infos[1 + 2 * rank :]
    unit = pointee_bytes(op.results[0].type)

    def term(factor: AxisInfo, stride: AxisInfo) -> int:
        return min(factor.divisibility[0] * stride.divisibility[0] * unit, LARGEST)

    start = gcd(base.divisibility[0], *(term(o, s) for o, s in zip(offsets, strides, strict=True)))
    steps = [min(stride.divisibility[0] * unit, LARGEST) for stride in strides]
    contiguity = tuple(extent if s.constant_value == 1 else 1 for extent, s in zip(shape, strides, strict=True))

    def divisibility(dim: int) -> int:
        own = LARGEST if contiguity[dim] == shape[dim] else steps[dim]
        return gcd(start, own, *(step for other, step in enumerate(steps) if other != dim and shape[other] > 1))

    return AxisInfo(contiguity, per_dimension(rank, divisibility), (1,) * rank)


@rule(tt.AdvanceOp)
def advance(op: Operation, infos: Infos, signs: Signs) -> AxisInfo:
    """All elements move by one multiple of the offsets."""
    info, unit = infos[0], pointee_bytes(op.results[0].type)
    moved = gcd(*(min(offset.divisibility[0] * unit, LARGEST) for offset in infos[1:]))
    return AxisInfo(info.contiguity, tuple(gcd(known, moved) for known in info.divisibility), info.constancy)

"""The meaning of linalg ops: their loops, in order, with the body run for many elements at once where that changes
nothing.

Parallel loops become the axes of arrays (lanes), reduction loops run one step after another, the last fastest. A body
whose effects on memory depend on the
order of elements runs for one element at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects import arith, bufferization, cf, linalg, linalg_ext, memref, scf, tensor, ttx, ub
from tilewright.dialects.byte_products import ByteProduct
from tilewright.dialects.linalg import IteratorType, StructuredOp
from tilewright.dialects.numeric import Array
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import is_tensor, shape_of
from tilewright.reference.arith_ops import RUNNING_TOTALS
from tilewright.reference.byte_products import multiply_pairs, sum_byte_products, sum_pairs
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.memory import MemRef

LANE_OPS = (
    arith.ConstantOp,
    linalg.IndexOp,
    linalg.YieldOp,
    scf.IfOp,
    scf.YieldOp,
    tensor.ExtractOp,
    memref.LoadOp,
    cf.AssertOp,
    ub.PoisonOp,
    bufferization.ToTensorOp,
)
"""Ops without effects on memory whose meanings take lanes, beside the elementwise ones."""

WRITING_LANE_OPS = (memref.StoreOp, memref.AtomicRMWOp)
"""Ops that write, lane by lane in order."""


def runs_in_lanes(op: StructuredOp) -> bool:
    """Return whether the body may run for all elements of the parallel loops at once."""
    writes = reads = 0
    for inner in op.body.walk():
        if isinstance(inner, WRITING_LANE_OPS):
            writes += 1
        elif isinstance(inner, (memref.LoadOp, bufferization.ToTensorOp)):
            reads += 1
        elif not isinstance(inner, LANE_OPS) and not inner.has_trait(ElementwiseMappable):
            return False
    return writes == 0 or (writes == 1 and reads == 0)


@meaning_of(*linalg.STRUCTURED)
def structured(op: StructuredOp, frame: Frame) -> Values:
    nest = Nest(op, frame)
    outer = frame.counters, frame.active
    if runs_in_lanes(op):
        nest.run_lanes()
    else:
        nest.run_elements()
    frame.counters, frame.active = outer
    return [output for output in nest.outputs if not isinstance(output, MemRef)]


@meaning_of(linalg.IndexOp)
def loop_index(op: linalg.IndexOp, frame: Frame) -> Values:
    return (frame.counters[op.dim.value.data],)


class Nest:
    """The loop nest of one structured op: its trip counts, operands and destinations."""

    def __init__(self, op: StructuredOp, frame: Frame) -> None:
        self.op = op
        self.frame = frame
        self.maps = [map_.results for map_ in op.maps]
        inputs = len(op.inputs)
        operands = frame.get_all(op.operands)
        self.inputs: list[Any] = operands[:inputs]
        self.outputs: list[Any] = [o if isinstance(o, MemRef) else np.array(o) for o in operands[inputs:]]
        self.ranges = self._trip_counts(operands)

    def _trip_counts(self, operands: Sequence[Any]) -> list[int]:
        ranges: list[int | None] = [None] * len(self.op.iterators)
        for operand, exprs in zip(operands, self.maps, strict=True):
            shape = operand.sizes if isinstance(operand, MemRef) else np.shape(operand)
            for extent, expr in zip(shape, exprs, strict=True):
                if not isinstance(expr, AffineDimExpr):
                    continue
                known = ranges[expr.position]
                if known is not None and known != extent:
                    raise reference_error(
                        self.op, f"loop {expr.position} has {known} steps by one operand, {extent} by another"
                    )
                ranges[expr.position] = extent
        return [count for count in ranges if count is not None]

    def run_elements(self) -> None:
        """One element at a time."""
        self.frame.active = None
        for place in np.ndindex(*self.ranges):
            self._step([np.int64(index) for index in place], ())

    def run_lanes(self) -> None:
        """Parallel loops at once, reduction loops in order."""
        iterators = self.op.iterators
        parallel = [dim for dim, kind in enumerate(iterators) if kind == IteratorType.PARALLEL]
        reduced = [dim for dim, kind in enumerate(iterators) if kind != IteratorType.PARALLEL]
        lanes = tuple(self.ranges[dim] for dim in parallel)
        counters: list[Any] = [None] * len(iterators)
        for axis, dim in enumerate(parallel):
            shape = [1] * len(lanes)
            shape[axis] = lanes[axis]
            counters[dim] = np.arange(lanes[axis], dtype=np.int64).reshape(shape)
        self.frame.active = np.ones(lanes, np.bool_)
        combine = self._find_running_total()
        if combine is not None:
            self._run_total(combine, reduced, lanes)
            return
        for place in np.ndindex(*(self.ranges[dim] for dim in reduced)):
            for dim, index in zip(reduced, place, strict=True):
                counters[dim] = np.int64(index)
            self._step(counters, lanes)

    def _step(self, counters: Sequence[Any], lanes: tuple[int, ...]) -> None:
        """Run the body for the elements at the counters and write what it yields."""
        self.frame.counters = list(counters)
        places = [[self._index(expr, counters) for expr in exprs] for exprs in self.maps]
        operands = [*self.inputs, *self.outputs]
        elements = [self._read(operand, place) for operand, place in zip(operands, places, strict=True)]
        yielded = self.frame.run_region(self.op.body, elements)
        for output, place, value in zip(self.outputs, places[len(self.inputs) :], yielded, strict=True):
            self._write(output, place, np.broadcast_to(value, lanes) if lanes else value)

    @staticmethod
    def _index(expr: AffineExpr, counters: Sequence[Any]) -> Any:
        if isinstance(expr, AffineDimExpr):
            return counters[expr.position]
        if isinstance(expr, AffineConstantExpr):
            return np.int64(expr.value)
        return expr.eval(list(counters), [])

    @staticmethod
    def _read(operand: Any, place: Sequence[Any]) -> Any:
        if isinstance(operand, MemRef):
            return operand.storage.read(operand.positions(place))
        return operand[tuple(place)] if place else np.asarray(operand)[()]

    @staticmethod
    def _write(output: Any, place: Sequence[Any], value: Any) -> None:
        if isinstance(output, MemRef):
            output.storage.write(output.positions(place), value)
        else:
            output[tuple(place)] = value

    def _find_running_total(self) -> np.ufunc | None:
        """The function of a reduction whose body is one op on the element and the total, on tensors."""
        op = self.op
        if not isinstance(op, linalg.ReduceOp) or len(op.outputs) != 1 or not op.on_tensors:
            return None
        block = op.body.block
        first, last = block.first_op, block.last_op
        if first is None or last is None or first.next_op is not last or type(first) not in RUNNING_TOTALS:
            return None
        known: set[SSAValue] = {block.args[0], block.args[1]}
        if set(first.operands) != known or tuple(last.operands) != tuple(first.results):
            return None
        same_type = self.inputs[0].dtype == self.outputs[0].dtype
        dtype = self.inputs[0].dtype
        is_rounded_by_numpy = dtype.itemsize > 1 or dtype.kind in "iu"
        return RUNNING_TOTALS[type(first)] if same_type and is_rounded_by_numpy else None

    def _run_total(self, combine: np.ufunc, reduced: Sequence[int], lanes: tuple[int, ...]) -> None:
        """``total = total op element`` along the reduced dimensions, in order, by running totals."""
        source: Array = np.moveaxis(self.inputs[0], list(reduced), range(len(reduced))).reshape(-1, *lanes)
        start = self.outputs[0][np.newaxis]
        totals: Callable[..., Array] = combine.accumulate
        with np.errstate(all="ignore"):
            self.outputs[0] = totals(np.concatenate([start, source]), axis=0, dtype=source.dtype)[-1]


@meaning_of(linalg_ext.ScanOp)
def scan(op: linalg_ext.ScanOp, frame: Frame) -> Values:
    """Rows across the dimension one after the other, all their elements at once where the body allows that."""
    inputs = [np.asarray(value) for value in frame.get_all(op.inputs)]
    outputs = [np.empty_like(value) for value in inputs]
    axis = op.dimension.value.data
    order = range(inputs[0].shape[axis])
    running: Sequence[Any] | None = None
    outer = frame.counters, frame.active
    for place in reversed(order) if op.reverse is not None else order:
        current = [value.take(place, axis) for value in inputs]
        frame.active = np.ones(current[0].shape, np.bool_)
        running = current if running is None else frame.run_region(op.body, [*running, *current])
        for output, value in zip(outputs, running, strict=True):
            output[(*[slice(None)] * axis, place)] = value
    frame.counters, frame.active = outer
    return outputs


@meaning_of(ttx.CumSumOp)
def cumulative_sum(op: ttx.CumSumOp, frame: Frame) -> Values:
    """Running sums in order, each rounded to the element's type."""
    value: Array = frame.get(op.input)
    with np.errstate(all="ignore"):
        return (np.add.accumulate(value, axis=op.axis.value.data, dtype=value.dtype),)


@meaning_of(linalg_ext.ExchangeNetworkOp)
def exchange_network(op: linalg_ext.ExchangeNetworkOp, frame: Frame) -> Values:
    return frame.run_region(op.body, [])


@meaning_of(linalg_ext.ViewMatmulOp)
def view_matmul(op: linalg_ext.ViewMatmulOp, frame: Frame) -> Values:
    """The terms of each sum in order of k. Nothing is written directly: that only may happen."""
    a, b = frame.get(op.a).load_all(), frame.get(op.b).load_all()
    tile = np.array(frame.get(op.init))
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            terms = a[:, k, np.newaxis].astype(tile.dtype) * b[np.newaxis, k].astype(tile.dtype)
            tile[: a.shape[0], : b.shape[1]] += terms
    return (tile,) if op.stored is None else (tile, np.bool_(False))


@meaning_of(linalg_ext.PackOp)
def pack(op: linalg_ext.PackOp, frame: Frame) -> Values:
    """All of the matrix, by this program. What the type leaves open is as small as it can be."""
    value = frame.get(op.source)
    matrix = value if is_tensor(op.source.type) else value.load_all()
    panels, rows, width = (size if size != DYNAMIC_INDEX else None for size in shape_of(op.panels.type) or ())
    assert width is not None
    panels = -(-matrix.shape[1] // width) if panels is None else panels
    wide = np.zeros((matrix.shape[0] if rows is None else rows, panels * width), matrix.dtype)
    wide[: matrix.shape[0], : matrix.shape[1]] = matrix
    packed = wide.reshape(len(wide), panels, width).swapaxes(0, 1)
    return (packed,) if op.condition is None else (packed, np.bool_(frame.get(op.condition)))


@meaning_of(linalg_ext.PackedMatmulOp)
def packed_matmul(op: linalg_ext.PackedMatmulOp, frame: Frame) -> Values:
    """The terms of each sum in order of k."""
    a, panels, tile = frame.get(op.a), frame.get(op.panels), np.array(frame.get(op.init))
    b = panels.swapaxes(0, 1).reshape(panels.shape[1], -1)
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            tile += a[:, k, np.newaxis].astype(tile.dtype) * b[np.newaxis, k, : tile.shape[1]].astype(tile.dtype)
    return (tile,)


@meaning_of(linalg_ext.AsWordsOp)
def as_words(op: linalg_ext.AsWordsOp, frame: Frame) -> Values:
    return (np.ascontiguousarray(frame.get(op.source)).view("<i4"),)


@meaning_of(linalg_ext.NeededOp)
def needed(op: linalg_ext.NeededOp, frame: Frame) -> Values:
    """Elements past the bounds are lost: a program that reads them has another result."""
    whole = frame.get(op.source)
    bounds = [bound if isinstance(bound, int) else int(frame.get(bound)) for bound in op.mixed_bounds]
    left = np.full_like(whole, np.nan if whole.dtype.kind == "f" else 1)
    part = tuple(slice(max(bound, 0)) for bound in bounds)
    left[part] = whole[part]
    frame.values[op.source] = left
    return ()


@meaning_of(linalg_ext.ToVectorsOp)
def to_vectors(op: linalg_ext.ToVectorsOp, frame: Frame) -> Values:
    return np.split(frame.get(op.source), len(op.vectors))


@meaning_of(linalg_ext.FromVectorsOp)
def from_vectors(op: linalg_ext.FromVectorsOp, frame: Frame) -> Values:
    return (np.concatenate(frame.get_all(op.vectors)),)


@meaning_of(linalg_ext.DotBytesOp)
def dot_bytes(op: linalg_ext.DotBytesOp, frame: Frame) -> Values:
    return (sum_byte_products(ByteProduct.of(op), *frame.get_all(op.operands)),)


@meaning_of(linalg_ext.DotPairsOp)
def dot_pairs(op: linalg_ext.DotPairsOp, frame: Frame) -> Values:
    return (multiply_pairs(frame.get(op.lhs), frame.get(op.rhs)),)


@meaning_of(linalg_ext.SumPairsOp)
def sum_of_pairs(op: linalg_ext.SumPairsOp, frame: Frame) -> Values:
    return (sum_pairs(frame.get(op.source)),)

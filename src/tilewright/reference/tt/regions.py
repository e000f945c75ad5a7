"""Ops with a region of scalars: reductions, scans and maps, with the region run on whole slices at once.

A reduction starts with element 0 of its axis and combines elements 1, 2, ... into it, the accumulator being the first
argument: ``r = x[0]; r = combine(r, x[1]); ...``. A scan does the same and keeps every r (from the last element down
with `reverse`). One thing is not done step by step: a sum of 16-bit floats that is nothing but `arith.addf` is kept in
f32 and rounded once at the end, as all engines of this compiler do.

Ops whose order nobody can tell (extrema, and all on integers) are reduced by halves, to be faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith.meaning import round_floats
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.types import element_type, is_float
from tilewright.reference.arith_ops import RUNNING_TOTALS
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Machine, Values, meaning_of
from tilewright.reference.tt.lanes import runs_in_lanes

Slices = list[Array]

REORDERED = (
    arith.AddiOp,
    arith.MuliOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinSIOp,
    arith.MinUIOp,
    arith.MaximumfOp,
    arith.MaxnumfOp,
    arith.MinimumfOp,
    arith.MinnumfOp,
)
"""Associative and commutative to the last bit."""


def find_single_op(machine: Machine, block: Block) -> type[Operation] | None:
    """The op that a combine function of one operand is, also where it is called; None where it is more."""
    first, last = block.first_op, block.last_op
    if first is None or last is None or first.next_op is not last or len(block.args) != 2:
        return None
    if tuple(last.operands) != tuple(first.results):
        return None
    if isinstance(first, tt.CallOp) and tuple(first.operands) == tuple(block.args):
        callee = machine.functions.get(first.callee.string_value())
        blocks = None if callee is None else callee.regions[0].blocks
        return find_single_op(machine, blocks[0]) if blocks is not None and len(blocks) == 1 else None
    known: set[SSAValue] = set(block.args)
    return type(first) if len(first.operands) == 2 and set(first.operands) == known else None


class ScalarRegion:
    """A region of scalars, ready to be run on slices."""

    def __init__(self, frame: Frame, region: Region, results: Sequence[Attribute]) -> None:
        self.frame = frame
        self.region = region
        self.dtypes = [dtype_of(element) for element in results]
        self.in_lanes = runs_in_lanes(frame.machine, region)

    def __call__(self, arguments: Sequence[Any]) -> Slices:
        """Return what the region gives for each lane of its arguments, which all have one shape."""
        shape = np.shape(arguments[0])
        if not shape:
            return [np.asarray(value, dtype) for value, dtype in zip(self._run(arguments), self.dtypes, strict=True)]
        if self.in_lanes:
            return self._run_lanes(arguments, shape)
        results = [np.empty(shape, dtype) for dtype in self.dtypes]
        for place in np.ndindex(*shape):
            for result, value in zip(results, self._run([a[place] for a in arguments]), strict=True):
                result[place] = value
        return results

    def _run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        return self.frame.run_blocks(self.region, arguments)

    def _run_lanes(self, arguments: Sequence[Any], shape: tuple[int, ...]) -> Slices:
        outer, self.frame.active = self.frame.active, np.ones(shape, np.bool_)
        values = self._run(arguments)
        self.frame.active = outer
        return [
            np.asarray(np.broadcast_to(np.asarray(value, dtype), shape))
            for value, dtype in zip(values, self.dtypes, strict=True)
        ]


def _slices_along(op: tt.ReduceOp | tt.ScanOp, frame: Frame) -> Slices:
    """The operands with the axis in front."""
    axis = op.axis.value.data
    sources = [np.asarray(value) for value in frame.get_all(op.operands)]
    if not 0 <= axis < sources[0].ndim:
        raise reference_error(op, f"there is no axis {axis}")
    return [np.moveaxis(source, axis, 0) for source in sources]


def _combine_of(op: tt.ReduceOp | tt.ScanOp, frame: Frame) -> Callable[[Sequence[Any]], Slices]:
    return ScalarRegion(frame, op.combine_op, [element_type(source.type) for source in op.operands])


@meaning_of(tt.ReduceOp)
def reduce(op: tt.ReduceOp, frame: Frame) -> Values:
    """See the module's docstring."""
    sources, combine = _slices_along(op, frame), _combine_of(op, frame)
    single = find_single_op(frame.machine, op.combine_op.blocks[0])
    element = element_type(op.operands[0].type)
    if single is arith.AddfOp and sources[0].dtype.itemsize >= 2:
        results = [_sum_in_order(sources[0])]
    elif single in REORDERED:
        results = [_reduce_by_halves(sources[0], combine)]
    elif single is arith.MulfOp and sources[0].dtype.kind == "f" and is_float(element):
        results = [np.multiply.accumulate(sources[0], axis=0)[-1]]
    else:
        results = [np.asarray(source[0]) for source in sources]
        for place in range(1, sources[0].shape[0]):
            results = combine([*results, *(np.asarray(source[place]) for source in sources)])
    return [result if np.ndim(result) else np.asarray(result)[()] for result in results]


def _sum_in_order(source: Array) -> Array:
    wide = np.dtype(np.float32) if source.dtype.itemsize == 2 else source.dtype
    return round_floats(np.asarray(np.add.accumulate(source.astype(wide), axis=0)[-1]), source.dtype)


def _reduce_by_halves(source: Array, combine: Callable[[Sequence[Any]], Slices]) -> Array:
    """Extents are powers of two, but a remainder is taken along."""
    while source.shape[0] > 1:
        half = source.shape[0] // 2
        (combined,) = combine([source[:half], source[half : 2 * half]])
        source = np.concatenate([combined, source[2 * half :]]) if source.shape[0] % 2 else combined
    return source[0]


@meaning_of(tt.ScanOp)
def scan(op: tt.ScanOp, frame: Frame) -> Values:
    """See the module's docstring."""
    sources, axis, reverse = _slices_along(op, frame), op.axis.value.data, bool(op.reverse.value.data)
    if reverse:
        sources = [source[::-1] for source in sources]
    totals = _find_running_total(op, frame)
    if totals is not None:
        outs = [totals.accumulate(sources[0], axis=0, dtype=sources[0].dtype)]
    else:
        outs = _scan_in_order(sources, _combine_of(op, frame))
    if reverse:
        outs = [out[::-1] for out in outs]
    return [np.ascontiguousarray(np.moveaxis(out, 0, axis)) for out in outs]


def _find_running_total(op: tt.ScanOp, frame: Frame) -> np.ufunc | None:
    element = element_type(op.operands[0].type)
    storage = dtype_of(element)
    fills_storage = isinstance(element, IntegerType) and element.bitwidth == storage.itemsize * 8
    if storage.kind == "f" or (fills_storage and storage != np.bool_):
        single = find_single_op(frame.machine, op.combine_op.blocks[0])
        return None if single is None else RUNNING_TOTALS.get(single)
    return None


def _scan_in_order(sources: Slices, combine: Callable[[Sequence[Any]], Slices]) -> Slices:
    running = [np.asarray(source[0]) for source in sources]
    kept = [[value] for value in running]
    for place in range(1, sources[0].shape[0]):
        running = combine([*running, *(np.asarray(source[place]) for source in sources)])
        for values, value in zip(kept, running, strict=True):
            values.append(value)
    return [np.stack(values) for values in kept]


@meaning_of(tt.MapElementwiseOp)
def map_elementwise(op: tt.MapElementwiseOp, frame: Frame) -> Values:
    """With `pack` the function takes that many neighbouring elements of each operand, counted in row-major order."""
    pack = op.pack.value.data
    columns = [column for source in op.srcs for column in np.asarray(frame.get(source)).reshape(-1, pack).T]
    kinds = [element_type(result.type) for result in op.results for _ in range(pack)]
    parts = ScalarRegion(frame, op.scalar_op, kinds)(columns)
    return [
        np.stack(parts[index * pack : (index + 1) * pack], axis=-1).reshape(shape_of(result.type))
        for index, result in enumerate(op.results)
    ]

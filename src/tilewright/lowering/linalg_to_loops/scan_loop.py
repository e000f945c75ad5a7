"""Loops that scan along the contiguous axis of a tile, a vector at a time.

The loop that walks an axis element by element (`tilewright.scan`) becomes one over vectors. Lanes are scanned by
log-step shuffles; what came before is combined in last: each vector waits for one combination of the one before.

    %out:2 = scf.for %i = 1 to 4096 iter_args(%out = ..., %acc = %x0) { %acc = addf %acc, %x[%i] ... }
      ->  %x = load %source[0]; %s = scan %x; store %s; %carry = broadcast %s[15]
          scf.for %i = 16 to 4096 step 16 iter_args(%carry) {
            %x = load %source[%i];  %s = addf %carry, scan %x;  store %s;  yield broadcast %s[15] }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.analysis.combination import Combination, combination_of
from tilewright.dialects import arith, linalg, scf, tensor
from tilewright.dialects.attributes import SCAN_AXIS
from tilewright.dialects.types import bit_width, is_tensor
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index
from tilewright.lowering.linalg_to_loops.lane_combinations import combine, scan_lanes, shuffle
from tilewright.lowering.linalg_to_loops.nest_plan import Nest, Operand
from tilewright.lowering.linalg_to_loops.provable import known
from tilewright.lowering.linalg_to_loops.sources import Window
from tilewright.transforms.linalg.structured import shape_or_scalar

if TYPE_CHECKING:
    from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering


@dataclass(frozen=True, slots=True)
class ScanLoop:
    """A scan of `sources`, tensors of one shape, along `axis`."""

    sources: tuple[SSAValue, ...]
    combination: Combination
    shape: tuple[int, ...]
    reverse: bool


def find_scan(op: scf.ForOp) -> ScanLoop | None:
    """The scan along the last axis that a loop is, if it says so and still has the form in which it was written."""
    axis = op.attributes.get(SCAN_AXIS)
    yield_op = op.body.block.last_op
    count = len(op.iter_args) // 2
    if not isinstance(axis, IntegerAttr) or yield_op is None or known(op.lb) != 1 or known(op.step) != 1:
        return None
    if any(result.uses.get_length() for result in op.results[count:]):
        return None
    shapes = {shape_or_scalar(result.type) for result in op.results[:count]}
    readers = [inner for inner in op.body.block.ops if isinstance(inner, tensor.ExtractOp | tensor.ExtractSliceOp)]
    shapes |= {shape_or_scalar(reader.operands[0].type) for reader in readers}
    directions = {_is_mirrored(reader, op.body.block.args[0]) for reader in readers}
    if len(readers) != count or len(shapes) != 1 or directions not in ({True}, {False}):
        return None
    (shape,) = shapes
    combination = _find_combination(op, readers, yield_op)
    if combination is None or axis.value.data != len(shape) - 1 or known(op.ub) != shape[-1]:
        return None
    return ScanLoop(tuple(reader.operands[0] for reader in readers), combination, shape, directions == {True})


def _is_mirrored(reader: Operation, place: SSAValue) -> bool | None:
    """Whether a reader walks the last axis from its end; None where it reads something else."""
    if isinstance(reader, tensor.ExtractOp):
        *others, last = (known(index) for index in reader.indices)
    else:
        assert isinstance(reader, tensor.ExtractSliceOp)
        *others, last = reader.mixed_offsets
    if any(index != 0 for index in others) or isinstance(last, int):
        return None
    if last is place:
        return False
    return True if isinstance(last.owner, arith.SubiOp) and last.owner.operands[1] is place else None


def _find_combination(op: scf.ForOp, readers: Sequence[Operation], yield_op: Operation) -> Combination | None:
    """The combine function, on scalars in the loop itself or on slices in a generic."""
    count = len(readers)
    running, current = list(op.body.block.args[1 + count :]), [reader.results[0] for reader in readers]
    tiles, results = yield_op.operands[:count], list(yield_op.operands[count:])
    for carried, tile, result in zip(op.body.block.args[1:], tiles, results, strict=False):
        writer = tile.owner
        if not isinstance(writer, tensor.InsertOp | tensor.InsertSliceOp) or list(writer.operands[:2]) != [
            result,
            carried,
        ]:
            return None
    moves = (tensor.InsertOp, tensor.InsertSliceOp, tensor.EmptyOp, scf.YieldOp)
    ops = [inner for inner in op.body.block.ops if inner not in readers and not isinstance(inner, moves)]
    ops = [inner for inner in ops if not isinstance(inner.results[0].type, IndexType)]
    if not is_tensor(running[0].type):
        return combination_of(ops, running, current, results)
    if len(ops) != 1 or not isinstance(ops[0], linalg.GenericOp) or list(ops[0].results) != results:
        return None
    if list(ops[0].inputs) != [*running, *current] or any(kind != "parallel" for kind in ops[0].iterators):
        return None
    *inner_ops, inner_yield = ops[0].body.block.ops
    args = ops[0].body.block.args
    return combination_of(inner_ops, args[:count], args[count : 2 * count], inner_yield.operands)


def emit_scan(lowering: FunctionLowering, scan: ScanLoop, windows: Sequence[Window], bounds: Sequence[Index]) -> None:
    """Write the scanned tiles to `windows`, at least up to `bounds`."""
    writer = _ScanWriter(lowering, scan, windows)
    emitter = lowering.emitter
    frames = [Frame(Cursor(emitter.cursor.block, emitter.cursor.anchor))]
    loops: list[Cursor] = []
    for dim, bound in enumerate(bounds[:-1]):
        with emitter.at(frames[-1].cursor):
            loop, body = emitter.for_loop(0, bound, 1)
        frames[-1].cursor.anchor = loop  # what is made there later is for the loop, too
        loops.append(Cursor(body))
        frames.append(Frame(Cursor(body), dim, body.args[0]))
    with emitter.at(frames[-1].cursor):
        writer.write_row(frames, scan.shape[-1] if scan.reverse else bounds[-1])
    for cursor in loops:
        with emitter.at(cursor):
            emitter.yield_()


class _ScanWriter:
    def __init__(self, lowering: FunctionLowering, scan: ScanLoop, windows: Sequence[Window]) -> None:
        self.emitter, self.scan, self.windows = lowering.emitter, scan, windows
        rank, extent = len(scan.shape), scan.shape[-1]
        values = [*scan.combination.left, *(result for inner in scan.combination.ops for result in inner.results)]
        widest = max(8, *(bit_width(value.type) for value in values))
        self.lanes = min(max(1, lowering.vector_bits // widest), 1 << (extent.bit_length() - 1))
        self.access = tuple(AffineDimExpr(dim) for dim in range(rank))
        self.operands = [Operand(lowering.source(source), self.access) for source in scan.sources]
        self.nest = Nest(Block(), [], [], (False,) * rank, scan.shape, list(scan.shape))
        self.nest.order, self.nest.vector_dim, self.nest.lanes = list(range(rank)), rank - 1, self.lanes
        self.nest.has_tiles = True

    def write_row(self, frames: list[Frame], bound: Index) -> None:
        """One row: the first vector starts, a loop over the others carries what was combined so far."""
        extent, lanes = self.scan.shape[-1], self.lanes
        carried = self._step(frames, frames[-1].cursor, extent - lanes if self.scan.reverse else 0, None)
        if extent == lanes:
            return
        loop, body = self.emitter.for_loop(lanes, bound, lanes, carried)
        frames[-1].cursor.anchor = loop
        with self.emitter.at(Cursor(body)):
            place: Index = body.args[0]
            if self.scan.reverse:
                place = self.emitter.sub(extent - lanes, place)
            self.emitter.yield_(self._step(frames, self.emitter.cursor, place, list(body.args[1:])))

    def _step(
        self, frames: list[Frame], cursor: Cursor, place: Index, carried: list[SSAValue] | None
    ) -> list[SSAValue]:
        """Scan one vector and store it; its last combined element in all lanes."""
        values = BodyValues(self.emitter, self.nest, [*frames, Frame(cursor, self.nest.vector_dim, place)])
        read = [values.spread(values.read(operand), operand.dims()) for operand in self.operands]
        scanned = scan_lanes(self.emitter, self.scan.combination, read, reverse=self.scan.reverse)
        if carried is not None:
            scanned = combine(self.emitter, self.scan.combination, carried, scanned)
        for window, value in zip(self.windows, scanned, strict=True):
            values.write(window, self.access, value)
        last = 0 if self.scan.reverse else self.lanes - 1
        return [shuffle(self.emitter, value, [last] * self.lanes) for value in scanned]

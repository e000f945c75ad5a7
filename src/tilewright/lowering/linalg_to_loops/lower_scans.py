"""Scans along the contiguous axis of tiles, a vector at a time.

Lanes are scanned by log-step shuffles; what came before is combined in last: each vector waits for one combination of
the one before.

    %out = linalg_ext.scan dimension(0) ins(%source) outs(%e) { addf }
      ->  %x = load %source[0]; %s = scan %x; store %s; %carry = broadcast %s[15]
          scf.for %i = 16 to 4096 step 16 iter_args(%carry) {
            %x = load %source[%i];  %s = scan %x;  store (addf %carry, %s);  yield addf %carry, broadcast %s[15] }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.analysis.combination import Combination, combination_of_scan
from tilewright.dialects import linalg_ext
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lane_combinations import combine, scan_lanes
from tilewright.lowering.linalg_to_loops.nest import Nest, Operand, Schedule
from tilewright.lowering.linalg_to_loops.operand_access import read_operand, write_output
from tilewright.lowering.linalg_to_loops.region_tiles import carried_buffer
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import is_same


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan of `sources`, tensors of one shape, along their last axis."""

    sources: tuple[SSAValue, ...]
    combination: Combination
    shape: tuple[int, ...]
    reverse: bool


@lowers(linalg_ext.ScanOp)
def lower_scan(op: linalg_ext.ScanOp, lowering: FunctionLowering) -> None:
    """See the module's docstring."""
    combination, shape = combination_of_scan(op), tensor_shape(op.inputs[0])
    if combination is None or op.dimension.value.data != len(shape) - 1:
        lowering.fail(op, "a scan along another axis than the last, or of what has no form on lanes")
        return
    views: list[StridedView] = []
    bounds: list[tuple[Index, ...]] = []
    access = tuple(AffineDimExpr(dim) for dim in range(len(shape)))
    for init, result in zip(op.outputs, op.results, strict=True):
        views.append(carried_buffer(lowering, op, init, result, views, is_filled=False))
        bounds.append(lowering.loop_bounds(result, access, shape))
    common = tuple(
        ends[0] if all(is_same(ends[0], end) for end in ends) else extent
        for extent, *ends in zip(shape, *bounds, strict=True)
    )
    scan = Scan(tuple(op.inputs), combination, shape, op.reverse is not None)
    emit_scan(lowering, scan, views, common if all(view.owned for view in views) else shape)
    for view, result in zip(views, op.results, strict=True):
        lowering.storage.put(result, view)
    lowering.values.dead.append(op)


def emit_scan(lowering: FunctionLowering, scan: Scan, views: Sequence[StridedView], bounds: Sequence[Index]) -> None:
    """Write the scanned tiles to `views`, at least up to `bounds`."""
    writer = _ScanWriter(lowering, scan, views)
    emitter = lowering.emitter
    frames = [Frame(Cursor(emitter.cursor.block, emitter.cursor.anchor))]
    loops: list[Cursor] = []
    for dim, bound in enumerate(bounds[:-1]):
        with emitter.at(frames[-1].cursor):
            loop, body = emitter.open_for(0, bound, 1)
        frames[-1].cursor.anchor = loop  # what is made there later is for the loop, too
        loops.append(Cursor(body))
        frames.append(Frame(Cursor(body), dim, body.args[0]))
    with emitter.at(frames[-1].cursor):
        writer.write_row(frames, scan.shape[-1] if scan.reverse else bounds[-1])
    for cursor in loops:
        with emitter.at(cursor):
            emitter.yield_()


class _ScanWriter:
    def __init__(self, lowering: FunctionLowering, scan: Scan, views: Sequence[StridedView]) -> None:
        self.emitter, self.scan, self.views = lowering.emitter, scan, views
        rank, extent = len(scan.shape), scan.shape[-1]
        values = [*scan.combination.left, *(result for inner in scan.combination.ops for result in inner.results)]
        widest = max(8, *(bit_width(value.type) for value in values))
        self.lanes = min(max(1, lowering.facts.vector_bits // widest), 1 << (extent.bit_length() - 1))
        self.access = tuple(AffineDimExpr(dim) for dim in range(rank))
        self.operands = [Operand(lowering.source(source), self.access) for source in scan.sources]
        self.nest = Nest(
            lowering, Block(), (), (), (False,) * rank, scan.shape, bounds=scan.shape, has_tiles=True,
            schedule=Schedule(tuple(range(rank)), rank - 1, self.lanes),
        )  # fmt: skip

    def write_row(self, frames: list[Frame], bound: Index) -> None:
        """One row: the first vector starts, a loop over the others carries what was combined so far."""
        extent, lanes = self.scan.shape[-1], self.lanes
        carried = self._step(frames, frames[-1].cursor, extent - lanes if self.scan.reverse else 0, None)
        if extent == lanes:
            return
        loop, body = self.emitter.open_for(lanes, bound, lanes, carried)
        frames[-1].cursor.anchor = loop
        with self.emitter.at(body):
            first: Index = body.args[0]
            if self.scan.reverse:
                first = self.emitter.sub(extent - lanes, first)
            self.emitter.yield_(self._step(frames, self.emitter.cursor, first, list(body.args[1:])))

    def _step(
        self, frames: list[Frame], cursor: Cursor, first: Index, carried: list[SSAValue] | None
    ) -> list[SSAValue]:
        """Scan one vector and store it; its last combined element in all lanes."""
        values = BodyValues(self.emitter, self.nest, [*frames, Frame(cursor, self.nest.schedule.vector_dim, first)])
        read = [values.spread(read_operand(values, operand), operand.dims()) for operand in self.operands]
        scanned = scan_lanes(self.emitter, self.scan.combination, read, reverse=self.scan.reverse)
        last = 0 if self.scan.reverse else self.lanes - 1
        total = [self.emitter.pick(value, [last] * self.lanes) for value in scanned]
        if carried is not None:
            scanned = combine(self.emitter, self.scan.combination, carried, scanned)
            total = combine(self.emitter, self.scan.combination, carried, total)
        for view, value in zip(self.views, scanned, strict=True):
            write_output(values, view, self.access, value)
        return total

"""Copies whose two sides are contiguous in different dimensions: square blocks, transposed in registers.

dest[i, j] = source[i, j]      source contiguous in i, dest contiguous in j
  ->  for 16 x 16 blocks: 16 vectors loaded along i, 4 rounds of 16 shuffles, 16 vectors stored along j
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, exchange_orders
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, StridedView
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most, is_same


def find_block(source: Source, dest: StridedView, vector_bits: int) -> int | None:
    """The side of the blocks for a copy of this kind; None where vectors along the destination do as well."""
    view = source.inner if isinstance(source, PaddedView) else source
    if not isinstance(view, StridedView) or len(dest.shape) != 2 or dest.stored_as_byte or view.stored_as_byte:
        return None
    if constant_of(dest.strides[1]) != 1 or constant_of(view.strides[0]) != 1 or constant_of(view.strides[1]) == 1:
        return None
    side = min(16, vector_bits // bit_width(dest.element))
    if isinstance(source, PaddedView) and any(low != 0 for low in source.low):
        return None
    return side if side > 1 and all(extent % side == 0 for extent in dest.shape) else None


def emit_transposing_copy(
    emitter: LoopEmitter, source: Source, dest: StridedView, side: int, bounds: Sequence[Index]
) -> None:
    """Copy the elements up to `bounds`; `find_block` said that the blocks fit.

    Where a bound does not end a block, the last one ends there and begins inside of the one before, which stores some
    elements twice: masks are for what is smaller than a block.
    """
    copy = _Copy(emitter, source, dest, side, tuple(bounds))
    if all(isinstance(bound, int) and bound % side == 0 for bound in bounds):
        copy.emit(are_moved=False)
        return
    rows, columns = (emitter.compare("sge", bound, side) for bound in bounds)
    emitter.choose(emitter.both(rows, columns), lambda: copy.emit(are_moved=True), lambda: copy.emit(are_moved=False))


@dataclass(frozen=True, slots=True)
class _Copy:
    emitter: LoopEmitter
    source: Source
    dest: StridedView
    side: int
    bounds: tuple[Index, ...]

    def emit(self, *, are_moved: bool) -> None:
        """Emit the loops over blocks, of which those that a bound cuts off are moved so that they end there."""
        emitter, side, bounds = self.emitter, self.side, self.bounds
        high = bounds if isinstance(self.source, StridedView) else _inside_of(emitter, self.source, bounds)
        _, outer = emitter.open_for(0, bounds[1], side)
        with emitter.at(outer):
            column = self._start(outer.args[0], 1, are_moved=are_moved)
            _, inner = emitter.open_for(0, bounds[0], side)
            with emitter.at(inner):
                row = self._start(inner.args[0], 0, are_moved=are_moved)
                loaded = [self._load(row, emitter.add(column, n), high, are_whole=are_moved) for n in range(side)]
                for index, lanes in enumerate(transpose_lanes(emitter, loaded)):
                    self._store(lanes, emitter.add(row, index), column, are_whole=are_moved)
                emitter.yield_()
            emitter.yield_()

    def _start(self, place: SSAValue, dim: int, *, are_moved: bool) -> Index:
        bound = self.bounds[dim]
        if not are_moved or (isinstance(bound, int) and bound % self.side == 0):
            return place
        return self.emitter.min(place, self.emitter.sub(bound, self.side))

    def _load(self, row: Index, column: Index, high: Sequence[Index], *, are_whole: bool) -> SSAValue:
        """`side` elements along the rows, starting at (row, column)."""
        view = self.source.inner if isinstance(self.source, PaddedView) else self.source
        assert isinstance(view, StridedView)
        place = _place(self.emitter, view, row, column)
        mask = self._mask((row, column), high, are_whole=are_whole)
        if mask is None:
            return self.emitter.vector_load(view.flat, place, self.side)
        fill = self.source.fill if isinstance(self.source, PaddedView) else self.emitter.zero(view.element)
        return self.emitter.masked_load(view.flat, place, mask, self.emitter.broadcast(fill, self.side))

    def _store(self, lanes: SSAValue, row: Index, column: Index, *, are_whole: bool) -> None:
        place = _place(self.emitter, self.dest, row, column)
        mask = self._mask((column, row), self.bounds[::-1], are_whole=are_whole, bounds=self.bounds[::-1])
        if mask is None:
            self.emitter.vector_store(lanes, self.dest.flat, place)
        else:
            self.emitter.masked_store(lanes, self.dest.flat, place, mask)

    def _mask(
        self,
        place: tuple[Index, Index],
        high: Sequence[Index],
        *,
        are_whole: bool,
        bounds: Sequence[Index] | None = None,
    ) -> SSAValue | None:
        """Lanes along the first dimension, from `place` on, that are below `high` in both; None: all of them.

        Every block is whole along a dimension that is copied up to `bounds`, where these are a constant that the side
        divides or all blocks are whole, and does not end before."""
        along, across = (
            is_same(end, bound) and (are_whole or (isinstance(bound, int) and bound % self.side == 0))
            for end, bound in zip(high, bounds or self.bounds, strict=True)
        )
        if along and across:
            return None
        emitter = self.emitter
        inside = across or emitter.compare("slt", place[1], high[1])
        return emitter.create_mask(emitter.select_index(inside, emitter.sub(high[0], place[0]), 0), self.side)


def _place(emitter: LoopEmitter, view: StridedView, row: Index, column: Index) -> Index:
    place = emitter.add(view.offset, emitter.mul(row, view.strides[0]))
    return emitter.add(place, emitter.mul(column, view.strides[1]))


def _inside_of(emitter: LoopEmitter, source: Source, bounds: Sequence[Index]) -> list[Index]:
    """Return where the elements of a padded view that are in memory end."""
    assert isinstance(source, PaddedView)
    return [
        bound if is_at_most(bound, high) else high if is_at_most(high, bound) else emitter.min(bound, high)
        for bound, high in zip(bounds, source.high, strict=True)
    ]


def transpose_lanes(emitter: LoopEmitter, rows: list[SSAValue]) -> list[SSAValue]:
    """A square of lanes, transposed by exchanging halves of halves: log2(side) rounds."""
    side = len(rows)
    distance = side // 2
    while distance:
        orders = exchange_orders(side, distance)
        for index in range(side):
            if index & distance:
                continue
            first, second = rows[index], rows[index + distance]
            rows[index], rows[index + distance] = (emitter.shuffle(first, second, order) for order in orders)
        distance //= 2
    return rows

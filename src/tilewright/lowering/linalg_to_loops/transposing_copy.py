"""Copies whose two sides are contiguous in different dimensions: square blocks, transposed in registers.

dest[i, j] = source[i, j]      source contiguous in i, dest contiguous in j
  ->  for 16 x 16 blocks: 16 vectors loaded along i, 4 rounds of 16 shuffles, 16 vectors stored along j
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, exchange_orders
from tilewright.lowering.linalg_to_loops.sources import Box, Source, Window
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most


def find_block(source: Source, dest: Window, vector_bits: int) -> int | None:
    """The side of the blocks for a copy of this kind; None where vectors along the destination do as well."""
    window = source.inner if isinstance(source, Box) else source
    if not isinstance(window, Window) or len(dest.shape) != 2 or dest.stored_as_byte or window.stored_as_byte:
        return None
    if constant_of(dest.strides[1]) != 1 or constant_of(window.strides[0]) != 1 or constant_of(window.strides[1]) == 1:
        return None
    side = min(16, vector_bits // bit_width(dest.element))
    if isinstance(source, Box) and any(low != 0 for low in source.low):
        return None
    return side if side > 1 and all(extent % side == 0 for extent in dest.shape) else None


def emit_transposing_copy(
    emitter: LoopEmitter, source: Source, dest: Window, side: int, bounds: Sequence[Index]
) -> None:
    """Copy the elements up to `bounds`; `find_block` said that the blocks fit."""
    _, outer = emitter.open_for(0, bounds[1], side)
    with emitter.at(outer):
        _, inner = emitter.open_for(0, bounds[0], side)
        with emitter.at(inner):
            _copy_block(emitter, source, dest, side, bounds, (inner.args[0], outer.args[0]))
            emitter.yield_()
        emitter.yield_()


def _copy_block(
    emitter: LoopEmitter,
    source: Source,
    dest: Window,
    side: int,
    bounds: Sequence[Index],
    corner: tuple[SSAValue, SSAValue],
) -> None:
    row, column = corner
    loaded = [_load(emitter, source, row, emitter.add(column, number), side, bounds) for number in range(side)]
    for number, lanes in enumerate(transpose_lanes(emitter, loaded)):
        here = emitter.add(row, number)
        place = _place(emitter, dest, here, column)
        mask = _mask(emitter, (column, here), (bounds[1], bounds[0]), (bounds[1], bounds[0]), side)
        if mask is None:
            emitter.vector_store(lanes, dest.flat, place)
        else:
            emitter.masked_store(lanes, dest.flat, place, mask)


def _place(emitter: LoopEmitter, window: Window, row: Index, column: Index) -> Index:
    place = emitter.add(window.offset, emitter.mul(row, window.strides[0]))
    return emitter.add(place, emitter.mul(column, window.strides[1]))


def _mask(
    emitter: LoopEmitter,
    place: tuple[Index, Index],
    high: tuple[Index, Index],
    bounds: Sequence[Index],
    side: int,
) -> SSAValue | None:
    """Lanes along the first dimension, from `place` on, that are below `high` in both; None: all of them.

    Every block is whole along a dimension that is copied up to `bounds`, a constant that the side divides, and does
    not end before."""
    along, across = (
        end == bound and isinstance(end, int) and end % side == 0 for end, bound in zip(high, bounds, strict=True)
    )
    if along and across:
        return None
    inside = across or emitter.compare("slt", place[1], high[1])
    return emitter.create_mask(emitter.select_index(inside, emitter.sub(high[0], place[0]), 0), side)


def _load(
    emitter: LoopEmitter, source: Source, row: Index, column: Index, side: int, bounds: Sequence[Index]
) -> SSAValue:
    """`side` elements along the rows, starting at (row, column)."""
    high = bounds if isinstance(source, Window) else _inside_of(emitter, source, bounds)
    window = source.inner if isinstance(source, Box) else source
    assert isinstance(window, Window)
    place = _place(emitter, window, row, column)
    mask = _mask(emitter, (row, column), (high[0], high[1]), bounds, side)
    if mask is None:
        return emitter.vector_load(window.flat, place, side)
    fill = source.fill if isinstance(source, Box) else emitter.zero(window.element)
    return emitter.masked_load(window.flat, place, mask, emitter.broadcast(fill, side))


def _inside_of(emitter: LoopEmitter, source: Source, bounds: Sequence[Index]) -> list[Index]:
    """Return where elements of a box end that lie in memory."""
    assert isinstance(source, Box)
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
        for number in range(side):
            if number & distance:
                continue
            first, second = rows[number], rows[number + distance]
            rows[number], rows[number + distance] = (emitter.shuffle(first, second, order) for order in orders)
        distance //= 2
    return rows

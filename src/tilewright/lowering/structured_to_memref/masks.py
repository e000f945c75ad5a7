"""Lane masks on a structured tile: a box, and a tensor of i1 that broadcasts to the tile."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, i1
from xdsl.ir import SSAValue

from tilewright.dialects import arith
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.structured_to_memref.boxes import Box, lane_address
from tilewright.lowering.structured_to_memref.tiles import Tile
from tilewright.lowering.tensor_builder import TensorBuilder, projection_map, shape_of


def mask_map(mask: SSAValue, sizes: Sequence[int]) -> AffineMapAttr:
    """The indexing map of a mask whose dimensions of extent 1 are repeated along the tile."""
    extents = shape_of(mask)
    rank = len(sizes)
    return projection_map(rank, tuple(None if extents[d] == 1 and sizes[d] != 1 else d for d in range(rank)))


def is_partial(b: TensorBuilder, box: Box, sizes: Sequence[int]) -> SSAValue | bool:
    """Return whether some lane of the tile is outside of the box: known, or a test (the "or" over dimensions of count <
    size)."""
    verdict: SSAValue | None = None
    for count, size in zip(box.counts, sizes, strict=True):
        if isinstance(count, int):
            if count < size:
                return True
            continue
        test = b.cmpi("slt", count, b.index(size))
        verdict = test if verdict is None else b.emit(arith.OrIOp, verdict, test)
    return False if verdict is None else verdict


def box_ends(b: TensorBuilder, box: Box) -> tuple[Index, ...]:
    """One past the last live index of each dimension; computed before the op whose body calls `live_lane`."""
    return tuple(b.add(start, count) for start, count in zip(box.starts, box.counts, strict=True))


def live_lane(
    b: TensorBuilder,
    tile: Tile,
    box: Box,
    ends: Sequence[Index],
    indices: Sequence[SSAValue],
    mask_lane: SSAValue | None,
) -> SSAValue | None:
    """Inside the body of a structured op: whether the lane may be accessed; None where every lane may."""
    tests: list[SSAValue] = [] if mask_lane is None else [mask_lane]
    for index, start, end, size in zip(indices, box.starts, ends, tile.sizes, strict=True):
        if not (isinstance(start, int) and start == 0):
            tests.append(b.cmpi("sge", index, b.ssa(start)))
        if not (isinstance(end, int) and end == size):
            tests.append(b.cmpi("slt", index, b.ssa(end)))
    if tile.row_mask is not None and tile.gather_dim is not None:
        tests.append(b.extract(tile.row_mask, [indices[tile.gather_dim]]))
    verdict: SSAValue | None = None
    for test in tests:
        verdict = test if verdict is None else b.emit(arith.AndIOp, verdict, test)
    assert verdict is None or verdict.type == i1
    return verdict


def lane_offset(b: TensorBuilder, tile: Tile, indices: Sequence[SSAValue]) -> Index:
    """Inside the body of a structured op: the element offset of the lane from the base."""
    total: Index = 0
    for dim, index in enumerate(indices):
        total = b.add(total, lane_address(b, tile, dim, index))
    return total

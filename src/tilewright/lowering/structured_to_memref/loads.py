"""Loads of structured tiles: a local buffer, filled where some lanes are dead, and a copy of the live part.

```mlir
%v = "tts.load"(%p, %n, %other) <{...}> : (tensor<64x!tt.ptr<f32>>, index, f32) -> tensor<64xf32>
// becomes
%buf = memref.alloc() : memref<64xf32>
%part = arith.cmpi slt, %n, %c64 : index
scf.if %part { linalg.fill ins(%other : f32) outs(%buf : memref<64xf32>) }
%src = memref.subview %p[0] [%n] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
%dst = memref.subview %buf[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
memref.copy %src, %dst
%v = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
```
Dead lanes are `other`, and zero without it. With a lane mask each lane decides for itself, in the body of a
`linalg.generic`:

```mlir
%v = linalg.generic ins(%mask : tensor<64xi1>) outs(%e : tensor<64xf32>) {
^bb0(%live: i1, %out: f32):
  %r = scf.if %live -> f32 { reinterpret_cast of one element, memref.load, yield } else { yield %other }
  linalg.yield %r : f32
}
```
So it does where the load is volatile: each element is read once, where the load stands, and others may change it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import SSAValue

from tilewright.dialects import tts
from tilewright.dialects.tts.masked import MaskedLoadOp
from tilewright.dialects.types import is_tensor
from tilewright.lowering.memory_builder import MemoryBuilder
from tilewright.lowering.structured_to_memref.boxes import Box, for_each_part, without_static_wraps
from tilewright.lowering.structured_to_memref.masks import (
    box_ends,
    is_partial,
    lane_offset,
    live_lane,
    mask_map,
)
from tilewright.lowering.structured_to_memref.runs import find_run
from tilewright.lowering.structured_to_memref.tiles import LOWERINGS, Tile, tile_of
from tilewright.lowering.tensor_builder import element_of, identity_map, tensor_of
from tilewright.transforms.linalg.index_proofs import fold_index

VOLATILE = "isVolatile"


@LOWERINGS.lowers(tts.LoadOp)
def lower_load(op: tts.LoadOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """A load whose mask, if any, is a box at the origin."""
    tile = tile_of(op.ptr)
    counts = tuple(map(fold_index, op.mixed_mask_dims))
    return (_emit(op, memory, tile, origin_box(tile, counts), None),)


@LOWERINGS.lowers(MaskedLoadOp)
def lower_masked_load(op: MaskedLoadOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """A load with a box anywhere, and a lane mask."""
    tile = tile_of(op.ptr)
    box = Box(_folded(op.mixed_mask_starts()), _folded(op.mixed_mask_dims()))
    return (_emit(op, memory, tile, box, op.mask),)


def _emit(
    op: tts.LoadOp | MaskedLoadOp, memory: MemoryBuilder, tile: Tile, box: Box, mask: SSAValue | None
) -> SSAValue:
    if VOLATILE in op.attributes:
        return _load_by_lane(memory, tile, box, mask, op.other, is_volatile=True)
    return emit_load(memory, tile, box, mask, op.other)


def lower_load_in_lanes(op: tts.LoadOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """As `lower_load`, but each lane of rows that wrap or are gathered reads its own address."""
    tile = without_static_wraps(tile_of(op.ptr))
    box = origin_box(tile, tuple(map(fold_index, op.mixed_mask_dims)))
    if VOLATILE in op.attributes or not (tile.is_irregular_row or _has_whole_gathered_rows(tile, box)):
        return lower_load(op, memory)
    return (_load_by_lane(memory, tile, box, None, op.other),)


def _has_whole_gathered_rows(tile: Tile, box: Box) -> bool:
    """Return whether all lanes of a tile are read, row by row from anywhere."""
    return tile.has_gathered_rows and box.is_whole(tile.sizes) and (tile.rows is None or find_run(tile.rows) is None)


def origin_box(tile: Tile, counts: Sequence[int | SSAValue]) -> Box:
    """The box of a prefix mask. The entry of a gathered dimension with a row mask says nothing: the row mask
    decides."""
    if not counts:
        return Box.whole(tile.sizes)
    kept = [
        size if tile.row_mask is not None and dim == tile.gather_dim else count
        for dim, (count, size) in enumerate(zip(counts, tile.sizes, strict=True))
    ]
    return Box((0,) * tile.rank, tuple(kept))


def _folded(entries: Sequence[int | SSAValue]) -> tuple[int | SSAValue, ...]:
    return tuple(map(fold_index, entries))


def emit_load(memory: MemoryBuilder, tile: Tile, box: Box, mask: SSAValue | None, other: SSAValue | None) -> SSAValue:
    """The live lanes of a tile; `other` is a scalar, a tensor, or nothing for zero."""
    b = memory.ops
    if mask is not None or (tile.rank == 1 and tile.gather_dim is not None):
        return _load_by_lane(memory, tile, box, mask, other)
    stored = element_of(memory.resolve(tile.pointer)[0])
    buffer = memory.alloc(stored, tile.sizes)
    _fill_dead_lanes(memory, tile, box, buffer, other)

    def part(view: SSAValue, lanes: Box) -> None:
        memory.copy(view, memory.subview(buffer, lanes.starts, lanes.counts))

    for_each_part(memory, tile, box, part)
    return b.as_type(memory.contents(buffer), tile.element)


def _fill_dead_lanes(memory: MemoryBuilder, tile: Tile, box: Box, buffer: SSAValue, other: SSAValue | None) -> None:
    """Put `other` into the buffer where some lane may stay unwritten."""
    b = memory.ops
    partial = True if tile.row_mask is not None else is_partial(b, box, tile.sizes)
    if partial is False:
        return

    stored = element_of(buffer)
    default = b.zero(stored) if other is None else b.as_type(other, stored)

    def fill() -> Sequence[SSAValue]:
        if is_tensor(default.type):
            memory.write(default, buffer)
        else:
            memory.fill_buffer(default, buffer)
        return ()

    if partial is True:
        fill()
    else:
        b.if_else(partial, (), fill)


def _load_by_lane(
    memory: MemoryBuilder,
    tile: Tile,
    box: Box,
    mask: SSAValue | None,
    other: SSAValue | None,
    *,
    is_volatile: bool = False,
) -> SSAValue:
    """Every lane tests its mask and reads its own address."""
    b = memory.ops
    (base, start), ends = memory.resolve(tile.pointer), box_ends(b, box)
    default = b.zero(tile.element) if other is None else other
    kind = tensor_of(tile.element, *tile.sizes)
    inputs: list[SSAValue] = []
    maps: list[AffineMapAttr] = []
    if mask is not None:
        inputs.append(mask)
        maps.append(mask_map(mask, tile.sizes))
    if is_tensor(default.type):
        inputs.append(default)
        maps.append(identity_map(tile.rank))

    def body(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
        indices = [b.lane_index(dim) for dim in range(tile.rank)]
        live = live_lane(b, tile, box, ends, indices, lanes[0] if mask is not None else None)
        dead_value = lanes[len(inputs) - 1] if is_tensor(default.type) else default
        # A division would keep a branch from becoming a predicate; that of a wrap does not trap for any lane.
        wrapped = b.add(start, lane_offset(b, tile, indices)) if tile.wrapped_dims else None

        def read() -> Sequence[SSAValue]:
            offset = b.add(start, lane_offset(b, tile, indices)) if wrapped is None else wrapped
            value = memory.load_element(base, offset, is_volatile=is_volatile)
            return (b.as_type(value, tile.element),)

        return read() if live is None else b.if_else(live, [tile.element], read, lambda: (dead_value,)).results

    (result,) = b.generic(
        inputs,
        (b.empty(kind),),
        body,
        maps=ArrayAttr([*maps, identity_map(tile.rank)]),
        iterators=("parallel",) * tile.rank,
    )
    return result

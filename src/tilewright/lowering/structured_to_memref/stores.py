"""Stores of structured tiles: the live part of the tensor goes into a view of memory.

```mlir
"tts.store"(%p, %v, %n) <{...}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
// becomes
%part = tensor.extract_slice %v[0] [%n] [1] : tensor<64xf32> to tensor<?xf32>
%dst = memref.subview %p[0] [%n] [1] : memref<64xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
bufferization.materialize_in_destination %part in writable %dst
    : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from tilewright.dialects import tts
from tilewright.dialects.tts.masked import MaskedStoreOp
from tilewright.lowering.memory_builder import MemoryBuilder
from tilewright.lowering.structured_to_memref.boxes import Box, for_each_part
from tilewright.lowering.structured_to_memref.loads import origin_box
from tilewright.lowering.structured_to_memref.masks import box_ends, lane_offset, live_lane, mask_map
from tilewright.lowering.structured_to_memref.tiles import LOWERINGS, Tile, tile_of
from tilewright.lowering.tensor_builder import element_of, identity_map
from tilewright.transforms.linalg.index_proofs import fold_index


@LOWERINGS.lowers(tts.StoreOp)
def lower_store(op: tts.StoreOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """A store whose mask, if any, is a box at the origin."""
    tile = tile_of(op.ptr)
    counts = tuple(map(fold_index, op.mixed_mask_dims))
    emit_store(memory, tile, op.value, origin_box(tile, counts), None)
    return ()


@LOWERINGS.lowers(MaskedStoreOp)
def lower_masked_store(op: MaskedStoreOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """A store with a box anywhere, and a lane mask."""
    tile = tile_of(op.ptr)
    starts, counts = (tuple(map(fold_index, entries)) for entries in (op.mixed_mask_starts(), op.mixed_mask_dims()))
    emit_store(memory, tile, op.value, Box(starts, counts), op.mask)
    return ()


def emit_store(memory: MemoryBuilder, tile: Tile, value: SSAValue, box: Box, mask: SSAValue | None) -> None:
    """Write the live lanes of a tensor."""
    b = memory.ops
    if mask is not None or (tile.rank == 1 and tile.gather_dim is not None):
        _store_by_lane(memory, tile, value, box, mask)
        return

    value = b.as_type(value, element_of(memory.resolve(tile.pointer)[0]))

    def part(view: SSAValue, lanes: Box) -> None:
        piece = value if lanes.is_whole(tile.sizes) else b.extract_slice(value, lanes.starts, lanes.counts)
        memory.write(piece, view)

    for_each_part(memory, tile, box, part)


def _store_by_lane(memory: MemoryBuilder, tile: Tile, value: SSAValue, box: Box, mask: SSAValue | None) -> None:
    """Every lane tests its mask and writes its own address: a `linalg.generic` without results."""
    b = memory.ops
    (base, start), ends = memory.resolve(tile.pointer), box_ends(b, box)
    inputs, maps = [value], [identity_map(tile.rank)]
    if mask is not None:
        inputs.append(mask)
        maps.append(mask_map(mask, tile.sizes))

    def body(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
        indices = [b.lane_index(dim) for dim in range(tile.rank)]
        live = live_lane(b, tile, box, ends, indices, lanes[1] if mask is not None else None)

        def write() -> Sequence[SSAValue]:
            memory.store_element(lanes[0], base, b.add(start, lane_offset(b, tile, indices)))
            return ()

        if live is None:
            write()
        else:
            b.if_else(live, (), write)
        return ()

    b.generic(inputs, (), body, maps=ArrayAttr(maps), iterators=("parallel",) * tile.rank)

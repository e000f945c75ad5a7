"""Walking the live box of a tile in plain strided parts.

A part is a strided view of memory that covers lanes ``[start_d, start_d + count_d)`` of each dimension. A regular tile
is one part. Along a wrapped or gathered dimension every lane is a part of its own (extent 1), so the address of each
is computed from the definition and holds for any offset, stride, bound and extent:

```mlir
scf.for %i = %lo to %hi step %c1 {
  %a = (offset + %i * stride) remsi bound             // or rows[%i] * stride
  %row = memref.reinterpret_cast %base to offset: [%a + ...], sizes: [1, 64], strides: [%s0, %s1]
  ...
}
```
A tile that wraps is one part after all where none of its lanes does; that is decided when it is known at compile time,
else tested when the program runs, with the loop in the other branch. So is one with gathered rows that follow one
another up to a bound (`runs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects import arith
from tilewright.dialects.construction import int_attr
from tilewright.ir.builder import Cursor
from tilewright.lowering.memory_builder import MemoryBuilder
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.structured_to_memref.runs import find_run
from tilewright.lowering.structured_to_memref.tiles import Tile
from tilewright.lowering.tensor_builder import TensorBuilder
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.choose_views import UNIT_STRIDE_GUARD


@dataclass(frozen=True)
class Box:
    """Lanes ``[starts_d, starts_d + counts_d)``."""

    starts: tuple[Index, ...]
    counts: tuple[Index, ...]

    @classmethod
    def whole(cls, sizes: Sequence[int]) -> Box:
        """All lanes."""
        return cls((0,) * len(sizes), tuple(sizes))

    def is_whole(self, sizes: Sequence[int]) -> bool:
        """Return whether it is known that all lanes are in the box."""
        return all(isinstance(count, int) and count == size for count, size in zip(self.counts, sizes, strict=True))

    def is_empty(self, sizes: Sequence[int]) -> bool:
        """Return whether it is known that no lane is in the box."""
        begins_past_end = any(
            isinstance(start, int) and start >= size for start, size in zip(self.starts, sizes, strict=True)
        )
        return begins_past_end or any(isinstance(count, int) and count <= 0 for count in self.counts)

    def at(self, dim: int, index: Index) -> Box:
        """The part of the box at one index along a dimension."""
        starts, counts = list(self.starts), list(self.counts)
        starts[dim], counts[dim] = index, 1
        return Box(tuple(starts), tuple(counts))


Part = Callable[[SSAValue, Box], None]
"""What to do with a part: a view of memory with the extents of the box, and the box in lanes of the tile."""


def for_each_part(memory: MemoryBuilder, tile: Tile, box: Box, part: Part) -> None:
    """Call `part` for views that cover the box: once, inside of loops, in both branches of a test, or not at all."""
    b = memory.ops
    if box.is_empty(tile.sizes):
        return
    straight = without_static_wraps(tile)
    if not straight.irregular_dims:
        emit_plain_part(memory, straight, box, part)
        return
    found = _plain_if_wraps_do_nothing(b, straight) if straight.gather_dim is None else _plain_if_run(b, straight)
    if found is None:
        _emit_lanes(memory, straight, box, part, straight.irregular_dims, {})
        return
    condition, plain = found

    def one_part() -> Sequence[SSAValue]:
        emit_plain_part(memory, plain, box, part)
        return ()

    def lane_by_lane() -> Sequence[SSAValue]:
        _emit_lanes(memory, straight, box, part, straight.irregular_dims, {})
        return ()

    branch = b.if_else(condition, (), one_part, lane_by_lane)
    if len(straight.irregular_dims) == 1:
        branch.attributes[UNIT_STRIDE_GUARD] = int_attr(straight.irregular_dims[0])


def _plain_if_wraps_do_nothing(b: TensorBuilder, tile: Tile) -> tuple[SSAValue, Tile]:
    """The condition that a tile does not wrap, and what it is then."""
    remainders = {dim: _wrapped(b, tile.offsets[dim], tile.wraps[dim]) for dim in tile.wrapped_dims}
    offsets = tuple(remainders.get(dim, offset) for dim, offset in enumerate(tile.offsets))
    return _stays_inside(b, tile, remainders), replace(tile, offsets=offsets, wraps=(0,) * tile.rank, op=None)


def _plain_if_run(b: TensorBuilder, tile: Tile) -> tuple[SSAValue, Tile] | None:
    """The condition that the gathered rows of a tile follow one another, and what it is then; None if they need not."""
    dim = tile.gather_dim
    assert dim is not None and tile.rows is not None
    if tile.wrapped_dims or tile.row_mask is not None or (run := find_run(tile.rows)) is None:
        return None
    offsets = list(tile.offsets)
    offsets[dim] = b.mul(run.first_row(b), tile.strides[dim])
    plain = replace(tile, offsets=tuple(offsets), gather_dim=None, rows=None, op=None)
    return run.reaches(b, tile.sizes[dim]), plain


def plain_view(memory: MemoryBuilder, tile: Tile) -> SSAValue:
    """One view of a regular tile; accesses through the same pointer share it, emitted at the pointer's op."""
    b = memory.ops
    if tile.op is None:
        return _emit_view(memory, tile)
    known = memory.views.get(tile.op)
    if known is None:
        with b.at(Cursor.before(tile.op), tile.op.location):
            known = memory.views[tile.op] = _emit_view(memory, tile)
    return known


def _emit_view(memory: MemoryBuilder, tile: Tile) -> SSAValue:
    b = memory.ops
    base, offset = memory.resolve(tile.pointer)
    for entry in tile.offsets:
        offset = b.add(offset, entry)
    return memory.view(base, offset, tile.sizes, tile.strides)


def emit_plain_part(memory: MemoryBuilder, tile: Tile, box: Box, part: Part) -> None:
    """A regular tile in one piece."""
    part(memory.subview(plain_view(memory, tile), box.starts, box.counts), box)


def lane_address(b: TensorBuilder, tile: Tile, dim: int, index: Index) -> Index:
    """a_d of one lane, see `Tile`."""
    stride = tile.strides[dim]
    if dim == tile.gather_dim:
        assert tile.rows is not None
        row = b.as_index(b.extract(tile.rows, [index]))
        return b.mul(row, stride)
    linear = b.add(tile.offsets[dim], b.mul(index, stride))
    return _wrapped(b, linear, tile.wraps[dim]) if dim in tile.wrapped_dims else linear


def _emit_lanes(
    memory: MemoryBuilder, tile: Tile, box: Box, part: Part, dims: Sequence[int], fixed: dict[int, Index]
) -> None:
    """One loop for each irregular dimension, outermost first; then the part at the chosen indices."""
    b = memory.ops
    if not dims:
        _emit_slice(memory, tile, box, part, fixed)
        return
    dim, rest = dims[0], dims[1:]

    def at_place(carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        index = carried[0]

        def body() -> Sequence[SSAValue]:
            address = lane_address(b, tile, dim, index)
            _emit_lanes(memory, tile, box.at(dim, index), part, rest, {**fixed, dim: address})
            return ()

        if dim == tile.gather_dim and tile.row_mask is not None:
            b.if_else(b.extract(tile.row_mask, [index]), (), body)
        else:
            body()
        return ()

    b.for_loop(box.starts[dim], b.add(box.starts[dim], box.counts[dim]), (), at_place)


def _emit_slice(memory: MemoryBuilder, tile: Tile, box: Box, part: Part, fixed: dict[int, Index]) -> None:
    """The part of a tile at fixed indices of its irregular dimensions."""
    b = memory.ops
    base, offset = memory.resolve(tile.pointer)
    for dim in range(tile.rank):
        offset = b.add(offset, fixed[dim] if dim in fixed else tile.offsets[dim])
    sizes = [1 if dim in fixed else size for dim, size in enumerate(tile.sizes)]
    starts = [0 if dim in fixed else box.starts[dim] for dim in range(tile.rank)]
    view = memory.view(base, offset, sizes, tile.strides)
    part(memory.subview(view, starts, box.counts), box)


# Modulus


def _wrapped(b: TensorBuilder, value: Index, bound: Index) -> Index:
    """``value remsi bound``; a bound that is 0 when the program runs (it comes from a stride of 0) means no wrap."""
    if isinstance(bound, int):
        if isinstance(value, int):
            return truncated_remainder(value, bound)
        return b.emit(arith.RemSIOp, value, b.index(bound))
    number = b.ssa(value)
    unbounded = b.cmpi("eq", bound, b.index(0))
    remainder = b.emit(arith.RemSIOp, number, b.select(unbounded, b.index(1), bound))
    return b.select(unbounded, number, remainder)


def truncated_remainder(value: int, bound: int) -> int:
    """The remainder with the sign of the value, as arith.remsi and C have it.

    >>> truncated_remainder(-7, 4)
    -3
    """
    remainder = abs(value) % abs(bound)
    return -remainder if value < 0 else remainder


def without_static_wraps(tile: Tile) -> Tile:
    """The tile with the wraps dropped that are known to do nothing, offsets reduced accordingly."""
    offsets, wraps = list(tile.offsets), list(tile.wraps)
    for dim in tile.wrapped_dims:
        offset, stride, bound = offsets[dim], tile.strides[dim], wraps[dim]
        if not isinstance(offset, int) or not isinstance(bound, int):
            continue
        if offset < 0 or bound <= 0:
            continue
        first = offset % bound
        if tile.sizes[dim] > 1 and not isinstance(stride, int):
            continue
        last = first + (tile.sizes[dim] - 1) * (stride if isinstance(stride, int) else 0)
        if 0 <= last < bound:
            offsets[dim], wraps[dim] = first, 0
    return replace(tile, offsets=tuple(offsets), wraps=tuple(wraps))


def _stays_inside(b: TensorBuilder, tile: Tile, remainders: dict[int, Index]) -> SSAValue:
    """Return whether no lane of the tile wraps: along each wrapped dimension the first and the last address lie in
    ``[0, bound)``.

    The first is a remainder, so it does if the offset is not negative and the bound is positive; addresses between are
    between.
    """
    tests: list[SSAValue] = []
    zero = b.index(0)
    for dim in tile.wrapped_dims:
        offset, bound, stride = tile.offsets[dim], tile.wraps[dim], tile.strides[dim]
        last = b.ssa(b.add(remainders[dim], b.mul(tile.sizes[dim] - 1, stride)))
        tests.append(b.cmpi("slt", last, b.ssa(bound)))
        if not isinstance(stride, int) or stride < 0:
            tests.append(b.cmpi("sge", last, zero))
        if not isinstance(offset, int) or offset < 0:
            tests.append(b.cmpi("sge", b.ssa(offset), zero))
        if not isinstance(bound, int) or bound < 0:
            tests.append(b.cmpi("sgt", b.ssa(bound), zero))
    verdict = tests[0]
    for test in tests[1:]:
        verdict = b.emit(arith.AndIOp, verdict, test)
    return verdict

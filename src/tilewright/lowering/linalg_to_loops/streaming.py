"""Outputs far larger than the caches are written past them, which saves reading every line before it is overwritten.

Whether that pays is known at launch, from the size of the grid:

    for %i = 0 to %n { store }
      ->  if programs * bytes of a tile >= 32 MiB {
            for %i = 0 to %head { masked store }                                up to the next line of the output
            for %i = %head to %full { nontemporal store of aligned vectors }
            for %i = %full to %n { masked store }
          } else { the plain loops }
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from tilewright.dialects import arith, memref
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest_plan import Nest, Output, is_straight, stride_along
from tilewright.lowering.linalg_to_loops.sources import Window

STREAMED_BYTES = 32 << 20
"""Measured: outputs of 16 MiB are as fast either way once loops ask for their inputs, of 32 MiB 1.3 and of 64 MiB 1.5
times as fast with nontemporal stores. An update in place takes 1.8 to 3 times as long with them, however large."""

LINE_BYTES = 64
SMALLEST_TILE_BYTES = 1024
_GRID_ARGUMENTS = 6


@dataclass(frozen=True, slots=True)
class Streaming:
    """A nest over one row whose only output may be streamed."""

    output: Output
    window: Window
    element_bytes: int
    grid: tuple[SSAValue, ...]

    def pays(self, emitter: LoopEmitter, extent: int) -> SSAValue:
        """Whether all programs together write enough, and elements lie at multiples of their size."""
        total: Index = extent * self.element_bytes
        for size in self.grid:
            total = emitter.mul(total, emitter.index_cast(size, INDEX))
        large = emitter.compare("sge", total, STREAMED_BYTES)
        rest = emitter.value(
            arith.AndIOp, (self._address(emitter), emitter.constant(self.element_bytes - 1, INDEX)), INDEX
        )
        both = emitter.both(large, emitter.compare("eq", rest, 0))
        assert isinstance(both, SSAValue)
        return both

    def head(self, emitter: LoopEmitter, bound: Index) -> Index:
        """Elements in front of the first whole line of the output, at most `bound`."""
        behind = emitter.sub(0, self._address(emitter))
        rest = emitter.value(arith.AndIOp, (emitter.ssa(behind), emitter.constant(LINE_BYTES - 1, INDEX)), INDEX)
        shift = emitter.constant(self.element_bytes.bit_length() - 1, INDEX)
        return emitter.min(emitter.value(arith.ShRUIOp, (rest, shift), INDEX), bound)

    def _address(self, emitter: LoopEmitter) -> SSAValue:
        start = self.window.offset
        for expr, stride in zip(self.output.access, self.window.strides, strict=True):
            if isinstance(expr, AffineConstantExpr):
                start = emitter.add(start, emitter.mul(expr.value, stride))
        base = emitter.value(memref.ExtractAlignedPointerAsIndexOp, (self.window.flat,), INDEX)
        return emitter.ssa(emitter.add(base, emitter.mul(start, self.element_bytes)))


def plan_streaming(emitter: LoopEmitter, nest: Nest) -> Streaming | None:
    """How a planned nest may stream its output; None where it reduces, is not one row, or writes tiles of the arena."""
    grid = list(emitter.entry.args)[-_GRID_ARGUMENTS:]
    if len(grid) < _GRID_ARGUMENTS or any(value.type != i32 for value in grid):
        return None
    if nest.has_reduction or len(nest.outputs) != 1 or nest.order != [nest.vector_dim] or not is_straight(nest.body):
        return None
    if any(isinstance(op, memref.StoreOp) for op in nest.body.ops) or emitter.cursor.block is not emitter.entry:
        return None
    (output,) = nest.outputs
    window = output.dest
    if window is None or window.owned or isinstance(window.offset, int) or nest.vector_dim is None:
        return None
    size = bit_width(window.element) // 8
    if size == 0 or prod(nest.extents) * size < SMALLEST_TILE_BYTES or nest.lanes * size > LINE_BYTES:
        return None
    if stride_along(window, output.access, nest.vector_dim) != 1 or not all(
        isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in output.access
    ):
        return None
    return Streaming(output, window, size, tuple(grid[:3]))

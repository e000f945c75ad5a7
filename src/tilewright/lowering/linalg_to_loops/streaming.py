"""Outputs far larger than the caches are written past them, which saves reading every line before it is overwritten.

Whether that pays is known at launch, from the size of the grid, and follows from what is written, or on some processors
from all that is read and written (`TargetFacts.streamed_traffic`):

    for %i = 0 to %n { store }
      ->  if programs * bytes of their tiles >= 32 MiB {
            for %i = 0 to %head { masked store }                                up to the next line of the output
            for %i = %head to %full { nontemporal store of aligned vectors }
            for %i = %full to %n { masked store }
          } else { the plain loops }

Where reads count, loops of a program stream what it only writes, too, all their iterations counted (rms norm with
residual of 2048 rows of 4096 on Zen 4: 1.4 times as fast).
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from tilewright.dialects import arith, memref, scf
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import Nest, Output, stride_along
from tilewright.lowering.linalg_to_loops.predication import is_straight
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.support.cpu_costs import LINE_BYTES, SMALLEST_TILE_BYTES, STREAMED_BYTES
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most


def streamed_from(written: int, read: int, traffic: int | None) -> int:
    """Bytes that a launch has to write for its outputs to be streamed, where a program reads and writes that many."""
    return STREAMED_BYTES if traffic is None else min(STREAMED_BYTES, traffic * written // (written + read))


@dataclass(frozen=True, slots=True)
class Streaming:
    """A nest over one row whose outputs may be streamed."""

    outputs: tuple[tuple[Output, StridedView], ...]
    element_bytes: int
    elements: int
    """How many elements of each output the nest writes at most."""
    grid: tuple[SSAValue, ...]
    loop: scf.ForOp | None = None
    """The loop of the program that the nest is in."""

    @property
    def written(self) -> int:
        """Bytes that the nest writes at most."""
        return self.elements * self.element_bytes * len(self.outputs)

    def is_large(self, emitter: LoopEmitter, elements: Index, least: int) -> SSAValue | bool:
        """Return whether all programs together write at least so many bytes, if each writes as many elements as this
        one.
        """
        total = emitter.mul(self.element_bytes * len(self.outputs), elements)
        with emitter.at(emitter.cursor if self.loop is None else Cursor(emitter.entry, self.loop)):
            for size in self.grid:
                total = emitter.mul(total, emitter.index_cast(size, INDEX))
            if self.loop is not None:
                total = emitter.mul(total, iterations_of(emitter, self.loop))
            return emitter.compare("sge", total, least)

    def pays(self, emitter: LoopEmitter, elements: Index, least: int) -> SSAValue | bool:
        """Return whether all programs together write enough, elements lie at multiples of their size, and the outputs'
        lines start with the same element; False where the nest is known to write nothing.
        """
        verdict = self.is_large(emitter, elements, least)
        if verdict is False:
            return False
        first, *others = (self._address(emitter, output, view) for output, view in self.outputs)
        verdict = emitter.both(verdict, _is_multiple(emitter, first, self.element_bytes))
        for address in others:
            verdict = emitter.both(verdict, _is_multiple(emitter, emitter.sub(address, first), LINE_BYTES))
        return verdict

    def head(self, emitter: LoopEmitter, bound: Index) -> Index:
        """Elements before the first whole line of the outputs, at most `bound`."""
        distance = emitter.sub(0, self._address(emitter, *self.outputs[0]))
        rest = emitter.value(arith.AndIOp, (emitter.ssa(distance), emitter.constant(LINE_BYTES - 1, INDEX)), INDEX)
        shift = emitter.constant(self.element_bytes.bit_length() - 1, INDEX)
        return emitter.min(emitter.value(arith.ShRUIOp, (rest, shift), INDEX), bound)

    def _address(self, emitter: LoopEmitter, output: Output, view: StridedView) -> SSAValue:
        start = view.offset
        for expr, stride in zip(output.access, view.strides, strict=True):
            if isinstance(expr, AffineConstantExpr):
                start = emitter.add(start, emitter.mul(expr.value, stride))
        base = emitter.value(memref.ExtractAlignedPointerAsIndexOp, (view.flat,), INDEX)
        return emitter.ssa(emitter.add(base, emitter.mul(start, self.element_bytes)))


def iterations_of(emitter: LoopEmitter, loop: scf.ForOp) -> Index:
    """Return how often a loop with a constant step runs, at the cursor."""
    step = constant_of(loop.step)
    assert step is not None
    length = emitter.sub(emitter.index_cast(loop.ub, INDEX), emitter.index_cast(loop.lb, INDEX))
    whole = emitter.add(emitter.max(length, 0), step - 1)
    return emitter.value(arith.DivSIOp, (emitter.ssa(whole), emitter.constant(step, INDEX)), INDEX)


def _is_multiple(emitter: LoopEmitter, number: Index, divisor: int) -> SSAValue | bool:
    rest = emitter.value(arith.AndIOp, (emitter.ssa(number), emitter.constant(divisor - 1, INDEX)), INDEX)
    return emitter.compare("eq", rest, 0)


def plan_streaming(emitter: LoopEmitter, nest: Nest, only_written: Collection[SSAValue]) -> Streaming | None:
    """Return how a planned nest may stream its outputs; None where it reduces, is not one row, or writes to the arena.

    In a loop of the program, where later iterations could read them, outputs are to be arguments that are
    `only_written`, a new tile of them in each iteration.
    """
    grid = emitter.grid_arguments()
    if not grid:
        return None
    if nest.has_reduction or nest.schedule.order != (nest.schedule.vector_dim,) or not is_straight(nest.body):
        return None
    if any(isinstance(op, memref.StoreOp) for op in nest.body.ops):
        return None
    loop = enclosing_loop(emitter)
    if loop is None and emitter.cursor.block is not emitter.entry:
        return None
    found: list[tuple[Output, StridedView]] = []
    for output in nest.outputs:
        if (view := output.dest) is None or not _may_stream(nest, output, view):
            return None
        if loop is not None and not (view.root in only_written and changes_in(loop, view.offset)):
            return None
        found.append((output, view))
    sizes = {bit_width(view.element) // 8 for _, view in found}
    if len(sizes) != 1:
        return None
    size = sizes.pop()
    if size == 0 or prod(nest.extents) * size < SMALLEST_TILE_BYTES or nest.schedule.lanes * size > LINE_BYTES:
        return None
    return Streaming(tuple(found), size, prod(nest.extents), tuple(grid[:3]), loop)


def enclosing_loop(emitter: LoopEmitter) -> scf.ForOp | None:
    """The loop that the cursor is in, if it is the only one, with a constant step."""
    loop = emitter.cursor.block.parent_op()
    if not isinstance(loop, scf.ForOp) or loop.parent_block() is not emitter.entry:
        return None
    return loop if constant_of(loop.step) else None


def changes_in(loop: scf.ForOp, value: Index) -> bool:
    """Return whether an index depends on what changes from one iteration of a loop to the next."""
    pending, seen = [value], set[Operation]()
    while pending:
        current = pending.pop()
        if isinstance(current, int):
            continue
        op = current.owner
        if isinstance(op, Block):
            if op.parent_op() is loop:
                return True
        elif op not in seen and op.parent_op() is loop:
            seen.add(op)
            pending.extend(op.operands)
    return False


def _may_stream(nest: Nest, output: Output, view: StridedView) -> bool:
    """Return whether whole vectors of memory that is not ours are written, as far as the nest runs."""
    if view.owned or isinstance(view.offset, int) or nest.schedule.vector_dim is None:
        return False
    if output.is_cut and not all(map(is_at_most, nest.bounds, output.bounds)):
        return False
    return stride_along(view, output.access, nest.schedule.vector_dim) == 1 and all(
        isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in output.access
    )

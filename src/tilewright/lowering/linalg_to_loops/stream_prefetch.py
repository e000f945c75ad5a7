"""Loops over long segments of memory prefetch 2 KiB ahead, both what they will read and the lines that they will write:

    for %i { y[%i] = f(x[%i]) }  ->  for %i { prefetch x[%i + 512]; prefetch y[%i + 512] for writing; y[%i] = f(x[%i]) }

Processors notice streams by themselves, but a body that computes keeps few of its loads in flight, and a store to a
line that is not cached has to read it first. Measured (Granite Rapids, data of 12 to 96 MiB): gelu 1.11 times as fast,
geglu 1.17, a convolution of rows 1.11, rms norm with residual 1.43; vector sums the same. Rows of 2 KiB that are not
contiguous are 0.5 to 0.7 times as fast, so a segment has to be long, or the next program's has to come after it.

Hardware prefetchers do not see rows that are short and far apart. Where they stop at the end of a row, a loop
prefetches the same columns a few rows ahead, with which the next tile continues:

    for %r { for %c { f(x[%r, %c]) } }  ->  for %r { for %c { prefetch x[%r + 2, %c]; f(x[%r, %c]) } }

Measured (Zen 4, sums of columns of 16 MiB by rows of 0.5 to 2 KiB): 1.4 to 1.6 times as fast, and up to 3 times where
other processes use the third-level cache. Sums that are tiles in the arena count as well.

Words of bytes (`Words`) take a dozen instructions for each of their vectors, so that few lines are in flight on any
processor. Where each program reads its own in a loop, they are prefetched 4 KiB ahead, once for each line. Measured
(Zen 3, weights of four bits of 150 MB times a vector): 0.55 of the speed at which memory is read without, 0.8 with.

On Zen 4 loops along the memory leave it to the processor (`TargetFacts.loops_prefetch`). Without prefetches vector
sums are 1.1 times as fast, swiglu 1.3, a convolution of rows 1.3, sums of rows 1.2, maxima of rows with their indices
1.1 to 1.4, softmax and its gradient 1.1 to 1.25; gelu, geglu and sums of exponentials the same.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir.affine import AffineExpr

from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.nest import ANY_EXTENT, Nest, stride_along
from tilewright.lowering.linalg_to_loops.sources import StridedView, Words, memory_of
from tilewright.support.cpu_costs import (
    AHEAD_BYTES,
    LONG_BYTES,
    MOST_STREAMS,
    ROWS_AHEAD_BYTES,
    SHORT_BYTES,
    SHORT_ROW_BYTES,
    WORDS_AHEAD_BYTES,
)
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.body_cost import WRITES


@dataclass(frozen=True, slots=True)
class Stream:
    """Memory that a loop passes over, and how many elements, or rows that are `stride` apart, to prefetch ahead."""

    view: StridedView
    access: tuple[AffineExpr, ...]
    distance: int
    is_write: bool
    stride: Index = 1
    by_line: bool = False
    """Whether steps that are known to begin inside of a line prefetch nothing."""


def plan_streams(
    nest: Nest,
    is_new: Callable[[StridedView], bool],
    continues: Callable[[StridedView], bool],
    *,
    along: bool,
    rows_ahead: bool,
) -> list[Stream]:
    """Plan the streams of a scheduled nest. `is_new` says whether no earlier nest has read memory; `continues` whether
    the next program's tile comes after this one's; `along` to prefetch along the memory, `rows_ahead` rows ahead."""
    dim = nest.schedule.vector_dim
    if dim is None or not nest.schedule.order or nest.schedule.order[-1] != dim:
        return []
    inputs: list[Stream] = []
    for operand in nest.inputs:
        view = memory_of(operand.source)
        if view is not None and is_new(view):
            if along:
                inputs += _stream(nest, dim, view, operand.access, continues, is_write=False)
            if rows_ahead:
                inputs += _rows(nest, dim, view, operand.access)
    read = {stream.view.flat for stream in inputs}
    outputs = [
        stream
        for output in nest.outputs
        if along and output.dest is not None and not output.reduces
        if output.dest.flat not in read and is_new(output.dest)
        for stream in _stream(nest, dim, output.dest, output.access, continues, is_write=True)
    ]
    return inputs + outputs if len(inputs) + len(outputs) <= MOST_STREAMS else []


def plan_word_streams(nest: Nest, is_new: Callable[[StridedView], bool]) -> list[Stream]:
    """Plan the streams of words of a scheduled nest whose lanes are contiguous, of memory that is new."""
    found: list[Stream] = []
    for operand in nest.inputs:
        view = memory_of(operand.source) if isinstance(operand.source, Words) else None
        if view is None or view.owned or not is_new(view):
            continue
        if (
            nest.schedule.vector_dim is not None
            and stride_along(view, operand.access, nest.schedule.vector_dim) == WORD_BYTES
        ):
            found.append(Stream(view, operand.access, WORDS_AHEAD_BYTES, is_write=False, by_line=True))
    return found if len(found) <= MOST_STREAMS else []


def _stream(
    nest: Nest,
    dim: int,
    view: StridedView,
    access: tuple[AffineExpr, ...],
    continues: Callable[[StridedView], bool],
    *,
    is_write: bool,
) -> list[Stream]:
    """Return the stream of an operand, if it is one: not of memory at a constant offset, which all programs share."""
    if view.owned or isinstance(view.offset, int) or stride_along(view, access, dim) != 1:
        return []
    bits = bit_width(view.element)
    segment = 0 if nest.extents[dim] == ANY_EXTENT else nest.extents[dim] * bits // 8
    if segment < LONG_BYTES and not (segment >= SHORT_BYTES and nest.schedule.order == (dim,) and continues(view)):
        return []
    return [Stream(view, access, AHEAD_BYTES * 8 // bits, is_write)]


def _rows(nest: Nest, dim: int, view: StridedView, access: tuple[AffineExpr, ...]) -> list[Stream]:
    """Return the stream of the rows ahead of an operand, if its rows are short and not contiguous.

    Not where they are copied only: that is an operand of a matmul, most of whose blocks are cached. Atomics and
    scattered stores have lines of their own to wait for. In tiles with few rows most prefetches would be past the end.
    """
    if nest.body.first_op is nest.body.last_op or any(isinstance(op, WRITES) for op in nest.body.ops):
        return []
    if view.owned or len(nest.schedule.order) < 2 or stride_along(view, access, dim) != 1:
        return []
    stride = stride_along(view, access, nest.schedule.order[-2])
    row_bytes = nest.extents[dim] * bit_width(view.element) // 8
    if not SHORT_ROW_BYTES <= row_bytes < LONG_BYTES or (isinstance(stride, int) and stride <= nest.extents[dim]):
        return []
    ahead = max(1, ROWS_AHEAD_BYTES // row_bytes)
    if 2 * ahead > nest.extents[nest.schedule.order[-2]]:
        return []
    return [Stream(view, access, ahead, is_write=False, stride=stride)]

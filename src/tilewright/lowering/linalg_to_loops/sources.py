"""How the elements of a tensor are read: a splat of a scalar, a strided view of memory, or a padded view of either.

Shape changes of a tensor are changes of strides, so they cost nothing:

    view(offset, strides [64, 1]) of tensor<8x64xf32>
      expand_shape to 8x4x16   ->   strides [64, 16, 1]
      transpose                ->   strides [1, 64]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.dialects.types import bit_width, is_integer
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.support.cpu_costs import MOST_COMPARED_ROWS
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of, distance, is_same


@dataclass(frozen=True, slots=True)
class Splat:
    """Every element is `value`."""

    value: SSAValue


@dataclass(frozen=True, slots=True)
class StridedView:
    """Element (i, j, ...) lies at `flat[offset + i * strides[0] + j * strides[1] + ...]`.

    `root` is the buffer or pointer argument the memory belongs to; `owned` says that it is a buffer of this kernel's
    arena. Elements of type i1 are stored as bytes.
    """

    flat: SSAValue
    offset: Index
    strides: tuple[Index, ...]
    shape: tuple[int, ...]
    element: Attribute
    root: SSAValue
    owned: bool = False

    @property
    def stored_as_byte(self) -> bool:
        return is_integer(self.element) and self.element.width.data == 1 and self.owned

    @property
    def bytes(self) -> int:
        """Of all its elements."""
        return prod(self.shape) * bit_width(self.element) // 8

    def is_contiguous(self) -> bool:
        return self.strides == contiguous_strides(self.shape)


@dataclass(frozen=True, slots=True)
class PaddedView:
    """Elements with `low <= index < high` in every dimension are those of `inner`, all others are `fill`."""

    inner: StridedView | Splat
    low: tuple[Index, ...]
    high: tuple[Index, ...]
    shape: tuple[int, ...]
    fill: SSAValue


@dataclass(frozen=True, slots=True)
class Words:
    """Elements of 32 bits: each is the four bytes from that one on that `first_bytes` has at its indices."""

    first_bytes: StridedView


@dataclass(frozen=True, slots=True)
class Vectors:
    """Elements in registers, a vector after the other, as a generic reads them that computes in registers."""

    vectors: tuple[SSAValue, ...]


Source: TypeAlias = Splat | StridedView | PaddedView | Words


def offset_at(emitter: LoopEmitter, view: StridedView, indices: Sequence[Index]) -> Index:
    """Compute the index of an element in `view.flat`."""
    offset = view.offset
    for index, stride in zip(indices, view.strides, strict=True):
        offset = emitter.add(offset, emitter.mul(index, stride))
    return offset


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row major strides in elements."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def root_of(source: Source) -> SSAValue | None:
    """The memory that reading `source` touches."""
    match source:
        case Splat():
            return None
        case StridedView():
            return source.root
        case PaddedView():
            return root_of(source.inner)
        case Words():
            return root_of(source.first_bytes)


def memory_of(source: Source | Vectors) -> StridedView | None:
    """The memory that a source reads its elements from, if it is memory; of words, their first bytes."""
    match source:
        case Words():
            return source.first_bytes
        case PaddedView():
            return memory_of(source.inner)
        case StridedView():
            return source
        case Splat() | Vectors():
            return None


def as_words(source: Source) -> Source | None:
    """`linalg_ext.as_words`; None where the bytes of a word are not neighbours in memory."""
    if not isinstance(source, StridedView) or source.strides[-1] != 1:
        return None
    strides, shape = (*source.strides[:-1], WORD_BYTES), (*source.shape[:-1], source.shape[-1] // WORD_BYTES)
    return Words(replace(source, strides=strides, shape=shape))


def _of_bytes(change: Callable[[Source], Source | None], words: Words) -> Source | None:
    """Words of which the first bytes are changed."""
    changed = change(words.first_bytes)
    return Words(changed) if isinstance(changed, StridedView) else None


def is_apart(left: StridedView, right: StridedView) -> bool:
    """Return whether no element of a view is one of another of the same memory, shape and strides, a known number of
    elements away: `x[0:64]` and `x[64:128]`, or the left and the right half of the rows of a matrix."""
    gap = distance(right.offset, left.offset)
    if gap is None or left.flat is not right.flat or left.shape != right.shape or min(left.shape, default=0) < 1:
        return False
    steps = [constant_of(stride) for stride in left.strides]
    if any(not is_same(a, b) for a, b in zip(left.strides, right.strides, strict=True)):
        return False
    reached = {0}
    for step, extent in zip(steps[:-1], left.shape[:-1], strict=True):
        if step is None or extent * len(reached) > MOST_COMPARED_ROWS:
            return False
        reached = {offset + step * count for offset in reached for count in range(1 - extent, extent)}
    last = steps[-1]
    if last is None:
        return False
    return all(not _is_multiple_within(gap - offset, last, left.shape[-1]) for offset in reached)


def _is_multiple_within(gap: int, step: int, extent: int) -> bool:
    """Return whether `gap` is `step` times a number smaller than `extent`."""
    if step == 0:
        return gap == 0
    return gap % step == 0 and abs(gap // step) < extent


def expand(source: Source, groups: Sequence[Sequence[int]], shape: tuple[int, ...]) -> Source | None:
    """`tensor.expand_shape`; None where a padded view would have to be cut across the new dimensions."""
    match source:
        case Splat():
            return source
        case StridedView():
            strides: list[Index] = [0] * len(shape)
            for dim, group in enumerate(groups):
                if not group:
                    continue
                stride = source.strides[dim]
                if isinstance(stride, int):
                    for inner in reversed(group):
                        strides[inner] = stride
                        stride *= shape[inner]
                elif (wide := [inner for inner in group if shape[inner] != 1]) and len(wide) > 1:
                    return None
                else:
                    strides[wide[0] if wide else group[-1]] = stride
            return replace(source, strides=tuple(strides), shape=shape)
        case PaddedView():
            inner = expand(source.inner, groups, shape)
            if not isinstance(inner, StridedView | Splat):
                return None
            low: list[Index] = [0] * len(shape)
            high: list[Index] = list(shape)
            for dim, group in enumerate(groups):
                if (source.low[dim], source.high[dim]) == (0, source.shape[dim]):
                    continue
                wide = [new for new in group if shape[new] != 1]
                if len(wide) > 1:
                    return None
                target = wide[0] if wide else group[-1]
                low[target], high[target] = source.low[dim], source.high[dim]
            return PaddedView(inner, tuple(low), tuple(high), shape, source.fill)
        case Words():
            return _of_bytes(lambda inner: expand(inner, groups, shape), source)


def collapse(source: Source, groups: Sequence[Sequence[int]], shape: tuple[int, ...]) -> Source | None:
    """`tensor.collapse_shape`; None where the joined dimensions are not adjacent in memory."""
    match source:
        case Splat():
            return source
        case StridedView():
            strides: list[Index] = []
            for group in groups:
                wide = [dim for dim in group if source.shape[dim] != 1]
                for outer, inner in pairwise(wide):
                    step = source.strides[inner]
                    if not isinstance(step, int) or source.strides[outer] != step * source.shape[inner]:
                        return None
                strides.append(source.strides[wide[-1]] if wide else 1)
            return replace(source, strides=tuple(strides), shape=shape)
        case PaddedView():
            inner = collapse(source.inner, groups, shape)
            if not isinstance(inner, StridedView | Splat):
                return None
            low: list[Index] = []
            high: list[Index] = []
            for group in groups:
                cut = [dim for dim in group if (source.low[dim], source.high[dim]) != (0, source.shape[dim])]
                wide = [dim for dim in group if source.shape[dim] != 1]
                if cut and (len(wide) > 1 or (wide and cut != wide) or len(cut) > 1):
                    return None
                low.append(source.low[cut[0]] if cut else 0)
                high.append(source.high[cut[0]] if cut else prod(source.shape[dim] for dim in group))
            return PaddedView(inner, tuple(low), tuple(high), shape, source.fill)
        case Words():
            return _of_bytes(lambda inner: collapse(inner, groups, shape), source)


def permute(source: Source, order: Sequence[int]) -> Source:
    """`linalg.transpose`: dimension i of the result is dimension `order[i]` of the source."""
    match source:
        case Splat():
            return source
        case StridedView():
            shape = tuple(source.shape[dim] for dim in order)
            return replace(source, strides=tuple(source.strides[dim] for dim in order), shape=shape)
        case PaddedView():
            inner = permute(source.inner, order)
            assert isinstance(inner, StridedView | Splat)
            low, high = tuple(source.low[dim] for dim in order), tuple(source.high[dim] for dim in order)
            return PaddedView(inner, low, high, tuple(source.shape[dim] for dim in order), source.fill)
        case Words():
            inner = permute(source.first_bytes, order)
            assert isinstance(inner, StridedView)
            return Words(inner)


def cut_slice(
    emitter: LoopEmitter,
    source: Source,
    offsets: Sequence[Index],
    steps: Sequence[int],
    kept: Sequence[int],
    shape: tuple[int, ...],
) -> Source | None:
    """`tensor.extract_slice` with static sizes; `kept` are the dimensions that a rank-reducing slice keeps.

    None where a bounded dimension is dropped or strided.
    """
    match source:
        case Splat():
            return source
        case StridedView():
            offset = source.offset
            for start, stride in zip(offsets, source.strides, strict=True):
                offset = emitter.add(offset, emitter.mul(start, stride))
            strides = tuple(emitter.mul(source.strides[dim], steps[dim]) for dim in kept)
            return replace(source, offset=offset, strides=strides, shape=shape)
        case PaddedView():
            inner = cut_slice(emitter, source.inner, offsets, steps, kept, shape)
            if not isinstance(inner, StridedView | Splat):
                return None
            low: list[Index] = []
            high: list[Index] = []
            for dim, (start, step) in enumerate(zip(offsets, steps, strict=True)):
                bounded = (source.low[dim], source.high[dim]) != (0, source.shape[dim])
                if bounded and (step != 1 or dim not in kept):
                    return None
                if dim in kept:
                    size = shape[kept.index(dim)]
                    low.append(emitter.max(emitter.sub(source.low[dim], start), 0) if bounded else 0)
                    # A slice that lies past the end of the padded view, or before its start, has nothing or all of it.
                    end = emitter.sub(source.high[dim], start)
                    high.append(emitter.max(emitter.min(end, size), 0) if bounded else size)
            return PaddedView(inner, tuple(low), tuple(high), shape, source.fill)
        case Words():
            return _of_bytes(lambda inner: cut_slice(emitter, inner, offsets, steps, kept, shape), source)

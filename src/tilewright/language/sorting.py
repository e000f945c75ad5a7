"""Sorting networks: sort, topk, flip.

A block is seen as [outer, 2, inner]: the middle dimension holds one bit of an element's index, and the elements that a
step compares differ in just that bit. The partner of every element comes from an exclusive or over the middle
dimension. Bitonic sorting: K. E. Batcher, "Sorting networks and their applications", 1968.
"""

# Kernel code: a parameter takes its type from each call, so there is nothing to annotate.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportPrivateUsage=false
# pyright: reportUnnecessaryComparison=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from tilewright.language import combining, creation, shape, standard
from tilewright.language.arithmetic import where
from tilewright.language.callables import ConstexprFunction, language_function
from tilewright.language.debugging import static_assert
from tilewright.language.dtypes import get_int_dtype
from tilewright.language.iteration import static_range
from tilewright.language.standard import (
    _is_power_of_two,
    _log2,
    _xor_combine,
    member_function,
)
from tilewright.language.values import constexpr
from tilewright.language.versions import since

ASCENDING = constexpr(0)
DESCENDING = constexpr(1)
ALTERNATING = constexpr(2)


@ConstexprFunction
def _split_at_bit(numel, bit):
    """Shape in which the middle dimension is one bit of the index."""
    return [numel >> (bit + 1), 2, 1 << bit]


@ConstexprFunction
def _with_last(extents, last):
    return [*extents[:-1], last]


@ConstexprFunction
def _bits_of(dtype):
    return get_int_dtype(dtype.primitive_bitwidth, signed=True)


@language_function
def _partner(x, axis: constexpr):
    """Each element's neighbour along a dimension of extent 2."""
    bits = x.to(_bits_of(x.dtype), bitcast=True)
    other = bits ^ combining.reduce(bits, axis, _xor_combine, keep_dims=True)
    return other.to(x.dtype, bitcast=True)


@language_function
def _compare_and_swap(x, bit: constexpr, stage: constexpr, order: constexpr):
    """One step of the network on a flat block: order the pairs whose indices differ in `bit`.

    `order` is ascending, descending, or alternating: descending where bit `stage` of the index is set.
    """
    pairs = shape.reshape(x, _split_at_bit(x.numel, bit))
    other = _partner(pairs, 1)
    is_upper = shape.reshape(creation.arange(0, 2), [1, 2, 1])
    if order == ALTERNATING:
        outer = creation.arange(0, pairs.shape[0])
        descending = shape.reshape((outer >> (stage - bit - 1)) & 1, [pairs.shape[0], 1, 1])
        wants_larger = descending ^ is_upper
    else:
        wants_larger = order ^ is_upper
    swapped = where((pairs > other) != (wants_larger != 0), other, pairs)
    return shape.reshape(swapped, [x.numel])


@language_function
def _merge(x, stage: constexpr, order: constexpr):
    """Sort every run of 2**stage elements that is bitonic."""
    for step in static_range(stage):
        x = _compare_and_swap(x, stage - 1 - step, stage, order)
    return x


@ConstexprFunction
def _direction(length_log, whole_log, order):
    """Bitonic runs alternate until one covers the whole row, which takes the order asked for."""
    return order if length_log == whole_log else ALTERNATING.value


@language_function
def _sort_runs(flat, run_log: constexpr, row_log: constexpr, order: constexpr):
    """Sort runs of 2**run_log elements of rows of 2**row_log, neighbours in opposite directions."""
    for stage in static_range(1, run_log + 1):
        flat = _merge(flat, stage, _direction(stage, row_log, order))
    return flat


@language_function
def _keep_better_half(flat, run_log: constexpr, order: constexpr):
    """Of every two neighbouring runs keep the better of each two elements: the best 2**run_log of both, bitonic; of a
    type below 32 bits in the one that `max` has for it."""
    pairs = shape.reshape(flat, _split_at_bit(flat.numel, run_log))
    best = standard.max(pairs, 1) if order == DESCENDING else standard.min(pairs, 1)
    return shape.reshape(best, [best.numel])


@language_function
def _sort(x, k: constexpr, dim: constexpr, descending: constexpr):
    """Sort the last dimension, and keep the first `k` elements (all if None)."""
    rank: constexpr = len(x.shape)
    static_assert(dim is None or dim == rank - 1 or dim == -1, "only minor dimension is currently supported")
    row_log: constexpr = _log2(x.shape[rank - 1])
    kept_log: constexpr = row_log if k is None else _log2(k)
    order: constexpr = DESCENDING if descending else ASCENDING
    flat = _sort_runs(shape.reshape(x, [x.numel]), kept_log, row_log, order)
    for covered in static_range(kept_log + 1, row_log + 1):
        flat = _merge(_keep_better_half(flat, kept_log, order), kept_log, _direction(covered, row_log, order))
    return shape.reshape(flat, _with_last(x.shape, 2**kept_log))


@member_function
def sort(x, dim: constexpr = None, descending: constexpr = ASCENDING):
    """Sort along the last dimension (the only one supported), ascending unless `descending`. Extents are powers of two.

    Not stable; where NaNs are present the order is unspecified.
    """
    return _sort(x, None, dim, descending)


@since("3.6", descending="3.8")
@language_function
def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = DESCENDING):
    """The `k` largest elements along the last dimension, in descending order; the smallest in ascending order unless
    `descending`. `k` is a power of two, at most the dimension's extent."""
    static_assert(k > 0, "topk: k must be greater than 0")
    static_assert(_is_power_of_two(k), "topk: k must be a power of two")
    static_assert(k <= x.shape[len(x.shape) - 1], "topk: k must not exceed the size of the selected dimension")
    return _sort(x, k, dim, descending)


@language_function
def bitonic_merge(x, dim: constexpr = None, descending: constexpr = ASCENDING):
    """Sort the last dimension of a block in which it is bitonic (rises, then falls)."""
    last: constexpr = len(x.shape) - 1
    static_assert(dim is None or dim == last or dim == -1, "only minor dimension is currently supported")
    order: constexpr = DESCENDING if descending else ASCENDING
    merged = _merge(shape.reshape(x, [x.numel]), _log2(x.shape[last]), order)
    return shape.reshape(merged, x.shape)


@ConstexprFunction
def _flip_axis(dim, extents):
    if dim is None:
        dim = len(extents) - 1
    if not -len(extents) <= dim < len(extents):
        raise ValueError(f"flip: dimension {dim} is out of range for rank {len(extents)}")
    return dim % len(extents)


@ConstexprFunction
def _split_axis(extents, axis):
    """The dimension `axis` as one dimension of extent 2 per bit of its index."""
    steps = extents[axis].bit_length() - 1
    return [*extents[:axis], *[2] * steps, *extents[axis + 1 :]]


@member_function
def flip(x, dim=None):
    """Reverse the order of elements along a dimension, by default the last."""
    axis: constexpr = _flip_axis(dim, x.shape)
    halves = shape.reshape(x.to(_bits_of(x.dtype), bitcast=True), _split_axis(x.shape, axis))
    for index_bit in static_range(axis, axis + _log2(x.shape[axis])):
        halves = _partner(halves, index_bit)
    return shape.reshape(halves, x.shape).to(x.dtype, bitcast=True)

"""Library functions that are written in the language itself: reductions by name, softmax, indexing helpers.

They are compiled into the kernels that use them, like a user's own device functions.
"""

# Kernel code: a parameter takes its type from each call, so there is nothing to annotate.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportPrivateUsage=false
# pyright: reportUnnecessaryComparison=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from importlib import import_module
from typing import Any

from tilewright.language import combining, context, creation, elementwise, shape
from tilewright.language import dtypes as core_dtypes
from tilewright.language import values as core
from tilewright.language.arithmetic import where
from tilewright.language.callables import ConstexprFunction, JITCallable, language_function
from tilewright.language.debugging import static_assert
from tilewright.language.registry import MEMBER_MARK
from tilewright.language.values import tensor
from tilewright.language.versions import since

constexpr = core.constexpr
int1, int32, uint32, float32 = core_dtypes.int1, core_dtypes.int32, core_dtypes.uint32, core_dtypes.float32
ZERO = constexpr(0)


def member_function(fn: Any) -> JITCallable:
    """A library function that is a method of tensors too."""
    function = language_function(fn)
    setattr(tensor, fn.__name__, function)
    setattr(function, MEMBER_MARK, True)
    return function


@ConstexprFunction
def _log2(i: int) -> int:
    """Exponent of a power of two."""
    return i.bit_length() - 1


@ConstexprFunction
def _is_power_of_two(i: int) -> bool:
    return i > 0 and i & (i - 1) == 0


@member_function
def cdiv(x, div):
    """The quotient of two integers, rounded up: how many blocks of size `div` cover `x` elements."""
    return (x + (div - 1)) // div


@member_function
def sigmoid(x):
    """1 / (1 + exp(-x)). float32 and float64."""
    return 1 / (1 + elementwise.exp(-x))


@ConstexprFunction
def _warn_of_keep_dims():
    context.current().warn("the keep_dims argument of tl.softmax is deprecated and ignored: the shape stays that of x")


@member_function
def softmax(x, dim=None, keep_dims=None, ieee_rounding=False):
    """exp(x - max) / sum of it, along `dim` (by default 0, as in Triton). float32 and float64.

    The shape is that of `x`; `keep_dims` has no effect, and is deprecated.
    """
    if keep_dims is not None:
        _warn_of_keep_dims()
    axis: constexpr = 0 if dim is None else dim
    weights = elementwise.exp(x - max(x, axis, keep_dims=True))
    return elementwise.fdiv(weights, sum(weights, axis, keep_dims=True), ieee_rounding)


@member_function
def ravel(x, can_reorder=False):
    """The elements of `x` as a block of rank 1, in row-major order unless `can_reorder`."""
    return shape.reshape(x, [x.numel], can_reorder=can_reorder)


@language_function
def swizzle2d(i, j, size_i, size_j, size_g):
    """Renumber the tiles of a `size_i` by `size_j` matrix so that groups of `size_g` rows are walked column by column.

    Given row-major coordinates (i, j), returns the new (i, j): neighbouring programs then share data in the cache.
    """
    position = i * size_j + j
    tiles_per_group = size_g * size_j
    group = position // tiles_per_group
    first_row = group * size_g
    rows = elementwise.minimum(size_i - first_row, size_g)
    position = position % tiles_per_group
    new_i = first_row + position % rows
    new_j = position // rows
    return new_i, new_j


@language_function
def zeros(shape, dtype):
    """A block of zeros of a compile-time `shape` and `dtype`."""
    return creation.full(shape, 0, dtype)


@language_function
def zeros_like(input):
    """A block of zeros with the shape and dtype of `input`."""
    return zeros(input.shape, input.dtype)


# -- maximum and minimum ----------------------------------------------------------------------------------------------
@language_function
def _elementwise_max(a, b):
    return elementwise.maximum(a, b)


@language_function
def _elementwise_min(a, b):
    return elementwise.minimum(a, b)


@language_function
def _greater(a, b):
    return a > b


@language_function
def _less(a, b):
    return a < b


def _better_with_index(is_better: JITCallable, first_of_equals: constexpr) -> JITCallable:
    """Make the combine function of a reduction of (value, index): it keeps the pair whose value is better.

    Of equal values it keeps the one with the smaller index if `first_of_equals`, else the later operand.
    """

    @language_function
    def keep_better(value, index, other, other_index):
        wins = (value == other) & (index < other_index) if first_of_equals else False
        wins = is_better(value, other) | wins
        return where(wins, value, other), where(wins, index, other_index)

    return keep_better


_argmax_combine_tie_break_left = _better_with_index(_greater, constexpr(True))
_argmax_combine_tie_break_fast = _better_with_index(_greater, constexpr(False))
_argmin_combine_tie_break_left = _better_with_index(_less, constexpr(True))
_argmin_combine_tie_break_fast = _better_with_index(_less, constexpr(False))


@language_function
def _promote_for_extremum(t):
    if t.dtype.primitive_bitwidth < 32:
        if t.dtype.is_floating():
            return t.to(float32)
        return t.to(int32)
    return t


@language_function
def _with_indices(input, axis, combine_fn, keep_dims):
    """Reduce values together with their position along the axis (in the flattened block if the axis is None)."""
    if axis is None:
        indices = creation.arange(0, input.numel)
        flat = shape.reshape(input, [input.numel])
        value, index = combining.reduce((flat, indices), 0, combine_fn, keep_dims=False)
        if keep_dims:
            value = _expand_all(value, constexpr(len(input.shape)))
            index = _expand_all(index, constexpr(len(input.shape)))
    else:
        positions = shape.expand_dims(creation.arange(0, input.shape[axis]), _other_axes(input.shape, axis))
        indices = shape.broadcast_to(positions, input.shape)
        value, index = combining.reduce((input, indices), axis, combine_fn, keep_dims=keep_dims)
    return value, index


@ConstexprFunction
def _other_axes(extents, axis):
    axis = axis % len(extents)
    return [d for d in range(len(extents)) if d != axis]


@language_function
def _expand_all(x, rank):
    return shape.reshape(x, _ones(rank))


@ConstexprFunction
def _ones(rank):
    return [1] * rank


@language_function
def _indexed(input, axis, first: constexpr, combine_first, combine_any, keep_dims):
    """The extremum and its index along `axis`: the first of equal values, or any of them."""
    return _with_indices(input, axis, combine_first if first else combine_any, keep_dims)


@member_function
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The largest element along `axis`, of all if None. NaN is ignored where another number is there.

    Types below 32 bits are promoted to float32 or int32. With `return_indices` the maximum in its own type, and its
    index (int32): the first one if `return_indices_tie_break_left`, else any.
    """
    if not return_indices:
        return combining.reduce(_promote_for_extremum(input), axis, _elementwise_max, keep_dims=keep_dims)
    first: constexpr = return_indices_tie_break_left
    return _indexed(input, axis, first, _argmax_combine_tie_break_left, _argmax_combine_tie_break_fast, keep_dims)


@member_function
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The smallest element along `axis`, of all if None; otherwise as `max`."""
    if not return_indices:
        return combining.reduce(_promote_for_extremum(input), axis, _elementwise_min, keep_dims=keep_dims)
    first: constexpr = return_indices_tie_break_left
    return _indexed(input, axis, first, _argmin_combine_tie_break_left, _argmin_combine_tie_break_fast, keep_dims)


@member_function
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """The index (int32) of the largest element along `axis`; of the first one if `tie_break_left`."""
    return max(input, axis, True, tie_break_left, keep_dims)[1]


@member_function
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """The index (int32) of the smallest element along `axis`; of the first one if `tie_break_left`."""
    return min(input, axis, True, tie_break_left, keep_dims)[1]


# -- sums and bits ----------------------------------------------------------------------------------------------------
@language_function
def _sum_combine(a, b):
    return a + b


@language_function
def _prod_combine(a, b):
    return a * b


@language_function
def _xor_combine(a, b):
    return a ^ b


@language_function
def _or_combine(a, b):
    return a | b


@ConstexprFunction
def _sum_dtype(in_dtype, dtype):
    """Integers below 32 bits are summed in int32 or uint32, all else in its own type."""
    if dtype is not None:
        return dtype
    if in_dtype.is_int() and in_dtype.int_bitwidth < 32:
        return int32 if in_dtype.is_int_signed() else uint32
    return None


@member_function
def sum(input, axis=None, keep_dims=False, dtype: constexpr = None):
    """The sum along `axis`, of all elements if None.

    Computed in `dtype` if given; else integers below 32 bits are summed in int32 or uint32, other types in themselves.
    """
    accumulate: constexpr = _sum_dtype(input.dtype, dtype)
    if accumulate is not None:
        input = input.to(accumulate)
    return combining.reduce(input, axis, _sum_combine, keep_dims=keep_dims)


@member_function
def xor_sum(input, axis=None, keep_dims=False):
    """The exclusive or of the integers along `axis`, of all if None."""
    static_assert(input.type.scalar.is_int(), "xor_sum only supported for integers")
    return combining.reduce(input, axis, _xor_combine, keep_dims=keep_dims)


@member_function
def reduce_or(input, axis, keep_dims=False):
    """The bitwise or of the integers along `axis`, of all if None."""
    static_assert(input.type.scalar.is_int(), "reduce_or only supported for integers")
    return combining.reduce(input, axis, _or_combine, keep_dims=keep_dims)


@member_function
def cumsum(input, axis=0, reverse=False, dtype: constexpr = None):
    """The running sum along `axis`, from the end with `reverse`. dtypes as in `sum`."""
    accumulate: constexpr = _sum_dtype(input.dtype, dtype)
    if accumulate is not None:
        input = input.to(accumulate)
    return combining.associative_scan(input, axis, _sum_combine, reverse)


@since("3.6", dtype="3.9")
@member_function
def cumprod(input, axis=0, reverse=False, dtype: constexpr = None):
    """The running product along `axis`, from the end with `reverse`. dtypes as in `sum`."""
    accumulate: constexpr = _sum_dtype(input.dtype, dtype)
    if accumulate is not None:
        input = input.to(accumulate)
    return combining.associative_scan(input, axis, _prod_combine, reverse)


@ConstexprFunction
def _squeezed_shape(extents, dim):
    rank = len(extents)
    if not -rank <= dim < rank:
        raise ValueError(f"squeeze: dimension {dim} is out of range for rank {rank}")
    if extents[dim] != 1:
        raise ValueError(f"squeeze: dimension {dim} must have extent 1, the shape is {list(extents)}")
    dim %= rank
    return [*extents[:dim], *extents[dim + 1 :]]


@ConstexprFunction
def _unsqueezed_shape(extents, dim):
    rank = len(extents) + 1
    if not -rank <= dim < rank:
        raise ValueError(f"unsqueeze: dimension {dim} is out of range for a result of rank {rank}")
    dim %= rank
    return [*extents[:dim], 1, *extents[dim:]]


@since("3.7")
@language_function
def squeeze(x, dim: constexpr):
    """Remove the dimension `dim`, which has extent 1."""
    return shape.reshape(x, _squeezed_shape(x.shape, dim))


@since("3.7")
@language_function
def unsqueeze(x, dim: constexpr):
    """Insert a dimension of extent 1 before `dim` of the result, as `expand_dims` does."""
    return shape.reshape(x, _unsqueezed_shape(x.shape, dim))


@language_function
def interleave(a, b):
    """Two blocks of one shape, their elements alternating along the last dimension, which doubles."""
    pairs = shape.join(a, b)
    if len(a.shape) == 0:
        return pairs
    return shape.reshape(pairs, _last_two_as_one(pairs.shape))


@ConstexprFunction
def _last_two_as_one(extents):
    return [*extents[:-2], extents[-2] * extents[-1]]


def __getattr__(name: str) -> Any:
    """Return what Triton has in its module of this name and we have in `sorting`, which builds on this one."""
    if name in ("bitonic_merge", "flip", "sort", "topk"):
        return getattr(import_module("tilewright.language.sorting"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

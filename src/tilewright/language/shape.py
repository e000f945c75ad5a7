"""Functions that change the shape of a block, or the place of its elements."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.context import current, emit, emit_many
from tilewright.language.creation import as_tensor, made, splat, splat_as, unsplat
from tilewright.language.dtypes import block_of, block_type
from tilewright.language.ir_modules import tt
from tilewright.language.registry import builtin, member, unwrap_list, unwrap_shape, varargs, with_hint
from tilewright.language.values import describe, is_sequence, slice, tensor, tuple, unwrap
from tilewright.language.versions import since, warn_since


def wrap_axis(axis: Any, rank: int) -> int:
    """A dimension counted from the front or, if negative, from the back, as a number in [0, rank)."""
    axis = unwrap(axis)
    if not isinstance(axis, int):
        raise TypeError(f"a dimension must be a compile-time integer, got {describe(axis)}")
    if not -rank <= axis < rank:
        raise ValueError(f"invalid axis {axis}. Expected {-rank} <= axis < {rank}")
    return axis + rank if axis < 0 else axis


@member
@builtin
def expand_dims(input: Any, axis: Any) -> tensor:
    """Insert dimensions of extent 1. `axis` is an index, or a list of indices, into the *result*; negatives count back.

    Raises ValueError for repeated axes. A scalar becomes a block of one element.
    """
    value = as_tensor(input, "input")
    axis = unwrap(axis)
    axes = unwrap_list(axis, "axis") if is_sequence(axis) else [axis]
    rank = len(value.extents) + len(axes)
    wrapped = [wrap_axis(a, rank) for a in axes]
    if len(set(wrapped)) != len(wrapped):
        raise ValueError(f"expand_dims received duplicate axes, normalized axes = {wrapped}")
    for a in sorted(wrapped):
        value = expand_at(value, a)
    return value


def expand_at(value: tensor, axis: int) -> tensor:
    """Insert one dimension of extent 1 before `axis`."""
    if not value.extents:
        return splat(value, [1])
    if value.type.has_layout:
        from tilewright.language.gluon.agreement import check_expand_dims

        check_expand_dims(value, axis)
    return made(emit(tt.ExpandDimsOp(value.handle, axis)), value.dtype)


def broadcast_to_shape(value: tensor, extents: Sequence[int]) -> tensor:
    """Grow dimensions of extent 1 (and a scalar) to the given shape; the ranks must agree otherwise."""
    source = value.extents
    extents = list(extents)
    if not source:
        return splat(value, extents)
    if len(source) != len(extents):
        raise ValueError(f"Cannot broadcast, rank mismatch: {source}, {extents}")
    if source == extents:
        return value
    for axis, (have, want) in enumerate(zip(source, extents, strict=True)):
        if have != want and have != 1:
            raise ValueError(
                "Cannot broadcast, the expanded size of the tensor "
                f"({want}) must match the existing size ({have}) at non-singleton dimension {axis}: {source}, {extents}"
            )
    assert isinstance(value.type, block_type)
    ty = value.type.with_shape(extents)
    return tensor(emit(tt.BroadcastOp(value.handle, ty.to_ir())), ty)


class ShapeMismatchError(ValueError):
    """Two shapes that do not broadcast; the front end adds what the operands are called. The axis is one of the shapes
    that have all leading dimensions."""

    names: builtins.tuple[str, str] | None = None

    def __init__(self, axis: int, extents: Sequence[int], lhs: Sequence[int], rhs: Sequence[int]) -> None:
        left, right = extents
        super().__init__(f"Cannot make_shape_compatible: incompatible dimensions at index {axis}: {left} and {right}")
        self.lhs = lhs
        self.rhs = rhs


class PointerIndexError(ValueError):
    """An index of a pointer; the front end adds what the sum is called that was meant."""

    hint = "an offset is added to a pointer: `pointer + offset`"


def broadcast_pair(lhs: tensor, rhs: tensor) -> builtins.tuple[tensor, tensor]:
    """Two values at their common shape. Missing leading dimensions are added, then dimensions of extent 1 grow."""
    a, b = lhs.extents, rhs.extents
    if a and b and (lhs.type.has_layout or rhs.type.has_layout):
        from tilewright.language.gluon.agreement import agree

        lhs, rhs = agree(lhs, rhs)
    if a == b:
        return lhs, rhs
    if not a:
        return splat_as(lhs, rhs.type), rhs
    if not b:
        return lhs, splat_as(rhs, lhs.type)
    while len(lhs.extents) < len(b):
        lhs = expand_at(lhs, 0)
    while len(rhs.extents) < len(a):
        rhs = expand_at(rhs, 0)
    common: list[int] = []
    for axis, (left, right) in enumerate(zip(lhs.extents, rhs.extents, strict=True)):
        if left != right and left != 1 and right != 1:
            raise ShapeMismatchError(axis, (left, right), a, b)
        common.append(right if left == 1 else left)
    return broadcast_to_shape(lhs, common), broadcast_to_shape(rhs, common)


@builtin
def broadcast(input: Any, other: Any) -> tuple:
    """Bring two values to a common shape; returns both. Raises ValueError where two extents differ and neither is 1."""
    return tuple(broadcast_pair(as_tensor(input, "input"), as_tensor(other, "other")))


@member
@builtin
def broadcast_to(input: Any, *shape: Any) -> tensor:
    """Grow the dimensions of extent 1 of `input` to `shape`, given as one list or as separate extents."""
    return broadcast_to_shape(as_tensor(input, "input"), unwrap_shape(varargs(shape)))


@member
@builtin
def reshape(input: Any, *shape: Any, can_reorder: Any = False) -> tensor:
    """The elements of `input`, in row-major order, as a block of another shape with as many elements.

    With `can_reorder=True` the compiler may permute the elements. An empty shape gives the scalar of a one-element
    block.
    """
    value = as_tensor(input, "input")
    may_reorder = bool(unwrap(can_reorder))
    if may_reorder:
        warn_since("3.9", "the `can_reorder` argument of tl.reshape is deprecated: leave it out")
    return reshape_to(value, unwrap_shape(varargs(shape)), allow_reorder=may_reorder)


def reshape_to(value: tensor, extents: list[int], *, allow_reorder: bool = False) -> tensor:
    """`reshape` with plain arguments."""
    numel = dt.validate_block_shape(extents)
    if numel != value.numel.value:
        raise ValueError(f"reshape() cannot change total number of elements in tensor: {value.extents} to {extents}")
    if not extents:
        return unsplat(value)
    if not value.extents:
        return splat(value, extents)
    if value.type.has_layout:
        from tilewright.language.gluon.agreement import reshaped

        return reshaped(value, extents)
    ty = block_of(value.dtype, builtins.tuple(extents))
    return tensor(emit(tt.ReshapeOp(value.handle, ty.to_ir(), allow_reorder=allow_reorder)), ty)


@member
@builtin
def view(input: Any, *shape: Any) -> tensor:
    """Deprecated in Triton: `reshape(..., can_reorder=True)`."""
    return reshape_to(as_tensor(input, "input"), unwrap_shape(varargs(shape)), allow_reorder=True)


@member
@builtin
def item(input: tensor) -> tensor:
    """The element of a block that has exactly one, as a scalar."""
    return unsplat(input)


@member
@builtin
def permute(input: tensor, *dims: Any) -> tensor:
    """Reorder the dimensions: dimension `i` of the result is dimension `dims[i]` of `input`."""
    return permute_by(input, [unwrap(d) for d in unwrap_list(varargs(dims), "dims")])


def permute_by(value: tensor, order: list[int]) -> tensor:
    """`permute` with a plain list."""
    rank = len(value.extents)
    if len(order) != rank:
        raise ValueError(f"permute dims must have the same length as input shape, got {rank} and {len(order)}")
    if sorted(order) != list(range(rank)):
        raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {order}")
    return made(emit(tt.TransOp(value.handle, order)), value.dtype)


@member
@builtin
def trans(input: tensor, *dims: Any) -> tensor:
    """`permute`; without `dims`, swap the last two dimensions. Raises ValueError for blocks of rank 0 or 1 then."""
    order = [unwrap(d) for d in unwrap_list(varargs(dims), "dims")]
    if not order:
        rank = len(input.extents)
        if rank < 2:
            raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
        order = [*range(rank - 2), rank - 1, rank - 2]
    return permute_by(input, order)


def transposed(value: tensor) -> tensor:
    """`x.T`: the transpose of a two-dimensional block."""
    if len(value.extents) != 2:
        raise ValueError(f"`.T` needs a block of rank 2, this one has shape {value.extents}; use tl.permute")
    return permute_by(value, [1, 0])


@builtin
def join(a: Any, b: Any) -> tensor:
    """Stack two blocks of one shape along a new, last dimension of extent 2. Scalars give a block of two elements."""
    left, right = broadcast_pair(as_tensor(a, "a"), as_tensor(b, "b"))
    if left.dtype != right.dtype:
        raise ValueError(f"join needs two blocks of one dtype, got {left.dtype} and {right.dtype}")
    scalars = not left.extents
    if scalars:
        left, right = expand_at(left, 0), expand_at(right, 0)
    joined = made(emit(tt.JoinOp(left.handle, right.handle)), left.dtype)
    return reshape_to(joined, [2]) if scalars else joined


@member
@builtin
def split(a: tensor) -> tuple:
    """The two halves of a block along its last dimension, which has extent 2. A block of shape [2] gives two
    scalars."""
    extents = a.extents
    if not extents or extents[-1] != 2:
        raise ValueError(f"the last dimension of a block to split must be 2, its shape is {extents}")
    rank_one = len(extents) == 1
    if rank_one:
        a = expand_at(a, 0)
    halves = [made(handle, a.dtype) for handle in emit_many(tt.SplitOp(a.handle))]
    return tuple([unsplat(half) for half in halves] if rank_one else halves)


@since("3.6", dim="3.7")
@builtin
def cat(input: Any, other: Any, can_reorder: Any = False, dim: Any = 0) -> tensor:
    """Concatenate two blocks of one shape and dtype along `dim`.

    With `can_reorder=True`, which is deprecated, blocks of rank 1 give their elements in any order. Raises ValueError
    for shapes or dtypes that differ.
    """
    left, right = as_tensor(input, "input"), as_tensor(other, "other")
    if left.extents != right.extents or left.dtype != right.dtype:
        raise ValueError(f"tl.cat requires tensors of the same shape and dtype, got {left} and {right}")
    if not unwrap(can_reorder):
        return _concatenated(left, right, wrap_axis(dim, len(left.extents)))
    warn_since("3.7", "the `can_reorder` argument of tl.cat is deprecated: leave it out")
    if len(left.extents) != 1:
        raise ValueError(f"cat with can_reorder=True needs blocks of rank 1, got {left}")
    ty = block_of(left.dtype, (left.extents[0] + right.extents[0],))
    return tensor(emit(tt.CatOp(left.handle, right.handle, ty.to_ir())), ty)


def _concatenated(left: tensor, right: tensor, dim: int) -> tensor:
    """Stack the blocks, move the new dimension before `dim`, and merge the two."""
    extents = left.extents
    stacked = join(left, right)
    order = list(range(len(extents)))
    order.insert(dim, len(extents))
    return reshape_to(permute_by(stacked, order), [*extents[:dim], 2 * extents[dim], *extents[dim + 1 :]])


@member
@builtin
def gather(src: tensor, index: tensor, axis: Any) -> tensor:
    """Pick elements of `src` along `axis` by integer indices: `out[i, j] = src[index[i, j], j]` for axis 0.

    `index` has the rank of `src` and its extents in all other dimensions; the result has the shape of `index`.
    """
    if not index.dtype.is_int():
        raise ValueError(f"index must be an integer tensor, got {index}")
    rank = len(src.extents)
    if len(index.extents) != rank:
        raise ValueError("source and index tensors must have the same rank")
    axis = wrap_axis(axis, rank)
    for d in range(rank):
        if d != axis and index.extents[d] != src.extents[d]:
            raise ValueError(f"index dim {d} must match the corresponding source dim")
    ty = index.type.with_element_ty(src.dtype)
    return tensor(emit(tt.GatherOp(src.handle, index.handle, axis)), ty)


@member
@builtin
def histogram(input: tensor, num_bins: Any, mask: Any = None) -> tensor:
    """Count how often each value of [0, num_bins) occurs in a block of rank 1 of 32-bit integers; int32 counts.

    Elements that `mask` switches off are not counted, nor are values outside of the bins (whose effect Triton leaves
    open).
    """
    if len(input.extents) != 1:
        raise ValueError("histogram only supports 1D input")
    if not input.dtype.is_int() or input.dtype.int_bitwidth != 32:
        raise with_hint(
            ValueError(f"histogram only supports 32-bit integer input, but got {input.dtype}"),
            "convert it: `.to(tl.int32)`",
        )
    mask_handle = None
    if unwrap(mask) is not None:
        mask_value = broadcast_to_shape(as_tensor(mask, "mask"), input.extents)
        if not mask_value.dtype.is_bool():
            raise ValueError("Mask must have boolean scalar type")
        mask_handle = mask_value.handle
    ty = current().new_block(dt.int32, (unwrap(num_bins),))
    return tensor(emit(tt.HistogramOp(input.handle, ty.to_ir(), mask_handle)), ty)


def subscript(value: tensor, index: Any) -> tensor:
    """`x[None, :]`, `x[:, None]`: each None inserts a dimension, each full slice keeps one."""
    items: list[Any] = list(index) if is_sequence(index) else [index]
    rank, kept = len(value.extents), 0
    for position, entry in enumerate(items):
        entry = unwrap(entry)
        if entry is None:
            value = expand_at(value, position)
        elif isinstance(entry, slice) and unwrap(entry.start) is unwrap(entry.stop) is unwrap(entry.step) is None:
            kept += 1
            if kept > rank:
                raise ValueError(f"too many indices for tensor of rank {rank}")
        else:
            message = f"unsupported tensor index: {describe(entry)}; only `None` and `:` may index a tensor"
            if value.dtype.is_ptr():
                raise PointerIndexError(message)
            raise with_hint(
                ValueError(message),
                "load the elements that are needed, or pick them with tl.gather, tl.split, or tl.sum(tl.where(...))",
            )
    return value

"""Layouts of tensors that change shape: which layout keeps every element in its place.

Each function takes a layout and gives that of the result, as a layout of the same kind where that can express it, by
its bases otherwise. ValueError where no layout of the result keeps the elements in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product

from tilewright.layouts import gf2
from tilewright.layouts.distributed import (
    BLOCK,
    LANE,
    REGISTER,
    WARP,
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    LinearDistributedLayout,
    SliceLayout,
    Vectors,
    dim_names,
)
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import (
    NvmmaSharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)

MAX_RANK_OF_BLOCKED_SEARCH = 4


def can_relabel(source: LinearLayout, result: LinearLayout) -> bool:
    """Return whether registers may keep their values where a tensor becomes another one with its elements in any order:
    what holds the same element of the source has to hold the same element of the result. These are equal kernels.

    Both go from registers, lanes, warps and blocks, to any shapes of as many elements.
    """
    if source.in_dims != result.in_dims:
        return False
    shift = sum(size.bit_length() - 1 for size in source.out_dims.values())
    both = [a | b << shift for a, b in zip(source.columns, result.columns, strict=True)]
    return gf2.rank(both) == gf2.rank(source.columns) == gf2.rank(result.columns)


def can_concatenate(parts: Sequence[LinearLayout], result: LinearLayout) -> bool:
    """Return whether the registers of two equal parts, one after the other, are those of the result in some order."""
    doubled = LinearLayout.identity_1d(2, REGISTER, "part")
    return all(can_relabel(part * doubled, result) for part in parts)


def permuted(values: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """`values[order[0]], values[order[1]], ...`"""
    return tuple(values[dim] for dim in order)


def _permuted_vectors(vectors: Vectors, order: Sequence[int]) -> Vectors:
    return tuple(permuted(vector, order) for vector in vectors)


def _permuted_order(order: Sequence[int], permutation: Sequence[int]) -> tuple[int, ...]:
    """Return where the dimensions of `order` are after a permutation."""
    position = {dim: index for index, dim in enumerate(permutation)}
    return tuple(position[dim] for dim in order)


def equivalent(
    left: DistributedLayout | SharedLayout, right: DistributedLayout | SharedLayout, shape: Sequence[int]
) -> bool:
    """Return whether two layouts put every element of a tensor of `shape` in the same place."""
    if left == right:
        return True
    if isinstance(left, PaddedSharedLayout) or isinstance(right, PaddedSharedLayout):
        return (
            isinstance(left, PaddedSharedLayout)
            and isinstance(right, PaddedSharedLayout)
            and (left.pads == right.pads and left.to_linear(shape) == right.to_linear(shape))
        )
    return left.rank == right.rank and left.to_linear(shape) == right.to_linear(shape)


def expand_dims(layout: DistributedLayout, axis: int) -> DistributedLayout:
    """A new dimension of extent 1 at `axis`: undoes a slice."""
    match layout:
        case SliceLayout(dim=dim, parent=parent) if dim == axis:
            return parent
        case LinearDistributedLayout():
            register, lane, warp, block = (
                tuple((*vector[:axis], 0, *vector[axis:]) for vector in vectors)
                for vectors in (layout.register, layout.lane, layout.warp, layout.block)
            )
            return LinearDistributedLayout(register, lane, warp, block, layout.rank + 1)
        case _:
            raise ValueError(f"expand_dims along {axis} needs a slice layout with dim = {axis}")


def transpose(layout: DistributedLayout, shape: Sequence[int], order: Sequence[int]) -> DistributedLayout:
    """The tensor with dimension i being source dimension `order[i]`."""
    if isinstance(layout, BlockedLayout):
        return BlockedLayout(
            permuted(layout.size_per_thread, order),
            permuted(layout.threads_per_warp, order),
            permuted(layout.warps_per_cta, order),
            _permuted_order(layout.order, order),
            _permuted_vectors(layout.cga, order),
        )
    return LinearDistributedLayout.of(_transposed(layout.to_linear(shape), order))


def _transposed(linear: LinearLayout, order: Sequence[int]) -> LinearLayout:
    names = dim_names(len(order))
    return linear.rename_outs({names[dim]: names[index] for index, dim in enumerate(order)}).transpose_outs(names)


def transpose_shared(layout: SharedLayout, shape: Sequence[int], order: Sequence[int]) -> SharedLayout:
    """As `transpose`, of a buffer."""
    match layout:
        case SwizzledSharedLayout():
            return replace(layout, order=_permuted_order(layout.order, order), cga=_permuted_vectors(layout.cga, order))
        case NvmmaSharedLayout(rank=2) if layout.swizzle_bytes or tuple(order) == (0, 1):
            flips = tuple(order) == (1, 0)
            return replace(layout, transposed=layout.transposed != flips, cga=_permuted_vectors(layout.cga, order))
        case PaddedSharedLayout():
            linear = _transposed(layout.to_linear(shape), order)
            return PaddedSharedLayout(layout.pads, linear.bases_of("offset"), linear.bases_of(BLOCK), layout.rank)
        case _:
            return SharedLinearLayout.of(_transposed(layout.to_linear(shape), order), layout.alignment())


def reshape(layout: DistributedLayout, shape: Sequence[int], new_shape: Sequence[int]) -> DistributedLayout:
    """The same elements in row-major order in another shape."""
    if tuple(shape) == tuple(new_shape):
        return layout
    linear = _reshaped(layout.to_linear(shape), new_shape)
    if isinstance(layout, BlockedLayout):
        blocked = find_blocked(linear)
        if blocked is not None:
            return blocked
    return LinearDistributedLayout.of(linear)


def reshape_shared(layout: SharedLayout, shape: Sequence[int], new_shape: Sequence[int]) -> SharedLayout:
    """As `reshape`, of a buffer."""
    linear = _reshaped(layout.to_linear(shape), new_shape)
    if isinstance(layout, PaddedSharedLayout):
        return PaddedSharedLayout(layout.pads, linear.bases_of("offset"), linear.bases_of(BLOCK), len(new_shape))
    if isinstance(layout, NvmmaSharedLayout) and not layout.cga:
        candidate = replace(layout, rank=len(new_shape))
        if _means(candidate, linear, new_shape):
            return candidate
    return SharedLinearLayout.of(linear, layout.alignment())


def _means(layout: SharedLayout, linear: LinearLayout, shape: Sequence[int]) -> bool:
    try:
        return layout.to_linear(shape) == linear
    except ValueError:
        return False


def _reshaped(linear: LinearLayout, new_shape: Sequence[int]) -> LinearLayout:
    minor_first = linear.transpose_outs(tuple(linear.out_dims)[::-1])
    names = dim_names(len(new_shape))
    return minor_first.reshape_outs(
        [(name, size) for name, size in zip(names[::-1], new_shape[::-1], strict=True)]
    ).transpose_outs(names)


@lru_cache(maxsize=1024)
def find_blocked(linear: LinearLayout) -> BlockedLayout | None:
    """The blocked layout with the given map, None if there is none (or the rank is above 4).

    Sizes per thread follow from the lowest lane or warp basis of each dimension; they are tried only where a
    dimension lies whole in registers. The order is tried.
    """
    shape = tuple(linear.out_dims.values())
    lanes, warps, blocks = (linear.bases_of(name) for name in (LANE, WARP, BLOCK))
    if len(shape) > MAX_RANK_OF_BLOCKED_SEARCH or not all(any(vector) for vector in (*lanes, *warps)):
        return None
    threads, per_cta = (
        tuple(1 << sum(bool(vector[dim]) for vector in vectors) for dim in range(len(shape)))
        for vectors in (lanes, warps)
    )
    cga = tuple(tuple(int(bool(value)) for value in vector) for vector in blocks)
    for sizes in product(*(_sizes_per_thread(dim, shape[dim], (*lanes, *warps)) for dim in range(len(shape)))):
        for order in permutations(reversed(range(len(shape)))):
            candidate = BlockedLayout(sizes, threads, per_cta, order, cga)
            if candidate.to_linear(shape) == linear:
                return candidate
    return None


def _sizes_per_thread(dim: int, extent: int, outer: Sequence[Sequence[int]]) -> list[int]:
    """Return what sizePerThread may be along a dimension, largest first."""
    lowest = min((vector[dim] for vector in outer if vector[dim]), default=0)
    if lowest:
        return [lowest] if lowest & (lowest - 1) == 0 else []
    return [1 << bit for bit in reversed(range(extent.bit_length()))]


def join(layout: DistributedLayout, shape: Sequence[int]) -> DistributedLayout:
    """Two tensors side by side in a new, fastest dimension that each thread holds whole."""
    if isinstance(layout, BlockedLayout):
        return BlockedLayout(
            (*layout.size_per_thread, 2),
            (*layout.threads_per_warp, 1),
            (*layout.warps_per_cta, 1),
            (layout.rank, *layout.order),
            tuple((*vector, 0) for vector in layout.cga),
        )
    pair = LinearLayout.identity_1d(2, REGISTER, dim_names(len(shape) + 1)[-1])
    return LinearDistributedLayout.of(pair * layout.to_linear(shape))


def split(layout: DistributedLayout, shape: Sequence[int]) -> DistributedLayout:
    """Either half of a tensor whose last dimension, of extent 2, each thread holds whole."""
    if shape[-1] != 2:
        raise ValueError("split needs a last dimension of extent 2")
    linear = layout.to_linear(shape)
    last = tuple(linear.out_dims)[-1]
    bases = {name: linear.bases_of(name) for name in linear.in_dims}
    moving = [(name, vector) for name, vectors in bases.items() for vector in vectors if vector[-1]]
    if len(moving) != 1 or moving[0][0] != REGISTER or any(moving[0][1][:-1]):
        raise ValueError("split needs both elements of the last dimension in one thread (sizePerThread 2)")
    if isinstance(layout, BlockedLayout) and layout.size_per_thread[-1] == 2 and layout.order[0] == layout.rank - 1:
        return BlockedLayout(
            layout.size_per_thread[:-1],
            layout.threads_per_warp[:-1],
            layout.warps_per_cta[:-1],
            layout.order[1:],
            tuple(vector[:-1] for vector in layout.cga),
        )
    kept = {name: [vector[:-1] for vector in vectors if not vector[-1]] for name, vectors in bases.items()}
    sizes = {name: size for name, size in linear.out_dims.items() if name != last}
    return LinearDistributedLayout.of(LinearLayout.from_bases(kept, sizes, surjective=False))


def double_axis(layout: DistributedLayout, axis: int) -> DistributedLayout:
    """Twice as many elements along `axis`, neighbours in one thread: what unpacking two values per byte gives."""
    if isinstance(layout, BlockedLayout):
        sizes = tuple(size * (2 if dim == axis else 1) for dim, size in enumerate(layout.size_per_thread))
        return replace(layout, size_per_thread=sizes)
    if isinstance(layout, LinearDistributedLayout):
        pair = LinearLayout.identity_1d(2, REGISTER, dim_names(layout.rank)[axis])
        return LinearDistributedLayout.of((pair * layout.tile()).transpose_outs(dim_names(layout.rank)))
    if isinstance(layout, DotOperandLayout) and layout.k_width and axis == layout.k_dim:
        return replace(layout, k_width=2 * layout.k_width)
    raise ValueError("unpacking needs a blocked or linear layout, or an operand of an mma product along K")


def halve_axis(layout: DistributedLayout, axis: int) -> DistributedLayout:
    """The inverse of `double_axis`."""
    if isinstance(layout, BlockedLayout) and layout.size_per_thread[axis] % 2 == 0:
        sizes = tuple(size // (2 if dim == axis else 1) for dim, size in enumerate(layout.size_per_thread))
        return replace(layout, size_per_thread=sizes)
    if isinstance(layout, LinearDistributedLayout):
        rest = layout.tile().divide_left(LinearLayout.identity_1d(2, REGISTER, dim_names(layout.rank)[axis]))
        if rest is not None:
            return LinearDistributedLayout.of(rest)
    if isinstance(layout, DotOperandLayout) and layout.k_width > 1 and axis == layout.k_dim:
        return replace(layout, k_width=layout.k_width // 2)
    raise ValueError("packing needs two neighbours along the axis in one thread")

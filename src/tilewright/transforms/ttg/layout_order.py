"""The order of dimensions of a layout, fastest first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tilewright.layouts.distributed import (
    LANE,
    REGISTER,
    WARP,
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    NvidiaMmaLayout,
    SliceLayout,
)


def order_of(layout: DistributedLayout, shape: Sequence[int]) -> tuple[int, ...]:
    """Dimensions from the one along which neighbouring registers, then lanes, lie, to the slowest."""
    match layout:
        case BlockedLayout():
            return layout.order
        case SliceLayout():
            parent = order_of(layout.parent, (*shape[: layout.dim], 1, *shape[layout.dim :]))
            return tuple(dim - (dim > layout.dim) for dim in parent if dim != layout.dim)
        case NvidiaMmaLayout():
            return tuple(reversed(range(layout.rank)))
        case DotOperandLayout() if isinstance(layout.parent, NvidiaMmaLayout):
            rank = layout.rank
            inner = (layout.k_dim, 2 * rank - 3 - layout.k_dim)
            return (*inner, *reversed(range(rank - 2)))
        case _:
            return _order_of_bases(layout, tuple(shape))


@lru_cache(maxsize=1024)
def _order_of_bases(layout: DistributedLayout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions in the order in which registers, lanes and warps first move along them; the others last, minor
    first.
    """
    linear = layout.to_linear(shape)
    found: list[int] = []
    for name in (REGISTER, LANE, WARP):
        for vector in linear.bases_of(name):
            found += [dim for dim, step in enumerate(vector) if step and dim not in found]
    return (*found, *(dim for dim in reversed(range(len(shape))) if dim not in found))

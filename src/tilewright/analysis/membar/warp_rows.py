"""Buffers whose rows belong to warps: each one writes, and has copied, its own rows alone."""

from __future__ import annotations

from tilewright.dialects import ttg, ttng
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.types import as_tensor
from tilewright.layouts.distributed import WARP, dim_names
from tilewright.layouts.linear import LinearLayout


def linear_layout_of(store: ttg.LocalStoreOp) -> LinearLayout:
    """Map each register of each thread to the element of a buffer that it is stored to."""
    type = as_tensor(store.src.type)
    return layout_of(type.encoding).to_linear(type.get_shape())


def rows_of_warp(layout: LinearLayout) -> int | None:
    """Return how many rows next to each other belong to a warp, of a matrix whose rows are dealt to warps in turn, so
    many at a time: with 16, warp w of 8 has rows 16w to 16w + 15, 128 + 16w and so on. None where they are not.
    """
    if len(layout.out_dims) != 2 or not layout.is_zero([WARP], dim_names(2)[1:]):
        return None
    row = list(layout.out_dims).index(dim_names(2)[0])
    warps = [basis[row] for basis in layout.bases_of(WARP)]
    rows = warps[0] if warps else 0
    if rows == 0 or warps != [rows << bit for bit in range(len(warps))]:
        return None
    others = (basis[row] for dim in layout.in_dims if dim != WARP for basis in layout.bases_of(dim))
    return None if any(other & sum(warps) for other in others) else rows


def needs_no_barrier(store: ttg.LocalStoreOp, copy: ttng.AsyncTMACopyLocalToGlobalOp) -> bool:
    """Return whether each warp copies what it stored itself, for which it meets alone."""
    if copy.warp_rows is None or store.dst is not copy.src:
        return False
    return rows_of_warp(linear_layout_of(store)) == copy.warp_rows.value.data

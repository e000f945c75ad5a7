"""Groups of rows of one tensor, each with bounds of its own, through one descriptor: what Triton calls
`triton.tools.ragged_tma`.

    rows = create_ragged_descriptor(tokens, [BLOCK, WIDTH])       # on the host, for all groups
    x = load_ragged(rows, first, count, [row, 0])                 # in a kernel: rows of the group, zeros past its end

A descriptor knows one extent per dimension, the groups have many. Two more dimensions in front make the extent of the
rows a constant E = 2^30 that lies where a group ends: for row r of a group of n rows that starts at row s, the indices
are (E, s + n, E - n + r), so that r >= n is outside, and the address, with strides (2^34 - p, p, p) for rows p apart,

    E * (2^34 - p) + (s + n) * p + (E - n + r) * p  =  2^64 + (s + r) * p,

is that of row s + r, as addresses wrap around at 64 bits.
"""

# Kernel code: a parameter takes its type from each call, so there is nothing to annotate.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tilewright.language as tl
from tilewright.language.callables import language_function
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support.errors import ArgumentValueError

MOST_ROWS = tl.constexpr(2**30)
"""E of the equation."""

FARTHEST = 2**34
UNBOUNDED = 0x7FFF0000
"""An extent that no index in front reaches."""


def create_ragged_descriptor(T: Any, block_shape: Sequence[int], ragged_dim: int = 0) -> TensorDescriptor:
    """The descriptor of a tensor of two or three dimensions, whose groups lie one after another along `ragged_dim` (not
    the last). Raises ArgumentValueError."""
    whole = TensorDescriptor.from_tensor(T, block_shape)
    rank = len(whole.shape)
    dim = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if not 2 <= rank <= 3:
        raise ArgumentValueError("T", f"{rank} dimensions", "two or three")
    if not 0 <= dim < rank - 1:
        raise ArgumentValueError("ragged_dim", str(ragged_dim), f"a dimension of {rank} before the last")
    if whole.shape[dim] > MOST_ROWS.value:
        raise ArgumentValueError("T", f"{whole.shape[dim]} rows", f"at most {MOST_ROWS.value}")
    shape, step = list(whole.shape), whole.strides[dim]
    shape[dim] = MOST_ROWS.value
    return TensorDescriptor(
        T,
        [UNBOUNDED, UNBOUNDED, *shape],
        [FARTHEST - step, step, *whole.strides],
        [1, 1, *block_shape],
    )


@language_function
def to_ragged_indices(slice_off, slice_size, row):
    """The indices of a row of a group: in the two dimensions in front, and in that of the rows."""
    return MOST_ROWS, slice_off + slice_size, MOST_ROWS - slice_size + row


@language_function
def ragged_coordinates(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr):
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "the descriptor must be one of create_ragged_descriptor")
    whole, end, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    return (whole, end, *coords[:ragged_dim], row, *coords[ragged_dim + 1 :])


@language_function
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at `coords` of the `slice_size` rows from row `slice_off` on; zeros past their end."""
    block = TMA.load(ragged_coordinates(TMA, slice_off, slice_size, coords, ragged_dim))
    return tl.reshape(block, block.shape[2:])


@language_function
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Write a block at `coords` of a group of rows; what lies past their end is left alone."""
    place = ragged_coordinates(TMA, slice_off, slice_size, coords, ragged_dim)
    TMA.store(place, tl.reshape(data, TMA.block_shape))


@language_function
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Add a block to that at `coords` of a group of rows, element by element and atomically."""
    place = ragged_coordinates(TMA, slice_off, slice_size, coords, ragged_dim)
    TMA.atomic_add(place, tl.reshape(data, TMA.block_shape))

"""Registers that hold several elements: packed arithmetic and vectors of halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.types import Values


def lanes(values: Values, dtype: np.dtype[Any]) -> Array:
    """The elements of registers, one row per register."""
    flat = np.ascontiguousarray(values).reshape(-1, 1)
    return flat.view(dtype)


def joined(rows: Array, storage: np.dtype[Any], *, scalar: bool = False) -> Values:
    """Rows of elements as registers."""
    values = np.ascontiguousarray(rows).view(storage)[:, 0]
    return values[0] if scalar else values


def by_lanes(function: Callable[..., Values], dtype: np.dtype[Any], storage: np.dtype[Any]) -> Callable[..., Values]:
    """A function of elements as one of registers."""

    def run(*values: Values) -> Values:
        scalar = all(value.ndim == 0 for value in values)
        return joined(np.asarray(function(*(lanes(value, dtype) for value in values)), dtype), storage, scalar=scalar)

    return run


def spread_all(values: Sequence[Values]) -> list[Values]:
    """Values of one shape: scalars, or arrays."""
    count = max((value.size for value in values if value.ndim), default=0)
    return [np.broadcast_to(value, (count,)) if count and value.ndim == 0 else value for value in values]

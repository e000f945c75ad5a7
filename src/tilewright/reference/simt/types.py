"""How registers, which hold bits, are seen as values of a type."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tilewright.support.ptx.types import Type

Values = Any
"""An array with one element per thread, or one scalar for all threads."""

UNSIGNED: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
"""What registers of each width are stored as; those of 8 bits are stored in 16."""


def storage_of(bits: int) -> np.dtype[Any]:
    """Return what a register of so many bits is stored as."""
    return UNSIGNED[16 if bits == 8 else bits]


def choose(condition: Any, yes: Any, no: Any) -> Values:
    """The first value where a condition holds, else the second."""
    return cast(Values, np.where(condition, yes, no))


def resized(values: Values, type_: Type, bits: int) -> Values:
    """Integers of a type as a register of `bits`: cut, or extended with their sign if they have one."""
    if type_.is_signed:
        return values.astype(f"i{max(bits, 16) // 8}").view(storage_of(bits))
    return values.astype(storage_of(bits))


def as_dtype(values: Any, dtype: np.dtype[Any]) -> Values:
    """Values of a dtype, converted where they have another."""
    found = np.asarray(values)
    return found if found.dtype == dtype else found.astype(dtype)

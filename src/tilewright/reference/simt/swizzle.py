"""The swizzles of shared memory that asynchronous units use."""

from __future__ import annotations

from typing import Any

import numpy as np

MASKS = {0: 0, 1: 1, 2: 3, 3: 7}
"""By the number of a swizzle in tensor maps (none, 32, 64, 128 bytes): which of the address bits from 7 on are XORed
to those from 4 on."""


def swizzled(addresses: Any, swizzle: int) -> Any:
    """Return where a byte lies that would lie at an address without the swizzle."""
    return addresses ^ (((addresses >> 7) & np.int64(MASKS[swizzle])) << 4)

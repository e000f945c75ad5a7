"""What sums of products of bytes are (`dialects.byte_products`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.byte_products import SIGNED, ByteProduct
from tilewright.dialects.numeric import Array


def sum_byte_products(product: ByteProduct, lhs: Any, rhs: Any) -> Array:
    """Return the sum of the products of four bytes of each i32: in 64 bits, of which the low half counts."""
    sides = [
        np.asarray(value).astype("<i4")[..., None].view(np.int8 if kind == SIGNED else np.uint8).astype(np.int64)
        for value, kind in ((lhs, product.lhs), (rhs, product.rhs))
    ]
    return (sides[0] * sides[1]).sum(axis=-1).astype(np.int32)

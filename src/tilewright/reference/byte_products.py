"""What sums of products of bytes are (`dialects.byte_products`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.byte_products import DOT_PAIRS, SIGNED, SUM_PAIRS, ByteProduct
from tilewright.dialects.numeric import Array


def sum_byte_products(product: ByteProduct, lhs: Any, rhs: Any, addend: Any = 0) -> Array:
    """Return the sum of the products of four bytes of each i32, and of an addend: in 64 bits, of which the low half
    counts."""
    sides = [
        np.asarray(value).astype("<i4")[..., None].view(np.int8 if kind == SIGNED else np.uint8).astype(np.int64)
        for value, kind in ((lhs, product.lhs), (rhs, product.rhs))
    ]
    return ((sides[0] * sides[1]).sum(axis=-1) + np.asarray(addend, np.int64)).astype(np.int32)


def multiply_pairs(lhs: Any, rhs: Any) -> Array:
    """Return the sums of two products of neighbouring bytes of a vector, those of `lhs` without a sign, as int16."""
    sides = [
        np.ascontiguousarray(value, "<i4").view(kind).astype(np.int32)
        for value, kind in ((lhs, np.uint8), (rhs, np.int8))
    ]
    products = sides[0] * sides[1]
    return products.reshape(*products.shape[:-1], -1, 2).sum(axis=-1).astype(np.int16)


def sum_pairs(source: Any) -> Array:
    """Return the sums of neighbours of a vector as int32."""
    values = np.asarray(source, np.int32)
    return values.reshape(*values.shape[:-1], -1, 2).sum(axis=-1, dtype=np.int32)


def find_byte_function(symbol: str) -> Callable[..., Array] | None:
    """Return what the function of a name does, if `dialects.byte_products` describes it."""
    if symbol.startswith(DOT_PAIRS):
        return multiply_pairs
    if symbol.startswith(SUM_PAIRS):
        return sum_pairs
    product = ByteProduct.find(symbol)
    return None if product is None else partial(sum_byte_products, product)

"""Names of the functions that multiply bytes: each says what it does, and no other name does."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import VectorType, i32

from tilewright.dialects.byte_products import ByteProduct


@pytest.mark.parametrize("lhs", ["s8", "u8", "u7"])
@pytest.mark.parametrize("rhs", ["s8", "u8"])
def test_names_say_what_is_multiplied(lhs: str, rhs: str) -> None:
    for type in (i32, VectorType(i32, [8])):
        assert ByteProduct.find(ByteProduct(lhs, rhs).symbol(type)) == ByteProduct(lhs, rhs)


@pytest.mark.parametrize("name", ["s8_u8_8xi32", "tw_dot_bytes_s8_u7_8xi32", "tw_dot_bytes_s9_s8_8xi32"])
def test_other_names_are_other_functions(name: str) -> None:
    assert ByteProduct.find(name) is None

"""The tables of the middle layer against their definitions."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType, f32, i1, i8, i32
from xdsl.ir import Attribute, Operation

from tilewright.dialects import arith
from tilewright.lowering.arith_to_linalg.combine import neutral_element
from tilewright.lowering.arith_to_linalg.shapes import find_reassociation
from tilewright.lowering.structured_to_memref.boxes import truncated_remainder

INTEGER_MEANING = {
    arith.AddiOp: lambda x, y: x + y,
    arith.MuliOp: lambda x, y: x * y,
    arith.AndIOp: lambda x, y: x & y,
    arith.OrIOp: lambda x, y: x | y,
    arith.XOrIOp: lambda x, y: x ^ y,
    arith.MaxUIOp: max,
    arith.MinUIOp: min,
}
FLOAT_MEANING = {
    arith.AddfOp: np.add,
    arith.MulfOp: np.multiply,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
}


@pytest.mark.parametrize("kind", [i1, i8, i32])
@pytest.mark.parametrize("cls", INTEGER_MEANING)
def test_neutral_elements_of_unsigned_integers(cls: type[Operation], kind: IntegerType) -> None:
    width = kind.bitwidth
    neutral = neutral_element(cls, kind)
    assert isinstance(neutral, int)
    for x in {0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1}:
        assert INTEGER_MEANING[cls](neutral, x) % (1 << width) == x


@pytest.mark.parametrize("kind", [i8, i32])
def test_neutral_elements_of_signed_extremes(kind: IntegerType) -> None:
    width = kind.bitwidth
    assert neutral_element(arith.MaxSIOp, kind) == 1 << (width - 1)
    assert neutral_element(arith.MinSIOp, kind) == (1 << (width - 1)) - 1


@pytest.mark.parametrize("cls", FLOAT_MEANING)
def test_neutral_elements_of_floats(cls: type[Operation]) -> None:
    neutral = neutral_element(cls, f32)
    assert isinstance(neutral, float)
    x = np.array([0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(FLOAT_MEANING[cls](np.float32(neutral), x), x)


@pytest.mark.parametrize(("cls", "kind"), [(arith.SubiOp, i32), (arith.DivfOp, f32), (arith.MaxSIOp, f32)])
def test_other_ops_have_none(cls: type[Operation], kind: Attribute) -> None:
    assert neutral_element(cls, kind) is None


def test_reassociation_is_found_where_there_is_one() -> None:
    assert find_reassociation((8, 6), (2, 4, 6)) == ((0, 1), (2,))
    assert find_reassociation((8, 6), (2, 6, 4)) is None
    assert find_reassociation((4,), (4, 1, 1)) == ((0, 1, 2),)
    assert find_reassociation((), (1, 1)) == ()


def test_reassociation_keeps_every_extent() -> None:
    """For all shapes of up to three small extents: groups are consecutive, cover everything, and multiply up."""
    shapes = [shape for rank in (1, 2, 3) for shape in product((1, 2, 4), repeat=rank)]
    for small, large in product(shapes, shapes):
        groups = find_reassociation(small, large)
        if groups is None:
            continue
        assert [dim for group in groups for dim in group] == list(range(len(large)))
        assert tuple(prod(large[dim] for dim in group) for group in groups) == small


@pytest.mark.parametrize("value", range(-9, 10))
@pytest.mark.parametrize("bound", [-4, -1, 1, 3, 8])
def test_remainder_has_the_sign_of_the_value(value: int, bound: int) -> None:
    assert truncated_remainder(value, bound) == int(np.fmod(value, bound))

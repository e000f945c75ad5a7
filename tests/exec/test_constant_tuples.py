"""Tuples in constexpr parameters: unpacked, indexed, compared, handed on, and shapes themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs
from tilewright.support.errors import CompilationError

ENGINES = ["cpu", "reference", "cuda_sim"]


class Window(NamedTuple):
    height: int
    width: int


@triton.constexpr_function
def area(shape):
    assert isinstance(shape, tuple | tl.tuple)
    return shape[0] * shape[1]


@triton.jit
def weighted(shape: tl.constexpr, weights: tl.constexpr = (10, 1)):
    rows, columns = shape
    return rows * weights[0] + columns * weights[1]


@triton.jit
def describe(out_ptr, shape: tl.constexpr, window: tl.constexpr, nested: tl.constexpr, types: tl.constexpr):
    tl.static_assert(shape == (2, 4))
    tl.static_assert(4 in shape)
    tl.static_assert(shape.type == (2, 4).type)
    rows: tl.constexpr
    columns: tl.constexpr
    rows, columns = shape
    ones = tl.full((rows, columns), 1, types[0])
    tl.store(out_ptr, tl.sum(ones))
    tl.store(out_ptr + 1, weighted(shape))
    (first, second), third = nested
    tl.store(out_ptr + 2, first * 100 + second * 10 + third)
    tl.store(out_ptr + 3, window.height * 10 + window.width)
    tl.store(out_ptr + 4, area(shape) + len(nested))
    tl.store(out_ptr + 5, tl.sum(tl.reshape(tl.zeros(shape, tl.int32), (shape[0] * shape[-1],)) + 1))


@pytest.mark.parametrize("target", ENGINES)
def test_tuples_of_constants(target: str) -> None:
    out = np.zeros(6, np.int32)
    with knobs.scope(target=target):
        for _ in range(2):
            out[:] = 0
            describe[(1,)](out, (2, 4), Window(3, 5), ((7, 8), 9), (tl.int32,))
            np.testing.assert_array_equal(out, [8, 24, 789, 35, 10, 8])


@triton.jit
def unpack_three(out_ptr, shape: tl.constexpr):
    a, b, c = shape
    tl.store(out_ptr, a + b + c)


def test_another_number_of_names() -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(CompilationError, match=r"not enough values to unpack \(expected 3, got 2\)"):
        unpack_three[(1,)](out, (1, 2))
    with pytest.raises(CompilationError, match=r"too many values to unpack \(expected 3, got 4\)"):
        unpack_three[(1,)](out, (1, 2, 3, 4))
    with pytest.raises(CompilationError, match="cannot unpack"):
        unpack_three[(1,)](out, 5)

"""Kernels and device functions that return early while tiles are changed on the other paths."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def nested(a_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(a_ptr + i)
    if n > 1:
        if n > 5:
            return
        x = x + 1
    tl.store(o_ptr + i, x)


@triton.jit
def stores_then_returns(a_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(a_ptr + i)
    if n > 5:
        tl.store(o_ptr + i, x)
        return
    elif n > 1:  # noqa: RET505
        x = x + 1
    else:
        x = x * 2
    tl.store(o_ptr + i, x)


@triton.jit
def several_in_a_row(a_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(a_ptr + i)
    p = o_ptr + i
    if n > 1:
        if n == 2:
            return
        x += 1
    if n > 3:
        if n == 4:
            return
        x *= 3
        p += 16
    if n > 5:
        if n == 6:
            tl.store(p, x - 7)
            return
        x -= 2
    if n > 7:
        if n == 8:
            return
        x = x * x
    if n > 9:
        if n == 10:
            return
        x += n
    tl.store(p, x)


@triton.jit
def _pick(x, y, n):
    if n > 1:
        return y
    x = x + y
    return x  # noqa: RET504


@triton.jit
def _pick_deeper(x, y, n):
    if n > 1:
        if n > 3:
            return y
        x = x * 2
    else:
        y = y + 1
    return x + y


@triton.jit
def called(a_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(a_ptr + i)
    tl.store(o_ptr + i, _pick(x, x * 2, n))
    tl.store(o_ptr + 16 + i, _pick_deeper(x, x * 3, n))


@triton.jit
def called_in_a_loop(a_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(a_ptr + i)
    for k in range(n):
        x = _pick_deeper(x, x - k, k)
    tl.store(o_ptr + i, x)


def _several(x: Array, n: int, out: Array) -> None:
    place = 0
    if n in (2, 4, 8, 10):
        return
    if n > 1:
        x = x + 1
    if n > 3:
        x, place = x * 3, 16
    if n == 6:
        out[place : place + 16] = x - 7
        return
    if n > 5:
        x = x - 2
    if n > 7:
        x = x * x
    if n > 9:
        x = x + n
    out[place : place + 16] = x


def _deeper(x: Array, y: Array, n: int) -> Array:
    if n > 3:
        return y
    return x * 2 + y if n > 1 else x + y + 1


@pytest.mark.parametrize("n", [0, 3, 9])
def test_a_return_within_a_branch_that_changes_a_tile(n: int) -> None:
    a, out = np.arange(16, dtype=np.int32), np.full(16, -1, np.int32)
    nested[(1,)](a, out, n)
    np.testing.assert_array_equal(out, -1 if n > 5 else a + (n > 1))


@pytest.mark.parametrize("n", [0, 3, 9])
def test_a_store_before_a_return(n: int) -> None:
    a, out = np.arange(16, dtype=np.int32), np.full(16, -1, np.int32)
    stores_then_returns[(1,)](a, out, n)
    np.testing.assert_array_equal(out, a if n > 5 else a + 1 if n > 1 else a * 2)


@pytest.mark.parametrize("n", range(12))
def test_several_in_a_row_with_tiles_and_addresses(n: int) -> None:
    a, out = np.arange(16, dtype=np.int32), np.full(32, -1, np.int32)
    expected = out.copy()
    several_in_a_row[(1,)](a, out, n)
    _several(a, n, expected)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n", [0, 2, 3, 4])
def test_device_functions_that_return_tiles_early(n: int) -> None:
    a, out = np.arange(16, dtype=np.int32), np.full(32, -1, np.int32)
    called[(1,)](a, out, n)
    np.testing.assert_array_equal(out[:16], a * 2 if n > 1 else a * 3)
    np.testing.assert_array_equal(out[16:], _deeper(a, a * 3, n))


@pytest.mark.parametrize("n", [0, 1, 6])
def test_early_returns_inside_of_loops(n: int) -> None:
    a, out = np.arange(16, dtype=np.int32), np.full(16, -1, np.int32)
    called_in_a_loop[(1,)](a, out, n)
    expected = a.copy()
    for k in range(n):
        expected = _deeper(expected, expected - k, k)
    np.testing.assert_array_equal(out, expected)

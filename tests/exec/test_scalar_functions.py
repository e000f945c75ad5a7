"""Functions on single elements: early returns under `tl.map_elementwise`, and functions that call themselves with other
constants, on every target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array

pytestmark = pytest.mark.usefixtures("every_target")

N = 64


@triton.jit
def three_ways(x, i):
    if i % 3 == 0:
        return x + 1
    if x > 0:
        return x * 2
    return x - 5


@triton.jit
def quotient_and_rest(x, i):
    if i == 0:
        return x, x
    if x < 0:
        return -(-x // i), -(-x % i)
    return x // i, x % i


@triton.jit
def greatest_common_divisor(a, b):
    if b == 0:
        return a
    while b != 0:
        rest = a % b
        a = b
        b = rest
    if a > 4:
        return -a
    return a


@triton.jit
def three_way_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(three_ways, tl.load(x_ptr + i), i))


@triton.jit
def quotients(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    quotient, rest = tl.map_elementwise(quotient_and_rest, tl.load(x_ptr + i), i)
    tl.store(out_ptr + i, quotient * 1000 + rest)


@triton.jit
def divisors(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(greatest_common_divisor, tl.abs(tl.load(x_ptr + i)) + 1, i))


def expected_three_ways(x: Array) -> Array:
    return np.where(np.arange(N) % 3 == 0, x + 1, np.where(x > 0, x * 2, x - 5))


def expected_quotients(x: Array) -> Array:
    sign, i = np.where(x < 0, -1, 1), np.maximum(np.arange(N), 1)
    full = sign * (np.abs(x) // i) * 1000 + sign * (np.abs(x) % i)
    return np.where(np.arange(N) == 0, x * 1001, full)


def expected_divisors(x: Array) -> Array:
    a, b = np.abs(x) + 1, np.arange(N)
    divisor = np.gcd(a, b)
    return np.where((b != 0) & (divisor > 4), -divisor, divisor)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [(three_way_kernel, expected_three_ways), (quotients, expected_quotients), (divisors, expected_divisors)],
)
def test_early_returns_of_single_elements(kernel: Any, expected: Callable[[Array], Array]) -> None:
    x = np.random.default_rng(0).integers(-200, 200, N).astype(np.int32)
    out = np.zeros(N, np.int32)
    kernel[(1,)](x, out, N)
    np.testing.assert_array_equal(out, expected(x))


@triton.jit
def pairwise_sum(x):
    if x.shape[0] == 1:
        return tl.sum(x)
    even, odd = tl.split(tl.reshape(x, (x.shape[0] // 2, 2)))
    return pairwise_sum(even + odd)


@triton.jit
def power(x, EXPONENT: tl.constexpr):
    if EXPONENT == 0:
        return x * 0 + 1
    half = power(x, EXPONENT // 2)
    if EXPONENT % 2:
        return half * half * x
    return half * half


@triton.jit
def recursive_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, pairwise_sum(x))
    tl.store(out_ptr + 1, pairwise_sum(power(x, 5)))


def test_functions_call_themselves_with_other_constants_and_shapes() -> None:
    x = np.random.default_rng(1).integers(-9, 9, N).astype(np.int32)
    out = np.zeros(2, np.int32)
    recursive_kernel[(1,)](x, out, N)
    np.testing.assert_array_equal(out, [x.sum(), (x**5).sum()])


@triton.jit
def constants_that_become_values(out_ptr, n):
    size: tl.constexpr = 16
    STEP: tl.constexpr = size // 4
    i = tl.arange(0, size)
    size = STEP * 2
    size += n
    if n > 2:
        width: tl.constexpr = 4
        tl.store(out_ptr + tl.arange(0, width), width)
    else:
        width: tl.constexpr = 8
        tl.store(out_ptr + tl.arange(0, width), width)
    tl.store(out_ptr + 16 + i, size + i)


@pytest.mark.parametrize("n", [2, 3])
def test_a_constant_name_is_assigned_again(n: int) -> None:
    out = np.zeros(32, np.int32)
    constants_that_become_values[(1,)](out, n)
    width = 4 if n > 2 else 8
    np.testing.assert_array_equal(out[:16], np.where(np.arange(16) < width, width, 0))
    np.testing.assert_array_equal(out[16:], 8 + n + np.arange(16))

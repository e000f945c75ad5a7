"""Small tiles that loops carry are vectors in registers, larger ones buffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

rng = np.random.default_rng(0)


def is_carried(loops: str) -> bool:
    """Whether a loop has vectors among its results."""
    return any("vector<" in line and ("scf.for" in line or "scf.while" in line) for line in loops.splitlines())


@triton.jit
def bag(table, index, offsets, out, width, BLOCK: tl.constexpr):
    b, c = tl.program_id(0), tl.arange(0, BLOCK)
    first, end = tl.load(offsets + b), tl.load(offsets + b + 1)
    total = tl.zeros([BLOCK], tl.float32)
    at = first
    while at < end:
        row = tl.load(index + at)
        total += tl.load(table + row * width + c, mask=c < width, other=0.0)
        at += 1
    tl.store(out + b * width + c, total, mask=c < width)


@pytest.mark.parametrize("width", [1, 15, 16, 17, 63, 64])
def test_a_while_loop_over_rows(width: int) -> None:
    table = rng.standard_normal((50, width)).astype(np.float32)
    index = rng.integers(0, 50, 40)
    offsets = np.array([0, 7, 7, 8, 40])
    out = np.full((5, width), 7, np.float32)
    compiled = bag[(4,)](table, index, offsets, out, width, BLOCK=64)
    for number in range(4):
        expected = table[index[offsets[number] : offsets[number + 1]]].sum(0)
        np.testing.assert_allclose(out[number], expected, rtol=1e-5, atol=1e-6)
    assert (out[4] == 7).all()
    assert is_carried(compiled.asm["loops"])


@triton.jit
def moments(x, low, mean, n, rows, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    least = tl.full([BLOCK], 9.0, tl.float32)
    for r in range(rows):
        v = tl.load(x + r * n + c, mask=c < n, other=5.0)
        total += v * r
        least = tl.minimum(least, v)
    tl.store(low + c, least)
    tl.store(mean + c, total)


@pytest.mark.parametrize("rows", [0, 2, 6])
@pytest.mark.parametrize(("n", "block"), [(64, 64), (50, 64), (3, 16), (300, 1024)])
def test_two_tiles_of_a_for_loop(rows: int, n: int, block: int, wide_loops: Callable[..., str]) -> None:
    x = rng.standard_normal((rows, n)).astype(np.float32)
    low, mean = np.zeros((2, block), np.float32)
    moments[(1,)](x, low, mean, n, rows, BLOCK=block)
    filled = np.full((rows, block), 5, np.float32)
    filled[:, :n] = x
    np.testing.assert_array_equal(low, np.min(filled, 0, initial=9))
    np.testing.assert_allclose(mean, (filled * np.arange(rows)[:, None]).sum(0), rtol=1e-5, atol=1e-5)
    assert is_carried(wide_loops(moments, x, low, mean, n, rows, BLOCK=block)) == (block <= 64)


@triton.jit
def taking_turns(x, y, n, BLOCK: tl.constexpr):
    """Fibonacci's numbers from any two; the tiles change places in each step."""
    c = tl.arange(0, BLOCK)
    a, b = tl.load(x + c), tl.load(x + BLOCK + c)
    for _ in range(n):
        a, b = b, a + b
    tl.store(y + c, a)
    tl.store(y + BLOCK + c, b)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "int16"])
def test_tiles_that_change_places(dtype: str) -> None:
    x = rng.integers(-9, 9, (2, 32)).astype(dtype)
    y = np.zeros_like(x)
    taking_turns[(1,)](x, y, 9, BLOCK=32)
    a, b = x
    for _ in range(9):
        a, b = b, a + b
    np.testing.assert_array_equal(y, [a, b])


@triton.jit
def nested(x, y, n, m, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    total = tl.load(x + c).to(tl.float32)
    for i in range(n):
        for j in range(m):
            total = total * 0.5 + tl.load(x + (i * m + j) * BLOCK + c)
        total += i
    tl.store(y + c, total)


def test_loops_in_loops() -> None:
    n, m = 3, 4
    x = rng.standard_normal((n * m, 64)).astype(np.float32)
    y = np.zeros(64, np.float32)
    compiled = nested[(1,)](x, y, n, m, BLOCK=64)
    total = x[0]
    for i in range(n):
        for j in range(m):
            total = total * np.float32(0.5) + x[i * m + j]
        total = total + np.float32(i)
    np.testing.assert_allclose(y, total, rtol=1e-5)
    assert is_carried(compiled.asm["loops"])


@triton.jit
def stands_still(x, out, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    ahead = tl.load(x + c) * 2.0 + 1.0
    first = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        first = ahead
    second = tl.zeros([BLOCK], tl.float32)
    i = 0
    while i < n:
        second = ahead
        i += 1
    tl.store(out + c, first)
    tl.store(out + BLOCK + c, second)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_tiles_that_are_made_in_front_of_the_loop(steps: int) -> None:
    x, out = rng.standard_normal(64).astype(np.float32), np.full(128, 7, np.float32)
    stands_still[(1,)](x, out, steps, BLOCK=64)
    np.testing.assert_allclose(out, np.tile(x * 2 + 1, 2) if steps else 0, rtol=1e-6)


@triton.jit
def take_turns(x, out, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    a = tl.zeros([BLOCK], tl.float32)
    b = tl.full([BLOCK], 1.0, tl.float32)
    for i in range(n):
        for j in range(i):
            a += tl.load(x + c + j)
        if i % 2 == 0:
            a = a * 0.5
        a, b = b, a + b
        tl.store(out + (i + 2) * BLOCK + c, a)
    tl.store(out + c, a)
    tl.store(out + BLOCK + c, b)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_tiles_that_change_places_and_loops_in_loops(steps: int) -> None:
    x, out = rng.standard_normal(80).astype(np.float32), np.zeros((steps + 2, 64), np.float32)
    take_turns[(1,)](x, out, steps, BLOCK=64)
    expected = np.zeros_like(out)
    a, b = np.zeros(64), np.ones(64)
    for i in range(steps):
        a = a + sum((x[j : j + 64] for j in range(i)), np.zeros(64))
        a = a * 0.5 if i % 2 == 0 else a
        a, b = b, a + b
        expected[i + 2] = a
    expected[0], expected[1] = a, b
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@triton.jit
def where_largest(x, out, n, BLOCK: tl.constexpr):
    """The index is made before the value, and carried after it."""
    c = tl.arange(0, BLOCK)
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    block = tl.zeros([BLOCK], tl.int32)
    for number in range(tl.cdiv(n, BLOCK) - 1, -1, -1):
        at = number * BLOCK + c
        v = tl.load(x + at, mask=at < n, other=float("-inf"))
        block = tl.where(v > best, number, block)
        best = tl.maximum(best, v)
    tl.store(out + c, block)


@pytest.mark.parametrize("length", [64, 77])
def test_tiles_of_two_types_made_in_another_order_than_carried(length: int) -> None:
    x = rng.permutation(96).astype(np.float32)
    out = np.full(32, 7, np.int32)
    compiled = where_largest[(1,)](x, out, length, BLOCK=32)
    rows = np.full(96, -np.inf)
    rows[:length] = x[:length]
    np.testing.assert_array_equal(out, rows.reshape(3, 32).argmax(0))
    assert is_carried(compiled.asm["loops"])

"""Tiles that are carried, overwritten and read again: what goes wrong when a buffer is reused too early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array


def f32(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


@triton.jit
def old_and_new(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.load(x + c)
    for _ in range(n):
        new = acc * 0.5 + 1.0
        acc = new - acc
        tl.store(o + c, acc + new)
    tl.store(x + c, acc)


def test_old_value_is_read_after_the_new_one_exists() -> None:
    x, o = f32(64), np.zeros(64, np.float32)
    acc = x.copy()
    old_and_new[(1,)](x, o, 4, 64)
    new = acc
    for _ in range(4):
        new = acc * np.float32(0.5) + 1
        acc = new - acc
    close(o, acc + new)
    close(x, acc)


@triton.jit
def reversed_update(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.load(x + c)
    for _ in range(n):
        acc = acc + tl.flip(acc)
    tl.store(o + c, acc)


def test_update_that_is_not_pointwise() -> None:
    x, o = f32(32), np.zeros(32, np.float32)
    reversed_update[(1,)](x, o, 3, 32)
    acc = x
    for _ in range(3):
        acc = acc + acc[::-1]
    close(o, acc)


@triton.jit
def normalised_update(x, o, n, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    acc = tl.load(x + p)
    for _ in range(n):
        acc = acc - tl.sum(acc, axis=1)[:, None] / N + tl.max(acc, axis=0)[None, :]
    tl.store(o + p, acc)


def test_update_reads_reductions_of_itself() -> None:
    x, o = f32(8, 32), np.zeros((8, 32), np.float32)
    normalised_update[(1,)](x, o, 3, 8, 32)
    acc = x
    for _ in range(3):
        acc = acc - acc.sum(1, keepdims=True) / 32 + acc.max(0, keepdims=True)
    close(o, acc)


@triton.jit
def nested(x, o, n, m, B: tl.constexpr):
    c = tl.arange(0, B)
    outer = tl.load(x + c)
    for i in range(n):
        inner = outer
        for _ in range(m):
            inner = inner * 0.5 + outer
        outer = outer + inner * (i + 1)
    tl.store(o + c, outer)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_inner_loop_starts_from_the_outer_tile_and_reads_it(m: int) -> None:
    x, o = f32(64), np.zeros(64, np.float32)
    nested[(1,)](x, o, 3, m, 64)
    outer = x
    for i in range(3):
        inner = outer
        for _ in range(m):
            inner = inner * np.float32(0.5) + outer
        outer = outer + inner * (i + 1)
    close(o, outer)


@triton.jit
def rotate(x, y, z, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a, b, d = tl.load(x + c), tl.load(y + c), tl.load(z + c)
    for _ in range(n):
        a, b, d = b, d, a
    tl.store(x + c, a)
    tl.store(y + c, b)
    tl.store(z + c, d)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_tiles_change_places(n: int) -> None:
    tiles = [f32(16), f32(16) + 1, f32(16) + 2]
    expected = [tile.copy() for tile in tiles]
    rotate[(1,)](*tiles, n, 16)
    for _ in range(n):
        expected = [expected[1], expected[2], expected[0]]
    for tile, wanted in zip(tiles, expected, strict=True):
        np.testing.assert_array_equal(tile, wanted)


@triton.jit
def branch_then_old(x, o, flag, B: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.load(x + c)
    for i in range(4):
        before = acc
        acc = acc * 2 + tl.flip(acc) if i % 2 == flag else acc + 1
        acc = acc - before * 0.25
    tl.store(o + c, acc)


@pytest.mark.parametrize("flag", [0, 1])
def test_branch_result_beside_the_old_tile(flag: int) -> None:
    x, o = f32(32), np.zeros(32, np.float32)
    branch_then_old[(1,)](x, o, flag, 32)
    acc = x
    for i in range(4):
        before = acc
        acc = acc * 2 + acc[::-1] if i % 2 == flag else acc + 1
        acc = acc - before * np.float32(0.25)
    close(o, acc)


@triton.jit
def while_pair(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c)
    b = a * 0
    i = 0
    while (tl.max(a, axis=0) < 100.0) & (i < n):
        a, b = a * 2 + b, a
        i += 1
    tl.store(o + c, a - b)


def test_while_carries_two_tiles() -> None:
    x, o = np.abs(f32(32)) + 1, np.zeros(32, np.float32)
    while_pair[(1,)](x, o, 50, 32)
    a, b, i = x, x * 0, 0
    while a.max() < 100 and i < 50:
        a, b, i = a * 2 + b, a, i + 1
    close(o, a - b)


@triton.jit
def square_in_place(a, M: tl.constexpr):
    p = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    acc = tl.load(a + p)
    for _ in range(2):
        acc = tl.dot(acc, acc, acc, input_precision="ieee") * 0.1
    tl.store(a + p, acc)


def test_product_of_the_accumulator_with_itself() -> None:
    a = f32(32, 32)
    acc = a.astype(np.float64)
    square_in_place[(1,)](a, 32)
    for _ in range(2):
        acc = (acc @ acc + acc) * 0.1
    close(a, acc)


@triton.jit
def shift_rows(x, n, N: tl.constexpr):
    c = tl.arange(0, N)
    for i in range(n):
        row = tl.load(x + i * N + c)
        nxt = tl.load(x + (i + 1) * N + c)
        tl.store(x + (i + 1) * N + c, row + nxt)
        tl.store(x + i * N + c, row - nxt)


def test_loads_are_not_moved_across_stores_to_the_same_array() -> None:
    x = f32(5, 32)
    expected = x.copy()
    shift_rows[(1,)](x, 4, 32)
    for i in range(4):
        row, following = expected[i].copy(), expected[i + 1].copy()
        expected[i + 1], expected[i] = row + following, row - following
    close(x, expected)


@triton.jit
def overlapping(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + c, mask=m, other=0.0)
    s = tl.sum(v, axis=0)
    tl.store(o + c, tl.exp(v) + s, mask=m)


@pytest.mark.parametrize("shift", [0, 1, 7, 16])
def test_overlapping_arguments(shift: int) -> None:
    memory = f32(200)
    expected = memory.copy()
    n = 100
    expected[shift : shift + n] = np.exp(memory[:n]) + memory[:n].sum()
    overlapping[(1,)](memory, memory[shift:], n, 128)
    close(memory, expected)


@triton.jit
def two_outputs(x, o, p, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.exp(tl.load(x + c, mask=c < n))
    tl.store(o + c, v, mask=c < n)
    tl.store(p + c, v + 1, mask=(c >= 3) & (c < n))


def test_masks_with_a_lower_bound_and_a_value_stored_twice() -> None:
    x, o, p = f32(77), np.zeros(77, np.float32), np.zeros(77, np.float32)
    two_outputs[(1,)](x, o, p, 77, 128)
    close(o, np.exp(x))
    expected = np.exp(x) + 1
    expected[:3] = 0
    close(p, expected)


@triton.jit
def all_nan(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + c, mask=c < n, other=float("nan"))
    tl.store(o, tl.max(v, axis=0))
    tl.store(o + 1, tl.min(v, axis=0))


@pytest.mark.parametrize("n", [0, 5, 64])
def test_maximum_of_nan(n: int) -> None:
    x, o = f32(64), np.zeros(2, np.float32)
    all_nan[(1,)](x, o, n, 64)
    expected = [np.nan, np.nan] if n == 0 else [x[:n].max(), x[:n].min()]
    np.testing.assert_array_equal(o, np.array(expected, np.float32))


@triton.jit
def updated_in_a_branch(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.load(x + c)
    total = tl.zeros((B,), tl.float32)
    for i in range(n):
        old = acc
        if i % 2 == 0:
            acc = acc * 2 + 1
            total += acc
        else:
            acc = acc - 3
        total += acc - old * 0.5
    tl.store(o + c, total)


def test_a_tile_that_branches_update_is_read_behind_them() -> None:
    x, o = f32(64), np.zeros(64, np.float32)
    updated_in_a_branch[(1,)](x, o, 5, 64)
    acc, total = x.astype(np.float64), np.zeros(64)
    for i in range(5):
        old = acc
        acc = acc * 2 + 1 if i % 2 == 0 else acc - 3
        total += acc * (2 if i % 2 == 0 else 1) - old * 0.5
    close(o, total)


@triton.jit
def counts(x, o, n, B: tl.constexpr, BINS: tl.constexpr):
    c = tl.arange(0, B)
    tl.store(o + tl.arange(0, BINS), tl.histogram(tl.load(x + c, mask=c < n, other=0), BINS, mask=c < n))


def test_a_histogram_counts_in_place() -> None:
    x, o = np.random.default_rng(0).integers(-2, 40, 100).astype(np.int32), np.zeros(32, np.int32)
    compiled = counts[(1,)](x, o, 100, 128, 32)
    np.testing.assert_array_equal(o, np.bincount(x[(x >= 0) & (x < 32)], minlength=32))
    loops = compiled.asm["loops"]
    inner = [line for line in loops.splitlines() if line.startswith("      ") and "scf.for" in line]
    assert not inner, "nothing is computed or copied for each element"


@triton.jit
def gathered_and_carried(x, y, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    old = tl.load(x + c * 2, mask=c % 5 != 0, other=1)
    turned = tl.gather(old, (c + 1) % B, 0)
    new = old
    i = 0
    while i < n:
        new = new * 0.5 + tl.argmax(new, 0)
        i += 1
    tl.store(y + c, turned)
    tl.store(o + c, new)


def test_a_gather_that_waits_for_its_store_still_needs_its_tile() -> None:
    x, y, o = f32(32), np.zeros(16, np.float32), np.zeros(16, np.float32)
    gathered_and_carried[(1,)](x, y, o, 3, 16)
    new = old = np.where(np.arange(16) % 5, x[::2], np.float32(1))
    for _ in range(3):
        new = new * np.float32(0.5) + np.float32(new.argmax())
    assert np.array_equal(y, np.roll(old, -1))
    close(o, new)
